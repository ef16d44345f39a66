"""One run of `dp` on one view: incumbent, bound, trace, and the ways to search."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.compiling import compiling, run_clock
from milp_trees.common.compiling.pausing import collector_paused
from milp_trees.common.errors import SolverFailure, Unsupported
from milp_trees.common.limits import Limits
from milp_trees.engines.dp.switches import Options
from milp_trees.methods.trace import Progress, Trace
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.results.result import Limit
from milp_trees.tasks.views import LeafSums

if TYPE_CHECKING:
    from milp_trees.engines.dp.arrays import Instance
    from milp_trees.engines.dp.shared import Outcome

#: Bytes of the table when the caller gives no memory limit.
_TABLE_BYTES = 2**30


class DpRun:
    """One run on one view: incumbent, bound, trace."""

    def __init__(
        self,
        method: Options,
        view: LeafSums,
        space: Trees,
        limits: Limits,
        start: Tree | None,
        progress: Progress | None,
    ) -> None:
        self.method, self.view, self.space, self.limits = method, view, space, limits
        self.start = None if start is None else view.canonical(start)
        self.tree: Tree | None = None
        self.value: int | None = None
        # The part of the cost that every tree has.
        self.bound = view.unavoidable
        self.limit: Limit | None = None
        self.sizes: dict[str, int] = {}
        self.trace = Trace(progress)
        self._noted: tuple[int, int] | None = None
        self.began = run_clock()
        self.whole: Instance | None = None
        self.penalised = bool(
            view.leaf_cost > getattr(view, "tie", 0)
            or (view.split_costs.min(initial=1) > 0 and view.n_features)
        )

    def load(self) -> None:
        """Load numba, which is not charged to a run."""
        if not self.space.limits_leaves:
            with compiling("the exact search"), collector_paused():
                from milp_trees.engines.dp import runs  # noqa: F401

    def prepare(self) -> None:
        """Make the arrays of the search."""
        if not self.space.limits_leaves and not self.method.lookahead:
            self.whole = self.instance(self.view, self.space)

    def compile(self) -> None:
        """Compile what this run needs, which is not charged to it."""
        if self.whole is not None:
            from milp_trees.engines.dp.warm import warm_up

            warm_up(self.whole)

    def instance(self, view: LeafSums, space: Trees) -> Instance:
        from milp_trees.engines.dp.arrays import prepare

        ties = self.method.ties
        if ties == "auto" and self.penalised:
            try:
                return prepare(view, space, fewest_leaves=True)
            except Unsupported:  # costs that leave no room for the ties
                return prepare(view, space)
        return prepare(view, space, fewest_leaves=ties == "fewest-leaves")

    def begin(self, began: float, watch: Watch | None = None) -> None:
        """Set the clock; the watch is asked several times a second whether a limit is reached."""
        self.began, self.watch = began, watch

    def go(self) -> None:
        if self.start is not None:
            self.keep(self.view.objective(self.start), self.start)
        if self.method.lookahead:
            self.look_ahead()
        elif self.space.limits_leaves:
            self.fronts()
        else:
            self.exact()
        if self.limit is None and self.tree is not None and not self.method.lookahead:
            assert self.value is not None
            self.bound = self.value
            self.note()

    # -- ways to search --------------------------------------------------------------------------------------

    def exact(self) -> None:
        from milp_trees.engines.dp.arrays import INFINITY

        inst = self.whole or self.instance(self.view, self.space)
        upper = INFINITY
        if self.start is not None and self.value is not None:
            upper = (self.value - inst.constant) * inst.unit + (
                self.start.n_leaves if inst.unit > 1 else 0
            )

        def report(value: int, tests: np.ndarray | None, bound: int) -> None:
            self.bound = max(self.bound, inst.to_Z(bound))
            if tests is not None and (self.value is None or inst.to_Z(value) < self.value):
                self.value = inst.to_Z(value)
            self.note()

        outcome = self.search(inst, upper, report)
        self.bound = (
            max(self.bound, inst.to_Z(outcome.bound)) if outcome.bound < INFINITY else self.bound
        )
        self.limit, self.sizes = (
            outcome.limit,
            {"rows": self.view.n_rows, "tests": self.view.n_features, **outcome.counters},
        )
        if outcome.tests is not None and outcome.value < upper:
            self.tree, self.value = tree_of(outcome.tests, self.view)
            if self.value > inst.to_Z(outcome.value) + inst.slack:
                raise SolverFailure(
                    f"dp found the value {inst.to_Z(outcome.value)}, but its tree has {self.value}. Please report this problem."
                )

    def search(self, inst: Instance, upper: int, report: Any) -> Outcome:
        from milp_trees.engines.dp.runs import DpSearch

        method, order = self.method, self.method.order
        if order == "auto":
            order = "best-first" if self.penalised else "depth-first"
        memory = (
            _TABLE_BYTES if self.limits.memory_mb is None else self.limits.memory_mb * 2**19
        )  # half of what is allowed
        threads = max(1, self.limits.threads)
        run = DpSearch(inst, method, order, threads, memory, report, method.deepening)
        return run.solve(upper=upper, watch=self.watch)

    def fronts(self) -> None:
        from milp_trees.engines.dp.by_leaves.turns import solve_sizes

        def progress(values: Any) -> None:
            found = [Z for Z in values if Z is not None]
            if found and (self.value is None or min(found) < self.value):
                self.value = min(found)
                self.note()

        memory: dict[str, Any] = (
            {} if self.limits.memory_mb is None else {"memory_bytes": self.limits.memory_mb * 2**19}
        )
        fronts = solve_sizes(self.view, self.space, self.watch, progress=progress, **memory)
        last = fronts.sizes[-1]
        self.limit, self.sizes = fronts.limit, dict(fronts.counters)
        self.bound = max(self.bound, last.bound)
        if (
            last.tree is not None
            and last.Z is not None
            and (self.tree is None or self.view.objective(self.tree) >= last.Z)
        ):
            self.tree, self.value = last.tree, last.Z

    def look_ahead(self) -> None:
        """Choose split by split; each is the root of an optimal tree of limited depth."""
        root = self._grown(self.view, self.space.max_depth)
        if root is None:
            return
        tree = self.view.decided(Tree(root, ()))
        if self.value is None or self.view.objective(tree) < self.value:
            self.keep(self.view.objective(tree), tree)

    def _grown(self, view: LeafSums, depth: int | None) -> Node | None:
        """The tree on some rows; None if there are too few rows for a leaf."""
        ahead = self.method.lookahead if depth is None else min(self.method.lookahead, depth)
        inst = self.instance(view, replace(self.space, max_depth=ahead))
        outcome = self.search(inst, 2**62, None)
        self.limit = self.limit or outcome.limit
        if outcome.tests is None:
            return None
        root = tree_of(outcome.tests, view)[0].root
        if isinstance(root, Leaf) or self.limit:
            return root
        true = view.X[:, view.index[root.test]] == 1
        below = None if depth is None else depth - 1
        left, right = (self._grown(_part(view, side), below) for side in (~true, true))
        assert left is not None
        assert right is not None
        return Branch(root.test, left, right)

    # -- what has been found ---------------------------------------------------------------------------------

    def keep(self, Z: int, tree: Tree) -> None:
        self.value, self.tree = Z, tree
        self.note()

    def note(self) -> None:
        """Add a point to the trace, if there is something new."""
        if self.value is None:
            return
        bound = min(self.bound, self.value)
        if (self.value, bound) == self._noted:
            return
        self._noted = self.value, bound
        value = float(self.view.to_value(self.value))
        self.trace.add(
            run_clock() - self.began,
            value,
            value if bound == self.value else float(self.view.to_value(bound)),
        )


def _part(view: LeafSums, kept: np.ndarray) -> LeafSums:
    """A view of some of the rows."""
    return replace(
        view,
        X=np.ascontiguousarray(view.X[kept]),
        **{view.sums_field: view.sums[kept]},
        counts=view.counts[kept],
        rows=view.rows[kept],
        row_weight=None if view.row_weight is None else view.row_weight[kept],
        treated=None if view.treated is None else view.treated[kept],
    )


def tree_of(tests: np.ndarray, view: LeafSums) -> tuple[Tree, int]:
    """The tree with these tests in preorder (-1: a leaf), and its objective.

    Each leaf gets its cheapest action; two leaves with one action below a split are joined.
    """
    order: Iterator[int] = iter(tests.tolist())
    leaves: list[np.ndarray] = []

    def reach(rows: np.ndarray) -> Any:
        """The number of a leaf, whose rows are kept, or (test, left, right)."""
        f = next(order)
        if f < 0:
            leaves.append(rows)
            return len(leaves) - 1
        true = view.X[rows, f] == 1
        return f, reach(rows[~true]), reach(rows[true])

    shape = reach(np.arange(view.n_rows))
    totals = _sums(view.sums, leaves)
    values = view.leaf_values(totals).tolist()
    best, actions = view.leaf_actions(totals)

    def grow(part: Any) -> tuple[Node, int]:
        if isinstance(part, int):
            return Leaf(best[part]), values[part] + view.leaf_cost
        f, *sides = part
        (left, a), (right, b) = map(grow, sides)
        if isinstance(left, Leaf) and left == right:
            return left, a + b - view.leaf_cost
        return Branch(view.features[f], left, right), a + b + int(view.split_costs[f])

    root, Z = grow(shape)
    return Tree(root, actions), Z


def _sums(sums: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """Sums over each of some sets of rows, which all rows belong to."""
    if min(map(len, parts)) == 0:  # `reduceat` has no empty sums
        return np.stack([sums[rows].sum(axis=0) for rows in parts])
    ends = np.cumsum([len(rows) for rows in parts])
    totals: np.ndarray = np.add.reduceat(sums[np.concatenate(parts)], [0, *ends[:-1]], axis=0)
    return totals
