"""`lagrangian`: trees under side rows, by the Lagrangian bound and an exact end.

The bound (Everett 1963; Geoffrion 1974) is the best one over all multipliers of the side rows; every
call for it is an exact run of `dp` (`lagrangian.dual`). Trees that are met on the way are repaired
by a choice of new actions for their leaves. What is left of the gap is closed exactly: the trees
whose Lagrangian cost lies between the bound and a target are few, and a dynamic programme over
their vectors of cost and side totals finds the best feasible one (`lagrangian.closing`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.compile import compile_once
from milp_trees.engines.kit.run import Run
from milp_trees.methods.claims import Claims
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.models.tree import Tree
from milp_trees.results.result import Result
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.engines.lagrangian.dual import Dual
    from milp_trees.engines.lagrangian.incumbent import Incumbent
    from milp_trees.problems.problem import Problem

#: Memory for values and vectors, if no limit is given.
MEMORY_MB = 2000


@register
class LagrangianTrees(Method):
    """The best bound over multipliers of the side rows, and all trees within the gap, exactly.

    References
    ----------
    docs/guide/constrained.md
    """

    name = "lagrangian"
    title: ClassVar[str] = "Side rows: Lagrangian bound, and the gap closed exactly"
    shared_components: ClassVar[frozenset[str]] = frozenset({"dp"})
    verification_rank: ClassVar[int] = 20
    takes_side_rows: ClassVar[bool] = True
    takes_min_weight: ClassVar[bool] = True
    takes_min_treatment: ClassVar[bool] = True
    default_rank: ClassVar[int | None] = 60
    reference_rank: ClassVar[int | None] = 50
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "numba", "scipy")
    proves: ClassVar[bool] = True

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.view(CostMatrix)
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return "lagrangian takes penalties and test costs of at least 0; some are negative."
        try:
            self._check(problem)
        except Unsupported as why:
            return str(why)
        return None

    def _check(self, problem: Problem) -> None:
        from milp_trees.engines.dp.arrays import prepare, surely_fits
        from milp_trees.engines.lagrangian.multipliers import Multipliers

        if surely_fits(problem.view(CostMatrix)):
            return
        view = problem.presolved_view()
        prepare(Multipliers.none(len(view.side)).view_at(view), problem.trees, every_row=True)

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        if not result.optimal:
            raise Unsupported("lagrangian proves optima; this run was stopped before it had one.")
        from milp_trees.engines.lagrangian.priced import prove_priced

        view = problem.view(CostMatrix)
        return prove_priced(view, problem.trees, view.objective(result.predictor), Watch(limits))

    def warm_up(self) -> None:
        """Compile the kernels, once per process; later processes read them from a cache."""

        def compile_all() -> None:
            from milp_trees.engines.lagrangian.warm import compile_kernels

            compile_kernels()

        compile_once("the Lagrangian method", compile_all)

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        run = LagrangianRun(self.name, problem, limits, progress, clock)
        with clock("prepare"):
            run.prepare(start)
        with clock("solve"):
            run.attempt(run.go)
        incumbent, sizes = run.incumbent, {**run.view.data_sizes, **run.sizes}
        bound = run.view.to_value(incumbent.bound)
        return run.result(incumbent.tree, bound, incumbent.proven, model_size=sizes)


class LagrangianRun(Run):
    """One run: the dual, then the closing."""

    def prepare(self, start: Tree | None) -> None:
        """Begin with a tree, or without one."""
        from milp_trees.engines.lagrangian.dual import Dual
        from milp_trees.engines.lagrangian.incumbent import Incumbent

        self.view = self.problem.presolved_view()
        self.incumbent: Incumbent = Incumbent(
            self.view, self.trace, self.clock.begin, self.watch.has_answer
        )
        if start is not None:
            self.incumbent.take(self.view.canonical(start))
        space, memory_mb = self.problem.trees, self.limits.memory_mb
        self.dual: Dual = Dual(self.view, space, self.incumbent, self.watch, memory_mb)
        self.sizes: dict[str, int] = {}

    def go(self) -> None:
        """Bound, then close the gap; ends early by `Stopped`."""
        if self.problem.all_rows_too_few:
            return
        try:
            self.dual.maximise()
        finally:
            self.sizes["dp_runs"] = self.dual.runs
        if not self.dual.infeasible and not self.incumbent.proven:
            self._close()

    def _close(self) -> None:
        from milp_trees.engines.lagrangian.closing import Closing
        from milp_trees.engines.lagrangian.vectors import TreeVectors

        assert self.dual.best is not None
        memory = (self.limits.memory_mb or MEMORY_MB) * 2**20
        vectors = TreeVectors(self.view, self.problem.trees, self.dual.best, self.watch, memory)
        closing = Closing(vectors, self.dual.best, self.incumbent, self.dual.most)
        try:
            closing.close()
        finally:
            self.sizes.update(targets=closing.levels, sets=vectors.sets, vectors=vectors.kept)
