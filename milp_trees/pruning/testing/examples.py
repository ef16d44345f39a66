"""Tiny ensembles to prune, each a special case of a program, a proof or a claim; and random ones.

`EXAMPLES` maps a name to a function that makes the problem. Reference: Nan, Wang, Saligrama (2016),
"Optimally pruning decision tree ensembles with feature cost", ICML; its first figure and its
corollary on budgets are among the examples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.data.dataset import Dataset
from milp_trees.models.ensemble import Ensemble
from milp_trees.models.tree_arrays import assemble
from milp_trees.problems.problem import Problem
from milp_trees.pruning.feature_costs import FeatureCosts, Group
from milp_trees.pruning.space import PrunedEnsembles
from milp_trees.pruning.tasks.pruned_error import PrunedError

#: All examples: name → function that makes the problem.
EXAMPLES: dict[str, Callable[[], Problem]] = {}

#: A leaf is its label; a split is (label it has as a leaf, column, threshold, left, right).
Drawing = Any


def example(make: Callable[[], Problem]) -> Callable[[], Problem]:
    """Register a function under its own name."""
    EXAMPLES[make.__name__.removeprefix("make_").replace("_", "-")] = make
    return make


# -- building --------------------------------------------------------------------------------------


def ensemble(
    trees: Sequence[Drawing], columns: Sequence[str], classes: Sequence[Any] | None = ("A", "B")
) -> Ensemble:
    """An ensemble from drawings of its trees."""
    more: dict[str, Any] = {
        "classes": None if classes is None else tuple(classes),
        "single": False,
        "normalise": False,
    }
    arrays = [_arrays(t, columns, classes) for t in trees]
    return Ensemble(**assemble(arrays, columns), **more)


def _arrays(
    drawing: Drawing, columns: Sequence[str], classes: Sequence[Any] | None
) -> dict[str, np.ndarray]:
    """A tree as parallel arrays; node 0 is its root."""
    rows: list[list[Any]] = []

    def add(node: Drawing) -> int:
        split = node if isinstance(node, tuple) else (node, None, 0.0, None, None)
        at = len(rows)
        rows.append(
            [
                -1,
                -1,
                -1 if split[1] is None else columns.index(split[1]),
                split[2],
                _value(split[0], classes),
            ]
        )
        if split[1] is not None:
            rows[at][0], rows[at][1] = add(split[3]), add(split[4])
        return at

    add(drawing)
    names = ("left", "right", "column", "threshold", "value")
    return {
        name: np.array([r[j] for r in rows], dtype=float if j > 2 else np.int64)
        for j, name in enumerate(names)
    }


def _value(label: Any, classes: Sequence[Any] | None) -> list[float]:
    return [float(label)] if classes is None else [float(c == label) for c in classes]


def pruning_problem(
    trees: Sequence[Drawing],
    rows: Mapping[str, Sequence[float]],
    y: Any,
    task: PrunedError,
    name: str = "",
) -> Problem:
    """A problem from drawings of trees and the columns of the data."""
    columns, numeric = list(rows), np.array(list(rows.values()), dtype=float).T
    source = {"testing": name} if name else {}
    data = Dataset(np.zeros((len(y), 0)), numeric=numeric, columns=columns, y=y, source=source)
    classes = ("A", "B") if isinstance(y[0], str) else None
    return Problem(data, task, PrunedEnsembles(ensemble(trees, columns, classes)))


# -- the paper -------------------------------------------------------------------------------------


@example
def make_figure_1() -> Problem:
    """The paper's first figure.

    In tree 1, node 1 tests feature 1 and its right child feature 2; one row pays, and ends in the
    left leaf below that child. Errors of tree 1 are (3, 0, 1, 0, 0) and prices, in errors, (2,
    1/2). The relaxation of IP1 is 1.75, with halves of nodes 3, 4, 5 and of both features; the
    optimum is 2.5. Tree 2 tests feature 2 first, then feature 1, and is best as a single leaf.
    """
    trees = [
        ("A", "x1", 0.5, "B", ("B", "x2", 0.5, "B", "A")),
        ("B", "x2", 0.5, ("A", "x1", 0.5, "A", "A"), "A"),
    ]
    rows = {"x1": [1, 1, 0, 0], "x2": [0, 1, 0, 1]}
    # Tree 2 was fitted on the row with label A, so its errors are counted on the other rows.
    task = PrunedError(
        "1/7",
        FeatureCosts([2, "1/2"]),
        error_weights=[[1, 1], [1, 0], [1, 1], [1, 1]],
        cost_weights=[1, 0, 0, 0],
    )
    return pruning_problem(trees, rows, ["B", "A", "B", "B"], task, "figure-1")


@example
def make_mirrored_trees() -> Problem:
    """One row and two trees with feature 1 at the root and feature 2 at an inner child.

    The inner child is the right one in tree 1 and the left one in tree 2. IP3's matrix is totally
    unimodular, as always. But its rows differenced from leaf to leaf, as in the published proof
    (each w a leaf between the children of its node), with w ≤ W below them, are not.
    """
    trees = [
        ("A", "x1", 0.5, "A", ("A", "x2", 0.5, "B", "A")),
        ("A", "x1", 1.5, ("A", "x2", 0.5, "B", "A"), "A"),
    ]
    return pruning_problem(
        trees, {"x1": [1], "x2": [0]}, ["B"], PrunedError("1/4"), "mirrored-trees"
    )


@example
def make_half_a_split() -> Problem:
    """A budget of half a feature: the relaxation keeps half a split, a pruning none."""
    task = PrunedError(0, max_cost="1/2")
    return pruning_problem(
        [("A", "x1", 0.5, "A", "B")], {"x1": [0, 1]}, ["A", "B"], task, "half-a-split"
    )


@example
def make_two_items() -> Problem:
    """Two stumps with prices 2 and 3, gains 3 and 4, and a budget of 3.

    The best pruning has 6 errors, the hull gives 7, and the relaxation 17/3.
    """
    rows = {"x1": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0], "x2": [0, 0, 0, 1, 1, 1, 1, 0, 0, 0]}
    # Each tree is scored on a part of the rows: 3 and 4 that its split gets right, and 3 that
    # tree 2 gets wrong with and without its split.
    weights = [[1, 0]] * 3 + [[0, 1]] * 7
    task = PrunedError(0, FeatureCosts([2, 3]), error_weights=weights, max_cost=3)
    return pruning_problem(
        [("A", "x1", 0.5, "A", "B"), ("A", "x2", 0.5, "A", "B")],
        rows,
        ["B"] * 10,
        task,
        "two-items",
    )


# -- ties, signs, shapes ---------------------------------------------------------------------------


@example
def make_tie() -> Problem:
    """A split whose gain equals the cost of its feature at this λ.

    Both prunings are optimal, and so are all points between them.
    """
    return pruning_problem(
        [("A", "x1", 0.5, "A", "B")], {"x1": [0, 1]}, ["A", "B"], PrunedError("1/2"), "tie"
    )


@example
def make_negative_gain() -> Problem:
    """Errors on rows that the trees were not fitted on.

    A split adds an error, and the split below it saves two.
    """
    tree = ("A", "x1", 0.5, ("B", "x2", 0.5, "A", "B"), "A")
    rows = {"x1": [0, 0, 0, 1, 1], "x2": [0, 0, 1, 0, 1]}
    return pruning_problem(
        [tree], rows, ["A", "A", "B", "A", "A"], PrunedError("1/20"), "negative-gain"
    )


@example
def make_repeated_feature() -> Problem:
    """A feature that is tested again below its first test, where it is free.

    A leaf of the other tree needs it as well.
    """
    deep = ("A", "x1", 1.5, ("A", "x2", 0.5, ("B", "x1", 0.5, "A", "B"), "A"), "B")
    rows = {"x1": [0, 1, 2, 1, 0, 2], "x2": [0, 0, 1, 1, 0, 0]}
    return pruning_problem(
        [deep, ("B", "x1", 0.5, "A", "B")],
        rows,
        ["A", "B", "B", "A", "A", "B"],
        PrunedError("1/10"),
        "repeated-feature",
    )


@example
def make_single_node() -> Problem:
    """A tree that is one leaf, so there is nothing to prune."""
    return pruning_problem(["A"], {"x1": [0, 1]}, ["A", "B"], PrunedError("1/2"), "single-node")


@example
def make_leaf_and_stump() -> Problem:
    """A tree that is one leaf, another that is not, and a feature that is free."""
    task = PrunedError("1/2", FeatureCosts({"x1": 0}))
    return pruning_problem(
        ["A", ("A", "x1", 0.5, "A", "B")], {"x1": [0, 1]}, ["A", "B"], task, "leaf-and-stump"
    )


@example
def make_free_features() -> Problem:
    """λ = 0: every tree is pruned separately, for errors; the second is best as a leaf."""
    trees = [
        ("A", "x1", 0.5, ("B", "x2", 0.5, "A", "B"), "B"),
        ("B", "x2", 0.5, "B", ("B", "x1", 0.5, "A", "A")),
    ]
    rows = {"x1": [0, 0, 1, 1], "x2": [0, 1, 0, 1]}
    return pruning_problem(trees, rows, ["A", "B", "B", "B"], PrunedError(0), "free-features")


@example
def make_knapsack() -> Problem:
    """Four stumps as items with equal gain per price, and a budget of 10.

    The best choice is the two of price 5. With the largest item, only the smallest one also fits.
    """
    gains, prices = (6, 5, 5, 1), (6, 5, 5, 1)
    where = np.repeat(np.arange(4), gains)
    rows = {f"x{t + 1}": (where == t).astype(float).tolist() for t in range(4)}
    trees = [("A", f"x{t + 1}", 0.5, "A", "B") for t in range(4)]
    weights = (where[:, None] == np.arange(4)).astype(int)
    return pruning_problem(
        trees,
        rows,
        ["B"] * len(where),
        PrunedError(0, FeatureCosts(prices), weights, max_cost=10),
        "knapsack",
    )


# -- prices ----------------------------------------------------------------------------------------

_SHARED = [
    ("A", "x1", 0.5, ("A", "x2", 0.5, "A", "B"), "B"),
    ("A", "x2", 0.5, ("A", "x3", 0.5, "A", "B"), ("B", "x3", 0.5, "B", "A")),
]
_CUBE = {
    "x1": [0, 0, 0, 0, 1, 1, 1, 1],
    "x2": [0, 0, 1, 1, 0, 0, 1, 1],
    "x3": [0, 1, 0, 1, 0, 1, 0, 1],
}
_LABELS = ["A", "B", "B", "A", "B", "B", "B", "A"]


@example
def make_groups() -> Problem:
    """Features bought together for a row, and a device above them that is bought once.

    One of the features has no price of its own.
    """
    groups = [
        Group("blood", ["x1", "x2"], "1/2"),
        Group("laboratory", ["blood", "x3"], "1/4", once=True),
    ]
    task = PrunedError("1/10", FeatureCosts({"x1": "1/4", "x2": 0, "x3": 1}, groups=groups))
    return pruning_problem(_SHARED, _CUBE, _LABELS, task, "groups")


@example
def make_dear_group() -> Problem:
    """An expensive group: no feature of it is worth its price, but each would be alone."""
    groups = [Group("scan", ["x1", "x2", "x3"], 5)]
    return pruning_problem(
        _SHARED,
        _CUBE,
        _LABELS,
        PrunedError("1/10", FeatureCosts("1/10", groups=groups)),
        "dear-group",
    )


@example
def make_devices() -> Problem:
    """Free features on devices that are bought once for all rows."""
    groups = [Group("first", ["x1", "x2"], "1/2", once=True), Group("second", ["x3"], 2, once=True)]
    return pruning_problem(
        _SHARED, _CUBE, _LABELS, PrunedError("1/2", FeatureCosts(0, groups=groups)), "devices"
    )


@example
def make_keep_cost() -> Problem:
    """Every evaluated node and every leaf has a price; features have none."""
    task = PrunedError("1/10", FeatureCosts(0, node="1/5", leaf="1/20"))
    return pruning_problem(_SHARED, _CUBE, _LABELS, task, "keep-cost")


@example
def make_all_prices_and_a_budget() -> Problem:
    """Prices by feature, group, node and leaf, and a budget that the best pruning would exceed."""
    costs = FeatureCosts(
        {"x1": 1, "x2": "1/2", "x3": "1/4"},
        groups=[Group("pair", ["x2", "x3"], "1/8")],
        node="1/16",
        leaf="1/16",
    )
    return pruning_problem(
        _SHARED,
        _CUBE,
        _LABELS,
        PrunedError("1/50", costs, max_cost="3/2"),
        "all-prices-and-a-budget",
    )


@example
def make_prices_by_row() -> Problem:
    """Prices that differ by row, some of them 0, and row weights."""
    prices = [[i % 3, (i + 1) % 2, Fraction(i, 4)] for i in range(8)]
    task = PrunedError(
        "1/9",
        FeatureCosts(per_row=prices),
        error_weights=[1, 2, 1, 1, 3, 1, 1, 1],
        cost_weights=[1, 1, 0, 2, 1, 1, 1, 1],
    )
    return pruning_problem(_SHARED, _CUBE, _LABELS, task, "prices-by-row")


@example
def make_regression() -> Problem:
    """Trees that predict numbers: squared errors, equal up to the stated tolerance."""
    trees = [(0.4, "x1", 0.5, (0.1, "x2", 0.5, 0.0, 0.3), 0.7), (0.5, "x3", 0.5, 0.2, 0.9)]
    y = [0.0, 0.31, 0.2, 0.55, 0.61, 0.83, 0.7, 1.0]
    return pruning_problem(trees, _CUBE, y, PrunedError("1/100"), "regression")
