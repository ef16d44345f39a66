"""A greedy oblique tree: the best split of each node along a few directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.models.nodes import Leaf, Node
from milp_trees.oblique.oblique_tree import ObliqueTree
from milp_trees.oblique.separating import branch, separating_test

if TYPE_CHECKING:
    from milp_trees.oblique.space import ObliqueTrees
    from milp_trees.oblique.view import ObliqueMatrix

#: Directions between pairs of rows that are tried at a node, and the seed with which pairs are drawn.
PAIRS, SEED = 400, 0
#: Splits of a node whose weights are looked for, the most promising first.
TRIED = 5


def greedy_tree(view: ObliqueMatrix, space: ObliqueTrees, deadline: Any) -> ObliqueTree:
    """A tree of splits each of which lowers the cost of its node most, prices included.

    Directions are the columns, the differences of the means of rows with different cheapest
    actions, and those of pairs of rows. Splits that lower nothing are left out.

    Parameters
    ----------
    view : ObliqueMatrix
    space : ObliqueTrees
    deadline : Deadline
        After it no further split is made.
    """
    rng = np.random.default_rng(SEED)
    left = [(space.most_leaves or 1) - 1]

    def leaf(rows: np.ndarray) -> Leaf:
        return Leaf(int(view.costs[rows].sum(axis=0).argmin()))

    def walk(rows: np.ndarray, depth: int) -> Node:
        if not depth or not left[0] or deadline.passed:
            return leaf(rows)
        found = _split(view, space, rows, rng)
        if found is None:
            return leaf(rows)
        test, below, above = found
        left[0] -= 1
        return branch(test, walk(above, depth - 1), walk(below, depth - 1))

    root = walk(np.arange(view.n_rows), space.depth)
    return ObliqueTree(root, view.actions, view.column_names)


def _directions(view: ObliqueMatrix, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Weights of scaled columns, with absolute values that add up to 1; shape (D, p)."""
    x, best = view.numeric.scaled[rows], view.costs[rows].argmin(axis=1)
    means = np.array([x[best == k].mean(axis=0) for k in np.unique(best)])
    first, second = rng.integers(0, len(rows), size=(2, PAIRS))
    apart = [x[first] - x[second]]
    if x.shape[1] == 2:  # along the line through two rows
        apart.append(apart[0][:, ::-1] * [1, -1])
    apart += [means[a] - means[b] for a in range(len(means)) for b in range(a)]
    every = np.vstack([np.eye(x.shape[1]), *map(np.atleast_2d, apart)])
    sizes = np.abs(every).sum(axis=1)
    return every[sizes > 0] / sizes[sizes > 0, None]


def _split(
    view: ObliqueMatrix, space: ObliqueTrees, rows: np.ndarray, rng: np.random.Generator
) -> tuple[Any, np.ndarray, np.ndarray] | None:
    """The test of the cheapest split of some rows, and the rows on both sides."""
    if len(rows) < 2 or not view.numeric.names:
        return None
    costs, counts = view.costs[rows], view.counts[rows]
    whole = int(costs.sum(axis=0).min())
    found: list[tuple[int, tuple[int, ...], np.ndarray]] = []
    for weights in _directions(view, rows, rng):
        sums = view.numeric.scaled[rows] @ weights
        order = np.argsort(sums, kind="stable")
        lower = np.cumsum(costs[order], axis=0)[:-1]
        upper = costs.sum(axis=0) - lower
        held = np.cumsum(counts[order])[:-1]
        enough = np.minimum(held, counts.sum() - held) >= space.min_samples_leaf
        wide = np.diff(sums[order]) >= float(space.gap)
        used = tuple(np.flatnonzero(weights).tolist())
        price = view.split_cost + view.leaf_cost + int(view.column_costs[list(used)].sum())
        total = lower.min(axis=1) + upper.min(axis=1) + price
        places = np.flatnonzero(enough & wide)
        if len(places):
            at = int(places[total[places].argmin()])
            found.append((int(total[at]), used, order[: at + 1]))
    for total_cost, used, lower_rows in sorted(found, key=lambda one: one[0])[:TRIED]:
        if total_cost >= whole:
            return None
        inside = np.zeros(len(rows), dtype=bool)
        inside[lower_rows] = True
        below, above = rows[inside], rows[~inside]
        test = separating_test(view.numeric, below, above, space.gap, used)
        if test is not None:
            return test, below, above
    return None
