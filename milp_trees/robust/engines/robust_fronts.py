"""`robust-fronts`: exact search over trees by what it costs to make each row wrong.

A subtree below some tests is described by one number per row: the least price at which the row is
shifted into it and made wrong there. Two subtrees below a split combine by the smaller of both
numbers, and higher numbers are never worse. So a box and a number of levels have a front of
subtrees of which none is at least as good as another on every row, with at most as high penalties.
The errors that a subtree alone admits are a lower bound, by which most of them are dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.registering import register
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.results.result import Result, TracePoint
from milp_trees.robust.space import RobustTrees
from milp_trees.robust.view import WorstCase

if TYPE_CHECKING:
    from milp_trees.common.limits import Limits
    from milp_trees.methods.trace import Progress
    from milp_trees.problems.problem import Problem

#: Number of subtrees up to which all pairs of a front are compared.
MOST_COMPARED = 3000
#: Number of prices that are combined at once.
BLOCK = 4_000_000


@register
class RobustFronts(Method):
    """Fronts of subtrees below boxes."""

    name = "robust-fronts"
    title: ClassVar[str] = "Exact search over fronts of subtrees under shifts"
    space = RobustTrees
    needs = WorstCase
    shared_components: ClassVar[frozenset[str]] = frozenset({"worst case"})
    verification_rank: ClassVar[int] = 20
    default_rank: ClassVar[int | None] = 30
    reference_rank: ClassVar[int | None] = 30
    libraries: ClassVar[tuple[str, ...]] = ("numpy",)

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            view = problem.view(WorstCase)
        watch = Watch(limits, clock.begin, problem)
        found = ShiftSearch(view, problem.space_as(RobustTrees), watch, start)
        with clock("solve"):
            _, limit = watch.until(found.run)
        Z = view.unavoidable if limit is not None else view.objective(found.best)
        return finish(
            problem,
            self.name,
            found.best,
            bound=view.to_value(Z),
            claims_optimal=limit is None,
            proved_by=self.name,
            clock=clock,
            limit=limit,
            watch=watch,
            trace=tuple(found.trace(clock.begin)),
            model_size={"boxes": len(found.known), "subtrees": found.subtrees},
        )


class Front:
    """Subtrees below a box.

    Parameters
    ----------
    prices : int64 array of shape (m, n)
        Least price at which each subtree makes each row wrong.
    costs, leaves : int64 arrays of shape (m,)
        Penalties of the splits and leaves, and number of leaves.
    nodes : list of Node, length m
    """

    def __init__(
        self, prices: np.ndarray, costs: np.ndarray, leaves: np.ndarray, nodes: list[Any]
    ) -> None:
        self.prices, self.costs, self.leaves, self.nodes = prices, costs, leaves, nodes

    def take(self, kept: np.ndarray) -> Front:
        """Some of the subtrees."""
        nodes = [self.nodes[j] for j in kept.tolist()]
        return Front(self.prices[kept], self.costs[kept], self.leaves[kept], nodes)


class ShiftSearch:
    """One search, with the best tree so far.

    Parameters
    ----------
    view : WorstCase
    space : RobustTrees
    watch : Watch
    start : Tree or None
        A tree to begin with.
    """

    def __init__(
        self, view: WorstCase, space: RobustTrees, watch: Watch, start: Tree | None
    ) -> None:
        self.view, self.space, self.watch = view, space, watch
        self.most = space.max_leaf_nodes or 2 ** min(space.depth, 60)
        self.known: dict[tuple[bytes, int], Front] = {}
        self.subtrees = 0
        leaves = [Tree(Leaf(k), view.actions) for k in range(view.n_actions)]
        self.best = min([*leaves, *([] if start is None else [start])], key=view.objective)
        self.Z = view.objective(self.best)
        self.points: list[tuple[float, int]] = []
        self.note()

    def note(self) -> None:
        """Remember when the best tree was found."""
        from milp_trees.common.compiling import run_clock

        self.points.append((run_clock(), self.Z))

    def trace(self, begin: float) -> list[TracePoint]:
        """The values of the best trees, with the trivial bound."""
        view = self.view
        bound = float(view.to_value(view.unavoidable))
        return [TracePoint(t - begin, float(view.to_value(Z)), bound) for t, Z in self.points]

    def run(self) -> None:
        """Search all trees of the space, of few levels first."""
        for levels in range(1, self.space.depth + 1):
            self.known.clear()
            self.split_best(levels)
            if self.view.n_features == 0:
                return

    def objectives(self, prices: np.ndarray, costs: np.ndarray) -> np.ndarray:
        """What trees of some prices and penalties cost in the worst case."""
        budget = self.view.budget
        if budget == 0:
            wrong = (prices == 0).sum(axis=1)
        else:
            ordered = np.sort(prices, axis=1)
            wrong = ((np.cumsum(ordered, axis=1) <= budget) & (ordered <= budget)).sum(axis=1)
        return np.asarray(self.view.error_cost * wrong + costs)

    def split_best(self, levels: int) -> None:
        """Look for a better tree among those whose root is a split."""
        for f in range(self.view.n_features):
            for front in self.joined(self.view.everywhere, f, levels, self.most):
                Z = self.objectives(front.prices, front.costs)
                j = int(Z.argmin()) if len(Z) else -1
                if j >= 0 and Z[j] < self.Z:
                    self.best = Tree(self.node(front.nodes[j]), self.view.actions)
                    self.Z = int(Z[j])
                    self.note()

    def front(self, inside: np.ndarray, levels: int) -> Front:
        """The subtrees of at most so many levels below a box that may be in a better tree."""
        key = inside.tobytes(), levels
        if key not in self.known:
            view, entry = self.view, self.view.entry(inside)
            K = view.n_actions
            prices = np.where(view.y[None, :] != np.arange(K)[:, None], entry, view.never)
            ones = np.ones(K, dtype=np.int64)
            parts = [Front(prices, ones * view.leaf_cost, ones, [Leaf(k) for k in range(K)])]
            if levels and (entry < view.never).any():
                for f in range(view.n_features):
                    parts += self.joined(inside, f, levels, self.most - 1)
            self.known[key] = self.best_of(parts)
        return self.known[key]

    def joined(self, inside: np.ndarray, f: int, levels: int, most: int) -> list[Front]:
        """The subtrees with a test at the top, in blocks."""
        view = self.view
        sides = [view.narrowed(inside, f, answer) for answer in (False, True)]
        if any(map(view.is_empty, sides)):
            return []
        self.watch.check()
        left, right = (self.front(side, levels - 1) for side in sides)
        step, out = max(1, BLOCK // max(1, right.prices.size)), []
        for a in range(0, len(left.costs), step):
            self.watch.check()
            prices = np.minimum(left.prices[a : a + step, None], right.prices[None])
            prices = prices.reshape(-1, view.n_rows)
            costs = (left.costs[a : a + step, None] + right.costs[None]).ravel()
            costs += int(view.split_costs[f])
            leaves = (left.leaves[a : a + step, None] + right.leaves[None]).ravel()
            kept = np.flatnonzero((leaves <= most) & (self.objectives(prices, costs) < self.Z))
            i, j = np.divmod(kept, len(right.costs))
            nodes = [
                (f, left.nodes[a + p], right.nodes[q])
                for p, q in zip(i.tolist(), j.tolist(), strict=True)
            ]
            out.append(Front(prices[kept], costs[kept], leaves[kept], nodes))
        return out

    def best_of(self, parts: list[Front]) -> Front:
        """The front of several lists of subtrees."""
        prices = np.vstack([p.prices for p in parts])
        costs, leaves = (
            np.concatenate([getattr(p, n) for p in parts]) for n in ("costs", "leaves")
        )
        whole = Front(prices, costs, leaves, [node for p in parts for node in p.nodes])
        worth = np.flatnonzero(self.objectives(prices, costs) < self.Z)
        counted = leaves if self.space.limits_leaves else np.zeros_like(leaves)
        order = worth[np.lexsort((-prices[worth].sum(axis=1), costs[worth], counted[worth]))]
        table = np.column_stack([counted[order], costs[order], -prices[order]])
        _, first = np.unique(table, axis=0, return_index=True)
        order, table = order[np.sort(first)], table[np.sort(first)]
        if len(order) <= MOST_COMPARED:
            kept: list[int] = []
            for j, row in enumerate(table):
                if j % 64 == 0:
                    self.watch.check()
                if not kept or not (table[kept] <= row).all(axis=1).any():
                    kept.append(j)
            order = order[kept]
        self.subtrees += len(order)
        return whole.take(order)

    def node(self, made: Any) -> Node:
        """The nodes of a subtree that is written as its test with both sides."""
        if isinstance(made, Leaf):
            return made
        f, left, right = made
        return Branch(self.view.features[f], self.node(left), self.node(right))
