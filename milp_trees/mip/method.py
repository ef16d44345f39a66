"""A formulation with a solver as one `Method`.

Its stages are view → build → matrix → start → solve → decode → value; each arrow is one function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import NotInTime, SolverUnavailable, Unsupported, worded
from milp_trees.common.limits import Limits, Stopped
from milp_trees.common.registering import plugins
from milp_trees.methods.claims import Claims
from milp_trees.methods.deadline import within
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress, Trace
from milp_trees.methods.watch import Watch
from milp_trees.methods.work import Sizes
from milp_trees.mip import persistent, proving, relaxation
from milp_trees.mip.building import limit_of, look_at_memory, repaired
from milp_trees.mip.cut_loop import solve_by_cuts
from milp_trees.mip.formulation import Formulation
from milp_trees.mip.linear.matrix import compile_model, pyomo_without
from milp_trees.mip.open_thresholds import OfModels
from milp_trees.mip.rounding import Rounding
from milp_trees.mip.run import (
    UNBUILT,
    Run,
    claim_tolerance,
    has_rational_bounds,
    result,
    round_up,
    solved,
)
from milp_trees.mip.sizes import nothing_to_choose, too_many, too_slow
from milp_trees.mip.sizes import too_large as too_large
from milp_trees.mip.solver import Answer, Event, Job, Solver, availability_of
from milp_trees.models.space import Trees
from milp_trees.results.result import Limit, Result, Status

if TYPE_CHECKING:
    from milp_trees.models.tree import Tree
    from milp_trees.problems.problem import Problem

#: A point with rounded integers is refused if it violates the other rows by more than this.
FEASIBILITY = 1e-4
#: The option of a `FormulationMethod` for points that the solver gets while it runs.
ROUNDS_POINTS = "round_points"


class FormulationMethod(Method):
    """A formulation together with a solver, such as `flow-oct@highs`.

    Parameters
    ----------
    formulation : Formulation
    solver : Solver
    options : mapping, optional
        Solver options; they have priority over those that the formulation suggests. The option
        `as_lp_first` is of this class: whether the linear relaxation is solved first, and its
        solution used if it is integral. By default it is if the formulation says that it will be.
        So is `round_points`: whether the solver gets trees while it searches, which are made from its
        own points (`milp_trees.mip.rounding`). By default it does where a start was given and the
        model does not have it.
    """

    libraries = ("numpy", "scipy", "numba", "pyomo")

    def __init__(
        self, formulation: Formulation, solver: Solver, options: Mapping[str, Any] | None = None
    ) -> None:
        self.formulation = formulation
        self.solver = solver
        self.options = dict(options or {})
        self.name = f"{formulation.label}@{solver.name}"
        self.exact = True

    @property
    def label(self) -> str:
        return self.name

    def software(self) -> dict[str, str]:
        origins = plugins.origin(type(self.formulation)) | plugins.origin(type(self.solver))
        return {
            **super().software(),
            **origins,
            self.solver.name: availability_of(self.solver).version,
        }

    def unsupported(self, problem: Problem) -> str | None:
        if persistent.known_to_be_supported(self.formulation, problem):
            return None
        return self.formulation.unsupported(
            problem.one_step() if problem.by_steps(self) else problem
        )

    def unsupported_within(self, limits: Limits, problem: Problem) -> str | None:
        # Some formulations must enumerate to find out their size.
        return within(limits.time, lambda: self.unsupported(problem))

    def _search_within(
        self, limits: Limits, problem: Problem, search: Callable[[], Result]
    ) -> Result:
        return search()  # its stages, and its solver's process, are stopped one by one, so that none loses what the others found

    def most_tests(self, sizes: Sizes) -> int:
        return OfModels().most_tests(sizes)

    def warm_up(self) -> None:
        from milp_trees.mip import runner

        found = availability_of(self.solver).found
        if found:
            runner.warm_up(self.solver.name)  # loads in its own process during the rest of this
        import pyomo.environ  # noqa: F401

        if found:
            runner.wait_until_ready(self.solver.name)

    @property
    def proves(self) -> bool:  # type: ignore[override]
        return self.formulation.proves

    def unproved(self, problem: Problem) -> str | None:
        return self.formulation.unproved(problem)

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        return proving.claims(self, problem, limits)

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        found = availability_of(self.solver)
        if not found.found:
            raise SolverUnavailable(f"{self.name}: {found.reason}")
        self.formulation.warm_up(problem.space)
        run = self._run_of(problem, limits, progress)
        try:
            with (
                repaired(),
                pyomo_without("Overtime"),
            ):  # it logs whatever ends a rule as the rule's failure, also the exception of `within`
                why = within(
                    limits.time, lambda: self._prepare(run, start, Watch(limits, run.clock.begin))
                )
        except (Stopped, MemoryError, KeyboardInterrupt) as end:
            run.stopped = limit_of(end)
            if run.view is None:
                run.take_unseen(start)
            else:
                run.take_incumbent()
            run.message = worded(UNBUILT[run.stopped])
            return self._result_of(run)
        if why:
            return replace(
                self._result_of(run), status=Status.UNSUPPORTED, message=why, solutions=(), start={}
            )
        try:
            with repaired():
                self._solve(run)
        except KeyboardInterrupt:  # between two calls of the solver, which has its own answer to it
            run.stopped = Limit.INTERRUPTED
        self._keep(run)
        return self._result_of(run)

    def _run_of(self, problem: Problem, limits: Limits, progress: Progress | None) -> Run:
        """The state of a run that begins."""
        return Run(problem, limits, Clock(), Trace(progress))

    def _result_of(self, run: Run) -> Result:
        """The result of a run that has ended."""
        return result(self, run)

    def _keep(self, run: Run) -> None:
        """Keep the model for the problems that follow, if it was solved as a whole."""
        persistent.keep(self.formulation, run)

    def step(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        """Solve a linear problem; it has costs of its own, so support is checked again."""
        why = self.unsupported_within(limits, problem)
        if why:
            raise Unsupported(why)
        return self.search(problem, limits, start, progress)

    def solver_options(self, run: Run, relax: bool = False) -> dict[str, Any]:
        model = self.formulation
        suggested = model.relaxation_options_for if relax else model.options_for
        return {**suggested(self.solver.name, run.view, run.problem.space), **self.options}

    # -- stages ----------------------------------------------------------------------------------------------

    def _prepare(self, run: Run, start: Tree | None, watch: Watch) -> str | None:
        """Make view, start, model and matrix; the watch checks memory after each of them.

        The answer is the sentence why the solver cannot take the model, or None.
        """
        problem, clock = run.problem, run.clock
        run.view = self.formulation.presolved_view(problem)
        run.bound = run.view.unavoidable
        run.unit = self.formulation.objective_unit(run.view)
        run.take_proven()
        if start is not None:
            # Before the model is built, because a run that is stopped there has only the start.
            run.take(start)
            run.record(None, None)
            run.start_info = {"accepted": None, "value": problem.value(start).number}
        with clock("build"):
            same = persistent.changed(self.formulation, problem)
            if same is not None:
                run.stage, run.compiled = same.stage, same.matrix
            elif self.formulation.quick_size:
                size = self.formulation.model_size(run.view, problem.space)
                if why := too_many(size.nonzeros, run.limits):
                    raise Unsupported(f"{self.formulation.label} {why}")
                if why := too_slow(size.nonzeros, run.limits):
                    raise NotInTime(f"{self.formulation.label} {why}")
            look_at_memory(watch)
        if same is None:
            run.stages = self.formulation.stages(problem)
            self._next_model(run, watch)
        why = self.solver.unsupported(run.matrix)
        if not why:
            with clock("encode"):
                self.encode_known(run, start)
        return why

    def _next_model(self, run: Run, watch: Watch) -> bool:
        """Build and compile the next model; False if there is none."""
        with run.clock("build"):
            stage = next(run.stages, None)
            if stage is None:
                return False
            run.stage = stage
            look_at_memory(watch)
        with run.clock("hand_over"):
            run.compiled = replace(
                compile_model(stage.model), implied_integer=self.formulation.implied_integer
            )
        look_at_memory(watch)
        run.clock.times |= stage.seconds
        if stage.bound is not None and stage.bound > run.bound:
            run.bound, run.prover = stage.bound, stage.proved_by
        if stage.incumbent is not None:
            run.take(stage.incumbent)
        run.record(None, None)
        return True

    def encode_known(self, run: Run, start: Tree | None) -> None:
        """Begin with the given start, or else with the best tree so far.

        A model that holds only some trees may hold neither of them.
        """
        run.start = None
        for tree in (start, run.incumbent):
            if tree is not None:
                try:
                    return self._encode(run, tree)
                except LookupError:
                    continue

    def _encode(self, run: Run, start: Tree) -> None:
        """Turn the start into a point, which is checked before the solver gets it."""
        self.formulation.encode(run.problem.space.simplify(start, run.view), run.m)
        point = run.matrix.values()
        violation = run.matrix.violation(point)
        if violation > 1e-6:
            reason = (
                f"encode broke a row or bound by {violation:g}: a bug in {self.formulation.name}."
            )
            run.start_info |= {"accepted": False, "reason": reason}
        else:
            run.start = point

    def _solve(self, run: Run) -> None:
        """Solve one model after the other, as long as those before leave a gap."""
        self._solve_model(run)
        while run.answers and not (run.stopped or run.wrong or run.closed):
            answer = run.answers[-1]
            covers = run.covers
            if covers is None or answer.status not in (Status.INFEASIBLE, Status.OPTIMAL):
                return
            if answer.status is Status.INFEASIBLE and covers + 1 > run.bound:
                run.bound = covers + 1
                run.prover = self.prover(run, answer)
            try:
                more = within(run.deadline.left, lambda: self._further(run))
            except (Stopped, MemoryError, KeyboardInterrupt) as end:
                run.stopped, more = limit_of(end), False
            except Unsupported as too_many:
                run.message, more = str(too_many), False
            if answer.status is Status.INFEASIBLE and (more or run.stopped or run.message):
                # Only a part of the trees was looked at.
                run.answers[-1] = replace(answer, status=Status.NO_SOLUTION)
            if not more:
                return
            self._solve_model(run)

    def _further(self, run: Run) -> bool:
        """Make the next model; False if there is none."""
        if not self._next_model(run, Watch(run.limits, run.clock.begin)):
            return False
        self.encode_known(run, None)
        return True

    def prover(self, run: Run, answer: Answer) -> str:
        """The program that claims a bound, with what the model was derived by."""
        name = f"{self.solver.name} {answer.version}".strip()
        return (
            f"{name} after {self.formulation.derived_by}" if self.formulation.dp_derived else name
        )

    def _solve_model(self, run: Run) -> None:
        separator = self.formulation.separator(run.m, run.matrix)
        with run.clock("solve"):
            if separator is None:
                if not (relaxation.comes_first(self, run) and relaxation.settles(self, run)):
                    self.solve_once(run)
            else:
                solve_by_cuts(self, run, separator)

    def solve_once(self, run: Run, **job: Any) -> Answer | None:
        """Call the solver once; decode its incumbent and keep its bound."""
        relax = bool(job.get("relax"))
        better = None if relax else self._better(run)
        deadline = run.deadline
        if deadline.passed:
            run.stopped = deadline.limit
            return None
        if run.matrix.n_variables:
            limits = replace(run.limits, time=deadline.left, abs_gap=run.solver_gap)
            options = self.solver_options(run, relax)
            options.pop(relaxation.AS_LP_FIRST, None)
            options.pop(ROUNDS_POINTS, None)
            job |= {} if relax else {"start": run.start, "target": run.target}
            request = Job(run.matrix, limits, options=options, **job)
            more: Any = {} if better is None else {"better": better}
            listener = self._listener(run, relax, request.lazy)
            answer = solved(self.solver.name, request, listener, **more)
        else:
            answer = nothing_to_choose(run.matrix)
        answer = run.in_units(answer)
        answer = replace(
            answer, bound=run.covered(answer.bound), root_bound=run.covered(answer.root_bound)
        )
        run.answers.append(answer)
        run.stopped = answer.limit
        run.cuts += answer.cuts
        if answer.rows is not None:
            run.compiled = run.matrix.with_rows(*answer.rows)
        if answer.bound is not None and answer.status is not Status.INFEASIBLE:
            finished = answer.status is Status.OPTIMAL and not relax and not run.limits.rel_gap
            self.keep_bound(run, answer, relax, finished)
        if not relax and answer.x is not None:
            self.decode(run, answer)
        run.record(None, None)
        return answer

    def keep_bound(self, run: Run, answer: Answer, relax: bool, finished: bool) -> None:
        """Keep the bound of an answer if it is no worse than the one so far.

        Where bounds are rationals that hold, one that follows from the duals is used; only if it
        leaves a gap, the solver's own claim.
        """
        assert answer.bound is not None
        if has_rational_bounds(run.view):
            holds = None
            if relax and answer.duals is not None and run.covers is None:
                duals = proving.by_block(run.matrix, answer.duals * run.unit)
                holds = self.formulation.bound_from(run.view, run.problem.space, duals)
            if holds is not None and holds >= run.bound:
                run.bound, run.prover = holds, f"{self.prover(run, answer)}, its duals in integers"
            if run.closed or holds is not None:
                return
        bound = round_up(answer.bound, run.view, finished, run.unit)
        if bound >= run.bound:
            run.bound, run.prover = bound, self.prover(run, answer)

    def _listener(self, run: Run, relax: bool, lazy: Any) -> Callable[[Event], None] | None:
        if relax and lazy is None:
            return None  # its bound is recorded with its answer
        complete = self.formulation.separator(run.m, run.matrix) is None

        def listen(event: Event) -> None:
            incumbent = event.incumbent if complete else None
            if not complete and lazy is None and event.x is not None:
                run.incumbent_points.append(event.x)
            run.record(run.scaled(incumbent), run.covered(run.scaled(event.bound)))

        return listen

    def _better(self, run: Run) -> Callable[[np.ndarray], np.ndarray | None] | None:
        """What makes better points of those of the solver while it runs, if anything does."""
        without = run.start is None and bool(run.start_info)
        wanted = self.options.get(ROUNDS_POINTS, without)
        space = run.problem.space
        able = "points" in self.solver.capabilities and run.matrix.n_variables
        if not (wanted and able and isinstance(space, Trees) and space.levels):
            return None
        return Rounding(self.formulation, run)

    def decode(self, run: Run, answer: Answer) -> None:
        """Keep the tree of a solver's point.

        If the tree contradicts the model, the model or its decoding is wrong, and the run is
        refuted.
        """
        assert answer.x is not None
        x = run.matrix.rounded(answer.x)
        violation = run.matrix.violation(x)
        if violation > FEASIBILITY:
            run.message = f"{self.solver.name} returned a point that breaks a row by {violation:g}; it is not used."
            return
        run.matrix.load(x)
        tree = run.problem.space.simplify(self.formulation.decode(run.m), run.view)
        claimed, actual = run.objective(x), run.view.objective(tree)
        broken = run.problem.violations(tree)
        if (broken or actual > claimed + claim_tolerance(run.view, claimed)) and self._complete(
            run, answer.x
        ):
            if broken:
                run.refute(
                    f"The model's solution decodes to an infeasible {type(tree).__name__.lower()} ({broken[0].rstrip('.')})"
                )
            else:
                run.refute(
                    f"The model's objective is {claimed:.9g} but the decoded {type(tree).__name__.lower()} costs {actual}"
                )
        run.take(tree)

    def _complete(self, run: Run, x: np.ndarray) -> bool:
        """Whether a point satisfies the whole model, also the cuts that were not added yet."""
        separator = self.formulation.separator(run.m, run.matrix)
        return separator is None or not len(separator.separate(run.matrix.rounded(x), True)[1])
