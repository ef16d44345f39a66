"""The predictor, its space and exact columns: rationals, JSON, predictions, gaps."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import milp_trees as mt
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.oblique.columns import numeric_columns
from milp_trees.oblique.directions import Directions, determinant
from milp_trees.oblique.linear_test import written
from milp_trees.oblique.separating import between, separating_test
from milp_trees.oblique.space import gaps_of
from milp_trees.oblique.testing.problems import points

LinearTest, ObliqueTree = mt.oblique.LinearTest, mt.oblique.ObliqueTree
ObliqueTrees = mt.oblique.ObliqueTrees
SLOPE = LinearTest(("x", "y"), (1, "-1/2"), "3/4")
TREE = ObliqueTree(
    Branch(SLOPE, Leaf(1), Branch(LinearTest(("y",), (1,), 2), Leaf(2), Leaf(0))),
    ("low", "high", "top"),
    ("x", "y"),
)
DATA = points([[0, 0], [1, 0], [1, 4], [2, 1]], y=["a", "b", "b", "a"])


def test_a_test_is_answered_exactly():
    """0.1 + 0.2 is above 0.3 in doubles, and the rational sum of the doubles is too; 0.3 is below."""
    test = LinearTest(("x", "y"), (1, 1), Fraction(0.1) + Fraction(0.2))
    assert test.answers(np.array([[0.1, 0.2], [0.3, 0.0], [0.1, 0.19]])).tolist() == [
        False,
        True,
        True,
    ]
    large = LinearTest(("x", "y"), (1, -1), Fraction(1, 2**60))
    assert large.answers(np.array([[2.0**53, 2.0**53], [2.0**53 + 2, 2.0**53]])).tolist() == [
        True,
        False,
    ]


def test_a_test_is_written_with_its_exact_weights():
    assert SLOPE.name == "x - 0.5 y < 0.75"
    assert LinearTest(("a",), (-2,), "1/3").negation == "-2 a >= 1/3"
    assert written(Fraction(-1, 8)) == "-0.125"
    assert written(Fraction(10**15)) == "1000000000000000"
    assert LinearTest.from_json(json.loads(json.dumps(SLOPE.to_json()))) == SLOPE


@pytest.mark.parametrize(
    "columns, weights", [((), ()), (("x", "x"), (1, 2)), (("x",), (0,)), (("x", "y"), (1,))]
)
def test_a_wrong_test_is_refused(columns, weights):
    with pytest.raises(mt.errors.DataError, match="weight other than 0"):
        LinearTest(columns, weights, 0)


def test_predictions_are_the_same_for_every_form_of_rows():
    expected = ["low", "high", "top", "high"]
    frame = pd.DataFrame({"other": [9] * 4, "y": DATA.numeric[:, 1], "x": DATA.numeric[:, 0]})
    assert TREE.predict(DATA).tolist() == expected
    assert TREE.predict(frame).tolist() == expected
    assert TREE.predict({"x": [0, 1, 1, 2], "y": [0, 0, 4, 1]}).tolist() == expected
    assert TREE.predict(DATA.numeric).tolist() == expected
    assert TREE.routes(DATA).leaf.tolist() == [2, 0, 1, 0]
    assert not TREE.routes(DATA).boxes


def test_wrong_rows_are_refused():
    with pytest.raises(mt.errors.DataError, match="'y'"):
        TREE.predict({"x": [1.0]})
    with pytest.raises(mt.errors.DataError, match="arrays with 2"):
        TREE.predict(np.zeros((1, 3)))
    with pytest.raises(mt.errors.DataError, match="'y'"):
        TREE.predict(mt.Dataset(np.zeros((1, 0)), numeric=[[0.0]], columns=["x"]))
    unplaced = ObliqueTree(TREE.top, TREE.actions)
    with pytest.raises(mt.errors.DataError, match="places"):
        unplaced.predict(np.zeros((1, 2)))


def test_categories_are_asked_as_columns_of_0_and_1():
    table = pd.DataFrame(
        {"size": [1.0, 2, 3, 4], "color": ["red", "blue", "red", "blue"], "t": [0, 0, 1, 1]}
    )
    data = mt.load_numeric(table, target="t")
    test = LinearTest(("size", "color == red"), (1, 1), 3)
    tree = ObliqueTree(Branch(test, Leaf(1), Leaf(0)), (0, 1), tuple(data.columns))
    assert tree.predict(table).tolist() == tree.predict(data).tolist() == [0, 0, 1, 1]


def test_a_tree_is_stored_and_read_back():
    stored = json.loads(json.dumps(TREE.to_json()))
    assert ObliqueTree.from_json(stored) == TREE
    assert ObliqueTrees(1).read(stored) == TREE
    stored["root"]["false"]["action"] = 7
    with pytest.raises(ValueError, match="action"):
        ObliqueTree.from_json(stored)


def test_a_tree_has_the_shape_of_its_nodes():
    assert (TREE.n_leaves, TREE.depth, len(TREE.features)) == (3, 2, 2)
    assert TREE.sides == [(0, 1, 3), (1, 2, 3)]
    assert TREE.node_paths == [[0, 1], [0, 2, 3], [0, 2, 4]]
    assert TREE.cut(1, (2,)).n_leaves == 2
    assert TREE.with_actions([0, 0, 1], ("no", "yes")).predict(DATA).tolist() == [
        "no",
        "no",
        "yes",
        "no",
    ]
    assert TREE.numbered({test: j for j, test in enumerate(TREE.features)}) == [0, 1, [1, 2, 0]]
    few = TREE.prune_empty(DATA.subset([0, 1]))
    assert few.n_leaves == 2
    assert TREE.map_tests(lambda t: (t, False)) is TREE


def test_a_tree_is_drawn():
    assert "x - 0.5 y < 0.75" in str(TREE)
    assert "<svg" in TREE.to_svg(DATA)
    assert len(TREE.plot().patches) > 3
    ax = TREE.plot_plane(DATA)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    three = ObliqueTree(
        Branch(LinearTest(("x", "y", "z"), (1, 1, 1), 0), Leaf(0), Leaf(1)), ("a", "b")
    )
    with pytest.raises(mt.errors.DataError, match="plot\\(\\)"):
        three.plot_plane(points([[0, 0, 0]], y=None))


def test_what_takes_no_oblique_tree_says_so():
    with pytest.raises(mt.errors.Unsupported, match="oblique tree cannot"):
        TREE.export("c")
    with pytest.raises(mt.errors.Unsupported, match="ObliqueTree"):
        mt.embed(TREE, [0, 0])
    with pytest.raises(mt.errors.Unsupported, match="ObliqueTree"):
        mt.counterfactual(TREE, {"x": 1, "y": 1})


# -- columns and gaps ------------------------------------------------------------------------------


def test_columns_are_exact_integers_in_steps():
    """Constant columns and those of the groups are left out."""
    numbers = [[0.5, 3, 10, 0], [1.25, 3, 40, 1], [2.0, 3, 30, 0]]
    data = mt.Dataset(
        np.zeros((3, 0)),
        numeric=numbers,
        columns=["a", "same", "b", "sex"],
        groups=[0, 1, 0],
        group_column="sex",
    )
    columns = numeric_columns(data)
    assert columns.names == ("a", "b")
    assert columns.steps == (Fraction(3, 4), Fraction(10))
    assert columns.whole.tolist() == [[0, 0], [1, 3], [2, 2]]
    assert columns.extent == (2, 3)
    assert columns.scaled.tolist() == [[0, 0], [0.5, 1], [1, 2 / 3]]


def test_a_gap_is_exact():
    columns = numeric_columns(points([[0, 0], [4, 4], [0, 1], [3, 4]]))
    test = LinearTest(("x", "y"), (1, -1), 0)
    assert columns.gap(test, np.array([2, 3]), np.array([0, 1])) == Fraction(1, 8)
    assert columns.gap(test, np.array([0, 3]), np.array([1, 2])) == Fraction(-1, 8)


def test_a_tree_with_too_small_a_gap_breaks_the_limits():
    data = points([[0, 0], [4, 4], [0, 1], [3, 4]], y=[0, 0, 1, 1])
    tree = ObliqueTree(
        Branch(LinearTest(("x", "y"), (1, -1), "-1/2"), Leaf(0), Leaf(1)), (0, 1), ("x", "y")
    )
    columns = numeric_columns(data)
    assert list(gaps_of(tree, columns, tree.routes(data).leaf)) == [Fraction(1, 8)]
    assert ObliqueTrees(1, gap="1/8").violations(tree, data) == []
    assert "gap of 0.125" in ObliqueTrees(1, gap="1/5").violations(tree, data)[0]
    assert "depth 1" in ObliqueTrees(0).violations(tree, data)[0]
    assert "2 leaves" in ObliqueTrees(1, max_leaf_nodes=1).violations(tree, data)[0]
    assert "2 rows" in ObliqueTrees(1, min_samples_leaf=3).violations(tree, data)[0]
    strange = ObliqueTree(Branch(LinearTest(("w",), (1,), 0), Leaf(0), Leaf(1)), (0, 1))
    assert "'w'" in ObliqueTrees(1).violations(strange, data)[0]


@pytest.mark.parametrize(
    "options", [{"max_depth": -1}, {"max_depth": 1, "gap": 0}, {"max_depth": 1, "gap": 2}]
)
def test_wrong_limits_are_refused(options):
    with pytest.raises(mt.errors.DataError, match="must be"):
        ObliqueTrees(**options)


def test_a_space_is_stored():
    space = ObliqueTrees(2, "1/50", 3, 4)
    assert ObliqueTrees.from_spec(json.loads(json.dumps(space.spec()))) == space


def test_no_split_has_a_smaller_gap_than_the_smallest():
    """All splits of random points, of two and of three columns; the bound is met for unit squares."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        p = 2 + seed % 2
        data = points(rng.integers(0, 4, size=(6, p)))
        columns = numeric_columns(data)
        if not columns.names:
            continue
        least = mt.oblique.smallest_gap(data)
        everything = (1 << data.n_rows) - 1
        prices = np.zeros(len(columns.names), dtype=np.int64)
        free = {s.below for s in Directions(columns, Fraction(0), prices).splits(everything)}
        kept = {s.below for s in Directions(columns, least, prices).splits(everything)}
        assert free == kept
    square = points([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert mt.oblique.smallest_gap(square) == Fraction(1, 2)


def test_points_in_the_plane_have_as_many_splits_as_they_can():
    """Cover's number: n points in general position have 1 + n (n - 1) / 2 splits, with the empty one."""
    data = points([[0, 0], [7, 1], [3, 8], [9, 6], [2, 3]])
    prices = np.zeros(2, dtype=np.int64)
    found = list(Directions(numeric_columns(data), Fraction(0), prices).splits(0b11111))
    assert len(found) == 10


def test_determinants():
    assert determinant([[3]]) == 3
    assert determinant([[0, 2], [5, 1]]) == -10
    assert determinant([[0, 1, 2], [1, 0, 3], [4, -3, 8]]) == -2
    assert determinant([[1, 2], [2, 4]]) == 0


def test_a_separating_test_has_few_digits_and_few_columns():
    columns = numeric_columns(points([[0.123, 5], [1.5, 3.71], [2.9, 9], [4.2, 1]]))
    below, above = np.array([0, 1]), np.array([2, 3])
    one = separating_test(columns, below, above, Fraction(1, 200))
    assert one == LinearTest(("x",), (1,), 2)
    assert separating_test(columns, np.array([0, 2]), np.array([1, 3]), Fraction(1, 2)) is None
    assert between(Fraction(1, 3), Fraction(2, 3)) == Fraction(1, 2)
    assert between(Fraction(1200), Fraction(1900)) == 1600
