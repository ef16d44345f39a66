"""Trees: routing, shape, changes that keep predictions, exchange as JSON."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.testing.strategies import datasets, trees

A, B = mt.BinaryFeature("a"), mt.BinaryFeature("b", "<=", 2.5)
TREE = mt.Tree(
    mt.plugins.Branch(
        A, mt.plugins.Leaf(0), mt.plugins.Branch(B, mt.plugins.Leaf(1), mt.plugins.Leaf(0))
    ),
    ("no", "yes"),
)
DATA = mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], [A, B])
QUIET = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_false_goes_left_and_true_goes_right():
    """Leaf, action and path of every row."""
    routes = TREE.routes(DATA)
    assert routes.leaf.tolist() == [0, 0, 1, 2]
    assert routes.action.tolist() == [0, 0, 1, 0]
    assert routes.paths == ((A,), (A, B), (A, B))
    assert routes.leaf_actions == (0, 1, 0)
    assert TREE.predict(DATA).tolist() == ["no", "no", "yes", "no"]


def test_the_shape_is_counted():
    """Depth, leaves and splits."""
    assert (TREE.depth, TREE.n_leaves, TREE.splits) == (2, 3, (A, B))
    single = mt.Tree(mt.plugins.Leaf(1), ("no", "yes"))
    assert (single.depth, single.n_leaves, single.splits) == (0, 1, ())
    assert single.predict(DATA).tolist() == ["yes"] * 4


def test_a_tree_predicts_on_raw_columns():
    """A table that was never binarized, by column name."""
    table = {"a": [0, 1, 1], "b": [9.0, 2.5, 2.6]}
    assert TREE.predict(table).tolist() == ["no", "no", "yes"]
    with pytest.raises(
        DataError, match="column 'b', which the table does not have; its columns are a"
    ):
        TREE.predict({"a": [0, 1]})


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (
            {"A ": [0], "c": [1]},
            "columns 'a', 'b', which .*; its columns are A , c. .*, 'A ' to 'a'[.]",
        ),
        (
            {"a": [0]},
            r"column 'b', which .* are a. Rename columns as they were called in training[.]$",
        ),
    ],
)
def test_all_columns_that_a_table_lacks_are_named_with_a_remedy(table, said):
    with pytest.raises(DataError, match=said):
        TREE.predict(table)
    by_place = mt.Tree(
        mt.plugins.Branch(mt.BinaryFeature("3", "<=", 1.0), mt.plugins.Leaf(0), mt.plugins.Leaf(1)),
        ("no", "yes"),
    )
    with pytest.raises(DataError, match="without names they are called 0, 1, 2, … by their places"):
        by_place.predict(table)


def test_a_tree_on_foreign_tests_is_refused():
    """It names the test that is missing."""
    with pytest.raises(DataError, match=r"'b <= 2\.5', which the data do not have"):
        TREE.routes(mt.Dataset([[0], [1]], [A]))


@QUIET
@given(st.data())
def test_json_and_back_is_the_same_tree(data):
    """Through text, with labels of any JSON type."""
    import json

    tree = data.draw(trees(data.draw(datasets()), 2))
    assert mt.Tree.from_json(json.loads(json.dumps(tree.to_json()))) == tree


@QUIET
@given(st.data())
def test_pruning_empty_sides_keeps_every_prediction(data):
    """No leaf is empty afterwards, and every row keeps its action."""
    dataset = data.draw(datasets())
    tree = data.draw(trees(dataset, 3))
    kept = tree.prune_empty(dataset)
    routes = kept.routes(dataset)
    assert (routes.action == tree.routes(dataset).action).all()
    assert np.bincount(routes.leaf, minlength=routes.n_leaves).min() >= 1
    assert kept.n_leaves <= tree.n_leaves


def test_mapped_tests_swap_children_or_disappear():
    """A complement swaps, a constant leaves the side it always takes."""
    swapped = TREE.map_tests(lambda t: (mt.BinaryFeature("not a"), True) if t is A else (t, False))
    assert swapped.root == mt.plugins.Branch(
        mt.BinaryFeature("not a"), TREE.root.right, TREE.root.left
    )
    assert TREE.map_tests(lambda t: True if t is A else (t, False)).root == TREE.root.right
    assert TREE.map_tests(lambda t: False if t is A else (t, False)).root == mt.plugins.Leaf(0)
