"""Common parts of models whose branch nodes hold weights of numeric columns.

Columns are scaled to [0,1] and the absolute weights of a node add up to at most 1, so that weighted
sums lie in [-1,1]. Rows on both sides of a split lie `gap` apart (`ObliqueTrees`). Solvers satisfy
rows to 1e-6: the models ask for `MODEL_SHORT` less, and so hold every tree that has the gap, with
room for their tolerances; trees that fall short of it by `SHORT` are still accepted.

What a solver returns as weights is not used. Its rows and leaves say which rows go which way, and
weights in exact rationals are found that separate these (`separating_test`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.models.nodes import Leaf, Node
from milp_trees.oblique.linear_test import LinearTest
from milp_trees.oblique.oblique_tree import ObliqueTree
from milp_trees.oblique.separating import branch, separating_test, widest
from milp_trees.oblique.space import SHORT
from milp_trees.oblique.view import ObliqueMatrix

#: By how much the gap of a model is smaller than that of the space.
MODEL_SHORT = Fraction(1, 100_000)


def model_gap(space: Any) -> float:
    """The gap that a model asks for."""
    return float(space.gap - MODEL_SHORT)


def decoded(
    view: ObliqueMatrix,
    space: Any,
    leaf: np.ndarray,
    action: Callable[[int], int],
    allowed: Callable[[int], list[int]],
    weights: Callable[[int], tuple[dict[int, float], float]],
) -> ObliqueTree:
    """The tree that sends every row to its heap leaf.

    Parameters
    ----------
    view : ObliqueMatrix
    space : ObliqueTrees
    leaf : int array of shape (n,)
        Heap number of the leaf of every row; a left child holds the rows below the split.
    action : callable (leaf) → int
    allowed : callable (node) → list of int
        Columns that the split of a branch node may use.
    weights : callable (node) → (weights of scaled columns, bound)
        What the model states; it is used only where no weights with the gap are found.
    """
    columns = view.numeric

    def walk(v: int, rows: np.ndarray) -> Node:
        if v >= 2**space.depth:
            return Leaf(action(v))
        on_left = leaf[rows] >> (space.depth - v.bit_length()) == 2 * v
        below, above = rows[on_left], rows[~on_left]
        if not len(above):
            return walk(2 * v, rows)
        if not len(below):
            return walk(2 * v + 1, rows)
        test = separating_test(columns, below, above, space.gap - SHORT, allowed(v))
        if test is None:
            test = as_stated(view, *weights(v))
        return branch(test, walk(2 * v + 1, above), walk(2 * v, below))

    return ObliqueTree(walk(1, np.arange(view.n_rows)), view.actions, view.column_names)


def as_stated(view: ObliqueMatrix, weights: dict[int, float], bound: float) -> LinearTest:
    """The test with a model's own weights of scaled columns, for points that break the model."""
    columns = view.numeric
    exact = {j: Fraction(w) / columns.width[j] for j, w in weights.items() if w}
    exact = exact or {0: 1 / columns.width[0]}
    moved = sum((w * columns.least[j] for j, w in exact.items()), Fraction(bound))
    return LinearTest(tuple(columns.names[j] for j in exact), tuple(exact.values()), moved)


def placed(
    tree: ObliqueTree, view: ObliqueMatrix, space: Any
) -> tuple[dict[int, tuple[np.ndarray, float, float]], dict[int, int], np.ndarray]:
    """The heap positions of a tree's nodes, and the heap leaf of every row.

    Returns
    -------
    splits : dict
        For every branch node the weights of the scaled columns, whose absolute values add up to 1,
        the largest sum of its rows below the split, and the least of those above.
    leaves : dict
        Action of every leaf.
    end : int array of shape (n,)
        Heap node in which every row ends.

    Raises
    ------
    LookupError
        A split has no weights with the gap that the model asks for.
    """
    columns, gap = view.numeric, model_gap(space)
    splits: dict[int, tuple[np.ndarray, float, float]] = {}
    leaves: dict[int, int] = {}
    end = np.zeros(view.n_rows, dtype=np.int64)

    def walk(node: Node, v: int, rows: np.ndarray) -> None:
        if isinstance(node, Leaf):
            leaves[v] = node.action
            end[rows] = v
            return
        test: Any = node.test
        holds = test.answers(columns.of(test, rows))
        below, above = rows[holds], rows[~holds]
        used = {columns.index[c]: w for c, w in zip(test.columns, test.weights, strict=True)}
        stated = {j: float(w * columns.width[j]) for j, w in used.items()}
        found = _split(columns.scaled, stated, below, above)
        if found[2] - found[1] < gap:
            best = widest(columns, below, above, list(used)) or stated
            found = _split(columns.scaled, best, below, above)
            if found[2] - found[1] < gap:
                raise LookupError(
                    "A split of the tree leaves a smaller gap than the model asks for."
                )
        splits[v] = found
        walk(node.right, 2 * v, below)
        walk(node.left, 2 * v + 1, above)

    walk(tree.prune_empty(view).top, 1, np.arange(view.n_rows))
    return splits, leaves, end


def _split(
    scaled: np.ndarray, weights: Mapping[int, float], below: np.ndarray, above: np.ndarray
) -> tuple[np.ndarray, float, float]:
    """Weights with absolute values that add up to 1, and the sums next to the bound."""
    a = np.zeros(scaled.shape[1])
    for j, w in weights.items():
        a[j] = w
    a /= np.abs(a).sum() or 1.0
    return a, float((scaled[below] @ a).max()), float((scaled[above] @ a).min())


def row_meanings(view: ObliqueMatrix) -> Callable[[Any], str]:
    """Words for the rows of a view: the rows of the data that they stand for."""
    members: list[list[int]] = [[] for _ in range(view.n_rows)]
    for row, i in enumerate(view.group.tolist()):
        members[i].append(row)
    return lambda i: f"row{'s' if len(members[i]) > 1 else ''} {', '.join(map(str, members[i]))}"
