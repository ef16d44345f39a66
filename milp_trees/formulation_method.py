"""A formulation with a solver as one `Method`: view → build → matrix → start → solve → decode → value. Each arrow is one function."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.errors import SolverUnavailable, Unsupported
from milp_trees.formulation import Formulation
from milp_trees.linear.files import write_model
from milp_trees.matrix import MatrixModel, compile_model
from milp_trees.method import Clock, Method, Progress, finish, versions
from milp_trees.registry import registry
from milp_trees.result import Limit, Result, Status, TracePoint
from milp_trees.solver import Answer, Event, Job, Limits, Solver

if TYPE_CHECKING:
    from milp_trees.models.tree import Tree
    from milp_trees.problem import Problem

#: A point whose integers were rounded may violate the other rows by this much before it is refused.
FEASIBILITY = 1e-4
#: Nonzeros that are built and handed over in a second, on a slow machine rather less: fewer models are refused than could be.
BUILD_RATE = 500_000


@dataclass
class Run:
    """State of one run; what its stages share."""

    problem: Problem
    view: Any
    limits: Limits
    clock: Clock
    m: Any
    matrix: MatrixModel
    start: np.ndarray | None = None
    incumbent: Any = None
    incumbent_cost: float = math.inf
    bound: float = -math.inf
    prover: str = "the data (what every predictor costs at least)"
    trace: list[TracePoint] = field(default_factory=list)
    progress: Progress | None = None
    stopped: Limit | None = None
    answers: list[Answer] = field(default_factory=list)
    cuts: int = 0
    message: str = ""

    @property
    def remaining(self) -> float | None:
        return None if self.limits.time is None else self.limits.time - self.clock.seconds

    def natural(self, Z: float | None) -> float | None:
        return None if Z is None or not math.isfinite(Z) else float(self.view.to_value(Z))

    def record(self, incumbent: float | None, bound: float | None) -> None:
        """A moment of the run: to the trace and to whoever watches."""
        best = min(self.incumbent_cost, math.inf if incumbent is None else incumbent)
        low = max(self.bound, -math.inf if bound is None else bound)
        point = TracePoint(self.clock.seconds, self.natural(best), self.natural(low))
        if not self.trace or self.trace[-1][1:] != point[1:]:
            self.trace.append(point)
        if self.progress:
            self.progress(point)

    def take(self, tree: Tree) -> None:
        """Keep a tree if it is feasible and better than the incumbent."""
        tree = self.problem.space.simplify(tree, self.view)
        cost = self.view.objective(tree)
        if cost < self.incumbent_cost and not self.problem.violations(tree):
            self.incumbent, self.incumbent_cost = tree, cost

    @property
    def closed(self) -> bool:
        """Whether incumbent and bound meet."""
        return self.incumbent_cost - self.bound <= self.view.absolute_gap + 1e-9


class FormulationMethod(Method):
    """`flow-oct@highs` and its like.

    Parameters
    ----------
    formulation : Formulation
    solver : Solver
    options : mapping, optional
        Solver options; they go before those the formulation suggests.
    """

    libraries = ("numpy", "scipy", "numba", "pyomo")

    def __init__(self, formulation: Formulation, solver: Solver, options: Mapping[str, Any] | None = None) -> None:
        self.formulation = formulation
        self.solver = solver
        self.options = dict(options or {})
        self.name = f"{formulation.label}@{solver.name}"
        self.exact = True

    @property
    def label(self) -> str:
        return self.name

    def software(self) -> dict[str, str]:
        origins = registry.origin(type(self.formulation)) | registry.origin(type(self.solver))
        return {**super().software(), **origins, self.solver.name: self.solver.availability().version}

    def unsupported(self, problem: Problem) -> str | None:
        from milp_trees.dinkelbach import by_steps, one_step

        return self.formulation.unsupported(one_step(problem) if by_steps(self, problem) else problem)

    def warm_up(self) -> None:
        self.formulation.warm_up()
        import pyomo.environ  # noqa: F401

        from milp_trees import runner

        if self.solver.availability().found:
            runner.warm_up(self.solver.name)

    def search(self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None) -> Result:
        found = self.solver.availability()
        if not found.found:
            raise SolverUnavailable(f"{self.name}: {found.reason}")
        clock = Clock()
        view = self.formulation.instance(problem)
        with clock("build"):
            why = too_large(self.formulation.sizes(view, problem.space).nonzeros, limits)
            if why:
                raise Unsupported(f"{self.formulation.label} {why}")
            m = self.formulation.build(problem)
        with clock("hand_over"):
            matrix = replace(compile_model(m), implied_integer=self.formulation.implied_integer)
        run = Run(problem, view, limits, clock, m, matrix, progress=progress, bound=float(view.unavoidable))
        for stage, seconds in getattr(m, "stage_seconds", {}).items():
            clock.times[stage] = seconds
        why = self.solver.unsupported(matrix)
        if why:
            return replace(_result(self, run, {}), status=Status.UNSUPPORTED, message=why)
        start_info = self._start(run, start) if start is not None else {}
        self._solve(run)
        return _result(self, run, start_info)

    def _options(self, run: Run) -> dict[str, Any]:
        return {**self.formulation.options_for(self.solver.name, run.view, run.problem.space), **self.options}

    # -- stages ----------------------------------------------------------------------------------------------

    def _start(self, run: Run, start: Tree) -> dict[str, Any]:
        """Encode a start; it is checked here before the solver sees it."""
        with run.clock("encode"):
            value = run.problem.value(start)
            tree = run.problem.space.simplify(start, run.view)
            run.take(tree)
            run.record(None, None)
            self.formulation.encode(tree, run.m)
            point = run.matrix.values()
            violation = run.matrix.violation(point)
            if violation > 1e-6:
                return {
                    "accepted": False,
                    "value": value.number,
                    "reason": f"encode broke a row or bound by {violation:g}: a bug in {self.formulation.name}.",
                }
            run.start = point
        return {"accepted": None, "value": value.number}

    def _solve(self, run: Run) -> None:
        separator = self.formulation.separator(run.m, run.matrix)
        with run.clock("solve"):
            if separator is None:
                self._solve_once(run)
            else:
                self._cut_loop(run, separator)

    def _solve_once(self, run: Run, **job: Any) -> Answer | None:
        """One call of the solver; its incumbent is decoded and its bound is kept."""
        from milp_trees import runner

        left = run.remaining
        if left is not None and left <= 0:
            run.stopped = Limit.TIME
            return None
        relax = bool(job.get("relax"))
        if run.matrix.n_variables:
            limits = replace(run.limits, time=left, abs_gap=_solver_gap(run.view))
            request = Job(run.matrix, limits, None if relax else run.start, self._options(run), **job)
            answer = runner.run(self.solver.name, request, None if relax else self._listener(run))
        else:
            answer = _nothing_to_choose(run.matrix)
        run.answers.append(answer)
        run.stopped = answer.limit
        run.cuts += answer.cuts
        if answer.bound is not None and answer.status is not Status.INFEASIBLE:
            finished = answer.status is Status.OPTIMAL and not relax and not run.limits.rel_gap
            bound = _round_up(answer.bound, run.view, finished)
            if bound >= run.bound:
                run.bound, run.prover = bound, f"{self.solver.name} {answer.version}".strip()
        if not relax and answer.x is not None:
            self._decode(run, answer)
        run.record(None, None)
        return answer

    def _listener(self, run: Run) -> Callable[[Event], None]:
        complete = self.formulation.separator(run.m, run.matrix) is None

        def listen(event: Event) -> None:
            run.record(event.incumbent if complete else None, event.bound)

        return listen

    def _decode(self, run: Run, answer: Answer) -> None:
        assert answer.x is not None
        x = run.matrix.rounded(answer.x)
        violation = run.matrix.violation(x)
        if violation > FEASIBILITY:
            run.message = f"{self.solver.name} returned a point that breaks a row by {violation:g}; it is not used."
            return
        run.matrix.load(x)
        tree = self.formulation.decode(run.m)
        claimed = run.matrix.objective(x)
        actual = run.view.objective(run.problem.space.simplify(tree, run.view))
        if actual > claimed + _believed(run.view, claimed) and self.formulation.separator(run.m, run.matrix) is None:
            path = Path(tempfile.mkdtemp(prefix="milp-trees-")) / f"{self.formulation.name}.mps.gz"
            write_model(run.matrix, path)
            run.message = f"The model's objective is {claimed:.9g} but the decoded tree costs {actual}; the model was kept as {path}."
            run.bound = -math.inf
        run.take(tree)

    def _cut_loop(self, run: Run, separator: Any) -> None:
        """Cuts at fractional points of the relaxation, then one tree search with a constraint handler, or re-solves until no cut is violated."""
        while (answer := self._solve_once(run, relax=True)) is not None and answer.x is not None and answer.limit is None:
            A, lower, upper = separator.separate(answer.x, False)
            if not len(lower):
                break
            run.cuts += len(lower)
            run.matrix = run.matrix.with_rows(A, lower, upper)
        if run.stopped:
            return
        if "lazy" in self.solver.capabilities:
            self._solve_once(run, lazy=separator)
            return
        while not run.closed and (answer := self._solve_once(run)) is not None and answer.x is not None and answer.limit is None:
            A, lower, upper = separator.separate(run.matrix.rounded(answer.x), True)
            if not len(lower):
                break
            run.cuts += len(lower)
            run.matrix = run.matrix.with_rows(A, lower, upper)
            if run.incumbent is not None:
                self.formulation.encode(run.view.canonical(run.incumbent), run.m)
                run.start = run.matrix.values()


def too_large(nonzeros: int, limits: Limits) -> str | None:
    """Why a model of that size is not worth building, known before it is: nothing can stop Pyomo at a time limit."""
    size = f"would have {nonzeros:,} nonzeros".replace(",", " ")
    if limits.nonzeros is not None and nonzeros > limits.nonzeros:
        allowed = f"{limits.nonzeros:,}".replace(",", " ")
        return f"{size}, where at most {allowed} are built; raise --max-nonzeros (max_nonzeros=), lower the depth, or use fewer tests or rows."
    seconds = nonzeros / BUILD_RATE
    if limits.time is not None and seconds > limits.time:
        return f"{size}, and building it takes about {seconds:.0f} s, longer than the time limit of {limits.time:g} s; raise --time-limit."
    return None


def _nothing_to_choose(matrix: MatrixModel) -> Answer:
    """A model without variables is solved by looking at it; solvers disagree about what to say of one."""
    if (matrix.row_lower > 0).any() or (matrix.row_upper < 0).any():
        return Answer(Status.INFEASIBLE)
    return Answer(Status.OPTIMAL, x=np.zeros(0), objective=matrix.offset, bound=matrix.offset)


def _solver_gap(view: Any) -> float:
    """The absolute gap at which a solver may stop: its claim, less what its arithmetic may be off by, must still close the run's gap."""
    if not view.exact:
        return view.absolute_gap / 2
    spread = view.spread
    return view.absolute_gap if spread < 10**4 else 0.9 if spread < 10**6 else 0.5


def _believed(view: Any, Z: float) -> float:
    """By how much a solver's objective or bound may be off before the model is called wrong."""
    return max(1e-4 * max(1.0, abs(Z)), 100.0 * view.tolerance)


def _round_up(bound: float, view: Any, finished: bool) -> float:
    """Exact costs are whole numbers: a bound of 57.2 is one of 58, with a margin for the solver's tolerances.

    The margin is wide while the search goes on, where a bound is the value of some relaxation. Once the solver has finished, its bound is nearer to
    its incumbent than a whole unit (`_solver_gap`), and the margin is what solvers' sums and printed digits are off by. Where costs differ by more
    than 10^7 that is more than half a unit: nothing is called optimal then.
    """
    if not view.exact or not math.isfinite(bound):
        return bound
    above = abs(bound - float(view.unavoidable))
    margin = 1e-6 + 3e-8 * max(above, float(view.spread)) if finished else 1e-6 * max(1.0, above)
    return float(math.ceil(bound - margin - 1e-12 * abs(bound)))


def _result(method: FormulationMethod, run: Run, start: dict[str, Any]) -> Result:
    """Everything a run learned, as a Result."""
    answers = run.answers
    main = [a for a in answers if a.x is not None] or answers
    last = main[-1] if main else None
    if start and start["accepted"] is None:
        seen = [a.start_accepted for a in answers if a.start_accepted is not None]
        start["accepted"] = seen[-1] if seen else None
    infeasible = last is not None and last.status is Status.INFEASIBLE and run.incumbent is None
    failed = next((a for a in answers if a.status is Status.ERROR), None)
    # Where both meet, what is beyond the incumbent is the solver's rounding.
    bound = None if infeasible or not math.isfinite(run.bound) else run.view.to_value(min(run.bound, run.incumbent_cost) if run.closed else run.bound)
    if bound is not None and run.incumbent is not None and run.closed and run.view.exact:
        bound = run.view.to_value(int(run.incumbent_cost))
    if bound is not None and not run.view.exact:
        bound = _measured(run, bound)
    bounds = [a.bound for a in answers if a.bound is not None and a.status is not Status.INFEASIBLE]
    claimed = max((b for b in bounds if math.isfinite(b)), default=-math.inf)
    if claimed > run.incumbent_cost + _believed(run.view, run.incumbent_cost):
        bound = run.view.to_value(claimed)  # a feasible tree beats it: the model is wrong, and `finish` says so
    if last is not None and last.status is Status.OPTIMAL and run.incumbent is not None and not (run.closed or run.message or run.stopped):
        run.message = _not_closed(method.solver.name, run)
    result = finish(
        run.problem, method.name, run.incumbent, bound=bound, claims_optimal=run.incumbent is not None and run.closed, infeasible=infeasible,
        proved_by=f"{method.solver.name} {last.version}".strip() if infeasible and last else run.prover, clock=run.clock, limit=run.stopped,
        sizes=_sizes(run), trace=tuple(run.trace), nodes=_total_nodes(answers), root_bound=run.natural(_root_bound(run)), start=start,
        log="\n".join(a.log for a in answers if a.log), message=run.message or next((a.message for a in reversed(answers) if a.message), ""),
        options={"solver": method._options(run), "threads": run.limits.threads, "seed": run.limits.seed, "time_limit": run.limits.time},
        versions=versions(**{method.solver.name: last.version if last else ""}),
    )  # fmt: skip
    if last is not None and last.status is Status.INFEASIBLE and run.incumbent is not None:
        run.message = f"The model's feasible set is empty says {method.solver.name}, but a feasible tree is known: the model is wrong."
    contradiction = run.message.startswith("The model's ")
    if failed is not None or contradiction:
        result = replace(result, status=Status.ERROR, message=run.message if contradiction else failed.message if failed else "")
    return result


def _measured(run: Run, bound: Any) -> Any:
    """A bound in floating point, unless it is met by a tree whose value is exact, though the view's costs are not."""
    value = run.problem.value(run.incumbent).exact if run.incumbent is not None and run.closed else None
    return float(bound) if value is None else value


def _not_closed(solver: str, run: Run) -> str:
    """Why the run does not call optimal what the solver does."""
    if run.limits.rel_gap:
        return f"{solver} stopped within the relative gap it was given."
    if not run.view.exact:
        gap = run.incumbent_cost - run.bound
        return (
            f"{solver} calls this optimal, but its bound leaves a gap of {gap:.3g} of the tolerances in which values are told apart; dp proves more."
        )
    return (
        f"{solver} calls this optimal, but its bound leaves a gap of {run.incumbent_cost - run.bound:.3g} whole units of costs that differ by up to "
        f"{float(run.view.spread):.3g}: more digits than solvers tell apart. Round costs, weights and penalties to fewer digits, or use an engine (dp, min-cut)."
    )


def _sizes(run: Run) -> dict[str, int]:
    first = run.matrix
    return {
        "variables": first.n_variables, "binaries": int(first.integer.sum()), "rows": first.n_rows, "nonzeros": int(first.A.nnz), "cuts": run.cuts,
        **run.view.data_sizes, **getattr(run.m, "extra_sizes", {}),
    }  # fmt: skip


def _total_nodes(answers: list[Answer]) -> int | None:
    known = [a.nodes for a in answers if a.nodes is not None and a.nodes >= 0]
    return sum(known) if known else None


def _root_bound(run: Run) -> float | None:
    """The best bound of a root node. One above the incumbent says no more than that nothing is better: some solvers cut until that is so."""
    roots = [a.root_bound for a in run.answers if a.root_bound is not None]
    return min(max(roots), run.incumbent_cost) if roots else None
