"""`dp`: an exact dynamic programme for tasks that are sums of action costs.

The best tree of depth d on a set of rows is the best leaf or the best root test with the best trees of depth d - 1 on both sides. Sets of
rows are remembered; the last two levels are evaluated for all pairs of tests at once from pair counts over bit-packed rows (Demirović et
al. 2022, *MurTree*; Aglin, Nijssen, Schaus 2020, *DL8.5*; van der Linden, de Weerdt, Demirović 2023, *STreeD*), for any number of actions
and integer costs, with penalties, smallest leaves and a largest number of leaves.

All arithmetic is in integers. The depth is deepened step by step, so a run that is stopped keeps a good tree and an honest bound.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, ClassVar

from milp_trees.method import Clock, Method, Progress, finish
from milp_trees.models.tree import Branch, Leaf, Node, Tree
from milp_trees.registry import register
from milp_trees.result import Limit, Result, TracePoint
from milp_trees.solver import Limits
from milp_trees.space import Trees
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.engines.dynamic.instance import Instance
    from milp_trees.engines.dynamic.search import Best, Nested, Search
    from milp_trees.problem import Problem

log = logging.getLogger("milp_trees")

_warm: set[str] = set()


@register
class DynamicProgramme(Method):
    """Exact search over sets of rows."""

    name = "dp"
    title: ClassVar[str] = "Dynamic programme over sets of rows, compiled"

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.view(CostMatrix)
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return "dp takes penalties and test costs of at least 0; some are negative."
        return None

    def search(self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None) -> Result:
        clock = Clock()
        with clock("prepare"):
            from milp_trees.engines.dynamic.instance import prepare

            view = problem.instance()
            instance = prepare(view, problem.trees)
        if view.total_rows < problem.trees.min_samples_leaf:
            return finish(problem, self.name, None, bound=None, claims_optimal=False, proved_by=self.name, clock=clock, infeasible=True)
        clock.begin += warm_up(instance)
        with clock("solve"):
            run = _Run(view, instance, problem.trees, limits, clock.begin, progress)
            run.offer_start(start)
            limit = run.solve()
            tree = run.best_tree()
        return finish(
            problem, self.name, tree, bound=view.to_value(run.bound), claims_optimal=limit is None, proved_by=self.name, clock=clock, limit=limit,
            sizes={"calls": run.engine.counters.calls, "cached": run.engine.counters.cached}, trace=tuple(run.trace),
        )  # fmt: skip


class _Run:
    """One run: deepening, incumbent, bound, trace."""

    def __init__(self, view: CostMatrix, instance: Instance, space: Trees, limits: Limits, began: float, progress: Progress | None) -> None:
        from milp_trees.engines.dynamic.search import MEMO_BYTES, Search

        deadline = None if limits.time is None else began + limits.time
        memo = MEMO_BYTES if limits.memory_mb is None else limits.memory_mb * 2**19  # half of what is allowed
        self.view, self.instance, self.space, self.began, self.progress = view, instance, space, began, progress
        self.engine: Search = Search(instance, space.limits_leaves, deadline, memo)
        self.engine.improved = self.improved
        self.best: Best | None = None
        self.value: int | None = None
        self.start: tuple[int, Tree] | None = None
        # What no tree can avoid: the cheapest action of every row, and one leaf.
        self.bound = int(view.base.sum()) + view.leaf_cost
        self.trace: list[TracePoint] = []

    def offer_start(self, tree: Tree | None) -> None:
        """A given tree is the incumbent until a better one is found."""
        if tree is not None:
            self.start = (self.view.objective(tree), self.view.canonical(tree))
            self.report(self.start[0])

    def objective(self, best: Best) -> int:
        """Z of the last entry."""
        return (int(best.value[-1]) + self.instance.constant) // self.instance.unit

    def solve(self) -> Limit | None:
        """Deepen until the depth is reached, the tree cannot be improved, or a limit is hit."""
        from milp_trees.engines.dynamic.search import OutOfTime

        most = min(self.space.max_depth, max(0, self.instance.n_tests), max(0, self.instance.X.shape[0] - 1))
        depths = [most] if most <= 2 else range(2, most + 1)
        try:
            self.keep(self.engine.root(0, 4 * self.instance.infinity))
            for depth in depths:
                self.engine.check_time()
                self.keep(self.engine.root(depth, 4 * self.instance.infinity))
        except OutOfTime:
            return Limit.TIME
        except KeyboardInterrupt:
            return Limit.INTERRUPTED
        assert self.best is not None
        self.bound = self.objective(self.best)
        self.report(self.bound)
        return None

    def improved(self, depth: int, best: Best) -> None:
        self.keep(best._replace(value=best.value.copy(), test=best.test.copy(), left=best.left.copy(), depth=best.depth.copy()))

    def keep(self, best: Best) -> None:
        if self.best is None or best.value[-1] < self.best.value[-1]:
            before = None if self.best is None else self.objective(self.best)
            self.best = best
            if before is None or self.objective(best) < before:
                self.report(self.objective(best))

    def report(self, Z: int) -> None:
        if self.value is not None and self.value < Z:
            return
        self.value = Z
        point = TracePoint(time.perf_counter() - self.began, float(self.view.to_value(Z)), float(self.view.to_value(self.bound)))
        self.trace.append(point)
        if self.progress:
            self.progress(point)

    def best_tree(self) -> Tree | None:
        """The better of the best tree found and the start."""
        if self.best is not None and (self.start is None or self.objective(self.best) <= self.start[0]):
            engine = self.engine
            engine.deadline = None
            return Tree(_nodes(engine.tree(engine.rows, self.best), self.view), self.view.actions)
        return self.start[1] if self.start else None


def _nodes(nested: Nested, view: CostMatrix) -> Node:
    if isinstance(nested, int):
        return Leaf(nested)
    f, left, right = nested
    return Branch(view.tests[f], _nodes(left, view), _nodes(right, view))


def solve_view(view: CostMatrix, space: Trees, deadline: float | None = None) -> tuple[int, Tree] | tuple[None, None]:
    """Optimum of a view without side rows.

    Parameters
    ----------
    view : CostMatrix
        As the task gives it or reduced.
    deadline : float, optional
        `time.perf_counter()` at which to give up.

    Returns
    -------
    Z : int
        Integer objective; None if no tree is feasible.
    tree : Tree

    Raises
    ------
    TimeoutError
        The deadline passed before the optimum was proven.
    """
    from milp_trees.engines.dynamic.instance import prepare

    if view.side:
        raise ValueError("The dynamic programme takes no side constraints; use state-flow.")
    if view.total_rows < space.min_samples_leaf:
        return None, None
    view = view.reduce()
    instance = prepare(view, space)
    warm_up(instance)
    began = time.perf_counter()
    run = _Run(view, instance, space, Limits(time=None if deadline is None else deadline - began), began, None)
    limit = run.solve()
    if limit is Limit.INTERRUPTED:
        raise KeyboardInterrupt
    if limit is not None:
        raise TimeoutError("The dynamic programme did not finish before the deadline.")
    tree = run.best_tree()
    assert tree is not None
    return run.bound, tree


def warm_up(instance: Instance) -> float:
    """Compile the kernels for an instance's number type, once per process; returns the seconds it took, which no run is charged."""
    import numpy as np

    began = time.perf_counter()
    from milp_trees.engines.dynamic.search import Search

    kind = instance.dtype.name
    if kind not in _warm:
        log.info("compiling the kernels of the dynamic programme (%s); later processes read them from a cache", kind)
        from dataclasses import replace

        tiny = replace(
            instance, X=np.eye(2, 32, dtype=np.uint8), values=np.array([[1], [-1]], dtype=instance.dtype), starts=np.array([0, 1, 2]),
            coef=np.array([[1], [-1]], dtype=instance.dtype), first_action=np.zeros(2, dtype=np.int64), split=np.zeros(32, dtype=instance.dtype),
            leaf=1, least=1, n_tests=2, max_leaves=8,
        )  # fmt: skip
        Search(tiny, True).root(3, 100)
        _warm.add(kind)
    return time.perf_counter() - began
