"""Questions about sets of categories: the features, their files, and where an order is enough."""

import json
from itertools import combinations, permutations

import numpy as np
import pandas as pd
import pytest

import milp_trees as mt
from milp_trees.common.errors import Unsupported
from milp_trees.data.category_sets import all_sets, along, by_mean
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.tasks.leaf_order import Monotone
from milp_trees.tasks.policy import ActionCostMatrix
from milp_trees.verification import verify_file

COLOURS = ["red", "blue", "green", "teal", "pink"]
FRAME = pd.DataFrame({"color": [*COLOURS, *COLOURS[:3]], "n": [1, 2, 3, 4, 5, 1, 2, 3]})
TABLE = pd.DataFrame({"c": ["a", "b"], "y": [0, 1]})
ASKED = mt.BinaryFeature("color", "in", ["red", "blue"], "no")


@pytest.mark.parametrize("k", range(4, 9))
def test_every_division_is_listed_once(k):
    """Of a set and its complement the smaller one; of two of one size the one without the first."""
    categories = [chr(97 + j) for j in range(k)]
    found = all_sets(categories)
    assert len(found) == 2 ** (k - 1) - 1
    sides = {frozenset(s) for s in found}
    sides |= {frozenset(categories) - s for s in sides}
    assert len(sides) == 2**k - 2
    assert all(2 * len(s) < k or (2 * len(s) == k and "a" not in s) for s in found)


def test_a_set_is_the_same_in_any_order_and_after_json():
    again = mt.BinaryFeature("color", "in", {"blue", "red"}, "no")
    assert again == ASKED
    assert hash(again) == hash(ASKED)
    assert (ASKED.name, ASKED.negation) == (
        "color in {blue, red}",
        "color not in {blue, red} or missing",
    )
    assert mt.BinaryFeature.from_json(json.loads(json.dumps(ASKED.to_json()))) == ASKED


def test_categories_with_commas_stand_in_quotation_marks():
    """Otherwise two different questions would have one name."""
    one = mt.BinaryFeature("c", "in", ["a, b"])
    two = mt.BinaryFeature("c", "in", ["a", "b"])
    assert (one.name, two.name) == ('c in {"a, b"}', "c in {a, b}")


@pytest.mark.parametrize("value", [[], "red", 3, ["red", "red"], [1, 2]])
def test_a_damaged_set_is_refused(value):
    with pytest.raises(ValueError, match="no list of different categories"):
        mt.BinaryFeature.from_json({"column": "c", "kind": "in", "value": value})


@pytest.mark.parametrize("value", [[], "red", None])
def test_a_set_is_a_list_of_texts(value):
    with pytest.raises(mt.DataError, match="set of categories"):
        mt.BinaryFeature("c", "in", value)


def test_an_unseen_category_answers_no():
    assert ASKED.evaluate(["red", "violet", None, "blue"]).tolist() == [True, False, False, True]
    numbers = mt.BinaryFeature("c", "in", ["1", "2.5"])
    assert numbers.evaluate(np.array([1.0, 2.5, 3.0])).tolist() == [True, True, False]


def test_the_binarizer_lists_sets_up_to_the_stated_number():
    tests = mt.Binarizer(category_sets=5).fit(FRAME).features
    sets = [t for t in tests if t.kind == "in"]
    assert len(sets) == 15
    assert {t.kind for t in mt.Binarizer(category_sets=5).fit(FRAME[:3]).features} == {"==", "<="}
    assert {t.kind for t in mt.Binarizer().fit(FRAME).features} == {"==", "<="}
    with pytest.raises(mt.DataError, match=r"has 5 categories, so 2\^4 - 1 sets.*raise category_s"):
        mt.Binarizer(category_sets=4).fit(FRAME)
    many = pd.DataFrame({"c": [f"v{j:02}" for j in range(20)]})
    with pytest.raises(mt.DataError, match=r"at most 16 categories get all sets: merge"):
        mt.Binarizer(category_sets=99).fit(many)
    with pytest.raises(mt.DataError, match="category_sets must be a whole number"):
        mt.load(TABLE, category_sets=-1)
    with pytest.raises(mt.DataError, match="category_sets is given beside a Binarizer"):
        mt.load(TABLE, binarizer=mt.Binarizer(), category_sets=5)


@pytest.mark.parametrize("missing", [False, True])
def test_a_binarizer_with_sets_is_stored_reduced_and_extended(missing):
    frame = FRAME.assign(color=[*FRAME["color"][:-1], None]) if missing else FRAME
    binarizer = mt.Binarizer(category_sets=5).fit(frame)
    again = mt.Binarizer.from_json(json.loads(json.dumps(binarizer.to_json())))
    assert again.features == binarizer.features
    assert (again.transform(frame) == binarizer.transform(frame)).all()
    kept = tuple(binarizer.features[k] for k in (0, 3, 7))
    assert binarizer.only(kept).features == kept
    assert binarizer.covering(kept).features == kept
    mixed = (mt.BinaryFeature("color", "==", "red"), *kept)
    assert binarizer.covering(mixed).features == mixed
    data = binarizer.dataset(frame)
    assert (binarizer.transform(frame) == data.X).all()


def test_sets_are_neither_embedded_nor_searched_for_the_nearest_row():
    tree = mt.Tree(Branch(ASKED, Leaf(0), Leaf(1)), (0, 1))
    with pytest.raises(Unsupported, match="set of categories, which is neither"):
        mt.counterfactual(tree, {"color": ["red"]}, 0)
    import pyomo.environ as pyo

    m = pyo.ConcreteModel()
    m.red, m.other = pyo.Var(domain=pyo.Binary), pyo.Var(domain=pyo.Binary)
    with pytest.raises(Unsupported, match="set of categories, which is neither"):
        mt.embed(tree, m, {"color": {"red": m.red, None: m.other}})


def test_a_monotone_constraint_refuses_sets():
    data = mt.Binarizer(category_sets=5).dataset(FRAME, np.arange(8) % 2)
    task = mt.Accuracy(constraints=(Monotone(column="n"),))
    problem = mt.Problem(data, task, mt.Trees(1))
    assert "sets of categories" in mt.registry.method("flow-oct@highs").unsupported(problem)


def test_estimators_take_sets():
    y = FRAME["color"].isin(["red", "teal"]).to_numpy()
    model = mt.OptimalTreeClassifier(max_depth=1, binarizer=mt.Binarizer(category_sets=5))
    model.fit(FRAME, y)
    assert model.score(FRAME, y) == 1
    assert model.tree_.splits[0].name == "color in {red, teal}"
    assert model.predict(pd.DataFrame({"color": ["violet"], "n": [1]})).tolist() == [False]


def test_an_ensemble_does_not_take_sets():
    with pytest.raises(mt.DataError, match="category_sets is for tables of binary features"):
        mt.load_numeric(TABLE, category_sets=5)


@pytest.mark.parametrize("binarize", ["auto", "tree-guess:5", "quantiles:3"])
def test_a_result_with_sets_is_verified_from_its_file(binarize, tmp_path):
    """The features are made again, with sets; the value and the bound are derived again."""
    path, stored = tmp_path / "t.csv", tmp_path / "r.json"
    y = np.where(FRAME["color"].isin(["red", "teal"]), "yes", "no")
    pd.concat([FRAME.assign(y=y)] * 3).to_csv(path, index=False)
    data = mt.load(path, binarizer=binarize, category_sets=5)
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(1)), "dp")
    assert result.objective == 0
    stored.write_text(json.dumps(result.to_json()))
    assert verify_file(stored)[0].derived_by is not None


# -- where an order is enough ----------------------------------------------------------------------


def best(categories, rows, sets, depth, extra=()):
    """The least cost of a tree on rows of (category, costs), and features given as arrays."""
    tests = [mt.BinaryFeature("c", "in", s) for s in sets]
    X = np.column_stack([*(t.evaluate(categories) for t in tests), *extra])
    names = [mt.BinaryFeature(f"x{j}") for j in range(len(extra))]
    data = mt.Dataset(X, [*tests, *names], values=np.array(rows))
    problem = mt.Problem(data, ActionCostMatrix(), mt.Trees(depth))
    return mt.solve(problem, "dp").objective


@pytest.mark.parametrize("seed", range(20))
def test_two_actions_need_only_an_order_in_one_split(seed):
    """The order of the mean extra cost of the second action; for any costs, also large ones."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(4, 7))
    categories = [chr(97 + j) for j in [*range(k), *rng.integers(0, k, 12)]]
    costs = rng.integers(-9, 10, (len(categories), 2)) * (10**6 if seed % 4 == 0 else 1)
    order = by_mean(categories, costs[:, 1] - costs[:, 0])
    whole = all_sets(sorted(set(categories)))
    assert best(categories, costs, along(order), 1) == best(categories, costs, whole, 1)


@pytest.mark.parametrize("seed", range(20))
def test_squared_error_needs_only_an_order_in_one_split(seed):
    """By brute force over all divisions, in whole numbers."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(4, 7))
    groups = np.array([*range(k), *rng.integers(0, k, 10)])
    numbers = rng.integers(0, 20, len(groups))
    weights = rng.integers(1, 4, len(groups))

    def error(inside):
        """A positive multiple of what the two means explain, negated."""
        total = 0
        for side in (inside, ~inside):
            weight = int(weights[side].sum())
            total -= int((weights * numbers)[side].sum()) ** 2 / weight
        return total

    def least(sets):
        return min(error(np.isin(groups, [int(c) for c in s])) for s in sets)

    order = by_mean([str(g) for g in groups], numbers, weights.tolist())
    whole = all_sets([str(g) for g in range(k)])
    assert least(along(order)) == pytest.approx(least(whole), rel=1e-12)


def test_the_order_is_not_enough_above_another_split():
    """Four categories and a flag, which means the opposite for b and c: their means are apart.

    The shares of class 1 are 1/4, 3/7, 4/7 and 3/4 for a, b, c and d. With all sets two levels are
    perfect, by a and d together; with the sets along the order of the shares they are not.
    """
    rows = {"a": (3, 1), "b": (3, 4), "c": (4, 3), "d": (1, 3)}
    categories = [c for c, (off, on) in rows.items() for _ in range(off + on)]
    flag = np.array([f for off, on in rows.values() for f in [0] * off + [1] * on])
    y = np.where(np.isin(categories, ["a", "d"]), flag, 1 - flag)
    order = by_mean(categories, y)
    assert order == list("abcd")
    costs = np.column_stack([y, 1 - y])
    assert best(categories, costs, all_sets(order), 2, [flag]) == 0
    assert best(categories, costs, along(order), 2, [flag]) > 0
    # Any other order without a and d (or b and c) side by side at an end fails, too.
    orders = [p for p in permutations("abcd") if {p[0], p[1]} not in ({"a", "d"}, {"b", "c"})]
    assert len(orders) == 16
    assert all(best(categories, costs, along(p), 2, [flag]) > 0 for p in orders)


def test_a_minimum_leaf_size_may_need_another_set():
    """The lowest mean is too small a leaf; the best leaf of two rows skips a category."""
    categories = ["a", "b", "b", "b", "c", "d"]
    costs = np.array([[0, 9], [0, 8], [0, 8], [0, 8], [0, -7], [0, -8]])
    order = by_mean(categories, costs[:, 1])
    assert order == ["d", "c", "b", "a"]

    def least(sets):
        found = []
        for s in sets:
            inside = np.isin(categories, s)
            if min(inside.sum(), (~inside).sum()) >= 3:
                found.append(sum(costs[side].sum(axis=0).min() for side in (inside, ~inside)))
        return min(found, default=costs.sum(axis=0).min())

    every = [list(c) for size in (1, 2, 3) for c in combinations("abcd", size)]
    assert least(along(order)) > least(every)
