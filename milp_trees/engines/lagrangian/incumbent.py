"""The best feasible tree so far, and the repair that makes trees feasible. Loads numba."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.engines.lagrangian.tables import FAR, within_far
from milp_trees.engines.lagrangian.vector_kernels import cheapest_pair
from milp_trees.methods.trace import Trace
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix

#: Labellings of half of the leaves that the repair lists; trees with more are left as they are.
MOST_LABELLINGS = 2**14
#: Up to so many leaves, sums over them are products with a 0/1 matrix.
FEW_LEAVES = 8


class Labellings(NamedTuple):
    """Labellings of some leaves: actions, and (cost, totals…) of each."""

    actions: np.ndarray
    rows: np.ndarray


class TreeTotals(NamedTuple):
    """Objective and side totals of a tree, and the leaf of every row."""

    value: int
    totals: tuple[int, ...]
    leaf: np.ndarray


class Incumbent:
    """The best feasible tree, its objective, the bound, and the trace of both.

    Parameters
    ----------
    view : CostMatrix
        Reduced, with its side rows.
    trace : Trace
    began : float
        Reading of `run_clock` from which seconds are counted.
    found : callable, optional
        Called when the first feasible tree is found.
    """

    #: What proves the bounds, for certificates.
    prover = "lagrangian"

    def __init__(
        self,
        view: CostMatrix,
        trace: Trace,
        began: float,
        found: Callable[[], None] = lambda: None,
    ) -> None:
        self.view, self.trace, self.began, self.found = view, trace, began, found
        self.tree: Tree | None = None
        self.value: int | None = None
        self.bound = int(view.base.sum()) + view.leaf_cost
        #: No two objectives differ by less, unless they are equal.
        self.unit = unit_of(view)

    @property
    def proven(self) -> bool:
        return self.value is not None and self.bound >= self.value

    def raise_bound(self, bound: int) -> None:
        """Take note of a lower bound; it is rounded up to what an objective can be."""
        base = int(self.view.base.sum())
        bound = base + -(-(bound - base) // self.unit) * self.unit
        if bound > self.bound:
            self.bound = bound
            self.note()

    def measure(self, tree: Tree) -> TreeTotals:
        """Objective and side totals of a tree whose tests are the view's."""
        view = self.view
        routes, rows = tree.routes(view), np.arange(view.n_rows)
        value = int(view.costs[rows, routes.action].sum()) + view.leaf_cost * tree.n_leaves
        value += sum(int(view.split_costs[view.index[test]]) for test in tree.splits)
        totals = tuple(int(row.coefs[rows, routes.action].sum()) for row in view.side)
        return TreeTotals(value, totals, routes.leaf)

    def offer(self, tree: Tree) -> TreeTotals:
        """Keep a tree if it is feasible and better; its leaves may get other actions first."""
        measured = self.measure(tree)
        self._take(tree, measured)
        repaired = self.relabelled(tree, measured.leaf)
        if repaired is not None:
            self.take(repaired)
        return measured

    def take(self, tree: Tree) -> None:
        """Keep a tree if it is feasible and better than the best one."""
        self._take(tree, self.measure(tree))

    def _take(self, tree: Tree, measured: TreeTotals) -> None:
        better = self.value is None or measured.value < self.value
        if better and all(
            row.holds(t) for row, t in zip(self.view.side, measured.totals, strict=True)
        ):
            if self.value is None:
                self.found()
            self.value, self.tree = measured.value, tree
            self.note()

    def note(self) -> None:
        """Add a point to the trace."""
        natural = self.view.to_value
        bound = self.bound if self.value is None else min(self.bound, self.value)
        self.trace.add(
            run_clock() - self.began,
            None if self.value is None else float(natural(self.value)),
            float(natural(bound)),
        )

    # -- repair ----------------------------------------------------------------------------------------------

    def relabelled(self, tree: Tree, leaf: np.ndarray) -> Tree | None:
        """The tree with the best feasible actions of its leaves; None if there are none.

        The labellings of both halves of the leaves are listed and put together, as for a knapsack.
        It is also None if they are too many. `leaf` is the leaf of every row.
        """
        view = self.view
        if not view.side or view.n_actions ** ((tree.n_leaves + 1) // 2) > MOST_LABELLINGS:
            return None
        matrices = [view.costs, *(row.coefs for row in view.side)]
        sums, n = _leaf_sums(leaf, tree.n_leaves, matrices), tree.n_leaves
        first, second = _labellings(sums[: n // 2]), _labellings(sums[n // 2 :])
        lower = np.array(
            [-FAR, *(-FAR if r.lower is None else within_far(r.lower) for r in view.side)]
        )
        upper = np.array(
            [FAR, *(FAR if r.upper is None else within_far(r.upper) for r in view.side)]
        )
        a, b = np.argsort(-first.rows[:, 1]), np.argsort(second.rows[:, 1])
        _, i, k = cheapest_pair(
            np.ascontiguousarray(first.rows[a]),
            np.ascontiguousarray(second.rows[b]),
            lower,
            upper,
            FAR,
            np.zeros(1, np.uint8),
        )
        if i < 0:
            return None
        actions = iter([*first.actions[a[i]].tolist(), *second.actions[b[k]].tolist()])
        return Tree(_with_actions(tree.root, actions), tree.actions)


def _with_actions(node: Node, actions) -> Node:  # type: ignore[no-untyped-def]
    if isinstance(node, Leaf):
        return Leaf(next(actions))
    left = _with_actions(node.left, actions)
    return Branch(node.test, left, _with_actions(node.right, actions))


def _leaf_sums(leaf: np.ndarray, n: int, matrices: list[np.ndarray]) -> np.ndarray:
    """Sums of every matrix over the rows of every leaf, shape (n, K, matrices), exact."""
    if n <= FEW_LEAVES:  # in whole numbers; in a fraction of the time of `add.at`
        member = (leaf == np.arange(n)[:, None]).astype(np.int64)
        return np.stack([member @ matrix for matrix in matrices], axis=2)
    out = np.zeros((n, matrices[0].shape[1], len(matrices)), dtype=np.int64)
    for j, matrix in enumerate(matrices):
        np.add.at(out[:, :, j], leaf, matrix)
    return out


def _labellings(sums: np.ndarray) -> Labellings:
    """All labellings of leaves with these sums, shape (n, K, J)."""
    n, K, J = sums.shape
    actions = np.indices((K,) * n).reshape(n, K**n).T
    rows = np.zeros((len(actions), J), dtype=np.int64)
    for at in range(n):
        rows += sums[at, actions[:, at]]
    return Labellings(actions, rows)


def unit_of(view: CostMatrix) -> int:
    """The greatest common divisor of all regrets and penalties; 1 if all are zero."""
    return (
        int(
            np.gcd.reduce(
                np.concatenate([view.regret.ravel(), view.split_costs.ravel(), [view.leaf_cost]])
            )
        )
        or 1
    )
