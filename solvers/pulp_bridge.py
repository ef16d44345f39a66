"""Any solver that PuLP finds; `to_pulp` turns a model into a `pulp.LpProblem`."""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import inspect
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.common.registering import register
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Answer, Availability, Event, Job, Solver
from milp_trees.results.result import Limit, Status

from ._cbc_log import AWAY, PREPROCESSED_AWAY
from ._commercial import how_to_reach
from ._common import FEASIBILITY, WINDOWS, agrees, bound_within, captured, early

#: Largest violation of the model by a returned point.
TOLERANCE = 1e-5
#: The first choice if it is installed, because its log proves that a start was accepted.
PREFERRED = "PULP_CBC_CMD"


def to_pulp(matrix: MatrixModel) -> Any:
    """The model as a `pulp.LpProblem`, which is minimised and keeps the names.

    A row with two different sides becomes two constraints.
    """
    import pulp

    columns, rows = matrix.names()
    problem = pulp.LpProblem(matrix.name.replace(" ", "_"), pulp.LpMinimize)
    variables = [
        pulp.LpVariable(
            name, _side(low), _side(up), pulp.LpInteger if integer else pulp.LpContinuous
        )
        for name, low, up, integer in zip(
            columns,
            matrix.lower.tolist(),
            matrix.upper.tolist(),
            matrix.integer.tolist(),
            strict=True,
        )
    ]
    problem.addVariables(variables)
    # Columns that occur nowhere have the coefficient zero in the objective; otherwise PuLP's
    # file would have bounds for them, but no column.
    A = matrix.A.tocsr()
    sided = np.isfinite(matrix.row_lower) | np.isfinite(matrix.row_upper)
    idle = np.bincount(A[sided].indices, minlength=matrix.n_variables) == 0
    used = np.flatnonzero((matrix.c != 0) | idle)
    problem.setObjective(
        pulp.LpAffineExpression(
            [(variables[j], matrix.c[j]) for j in used.tolist()], constant=float(matrix.offset)
        )
    )
    starts, indices, data = A.indptr.tolist(), A.indices.tolist(), A.data.tolist()
    for i, name in enumerate(rows):
        terms = [(variables[indices[k]], data[k]) for k in range(starts[i], starts[i + 1])]
        for suffix, sense, side in _sides(float(matrix.row_lower[i]), float(matrix.row_upper[i])):
            problem.addConstraint(
                pulp.LpConstraint(pulp.LpAffineExpression(terms), sense, name + suffix, side)
            )
    return problem


def _side(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _sides(low: float, up: float) -> Iterator[tuple[str, int, float]]:
    """Suffix of the name, PuLP's sense and right-hand side of each constraint for a row."""
    if low == up:
        yield "", 0, low
        return
    both = np.isfinite(low) and np.isfinite(up)
    if np.isfinite(low):
        yield "_low" if both else "", 1, low
    if np.isfinite(up):
        yield "_up" if both else "", -1, up


@register
class PulpBridge(Solver):
    """PuLP. `solver="HiGHS"` (or any name of `pulp.listSolvers`) chooses the solver.

    Further options are arguments of that solver's class. PuLP reports "Optimal" at a time limit,
    and reports no bounds. So a result is optimal here only if PuLP's solution status is optimal and
    the solver ended well before its limit; its bound is then the value minus the allowed gaps.
    """

    name = "pulp"
    title = "PuLP"
    notes = (
        "the bridge: `--option solver=NAME` with any name of `pulp.listSolvers()`; PuLP "
        "reports neither bounds nor a trace, and `to_pulp` hands a model over as an "
        "`LpProblem`"
    )
    shared_components = frozenset({"cbc"})
    capabilities = frozenset(
        {"lp", "mip", "start", "gap", "threads", "memory", "general-integers", "continuous"}
    )
    cannot_read = {
        ".mps.gz": "LpProblem.fromMPS reads no gzipped files; write .mps for it",
        ".lp": "it reads no LP files; write .mps for it",
    }
    install = "pip install 'pulp>=3.3.2,<4'"

    @classmethod
    def reaches(cls, name: str) -> str:
        """PuLP's name of a solver, and whether its Python package is there."""
        return how_to_reach(name)

    def availability(self) -> Availability:
        # Located and not imported: PuLP imports highspy, which cannot be in one process with
        # OR-tools.
        if importlib.util.find_spec("pulp") is None:
            return Availability(False, reason=f"pulp is not installed; {self.install}.")
        version = importlib.metadata.version("pulp")
        if int(version.split(".")[0]) >= 4:
            return Availability(
                False,
                version,
                f"pulp {version} is installed; the bridge is written for version 3: {self.install}.",
            )
        return Availability(True, version)

    def warm_up(self) -> None:
        import pulp  # noqa: F401

    def solve(self, job: Job, emit: Callable[[Event], None], stop: Callable[[], bool]) -> Answer:
        if job.relax or not job.model.integer.any():
            job = replace(job, model=job.model.relaxed(), start=None)
        run = Run(job, emit, stop)
        answer = run.answer()
        if not run.unreliable(answer):
            return answer
        left = job.limits.after(time.perf_counter() - run.began)
        again = Run(replace(job, limits=left), emit, stop, more=["preprocess off"]).answer()
        message = " ".join(filter(None, [AWAY, again.message]))
        return replace(again, log=answer.log + again.log, message=message)


class Run:
    """One call of PuLP."""

    def __init__(
        self,
        job: Job,
        emit: Callable[[Event], None],
        stop: Callable[[], bool],
        more: Sequence[str] = (),
    ) -> None:
        #: Parameters of CBC besides those of the user.
        self.more = more
        self.job, self.emit, self.stop = job, emit, stop
        self.began = time.perf_counter()
        self.notes: list[str] = []
        self.interrupted = self.late = False
        self.problem = to_pulp(job.model)
        self.by_name = {v.name: v for v in self.problem.variables()}
        self.names = job.model.names()[0]
        self.solver_name, self.solver = self._solver()
        # The clock of the solver starts when it is called, after the model is built.
        self.limit = self.solver.timeLimit

    def _solver(self) -> tuple[str, Any]:
        import pulp

        options = dict(self.job.options)
        found = pulp.listSolvers(onlyAvailable=True)
        name = options.pop("solver", PREFERRED if PREFERRED in found else next(iter(found), None))
        if name not in found:
            raise SolverFailure(
                f"PuLP finds no solver {name!r} here; it finds {', '.join(found) or 'none'}."
            )
        known = inspect.signature(getattr(pulp, name).__init__).parameters
        named = {
            k for k, p in known.items() if p.kind is not p.VAR_KEYWORD and not k.startswith("_")
        } - {"self", "args"}
        if self.more:
            options["options"] = [*(options.get("options") or ()), *self.more]
        wrong = set(options) - named
        if wrong:
            raise SolverFailure(
                f"PuLP's {name} has no option {', '.join(map(repr, sorted(wrong)))}; it has {', '.join(sorted(named))}."
            )
        limits = self.job.limits
        wanted: dict[str, Any] = {
            "msg": True,
            "gapRel": limits.rel_gap,
            "gapAbs": limits.abs_gap,
            "maxNodes": limits.nodes,
        }
        if limits.time is not None:
            left = max(limits.time - (time.perf_counter() - self.began), 0.01)
            wanted["timeLimit"] = left - early(left)
        if limits.threads > 1:
            wanted["threads"] = limits.threads
        if self.job.start is not None:
            wanted["warmStart"] = self._start_is_feasible()
        missing = {k for k, v in wanted.items() if v not in (None, False)} - named
        if missing:
            self.notes.append(f"PuLP's {name} has no {', '.join(sorted(missing))}.")
        if name == PREFERRED:
            wanted["_skip_v4_deprecation"] = True
            named = named | {"_skip_v4_deprecation"}
        return name, getattr(pulp, name)(
            **({k: v for k, v in wanted.items() if k in named and v is not None} | options)
        )

    def _start_is_feasible(self) -> bool:
        assert self.job.start is not None
        violation = self.job.model.violation(self.job.start)
        if violation > FEASIBILITY:
            self.notes.append(
                f"The start violates the model by {violation:g} and was not handed over."
            )
            return False
        for name, value in zip(self.names, self.job.start.tolist(), strict=True):
            self.by_name[name].setInitialValue(value)
        return True

    # -- while it runs -----------------------------------------------------------------------------

    def answer(self) -> Answer:
        import pulp

        done = threading.Event()
        watch = threading.Thread(target=self._interrupt_when_told, args=(done,), daemon=True)
        watch.start()
        before = time.perf_counter()
        try:
            with captured(self.job.limits.log_file) as log:
                self.problem.solve(self.solver)
        except pulp.PulpSolverError as error:
            if not (self.interrupted or self.late):
                raise SolverFailure(f"PuLP's {self.solver_name} failed: {error}") from error
            # A program that does not listen to interrupts yet is ended by one, as by Ctrl-C.
            self.notes.append(f"PuLP's {self.solver_name} was interrupted and wrote no solution.")
            self.problem.status = pulp.LpStatusNotSolved
            for variable in self.by_name.values():
                variable.varValue = None  # the start is not an answer
        finally:
            done.set()
            watch.join()
        return self._read(time.perf_counter() - before, "".join(log))

    def _interrupt_when_told(self, done: threading.Event) -> None:
        """Interrupt a solver that is a program of its own, as by Ctrl-C.

        Most of them then write the solution that they have. A program that is started after the
        order to stop is interrupted too.
        """
        import psutil

        began, stated = time.perf_counter(), set()
        while not done.wait(0.05):
            # CBC looks at its clock only between nodes; a little later it is stopped in this way.
            late = (
                self.limit is not None
                and time.perf_counter() - began > self.limit + early(self.limit) / 2
            )
            if not (self.interrupted or self.late):
                self.late, self.interrupted = late, not late and self.stop()
            if self.interrupted or self.late:
                for child in set(psutil.Process().children(recursive=True)) - stated:
                    stated.add(child)
                    with contextlib.suppress(psutil.NoSuchProcess):
                        child.terminate() if WINDOWS else child.send_signal(signal.SIGINT)

    # -- after -------------------------------------------------------------------------------------

    def unreliable(self, answer: Answer) -> bool:
        """Whether CBC says something after its preprocessing left nothing to solve."""
        return (
            not self.more
            and answer.status in (Status.OPTIMAL, Status.INFEASIBLE)
            and PREPROCESSED_AWAY.search(answer.log) is not None
        )

    def _read(self, seconds: float, log: str) -> Answer:
        model, limits = self.job.model, self.job.limits
        x = self._point()
        ended_early = self.limit is None or seconds < 0.95 * self.limit
        status, limit = self._status(x is not None, ended_early and not self.interrupted)
        if status in (Status.INFEASIBLE, Status.NO_SOLUTION):
            x = None
        if status is Status.INFEASIBLE:
            self.notes = [note for note in self.notes if "it is not used" not in note]
        objective = bound = None
        if x is not None:
            objective = model.objective(x)
            self.emit(Event(time.perf_counter() - self.began, objective, None, None, x))
        if status is Status.OPTIMAL and objective is not None:
            gaps = (limits.abs_gap, limits.rel_gap) if model.integer.any() else (0.0, 0.0)
            # Options of the user may have changed the gaps; then nothing is known about the bound.
            bound = (
                None
                if {"gapRel", "gapAbs", "options"} & set(self.job.options)
                else bound_within(model, objective, *gaps)
            )
            status = Status.OPTIMAL if bound is not None else Status.FEASIBLE
        return Answer(
            status,
            limit,
            x,
            objective,
            bound,
            None,
            None,
            self._accepted(log),
            log,
            f"{importlib.metadata.version('pulp')} ({self.solver_name})",
            " ".join(self.notes),
            seconds=time.perf_counter() - self.began,
        )

    def _point(self) -> np.ndarray | None:
        """The values that PuLP has, if all are present and feasible; otherwise None."""
        values = [self.by_name[name].varValue for name in self.names]
        if None in values:
            return None
        x = np.array(values, dtype=float)
        violation = self.job.model.violation(x)
        if violation > TOLERANCE:
            self.notes.append(
                f"PuLP's {self.solver_name} returned a point that violates the model by {violation:g}; it is not used."
            )
            return None
        return x

    def _status(self, holds: bool, sure: bool) -> tuple[Status, Limit | None]:
        import pulp

        status, solution = self.problem.status, self.problem.sol_status
        if status not in pulp.LpStatus or solution not in pulp.constants.LpSolution:
            raise SolverFailure(
                f"PuLP's {self.solver_name} ended with the unknown status {status!r}, {solution!r}."
            )
        if status == pulp.LpStatusUnbounded:
            raise SolverFailure(f"PuLP's {self.solver_name} calls the model unbounded.")
        if sure and status == pulp.LpStatusInfeasible:
            return Status.INFEASIBLE, None
        if sure and holds and status == pulp.LpStatusOptimal and solution == pulp.LpSolutionOptimal:
            return Status.OPTIMAL, None
        self.notes.append(
            f"PuLP says {pulp.LpStatus[status]!r}, {pulp.constants.LpSolution[solution]!r}."
        )
        return (Status.FEASIBLE if holds else Status.NO_SOLUTION), self._limit(sure)

    def _limit(self, sure: bool) -> Limit | None:
        if self.interrupted:
            return Limit.INTERRUPTED
        if not sure:
            return Limit.TIME
        return Limit.NODES if self.job.limits.nodes is not None else None

    def _accepted(self, log: str) -> bool | None:
        if self.job.start is None:
            return None
        if any("was not handed over" in note for note in self.notes):
            return False
        message = [
            line.rsplit(" ", 1)[1]
            for line in log.splitlines()
            if "MIPStart provided solution with cost" in line
        ]
        # Only the log of CBC is known to report this; the file that PuLP writes lacks the
        # constant.
        wanted = self.job.model.objective(self.job.start)
        return (
            any(
                agrees(float(s), wanted) or agrees(float(s) + self.job.model.offset, wanted)
                for s in message
            )
            or None
        )
