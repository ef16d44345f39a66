"""Tiny ensembles to prune, each a case that a programme, a proof or a claim about pruning must
face; and random ones.

`EXAMPLES` maps a name to a function that makes the problem. References: Nan, Wang, Saligrama
(2016), "Optimally pruning decision tree ensembles with feature cost", ICML, whose first figure and
whose corollary on budgets are among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from milp_trees.data.dataset import Dataset
from milp_trees.models.ensemble import Ensemble
from milp_trees.models.tree_arrays import assemble
from milp_trees.problem import Problem
from milp_trees.spaces.pruned import PrunedEnsembles
from milp_trees.tasks.feature_costs import FeatureCosts, Group
from milp_trees.tasks.pruning import PrunedError

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
    """An ensemble from drawings of its trees.

    Parameters
    ----------
    trees : sequence of drawings
        A leaf is its label (a number where `classes` is None), a split `(label, column, threshold,
        left, right)`; left is `column <= threshold`.
    """
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
    """A tree as parallel arrays, node 0 its root."""
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
    """A problem from drawings of trees and the columns of the data.

    Parameters
    ----------
    rows : mapping of column to numbers
    y : sequence
        "A" and "B", or numbers: then the ensemble is one for regression.
    """
    columns, numeric = list(rows), np.array(list(rows.values()), dtype=float).T
    source = {"testing": name} if name else {}
    data = Dataset(np.zeros((len(y), 0)), numeric=numeric, columns=columns, y=y, source=source)
    classes = ("A", "B") if isinstance(y[0], str) else None
    return Problem(data, task, PrunedEnsembles(ensemble(trees, columns, classes)))


# -- the paper -------------------------------------------------------------------------------------


@example
def make_figure_1() -> Problem:
    """The first figure: in tree 1, node 1 tests feature 1 and its right child feature 2; one row
    pays, and ends in the left leaf below that child.

    Errors of tree 1 are (3, 0, 1, 0, 0) and prices, in errors, (2, 1/2). The relaxation of IP1 is
    1.75, with halves of nodes 3, 4, 5 and of both features; the optimum is 2.5. Tree 2 tests
    feature 2 first, then feature 1, and is best as a single leaf.
    """
    trees = [
        ("A", "x1", 0.5, "B", ("B", "x2", 0.5, "B", "A")),
        ("B", "x2", 0.5, ("A", "x1", 0.5, "A", "A"), "A"),
    ]
    rows = {"x1": [1, 1, 0, 0], "x2": [0, 1, 0, 1]}
    # The row with label A is one that tree 2 was grown on: its errors are counted on the others.
    task = PrunedError(
        "1/7",
        FeatureCosts([2, "1/2"]),
        error_weights=[[1, 1], [1, 0], [1, 1], [1, 1]],
        cost_weights=[1, 0, 0, 0],
    )
    return pruning_problem(trees, rows, ["B", "A", "B", "B"], task, "figure-1")


@example
def make_mirrored_trees() -> Problem:
    """One row and two trees, with feature 1 at the root and feature 2 at its inner child: the right
    one in tree 1, the left one in tree 2.

    IP3's matrix is totally unimodular, as always. Its rows differenced from leaf to leaf, as in the
    published proof (each w a leaf between the children of its node), with w ≤ W below them, are
    not.
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
    """Two stumps with prices 2 and 3, gains 3 and 4, and a budget of 3: 6 errors are left; the hull
    has 7, the relaxation 17/3.
    """
    rows = {"x1": [1, 1, 1, 0, 0, 0, 0, 0, 0, 0], "x2": [0, 0, 0, 1, 1, 1, 1, 0, 0, 0]}
    # Each tree answers for a part of the rows: 3 and 4 that its split gets right, and 3 that tree 2
    # gets wrong either way.
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
    """A split whose gain is what its feature costs at this λ: both prunings are optimal, and so is
    all between them.
    """
    return pruning_problem(
        [("A", "x1", 0.5, "A", "B")], {"x1": [0, 1]}, ["A", "B"], PrunedError("1/2"), "tie"
    )


@example
def make_negative_gain() -> Problem:
    """Errors on rows that the trees have not seen: a split that loses a row, below it one that wins
    two.
    """
    tree = ("A", "x1", 0.5, ("B", "x2", 0.5, "A", "B"), "A")
    rows = {"x1": [0, 0, 0, 1, 1], "x2": [0, 0, 1, 0, 1]}
    return pruning_problem(
        [tree], rows, ["A", "A", "B", "A", "A"], PrunedError("1/20"), "negative-gain"
    )


@example
def make_repeated_feature() -> Problem:
    """A feature that is tested again below itself is free there; a leaf of the other tree needs it
    as well.
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
    """Nothing to prune: a tree that is one leaf."""
    return pruning_problem(["A"], {"x1": [0, 1]}, ["A", "B"], PrunedError("1/2"), "single-node")


@example
def make_leaf_and_stump() -> Problem:
    """A tree that is one leaf beside one that is not, and a feature that is given away."""
    task = PrunedError("1/2", FeatureCosts({"x1": 0}))
    return pruning_problem(
        ["A", ("A", "x1", 0.5, "A", "B")], {"x1": [0, 1]}, ["A", "B"], task, "leaf-and-stump"
    )


@example
def make_free_features() -> Problem:
    """λ = 0: every tree is pruned alone, for errors; the second is best as a leaf."""
    trees = [
        ("A", "x1", 0.5, ("B", "x2", 0.5, "A", "B"), "B"),
        ("B", "x2", 0.5, "B", ("B", "x1", 0.5, "A", "A")),
    ]
    rows = {"x1": [0, 0, 1, 1], "x2": [0, 1, 0, 1]}
    return pruning_problem(trees, rows, ["A", "B", "B", "B"], PrunedError(0), "free-features")


@example
def make_knapsack() -> Problem:
    """Four stumps as items of equal gain per price: a budget of 10 is for the two of 5, where the
    largest first leaves room for no other but the smallest.
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
    """Features bought together for a row, one of them with no price of its own, and a device above
    them that is bought once.
    """
    groups = [
        Group("blood", ["x1", "x2"], "1/2"),
        Group("laboratory", ["blood", "x3"], "1/4", once=True),
    ]
    task = PrunedError("1/10", FeatureCosts({"x1": "1/4", "x2": 0, "x3": 1}, groups=groups))
    return pruning_problem(_SHARED, _CUBE, _LABELS, task, "groups")


@example
def make_dear_group() -> Problem:
    """A group so dear that no feature of it pays, though each would alone."""
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
    """Features for nothing, on devices that are bought once for all rows."""
    groups = [Group("first", ["x1", "x2"], "1/2", once=True), Group("second", ["x3"], 2, once=True)]
    return pruning_problem(
        _SHARED, _CUBE, _LABELS, PrunedError("1/2", FeatureCosts(0, groups=groups)), "devices"
    )


@example
def make_keep_cost() -> Problem:
    """Every node that is evaluated costs, and every leaf; features do not."""
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
    """Prices that differ by row, nothing among them, and row weights."""
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


# -- random ones, and all prunings -----------------------------------------------------------------


def random_problem(
    rng: np.random.Generator,
    n_trees: int = 2,
    depth: int = 2,
    n_features: int = 3,
    n_rows: int = 5,
    budget: bool = False,
    prices: str = "any",
    lam: Any = None,
) -> Problem:
    """Random trees on random rows that they were not grown on (so gains may be negative), with
    rational prices and λ.

    Parameters
    ----------
    rng : numpy.random.Generator
    n_trees, depth, n_features, n_rows : int
        Trees have at most that depth; features may be tested repeatedly.
    budget : bool, default=False
        Whether there is one (`max_cost`): then λ may be 0.
    prices : {"any", "features"}
        `any` draws groups (some bought once), node and leaf prices, prices by row and weights too;
        `features` a price per feature.
    lam : number, optional
        By default drawn.
    """
    columns = [f"x{k + 1}" for k in range(n_features)]

    def grow(levels: int) -> Drawing:
        label = str(rng.choice(["A", "B"]))
        if not levels or rng.random() < 0.2:
            return label
        return (
            label,
            str(rng.choice(columns)),
            float(rng.integers(3)) + 0.5,
            grow(levels - 1),
            grow(levels - 1),
        )

    rows = {c: rng.integers(0, 4, n_rows).astype(float).tolist() for c in columns}
    costs = (
        _random_costs(rng, columns, n_rows)
        if prices == "any"
        else FeatureCosts([_rational(rng, 6) for _ in columns])
    )
    error_weights = (
        rng.integers(0, 3, (n_rows, n_trees)) if rng.random() < 0.4 else rng.integers(0, 3, n_rows)
    )
    error_weights[0] = 1
    cost_weights = rng.integers(0, 3, n_rows)
    cost_weights[-1] = 1
    if lam is None:
        lam = Fraction(0) if budget and rng.random() < 0.5 else _rational(rng, 3) / 2
    most = _rational(rng, 8) * n_features / 3 if budget else None
    task = PrunedError(lam, costs, error_weights, cost_weights, max_cost=most)
    return pruning_problem(
        [grow(depth) for _ in range(n_trees)],
        rows,
        [str(c) for c in rng.choice(["A", "B"], n_rows)],
        task,
    )


def _random_costs(rng: np.random.Generator, columns: list[str], n_rows: int) -> FeatureCosts:
    groups = []
    if rng.random() < 0.5:
        groups = [
            Group(
                "g",
                columns[: int(rng.integers(1, len(columns) + 1))],
                _rational(rng, 4),
                once=bool(rng.random() < 0.4),
            )
        ]
        if rng.random() < 0.4:
            groups.append(
                Group(
                    "above", ["g", *columns[-1:]], _rational(rng, 4), once=bool(rng.random() < 0.5)
                )
            )
    per_row = None
    if rng.random() < 0.25:
        per_row = np.array(
            [[_rational(rng, 3) for _ in columns] for _ in range(n_rows)], dtype=object
        )
    features = [Fraction(0) if rng.random() < 0.2 else _rational(rng, 6) for _ in columns]
    node, leaf = (_rational(rng, 2) / 8 if rng.random() < 0.3 else Fraction(0) for _ in range(2))
    return FeatureCosts(features, per_row, groups, node, leaf)


def _rational(rng: np.random.Generator, largest: int) -> Fraction:
    """A rational between 0 and `largest` with a small denominator."""
    below = int(rng.choice([1, 2, 3, 7]))
    return Fraction(int(rng.integers(0, largest * below + 1)), below)


def all_prunings(ensemble: Ensemble) -> Iterator[Ensemble]:
    """Every pruning of an ensemble, once; for tiny ones: their number is the product over the
    trees.
    """

    def of(h: int) -> list[tuple[int, ...]]:
        if ensemble.left[h] < 0:
            return [()]
        both = product(of(int(ensemble.left[h])), of(int(ensemble.right[h])))
        return [(), *((h, *a, *b) for a, b in both)]

    for kept in product(*(of(int(root)) for root in ensemble.roots)):
        keep = np.zeros(ensemble.n_nodes, dtype=bool)
        keep[[h for tree in kept for h in tree]] = True
        yield ensemble.pruned(keep)
