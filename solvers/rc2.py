"""RC2, through `python-sat`: programs of 0/1 variables as weighted clauses."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.common.registering import register
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Answer, Availability, Event, Job, Solver
from milp_trees.results.result import Limit, Status

from ._clauses import Clauses, Ended, clauses_of
from ._common import FEASIBILITY, Log, Trace, version_of
from ._whole import finite_upper, not_whole

#: Options, with their defaults: parameters of `RC2Stratified` of PySAT, by its names. The
#: satisfiability solvers that can be interrupted are those that can be named.
OPTIONS: Mapping[str, Any] = {
    "solver": "g4",
    "blo": "div",
    "adapt": False,
    "exhaust": False,
    "minz": True,
    "trim": 0,
}
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "solver": ("g3", "g4", "g42", "gc3", "gc4", "m22", "mgh"),
    "blo": ("basic", "div", "cluster", "full"),
    "adapt": (False, True),
    "exhaust": (False, True),
    "minz": (False, True),
    "trim": tuple(range(11)),
}
#: Seconds between two looks at the clock, and before the time limit at which it begins to end.
POLL, MARGIN = 0.05, 0.1


@register
class RC2(Solver):
    """RC2 of PySAT, a core-guided solver of weighted clauses.

    Its options are parameters of `RC2Stratified`: solver, blo, adapt, exhaust, minz, trim. Clauses
    come from rows (`_clauses`). The costs of the cores that it finds are a lower bound; points are
    models that it meets on the way, the start among them.
    """

    name = "rc2"
    title = "RC2 (PySAT)"
    notes = (
        "programs of 0/1 variables as weighted clauses; good where rows are clauses; rows with "
        "large weights become long; neither node count nor root bound"
    )
    capabilities = frozenset({"mip", "start", "trace"})
    install = "pip install 'milp-trees[maxsat]'"

    def availability(self) -> Availability:
        # PySAT encodes pseudo-Boolean rows with pindakaas.
        for module, package in (("pysat", "python-sat"), ("pindakaas", "pindakaas")):
            if importlib.util.find_spec(module) is None:
                return Availability(False, reason=f"{package} is not installed; {self.install}.")
        return Availability(True, version_of("python-sat"))

    def warm_up(self) -> None:
        import pysat.card
        import pysat.examples.rc2
        import pysat.pb  # noqa: F401

    def unsupported(self, model: MatrixModel) -> str | None:
        n = int((~model.integer).sum())
        whole = _bounded(model)
        with np.errstate(invalid="ignore"):
            wide = np.floor(whole.upper + 1e-9) > np.ceil(whole.lower - 1e-9) + 1
        if wide.any():
            return f"rc2 takes variables with two values only and {model.name} has others; highs and scip take them."
        if n and not model.implied_integer:
            return f"rc2 takes 0/1 variables only and {model.name} has {n} continuous ones; highs, cbc and scip take them."
        return not_whole(self.name, whole)

    def solve(self, job: Job, emit: Callable[[Event], None], stop: Callable[[], bool]) -> Answer:
        why = self.unsupported(job.model)
        if why:
            return Answer(Status.UNSUPPORTED, message=why)
        model = _bounded(job.model)
        if model.contradiction() is not None:
            return Answer(Status.INFEASIBLE, version=version_of("python-sat"))
        return Run(replace(job, model=model), Trace(emit), stop).answer()


def _bounded(model: MatrixModel) -> MatrixModel:
    """The model with the bounds that follow from its rows, if it may be declared integer."""
    return replace(model, upper=finite_upper(model), columns=[]) if model.implied_integer else model


class Run:
    """One call of RC2."""

    def __init__(self, job: Job, trace: Trace, stop: Callable[[], bool]) -> None:
        self.job, self.trace, self.stop = job, trace, stop
        self.options = _options(job.options)
        self.log = Log(job.limits.log_file)
        self.x: np.ndarray | None = None
        self.bound: float | None = None
        self.limit: Limit | None = None
        self.claimed: float | None = None
        self.accepted: bool | None = None
        self.message = ""
        if job.limits.threads > 1:
            self.message = "RC2 runs in one thread."
        if job.limits.nodes is not None:
            self.message = (
                f"{self.message} RC2 has no nodes; the node limit was not applied.".strip()
            )

    def answer(self) -> Answer:
        try:
            self._take_start()
            status = self._search()
        except Ended:
            status = Status.NO_SOLUTION if self.x is None else Status.FEASIBLE
        finally:
            self.log.close()
        if status is Status.OPTIMAL:
            self.limit = None
        return Answer(
            status,
            self.limit,
            self.x,
            None if self.x is None else self.job.model.objective(self.x),
            None if status is Status.INFEASIBLE else self.bound,
            start_accepted=self.accepted,
            log=self.log.text,
            version=version_of("python-sat"),
            message=self.message,
            seconds=self.trace.seconds,
            claimed=self.claimed if status is Status.OPTIMAL else None,
        )

    def check(self) -> None:
        """Raise `Ended` when it is time."""
        if self.limit is None:
            if self.stop():
                self.limit = Limit.INTERRUPTED
            elif self.left() <= 0:
                self.limit = Limit.TIME
        if self.limit is not None:
            raise Ended

    def left(self) -> float:
        """Seconds until it must begin to end, which takes a moment on a busy machine."""
        limit = self.job.limits.time
        return np.inf if limit is None else limit - min(0.1 * limit, MARGIN) - self.trace.seconds

    def told(self) -> bool:
        try:
            self.check()
        except Ended:
            return True
        return False

    def take(self, x: np.ndarray) -> None:
        """Keep a feasible point if it is better than the one before."""
        value = self.job.model.objective(x)
        if self.x is None or value < self.job.model.objective(self.x):
            self.x = x
            self.trace.record(value, self.bound, None, x)
            self.log.write(f"{self.trace.seconds:9.2f} s  point of cost {value:.12g}\n")

    def raise_bound(self, bound: float) -> None:
        if self.bound is None or bound > self.bound:
            self.bound = bound
            self.trace.record(None, bound)

    def closed(self) -> bool:
        """Whether point and bound are within the allowed gaps of each other."""
        if self.x is None or self.bound is None:
            return False
        value, limits = self.job.model.objective(self.x), self.job.limits
        return value - self.bound <= max(limits.abs_gap, limits.rel_gap * abs(value), 1e-9)

    def _take_start(self) -> None:
        start = self.job.start
        if start is not None:
            self.accepted = bool(self.job.model.violation(start) <= FEASIBILITY)
            if self.accepted:
                self.take(self.job.model.rounded(start))

    def _search(self) -> Status:
        clauses = clauses_of(self.job.model, self.check)
        self.log.write(
            f"{self.job.model.name}: {self.job.model.n_variables} columns and "
            f"{self.job.model.n_rows} rows became {clauses.top} variables, "
            f"{len(clauses.hard)} clauses and {len(clauses.soft)} soft literals.\n"
        )
        if [] in clauses.hard:
            return Status.INFEASIBLE
        self.check()
        return _search_class()(self, clauses).run()


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options with their defaults; an error for an unknown one or a wrong value."""
    for key, value in given.items():
        if key not in OPTIONS:
            raise SolverFailure(f"RC2 has no option {key!r}; it has {', '.join(OPTIONS)}.")
        if not any(value == known and type(value) is type(known) for known in CHOICES[key]):
            raise SolverFailure(
                f"RC2 does not take {value!r} for the option {key!r}; it takes {', '.join(map(repr, CHOICES[key]))}."
            )
    return {**OPTIONS, **given}


class _Closed(Exception):
    """Point and bound are equal, up to the allowed gaps."""


class Search:
    """What is added to a search of PySAT: it reports points and cores, and ends when told."""

    oracle: Any
    cost: int
    core: list[int]
    compute: Callable[[], Any]
    delete: Callable[[], None]

    def __init__(self, owner: Run, clauses: Clauses) -> None:
        from pysat.formula import WCNF

        self.owner, self.clauses = owner, clauses
        self.offset = float(owner.job.model.offset) + clauses.constant
        formula = WCNF()
        formula.hard, formula.nv = clauses.hard, clauses.top
        for literal, weight in clauses.soft.items():
            formula.append([literal], weight=weight)
        super().__init__(formula, **owner.options)  # type: ignore[call-arg]

    def run(self) -> Status:
        """Search until the optimum is proven; `Ended` is raised when it is time."""
        done = threading.Event()
        watch = threading.Thread(target=self._interrupt_when_told, args=(done,), daemon=True)
        watch.start()
        try:
            return self._run()
        except _Closed:
            return Status.OPTIMAL
        finally:
            done.set()
            watch.join()
            self.delete()

    def _run(self) -> Status:
        # Of the two values of a variable the cheaper is tried first, or that of the start.
        start = self.owner.x
        liked = list(self.clauses.soft) if start is None else self.clauses.literals(start)
        self.oracle.set_phases(liked)
        if not self._call_oracle():
            return Status.INFEASIBLE
        self._raise_bound()
        if self.clauses.soft and self.compute() is None:
            raise SolverFailure("RC2 found no model of clauses that have one.")
        self.owner.claimed = self.offset + self.cost
        self._raise_bound()
        return Status.OPTIMAL

    def _interrupt_when_told(self, done: threading.Event) -> None:
        # Again and again once it is time: another call may begin after the first interruption.
        while not done.wait(max(0.01, min(POLL, self.owner.left()))):
            if self.owner.told():
                self.oracle.interrupt()

    def _raise_bound(self) -> None:
        self.owner.raise_bound(self.offset + self.cost)
        if self.owner.closed():
            raise _Closed

    def _call_oracle(self, assumptions: Any = (), expect_interrupt: bool = True) -> Any:
        self.owner.check()
        found = self.oracle.solve_limited(assumptions=list(assumptions), expect_interrupt=True)
        if found:
            self.owner.take(self.clauses.point(self.oracle.get_model()))
            if self.owner.closed():
                raise _Closed
        self.owner.check()
        return found

    def process_core(self) -> None:
        size = len(self.core)
        super().process_core()  # type: ignore[misc]
        self.owner.log.write(
            f"{self.owner.trace.seconds:9.2f} s  core of {size}, bound {self.offset + self.cost:.12g}\n"
        )
        self._raise_bound()


def _search_class() -> type[Search]:
    """The search; its other base class exists only when python-sat is installed."""
    from pysat.examples.rc2 import RC2Stratified

    class Stratified(Search, RC2Stratified):  # type: ignore[misc]
        pass

    return Stratified
