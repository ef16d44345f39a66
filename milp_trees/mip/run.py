"""What a run of a formulation with a solver finds out, and how it becomes a `Result`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from milp_trees.common import scratch
from milp_trees.common.limits import Deadline, Limits
from milp_trees.methods.callback import current_callback, report_incumbent
from milp_trees.methods.finish import Clock, finish, versions
from milp_trees.methods.trace import Trace
from milp_trees.mip.formulation import Stage
from milp_trees.mip.linear.files import write_model
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Answer, Event, Job, Solver
from milp_trees.problems.support import able
from milp_trees.results.result import Limit, Result, Status

if TYPE_CHECKING:
    from milp_trees.models.tree import Tree
    from milp_trees.problems.problem import Problem


#: Error of a reduced cost, in units of a model's objective, that solvers tolerate.
SOLVER_ERROR = 1e-6

#: How a run ends whose model is not complete.
UNBUILT = {
    Limit.TIME: "The time limit ended while the model was being built; raise --time-limit.",
    Limit.MEMORY: "The model takes more memory than the limit allows before a solver sees it; raise --memory-limit.",
    Limit.CALLBACK: "The progress function stopped the run while the model was being built.",
    Limit.INTERRUPTED: "The run was interrupted while the model was being built.",
}


@dataclass
class Run:
    """State of one run, shared by its stages."""

    problem: Problem
    limits: Limits
    clock: Clock
    trace: Trace = field(default_factory=Trace)
    view: Any = None
    stage: Stage | None = None
    #: The models that may still be needed.
    stages: Iterator[Stage] = field(default_factory=lambda: iter(()))
    compiled: MatrixModel | None = None
    start: np.ndarray | None = None
    start_info: dict[str, Any] = field(default_factory=dict)
    incumbent: Any = None
    incumbent_cost: float = math.inf
    #: A whole number if it holds; where bounds are rationals, a float is what a solver claims.
    bound: float = -math.inf
    #: The bound that other problems have proved, if they have.
    proven: int | None = None
    #: Units of the view in one unit of the model's objective.
    unit: int = 1
    prover: str = "the data (what every predictor costs at least)"
    stopped: Limit | None = None
    answers: list[Answer] = field(default_factory=list)
    cuts: int = 0
    #: Incumbents of the last search of a model that is completed by cuts.
    incumbent_points: list[np.ndarray] = field(default_factory=list)
    #: Number of points that the solver sent, and of better ones that it got; empty without them.
    exchanged: dict[str, int] = field(default_factory=dict)
    message: str = ""
    #: The sentence that explains why the model or its decoding is wrong; the result is then an
    #: error.
    wrong: str = ""

    @property
    def matrix(self) -> MatrixModel:
        """The model as it is handed to the solver, once it is built."""
        assert self.compiled is not None
        return self.compiled

    @property
    def m(self) -> Any:
        """The Pyomo model that is being solved, once it is built."""
        assert self.stage is not None
        return self.stage.model

    @property
    def covers(self) -> int | None:
        """The objective up to which the model holds every predictor; None if it holds all."""
        return None if self.stage is None else self.stage.covers

    @property
    def deadline(self) -> Deadline:
        """The end of the time limit, or sooner if the user's function stops the run."""
        end = Deadline.after(self.limits.time, self.clock.begin)
        callback = current_callback()
        return end if callback is None else replace(end, sooner=callback.stops)

    @property
    def solver_gap(self) -> float:
        """The absolute gap at which the solver may stop, in units of the model's objective."""
        return solver_gap(self.view) / self.unit

    def natural(self, Z: float | None) -> float | None:
        return None if Z is None or not math.isfinite(Z) else float(self.view.to_value(Z))

    def objective(self, x: np.ndarray) -> float:
        """The objective of a point of the model, in units of the view."""
        return self.matrix.objective(x) * self.unit

    def scaled(self, number: float | None) -> float | None:
        """A solver's number in units of the view."""
        return None if number is None else number * self.unit

    def in_units(self, answer: Answer) -> Answer:
        """A solver's answer in units of the view."""
        if self.unit == 1:
            return answer
        names = ("objective", "bound", "root_bound", "claimed")
        return replace(answer, **{name: self.scaled(getattr(answer, name)) for name in names})  # type: ignore[arg-type]

    def covered(self, bound: float | None) -> float | None:
        """A bound of the model as a bound of the problem, if it holds only some predictors."""
        covers = self.covers
        return bound if bound is None or covers is None else min(bound, covers + 1.0)

    def record(self, incumbent: float | None, bound: float | None) -> None:
        """Add a moment of the run to the trace, and report it to `progress`."""
        best = min(self.incumbent_cost, math.inf if incumbent is None else incumbent)
        low = max(self.bound, -math.inf if bound is None else bound)
        self.trace.add(self.clock.seconds, self.natural(best), self.natural(low))

    def take(self, tree: Tree) -> None:
        """Keep a tree if it is feasible and better than the incumbent."""
        tree = self.problem.space.simplify(tree, self.view)
        cost = self.view.objective(tree)
        if cost < self.incumbent_cost and not self.problem.violations(tree):
            self.incumbent, self.incumbent_cost = tree, cost
            report_incumbent(tree)

    def take_proven(self) -> None:
        """Begin with the bound that other problems have proved."""
        known = self.problem.proven
        if known is None or not self.view.exact:
            return
        least = math.ceil(self.view.from_value(known[0]))
        if least > self.bound:
            self.bound, self.prover, self.proven = least, known[1], least

    @property
    def target(self) -> float | None:
        """The objective of the model at which a search may end, since nothing better exists."""
        whole = self.proven is not None and self.covers is None and self.unit == 1
        return float(self.proven) if whole and self.proven == self.bound else None  # type: ignore[arg-type]

    def offer(self, tree: Tree, point: np.ndarray) -> None:
        """Keep the tree of a feasible point if it is better than the incumbent."""
        self.take(tree)
        self.record(None, None)

    def take_unseen(self, start: Tree | None) -> None:
        """Keep a feasible start although there is no view yet, so its cost is not known."""
        if start is not None and not self.problem.violations(start):
            self.incumbent = start

    def take_incumbent(self) -> None:
        """Keep what was found out for a model that was not completed (`view.incumbent`)."""
        found = getattr(self.view, "incumbent", None)
        if found is not None:
            if found.tree is not None:
                self.take(found.tree)
            if found.bound > self.bound:
                self.bound, self.prover = found.bound, found.prover
            self.record(None, None)

    def refute(self, what: str) -> None:
        """Note that the model contradicts the data: its claims are ignored, a file keeps it."""
        path = scratch.kept() / f"{self.matrix.name}.mps.gz"
        write_model(self.matrix, path)
        self.wrong = f"{what}; the model is kept for {scratch.KEPT_DAYS} days as {path}."
        self.bound = -math.inf

    @property
    def closed(self) -> bool:
        """Whether incumbent and bound meet."""
        return self.incumbent_cost - self.bound <= self.view.absolute_gap + 1e-9


def solved(
    solver_name: str,
    job: Job,
    current_progress: Callable[[Event], None] | None,
    better: Callable[[np.ndarray], np.ndarray | None] | None = None,
) -> Answer:
    """The answer of a solver to a job; the user's `progress` function may stop the solver."""
    from milp_trees.mip import runner

    callback = current_callback()
    if callback is None:
        return runner.run(solver_name, job, current_progress, None, better)
    answer = runner.run(
        solver_name, job, current_progress, lambda: callback.stops() is not None, better
    )
    requested = callback.limit if answer.limit is Limit.INTERRUPTED else None
    return replace(answer, limit=requested or answer.limit)


def solver_gap(view: Any) -> float:
    """The absolute gap at which a solver may stop.

    Its claim still has to close the run's gap after the errors of its arithmetic are subtracted.
    """
    if not view.exact:
        return view.absolute_gap / 2
    spread = view.spread
    return view.absolute_gap if spread < 10**4 else 0.9 if spread < 10**6 else 0.5


def claim_tolerance(view: Any, Z: float, units: float = 0.5) -> float:
    """The largest error of a solver's objective or bound before the model is called wrong."""
    if not view.exact:
        return max(1e-4 * max(1.0, abs(Z)), 100.0 * view.tolerance)
    above = max(abs(Z - view.unavoidable), view.spread)
    return float(units + 1e-6 * above + 1e-12 * abs(Z))


def has_rational_bounds(view: Any) -> bool:
    """Whether objectives are rounded, and bounds on them are rationals that hold."""
    return bool(getattr(view, "rational_bounds", False))


def round_up(bound: float, view: Any, finished: bool, unit: int = 1) -> float:
    """Round a bound up to the next whole number, which is valid where costs are exact.

        A bound of 57.2 becomes 58; a margin allows for the solver's tolerances. The margin is wide
    while the search goes on, when a bound is the value of some relaxation. Once the solver has
    finished, its bound is closer to its incumbent than a whole unit (`solver_gap`), and the margin
    covers only the errors of its sums and printed digits. Where costs differ by more than 10^7,
    these errors exceed half a unit; then nothing is called optimal.
    """
    if has_rational_bounds(view) and math.isfinite(bound):
        # Solvers keep reduced costs and sums within tolerances, of which they say nothing.
        return float(bound - SOLVER_ERROR * unit * 2 * view.most_leaves - 1e-13 * abs(bound))
    if not view.exact or not math.isfinite(bound):
        return bound
    above = abs(bound - view.unavoidable)
    margin = 1e-6 + 3e-8 * max(above, float(view.spread)) if finished else 1e-6 * max(1.0, above)
    return float(math.ceil(bound - margin - 1e-12 * abs(bound)))


class Runner(Protocol):
    """The part of a method that `result` reads; `FormulationMethod` has it."""

    solver: Solver
    options: dict[str, Any]
    name: str

    def solver_options(self, run: Run) -> dict[str, Any]:
        """Options that were given to the solver."""


def result(method: Runner, run: Run) -> Result:
    """Turn everything that a run found out into a Result."""
    if run.view is None:  # stopped before the view was made
        return finish(
            run.problem,
            method.name,
            run.incumbent,
            bound=None,
            claims_optimal=False,
            proved_by=None,
            clock=run.clock,
            limit=run.stopped,
            message=run.message,
            options=_settings(method, run),
        )
    answers, start = run.answers, run.start_info
    main = [a for a in answers if a.x is not None] or answers
    last = main[-1] if main else None
    if start and start["accepted"] is None:
        seen = [a.start_accepted for a in answers if a.start_accepted is not None]
        start["accepted"] = seen[-1] if seen else None
    # With cuts, earlier models may have had solutions that broke rows found later.
    empty = bool(answers) and answers[-1].status is Status.INFEASIBLE
    infeasible = empty and run.incumbent is None
    failed = next((a for a in answers if a.status is Status.ERROR), None)
    # If both meet, a bound beyond the incumbent is only the solver's rounding.
    bound = (
        None
        if infeasible or not math.isfinite(run.bound)
        else run.view.to_value(min(run.bound, run.incumbent_cost) if run.closed else run.bound)
    )
    if bound is not None and run.incumbent is not None and run.closed and run.view.exact:
        bound = run.view.to_value(int(run.incumbent_cost))
    if bound is not None and has_rational_bounds(run.view):
        bound = _rational(run)
    elif bound is not None and not run.view.exact:
        bound = _measured(run, bound)
    bounds = [a.bound for a in answers if a.bound is not None and a.status is not Status.INFEASIBLE]
    claimed = max((b for b in bounds if math.isfinite(b)), default=-math.inf)
    # Solvers stop less than a unit below the optimum, so half a unit may be a whole one.
    if claimed > run.incumbent_cost + claim_tolerance(run.view, run.incumbent_cost, 1e-3):
        bound = run.view.to_value(
            claimed
        )  # a feasible tree beats the bound: the model is wrong, and `finish` reports it
    if (
        last is not None
        and last.status is Status.OPTIMAL
        and run.incumbent is not None
        and not (run.closed or run.message or run.wrong or run.stopped)
    ):
        run.message = _not_closed(method.solver.name, run)
    found = finish(
        run.problem,
        method.name,
        run.incumbent,
        bound=bound,
        claims_optimal=run.incumbent is not None and run.closed,
        infeasible=infeasible,
        proved_by=_infeasible_says(method.solver.name, answers[-1]) if infeasible else run.prover,
        clock=run.clock,
        limit=run.stopped,
        model_size=_sizes(run),
        trace=run.trace,
        nodes=_total_nodes(answers),
        root_bound=run.natural(_root_bound(run)),
        start=start,
        log="\n".join(a.log for a in answers if a.log),
        message=run.message or next((a.message for a in reversed(answers) if a.message), ""),
        options=_settings(method, run),
        versions=versions(**{method.solver.name: last.version if last else ""}),
    )
    if last is not None and empty and run.incumbent is not None:
        run.wrong = f"The model's feasible set is empty says {method.solver.name}, but a feasible tree is known: the model is wrong."
    if failed is not None or run.wrong:
        found = replace(
            found, status=Status.ERROR, message=run.wrong or (failed.message if failed else "")
        )
    return found


def _infeasible_says(solver: str, answer: Answer) -> str:
    """The program that claims that nothing is feasible.

    It is this package if the model contradicts itself or has no variables, since such a model is
    not given to a solver.
    """
    return f"{solver} {answer.version}" if answer.version else "the rows of the model"


def _settings(method: Runner, run: Run) -> dict[str, Any]:
    options = method.options if run.compiled is None else method.solver_options(run)
    return {
        "solver": options,
        "threads": run.limits.threads,
        "seed": run.limits.seed,
        "time_limit": run.limits.time,
    }


def _rational(run: Run) -> Any:
    """A bound that holds as a rational, and a solver's claim as a float."""
    least = min(run.bound, run.incumbent_cost)
    bound = run.view.to_bound(math.floor(least))
    return bound if isinstance(run.bound, int) else float(bound)


def _measured(run: Run, bound: Any) -> Any:
    """A bound as a float, unless a tree whose value is exact reaches it.

    Such a tree may exist although the costs of the view are not exact.
    """
    value = (
        run.problem.value(run.incumbent).exact if run.incumbent is not None and run.closed else None
    )
    return float(bound) if value is None else value


def _not_closed(solver: str, run: Run) -> str:
    """Why the run does not call a tree optimal that the solver calls optimal."""
    if run.limits.rel_gap:
        return f"{solver} stopped within the relative gap it was given."
    if not run.view.exact:
        gap = run.incumbent_cost - run.bound
        return f"{solver} calls this optimal, but its bound leaves a gap of {gap:.3g} units, of which {run.view.absolute_gap:.3g} may be left. Rescale weights and targets, or drop outliers{_or_engine(run)}."
    return (
        f"{solver} calls this optimal, but its bound leaves a gap of {run.incumbent_cost - run.bound:.3g} whole units of costs that differ by up to "
        f"{float(run.view.spread):.3g}: more digits than solvers tell apart. Round costs, weights and penalties to fewer digits{_or_engine(run)}."
    )


def _or_engine(run: Run) -> str:
    """Words that name methods with exact arithmetic, if any of them takes the problem."""
    names = able(run.problem, "exact", ("methods",))[:2]
    return f", or use an engine, such as {' or '.join(names)}" if names else ""


def _sizes(run: Run) -> dict[str, int]:
    first = run.compiled
    if first is None:
        return dict(run.view.data_sizes)
    return {
        "variables": first.n_variables,
        "binaries": int(first.integer.sum()),
        "rows": first.n_rows,
        "nonzeros": int(first.A.nnz),
        "cuts": run.cuts,
        **run.exchanged,
        **run.view.data_sizes,
        **(run.stage.sizes if run.stage else {}),
    }


def _total_nodes(answers: list[Answer]) -> int | None:
    known = [a.nodes for a in answers if a.nodes is not None and a.nodes >= 0]
    return sum(known) if known else None


def _root_bound(run: Run) -> float | None:
    """The best bound of a root node, at most the incumbent.

    A bound above the incumbent only means that nothing better exists: some solvers cut until
    then.
    """
    roots = [a.root_bound for a in run.answers if a.root_bound is not None]
    return min(max(roots), run.incumbent_cost) if roots else None
