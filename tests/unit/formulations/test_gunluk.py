"""Sets of categories that a model chooses: the search over all listed sets is the judge."""

import os

import numpy as np
import pandas as pd
import pytest
from milp_trees.formulations._set_columns import set_columns

import milp_trees as mt
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.models.nodes import Leaf
from milp_trees.tasks.constraints import Capacity
from milp_trees.tasks.policy import ActionCostMatrix
from milp_trees.testing.checks import (
    check_decoded_value,
    check_every_tree_can_be_encoded,
    check_optimum_equals_oracle,
    check_relaxation_is_a_bound,
    check_sizes,
)
from milp_trees.testing.oracle import brute_force
from milp_trees.testing.solve import minimise

SEEDS = range(
    int(os.environ.get("MILP_TREES_GUNLUK_FROM", 0)),
    int(os.environ.get("MILP_TREES_GUNLUK_TO", 12)),
)


def drawn_table(rng, n, gaps):
    """Columns of categories with all sets, and perhaps numbers, 0/1, and constant columns."""
    k = int(rng.integers(4, 6))
    letters = np.array(list("abcde"), dtype=object)
    first = letters[np.concatenate([np.arange(k), rng.integers(0, k, n - k)])]
    if gaps:
        first[int(rng.integers(k, n))] = None
    frame = pd.DataFrame({"first": first})
    if rng.random() < 0.5:
        frame["second"] = letters[rng.integers(0, int(rng.integers(1, 4)), n)]
    if rng.random() < 0.5:
        frame["number"] = rng.integers(0, 4, n).astype(float)
    if rng.random() < 0.5:
        frame["flag"] = rng.integers(0, 2, n)
    if rng.random() < 0.2:  # divides the rows like a set of the first column
        frame["same"] = (frame["first"] == "b").astype(int)
    return frame


def drawn(seed):
    """A random problem: costs of any size and sign, penalties, prices, leaf limits, capacities."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 13))
    frame = drawn_table(rng, n, gaps=rng.random() < 0.2)
    large = 10**6 if rng.random() < 0.1 else 1
    values = rng.integers(-6, 10, (n, 2)) * large
    binarizer = mt.Binarizer(category_sets=5).fit(frame)
    data = binarizer.dataset(frame, values=values)
    options = {}
    if rng.random() < 0.4:
        options["leaf_penalty"] = int(rng.integers(0, 4)) * large
    if rng.random() < 0.3:
        options["feature_costs"] = {
            c: int(rng.integers(0, 3)) for c in sorted({t.column for t in data.features})
        }
    if rng.random() < 0.3:
        least = int((values.argmin(axis=1) == 1).sum())
        options["constraints"] = (Capacity(1, at_most=max(0, least - 1)),)
    depth = int(rng.choice([0, 1, 2, 2, 2, 3]))
    space = {"min_samples_leaf": int(rng.choice([1, 1, 2, 3]))}
    if rng.random() < 0.3:
        space["max_leaf_nodes"] = int(rng.integers(2, 5))
    return mt.Problem(data, ActionCostMatrix(**options), mt.Trees(depth, **space))


def formulations():
    return [
        mt.registry.formulation("gunluk", rows=rows, anchor=anchor)
        for rows in ("strong", "weak")
        for anchor in (True, False)
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_it_agrees_with_searches_over_all_listed_sets(seed):
    """With the exhaustive search, and with `dp` where it takes the problem."""
    problem, every = drawn(seed), formulations()
    for formulation in [every[0], every[1 + seed % 3]]:
        assert formulation.unsupported(problem) is None
        check_sizes(formulation, problem)
        check_optimum_equals_oracle(formulation, problem)
        check_decoded_value(formulation, problem)
        check_relaxation_is_a_bound(formulation, problem)
        check_every_tree_can_be_encoded(formulation, problem)
    best = brute_force(problem)
    if best is not None and mt.registry.method("dp").unsupported(problem) is None:
        assert mt.solve(problem, "dp").value == best[1]


# -- columns ---------------------------------------------------------------------------------------


def view_of(frame, sets=6, keep=None, **task):
    """The presolved view of a problem on a table; with some of its features only."""
    data = mt.Binarizer(category_sets=sets).fit(frame)
    if keep is not None:
        data = data.only([t for t in data.features if keep(t)])
    values = np.random.default_rng(0).integers(0, 9, (len(frame), 2))
    problem = mt.Problem(data.dataset(frame, values=values), ActionCostMatrix(**task), mt.Trees(2))
    return mt.registry.formulation("gunluk").presolved_view(problem), problem


LETTERS = pd.DataFrame({"c": list("abcdeabcde"), "flag": [0, 1] * 5})


def kinds(view):
    """Number of values and features of every column, and whether it is ordered."""
    return sorted((c.n_values, len(c.tests), c.ordered) for c in set_columns(view))


def test_all_sets_of_a_column_are_one_column():
    view, _ = view_of(LETTERS)
    assert kinds(view) == [(2, 1, False), (5, 15, False)]


def test_one_feature_per_value_is_a_column_only_for_three_values():
    view, _ = view_of(pd.DataFrame({"c": list("abcab")}), sets=0)
    assert kinds(view) == [(3, 3, False)]
    view, _ = view_of(LETTERS, sets=0)
    assert kinds(view) == [(2, 1, False)] * 6


def test_a_column_without_one_of_its_sets_is_taken_as_separate_features():
    """The model would otherwise choose a set that no feature asks for."""
    view, _ = view_of(LETTERS, keep=lambda t: t.value != ("a", "b"))
    assert kinds(view) == [(2, 1, False)] * 15


def test_a_set_that_equals_another_column_is_that_column():
    """Presolve keeps one of two equal features; the whole column is still found."""
    frame = LETTERS.assign(c2=LETTERS["c"].isin(["b", "d"]).astype(int))[["c2", "c"]]
    view, _ = view_of(frame)
    assert kinds(view) == [(2, 1, False), (5, 14, False)]
    (column,) = (c for c in set_columns(view) if c.n_values == 5)
    asked = {view.features[f].name for f, _ in column.sides.values()}
    assert len(asked) == 15
    assert "c2" in asked


def test_a_set_at_another_price_is_not_a_part_of_the_column():
    """The model has one price per column."""
    frame = LETTERS.assign(c2=LETTERS["c"].isin(["b", "d"]).astype(int))[["c2", "c"]]
    view, _ = view_of(frame, feature_costs={"c2": 1, "c": 2})
    assert kinds(view) in ([(2, 1, False)] * 15, [(2, 1, False), (5, 14, False)])
    for column in set_columns(view):
        used = {int(view.split_costs[f]) for f, _ in column.sides.values()}
        assert used == {column.price}


def test_missing_values_are_a_value_of_the_column():
    view, _ = view_of(pd.DataFrame({"c": [*"abcd", None, "a"]}))
    assert kinds(view) == [(5, 15, False)]


def test_thresholds_are_a_column_in_order():
    view, _ = view_of(pd.DataFrame({"n": [1.0, 2, 3, 4, 2]}))
    assert kinds(view) == [(4, 3, True)]


# -- the model -------------------------------------------------------------------------------------


def test_it_grows_with_the_values_and_not_with_their_sets():
    """A value more is a variable and a row more per branch node (3), and 31 sets more."""
    sizes = []
    for k in (6, 7):
        frame = pd.DataFrame({"c": [chr(97 + j % k) for j in range(14)]})
        view, problem = view_of(frame, sets=7)
        size = mt.registry.formulation("gunluk").model_size(view, problem.space)
        sizes.append((view.n_features, size.binaries, size.rows - 7 * view.n_rows))
    assert sizes[1][0] - sizes[0][0] == 32
    assert sizes[1][1] - sizes[0][1] == 3
    assert sizes[1][2] - sizes[0][2] == 3


def test_an_anchor_at_a_last_node_would_lose_trees():
    """Leaves of last nodes are labelled, so exchanging them gives another tree."""
    frame = pd.DataFrame({"c": list("abcd")})
    values = np.array([[1, 0], [0, 1], [0, 1], [1, 0]])
    data = mt.Binarizer(category_sets=4).dataset(frame, values=values)
    problem = mt.Problem(data, ActionCostMatrix(), mt.Trees(1))
    formulation = mt.registry.formulation("gunluk")
    m = formulation.build(problem)
    assert minimise(compile_model(m)).objective == pytest.approx(0)
    (anchor,) = m.anchor.values()
    first = [int(m.divided[0].values[i]) == 0 for i in m.rows]
    costs = m.view.costs[np.array(first)]
    assert costs[:, 0].sum() > costs[:, 1].sum()  # its rows belong on the right
    m.zeta[1, anchor].fix(1)
    assert minimise(compile_model(m)).objective > 0.5


def test_with_one_action_every_leaf_predicts_it():
    """Also the right leaf of a last node, to which a solver may send all rows."""
    frame = pd.DataFrame({"c": list("abcd")})
    data = mt.Binarizer(category_sets=4).dataset(frame, values=np.ones((4, 1), dtype=int))
    problem = mt.Problem(data, ActionCostMatrix(), mt.Trees(1))
    formulation = mt.registry.formulation("gunluk")
    m = formulation.build(problem)
    for variable in (*m.v.values(), *m.zeta.values(), *m.q.values()):
        variable.set_value(0)
    m.s[1].set_value(1)
    assert formulation.decode(m).root == Leaf(0)


def test_levels_are_named_by_column_and_value():
    """Of every column, in the order of the variables."""
    _, problem = view_of(LETTERS)
    formulation = mt.registry.formulation("gunluk")
    m = formulation.build(problem)
    words = formulation.meanings(m, problem)
    assert [words["columns"](g) for g in m.columns] == ["flag", "c"]
    assert [words["levels"](e) for e in m.levels] == [
        *(f"flag: value {j}" for j in range(2)),
        *(f"c: value {j}" for j in range(5)),
    ]


def test_more_than_two_actions_and_unknown_rows_are_refused():
    frame = pd.DataFrame({"c": list("abcd")})
    data = mt.Binarizer(category_sets=4).dataset(frame, y=[0, 1, 2, 0])
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(2))
    assert "two actions, and these are 3" in mt.registry.formulation("gunluk").unsupported(problem)
    _, two = view_of(frame)
    why = mt.registry.formulation("gunluk", rows="loose").unsupported(two)
    assert why == "gunluk has rows 'strong' and 'weak'; got 'loose'."


def test_the_strong_relaxation_is_at_least_as_high_as_the_weak_one():
    """On most problems the two are equal, and so they are on all of these that were looked at."""
    compared = 0
    for seed in range(30):
        problem = drawn(seed)
        strong, weak = (
            minimise(compile_model(f.build(problem)), relax=True).objective
            for f in formulations()[::2]
        )
        if strong is not None and weak is not None:
            assert strong >= weak - 1e-6 * max(1, abs(weak)), seed
            compared += problem.space.depth > 1
    assert compared > 10
