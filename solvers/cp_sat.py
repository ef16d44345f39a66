"""CP-SAT, through `ortools`: integer programs with integer coefficients, in exact arithmetic."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.common.registering import register
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Answer, Availability, Event, Job, Solver
from milp_trees.results.result import Limit, Status

from ._common import Log, Trace, finite, version_of
from ._whole import finite_upper, not_whole, whole_sides

#: Largest distance of a start from integers.
INTEGRALITY = 1e-6


@register
class CpSat(Solver):
    """CP-SAT. Options are its parameters: `{"linearization_level": 2}`.

    Continuous columns of a model that is `implied_integer` (such as flows) are declared integer.
    CP-SAT has no tree of nodes, so there is neither a node count nor a bound of a root.
    """

    name = "cp-sat"
    title = "CP-SAT (OR-tools)"
    notes = (
        "exact arithmetic; neither node count nor root bound; flows of formulations that "
        "declare them integral are made integer variables"
    )
    capabilities = frozenset(
        {"mip", "start", "trace", "seed", "threads", "gap", "memory", "general-integers"}
    )
    cannot_read = {".lp": "OR-tools reads the LP files of lp_solve only; write .mps for it"}
    install = "pip install ortools"

    def availability(self) -> Availability:
        # Located and not imported: OR-tools and highspy cannot be loaded into one process.
        if importlib.util.find_spec("ortools") is None:
            return Availability(False, reason=f"ortools is not installed; {self.install}.")
        return Availability(True, version_of("ortools"))

    def warm_up(self) -> None:
        from ortools.sat.python import cp_model  # noqa: F401

    def unsupported(self, model: MatrixModel) -> str | None:
        n = int((~model.integer).sum())
        if n and model.implied_integer:
            return not_whole(
                self.name, replace(model, upper=finite_upper(model), columns=[])
            )  # flows often are bounded by rows only
        if n:
            return f"cp-sat takes integer variables only and {model.name} has {n} continuous ones; highs, cbc and scip take them."
        return not_whole(self.name, model)

    def solve(self, job: Job, emit: Callable[[Event], None], stop: Callable[[], bool]) -> Answer:
        why = self.unsupported(job.model)
        if why:
            return Answer(Status.UNSUPPORTED, message=why)
        model = (
            replace(job.model, upper=finite_upper(job.model), columns=[])
            if job.model.implied_integer
            else job.model
        )
        lower, upper = whole_sides(model)
        if (lower > upper).any() or model.contradiction() is not None:
            # A derived upper bound may be below the lower one; for CP-SAT a model with an empty
            # domain is invalid.
            return Answer(Status.INFEASIBLE, version=version_of("ortools"))
        return Run(replace(job, model=model), Trace(emit), stop).answer()


class Run:
    """One call of CP-SAT."""

    def __init__(self, job: Job, trace: Trace, stop: Callable[[], bool]) -> None:
        from ortools.sat.python import cp_model

        self.job, self.trace, self.stop = job, trace, stop
        self.stopped = False
        self.message = ""
        self.log = Log(job.limits.log_file)
        self.cp = cp_model.CpModel()
        self._load()
        self._give_start()
        self.solver = cp_model.CpSolver()
        self._set_parameters()

    def _load(self) -> None:
        model, proto = self.job.model, self.cp.proto
        lower, upper = np.ceil(model.lower - 1e-9), np.floor(model.upper + 1e-9)
        for low, up in zip(
            lower.astype(np.int64).tolist(), upper.astype(np.int64).tolist(), strict=True
        ):
            proto.variables.add().domain.extend([low, up])
        row_lower, row_upper = (sides.tolist() for sides in whole_sides(model))
        A = model.A.tocsr()
        starts, indices, data = (
            A.indptr.tolist(),
            A.indices.tolist(),
            A.data.astype(np.int64).tolist(),
        )
        for i, (low, up) in enumerate(zip(row_lower, row_upper, strict=True)):
            linear, part = proto.constraints.add().linear, slice(starts[i], starts[i + 1])
            linear.vars.extend(indices[part])
            linear.coeffs.extend(data[part])
            linear.domain.extend([low, up])
        used = np.flatnonzero(model.c)
        proto.objective.vars.extend(used.tolist())
        proto.objective.coeffs.extend(model.c[used].astype(np.int64).tolist())
        # The constant of the objective is left out, because it need not be an integer.

    def _give_start(self) -> None:
        start = self.job.start
        if start is None:
            return
        distance = float(np.abs(start - np.rint(start)).max(initial=0.0))
        if distance > INTEGRALITY:
            self.message = (
                f"The start is {distance:g} away from whole numbers and was not given to CP-SAT."
            )
            return
        self.cp.proto.solution_hint.vars.extend(range(len(start)))
        self.cp.proto.solution_hint.values.extend(np.rint(start).astype(np.int64).tolist())

    def _set_parameters(self) -> None:
        limits = self.job.limits
        settings: dict[str, Any] = {
            "num_workers": limits.threads,
            "random_seed": limits.seed,
            "log_search_progress": True,
            "log_to_stdout": False,
        }
        settings |= {
            "relative_gap_limit": limits.rel_gap,
            "absolute_gap_limit": limits.abs_gap,
            "catch_sigint_signal": False,
        }
        left = self.trace.left(limits.time)
        if left is not None:
            settings["max_time_in_seconds"] = left
        if limits.memory_mb is not None:
            settings["max_memory_in_mb"] = limits.memory_mb
        if limits.nodes is not None:
            self.message = (
                f"{self.message} CP-SAT has no nodes; the node limit was not applied.".strip()
            )
        for key, value in (settings | dict(self.job.options)).items():
            if not hasattr(type(self.solver.parameters), key):
                raise SolverFailure(
                    f"CP-SAT has no parameter {key!r}; they are listed in ortools/sat/sat_parameters.proto."
                )
            try:
                setattr(self.solver.parameters, key, value)
            except TypeError as error:
                raise SolverFailure(
                    f"CP-SAT does not take {value!r} for the parameter {key!r}."
                ) from error

    # -- while it runs -----------------------------------------------------------------------------

    def answer(self) -> Answer:
        offset = float(self.job.model.offset)
        self.solver.log_callback = lambda text: self.log.write(text + "\n")
        self.solver.best_bound_callback = lambda bound: self.trace.record(None, bound + offset)
        done = threading.Event()
        watch = threading.Thread(target=self._interrupt_when_told, args=(done,), daemon=True)
        watch.start()
        try:
            code = self.solver.solve(self.cp, _reporter(self.job.model, self.trace))
        finally:
            done.set()
            watch.join()
            self.log.close()
        return self._read(code)

    def _interrupt_when_told(self, done: threading.Event) -> None:
        while not done.wait(0.05):
            if self.stop():
                self.stopped = True
                self.solver.stop_search()

    # -- after -------------------------------------------------------------------------------------

    def _read(self, code: Any) -> Answer:
        model = self.job.model
        status, limit = self._status(code)
        x = objective = bound = None
        if status in (Status.OPTIMAL, Status.FEASIBLE):
            x = np.array(self.solver.response_proto.solution, dtype=float)
            objective = model.objective(x)
        elif status is Status.NO_SOLUTION and self._accepted():
            self.message = f"{self.message} CP-SAT saw that the start is feasible but ended before its search took it.".strip()
        if status is not Status.INFEASIBLE:
            # Before it has a bound, CP-SAT reports a number that is no bound; its callback then has
            # reported none either.
            seen = finite(self.trace.bound)
            last = (
                finite(self.solver.best_objective_bound + model.offset)
                if status is not Status.NO_SOLUTION or seen is not None
                else None
            )
            bound = max((b for b in (seen, last) if b is not None), default=None)
        return Answer(
            status,
            limit,
            x,
            objective,
            bound,
            None,
            None,
            self._accepted(),
            self.log.text,
            version_of("ortools"),
            self.message,
            seconds=self.trace.seconds,
            claimed=None if x is None else float(self.solver.objective_value) + model.offset,
        )

    def _accepted(self) -> bool | None:
        if self.job.start is None:
            return None
        return (
            "hint is complete and is feasible" in self.log.text
            and "it is infeasible" not in self.log.text
        )

    def _status(self, code: Any) -> tuple[Status, Limit | None]:
        from ortools.sat.python import cp_model

        if code == cp_model.OPTIMAL:
            return Status.OPTIMAL, None
        if code == cp_model.INFEASIBLE:
            return Status.INFEASIBLE, None
        if code in (cp_model.FEASIBLE, cp_model.UNKNOWN):
            return (
                Status.FEASIBLE if code == cp_model.FEASIBLE else Status.NO_SOLUTION
            ), self._limit()
        if code == cp_model.MODEL_INVALID:
            raise SolverFailure(f"CP-SAT calls the model invalid: {self.cp.validate()}")
        raise SolverFailure(f"CP-SAT ended with the status {code!r}.")

    def _limit(self) -> Limit | None:
        """Why CP-SAT stopped; it does not report this, so it follows from the given limits."""
        limits = self.job.limits
        if self.stopped:
            return Limit.INTERRUPTED
        if (
            limits.time is not None
            and self.solver.wall_time >= 0.95 * self.solver.parameters.max_time_in_seconds
        ):
            return Limit.TIME
        if limits.memory_mb is not None:
            return Limit.MEMORY
        self.message = f"{self.message} CP-SAT stopped by a parameter it was given.".strip()
        return None


def _reporter(model: MatrixModel, trace: Trace) -> Any:
    """The callback for solutions. (Its base class exists only when ortools is installed.)"""
    from ortools.sat.python import cp_model

    class Reporter(cp_model.CpSolverSolutionCallback):  # type: ignore[misc, name-defined]
        def on_solution_callback(self) -> None:
            x = np.array(self.response_proto.solution, dtype=float)
            trace.record(model.objective(x), self.best_objective_bound + model.offset, None, x)

    return Reporter()
