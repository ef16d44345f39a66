"""SCIP, through `pyscipopt`: branch and cut with rows that are found during the search."""

from __future__ import annotations

import importlib.util
import re
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.common.limits import LOG_HEAD
from milp_trees.common.registering import register
from milp_trees.mip.linear.matrix import Separator
from milp_trees.mip.linear.mps import write_mps
from milp_trees.mip.solver import Answer, Availability, Event, Job, Solver
from milp_trees.results.result import Limit, Status

from ._common import Trace, agrees, bounded_objective, finite, version_of
from ._scip_plugins import heuristic, lazy_handler, values
from ._soplex import solve_by_rounds

#: Reductions that use only the rows SCIP has been given, and may exclude a point that is optimal
#: with the rows to come.
BLIND_REDUCTIONS = {
    "misc/allowstrongdualreds": False,
    "misc/allowweakdualreds": False,
    "misc/usesymmetry": 0,
    "constraints/components/maxprerounds": 0,
    "constraints/components/propfreq": -1,
}
_STORED = re.compile(r"(\d+)/\d+ feasible solutions? given by solution candidate storage")


@register
class Scip(Solver):
    """SCIP. Options are its parameters: `{"separating/maxrounds": 0}`. It runs on one thread."""

    name = "scip"
    title = "SCIP"
    notes = "the only solver here that takes cuts inside one tree search; one thread"
    capabilities = frozenset(
        {
            "lp",
            "mip",
            "start",
            "trace",
            "nodes",
            "root-bound",
            "seed",
            "gap",
            "memory",
            "lazy",
            "lp-cuts",
            "points",
            "general-integers",
            "continuous",
            "files",
        }
    )
    install = "pip install pyscipopt"

    def availability(self) -> Availability:
        if importlib.util.find_spec("pyscipopt") is None:
            return Availability(False, reason=f"pyscipopt is not installed; {self.install}.")
        return Availability(True, f"PySCIPOpt {version_of('pyscipopt')}")

    def warm_up(self) -> None:
        import pyscipopt  # noqa: F401

    def solve(self, job: Job, emit: Callable[[Event], None], stop: Callable[[], bool]) -> Answer:
        if job.relax and job.lazy is not None:
            from pyscipopt import Model

            return solve_by_rounds(job, Trace(emit), stop, _version(Model()))
        if job.relax or not job.model.integer.any():
            job = replace(
                job, model=job.model.relaxed(), start=None, lazy=None if job.relax else job.lazy
            )
        with tempfile.TemporaryDirectory(prefix="milp-trees-scip-") as folder:
            return Run(job, Trace(emit), stop, Path(folder)).answer()


class Run:
    """One call of SCIP."""

    def __init__(self, job: Job, trace: Trace, stop: Callable[[], bool], folder: Path) -> None:
        from pyscipopt import Model

        self.job, self.trace, self.stop = job, trace, stop
        self.log_path = Path(job.limits.log_file) if job.limits.log_file else folder / "scip.log"
        self.log_path.write_text(LOG_HEAD)
        self.scip = Model()
        self.scip.setLogfile(str(self.log_path))
        self._load(folder / "model.mps")
        self.handler = self._lazy_rows(job.lazy) if job.lazy is not None else None
        self._set_parameters()
        self._give_start()
        if job.exchange is not None:
            self._exchange_points()
        self.scip.includeEventhdlr(
            _watcher(self), "milp-trees-trace", "reports incumbents and bounds"
        )

    def _load(self, path: Path) -> None:
        # Reading a file takes a fraction of the time of adding half a million coefficients one by
        # one.
        job, names = self.job, self.job.names
        if job.file is None:
            write_mps(job.model, path)
            names = tuple(f"x{j}" for j in range(job.model.n_variables))
        self.scip.readProblem(job.file or str(path))
        path.unlink(missing_ok=True)
        if job.file is None:  # a file holds its constant itself
            self.scip.addObjoffset(float(job.model.offset))
        # SCIP sorts its variables by type, so they are found by their names.
        variables = {v.name: v for v in self.scip.getVars()}
        self.columns = [variables[name] for name in names]

    def _set_parameters(self) -> None:
        limits = self.job.limits
        settings: dict[str, Any] = {
            "limits/gap": limits.rel_gap,
            "limits/absgap": limits.abs_gap,
            "randomization/randomseedshift": limits.seed,
        }
        settings |= {"misc/catchctrlc": False, "display/freq": 1000}
        left = self.trace.left(limits.time)
        if left is not None:
            settings["limits/time"] = left
        if limits.nodes is not None:
            settings["limits/totalnodes"] = limits.nodes
        if self.job.target is not None:
            settings["limits/primal"] = self.job.target + 1e-6 * max(1.0, abs(self.job.target))
        if limits.memory_mb is not None:
            import psutil

            # SCIP counts only the memory that it allocates itself, and this process already has
            # some.
            settings["limits/memory"] = max(
                limits.memory_mb - psutil.Process().memory_info().rss / 2**20, 1.0
            )
        if self.job.lazy is not None:
            settings |= BLIND_REDUCTIONS
        known = self.scip.getParams()
        for key, value in (settings | dict(self.job.options)).items():
            if key not in known:
                raise SolverFailure(
                    f"SCIP has no parameter {key!r}; they are listed at https://scipopt.org/doc/html/PARAMETERS.php."
                )
            try:
                self.scip.setParam(key, value)
            except (ValueError, TypeError, KeyError, AssertionError, OverflowError) as error:
                raise SolverFailure(
                    f"SCIP does not take {value!r} for the parameter {key!r}: {error}"
                ) from error

    def _give_start(self) -> None:
        if self.job.start is None:
            return
        solution = self.scip.createSol()
        for column, value in zip(self.columns, self.job.start.tolist(), strict=True):
            self.scip.setSolVal(solution, column, value)
        self.scip.addSol(solution)

    def _lazy_rows(self, separator: Separator) -> Any:
        handler = lazy_handler(self.columns, self.job.model, separator)
        # The priority is below that of integrality: only integral points are enforced.
        self.scip.includeConshdlr(
            handler,
            "milp-trees-rows",
            "rows found at points that violate them",
            sepapriority=1,
            enfopriority=-1,
            chckpriority=-1,
            sepafreq=1,
            needscons=False,
        )
        return handler

    def _exchange_points(self) -> None:
        from pyscipopt import SCIP_HEURTIMING

        self.scip.includeHeur(
            heuristic(self.columns, self.job.exchange),
            "milp-trees-points",
            "points of the relaxation, rounded outside",
            "T",
            priority=100_000,
            freq=1,
            timingmask=SCIP_HEURTIMING.DURINGLPLOOP | SCIP_HEURTIMING.AFTERLPNODE,
        )

    # -- while it runs -----------------------------------------------------------------------------

    def answer(self) -> Answer:
        done = threading.Event()
        watch = threading.Thread(target=self._interrupt_when_told, args=(done,), daemon=True)
        watch.start()
        try:
            self.scip.optimizeNogil()
        finally:
            done.set()
            watch.join()
        if self.handler is not None and self.handler.error is not None:
            raise self.handler.error
        return self._read()

    def _interrupt_when_told(self, done: threading.Event) -> None:
        while not done.wait(0.05):
            if self.stop():
                self.scip.interruptSolve()

    def point(self, solution: Any) -> np.ndarray:
        return values(self.scip, solution, self.columns)

    # -- after -------------------------------------------------------------------------------------

    def _read(self) -> Answer:
        scip, model = self.scip, self.job.model
        self.scip.setLogfile(None)
        log = self.log_path.read_text(errors="replace").removeprefix(LOG_HEAD)
        status, limit, message = self._status()
        x = (
            self.point(scip.getBestSol())
            if status in (Status.OPTIMAL, Status.FEASIBLE) and scip.getNSols() > 0
            else None
        )
        if status is Status.OPTIMAL and x is None:
            raise SolverFailure("SCIP says optimal but has no solution.")
        if status is Status.FEASIBLE and x is None:
            status = Status.NO_SOLUTION
        objective = None if x is None else model.objective(x)
        bound = None if status is Status.INFEASIBLE else finite(scip.getDualbound())
        if bound is not None and objective is not None and agrees(bound, objective):
            bound = min(bound, objective)
        root = None if status is Status.INFEASIBLE else finite(scip.getDualboundRoot())
        if root is None and status is Status.OPTIMAL:
            root = bound
        if self.job.limits.threads > 1:
            message = f"{message} SCIP runs on one thread.".strip()
        return Answer(
            status,
            limit,
            x,
            objective,
            bound,
            root,
            int(scip.getNTotalNodes()),
            self._accepted(log),
            log,
            _version(scip),
            message,
            seconds=self.trace.seconds,
            claimed=None if x is None else finite(scip.getSolObjVal(scip.getBestSol())),
            cuts=self.handler.cuts if self.handler is not None else 0,
        )

    def _accepted(self, log: str) -> bool | None:
        if self.job.start is None:
            return None
        stored = _STORED.search(log)
        value = self.job.model.objective(self.job.start)
        return (stored is not None and int(stored[1]) > 0) or (
            self.trace.first is not None and agrees(self.trace.first, value)
        )

    def _status(self) -> tuple[Status, Limit | None, str]:
        sentence = self.scip.getStatus()
        stopped = f"SCIP stopped at its {sentence}."
        known: dict[str, tuple[Status, Limit | None, str]] = {
            "optimal": (Status.OPTIMAL, None, ""),
            "gaplimit": (Status.OPTIMAL, None, ""),
            "infeasible": (Status.INFEASIBLE, None, ""),
            "timelimit": (Status.FEASIBLE, Limit.TIME, ""),
            "memlimit": (Status.FEASIBLE, Limit.MEMORY, ""),
            "nodelimit": (Status.FEASIBLE, Limit.NODES, ""),
            "totalnodelimit": (Status.FEASIBLE, Limit.NODES, ""),
            "stallnodelimit": (Status.FEASIBLE, Limit.NODES, ""),
            "userinterrupt": (Status.FEASIBLE, Limit.INTERRUPTED, ""),
            "terminate": (Status.FEASIBLE, Limit.INTERRUPTED, ""),
            # These follow from parameters of the user, so no limit of this package is reported.
            "sollimit": (Status.FEASIBLE, None, stopped),
            "bestsollimit": (Status.FEASIBLE, None, stopped),
            "restartlimit": (Status.FEASIBLE, None, stopped),
            "primallimit": (
                Status.FEASIBLE,
                None,
                stopped if self.job.target is None else "",
            ),
            "duallimit": (Status.FEASIBLE, None, stopped),
        }
        if sentence == "inforunbd" and bounded_objective(self.job.model):
            return Status.INFEASIBLE, None, ""
        if sentence not in known:
            raise SolverFailure(f"SCIP ended with the status {sentence!r}.")
        return known[sentence]


def _version(scip: Any) -> str:
    return f"{scip.getMajorVersion()}.{scip.getMinorVersion()}.{scip.getTechVersion()}"


def _watcher(run: Run) -> Any:
    """The event handler that reports incumbents and bounds.

    Its base class exists only when pyscipopt is installed.
    """
    from pyscipopt import SCIP_EVENTTYPE, Eventhdlr

    kinds = (
        SCIP_EVENTTYPE.BESTSOLFOUND,
        SCIP_EVENTTYPE.DUALBOUNDIMPROVED,
        SCIP_EVENTTYPE.NODESOLVED,
    )

    class Watcher(Eventhdlr):  # type: ignore[misc]
        def eventinit(self) -> None:
            for kind in kinds:
                self.model.catchEvent(kind, self)

        def eventexit(self) -> None:
            for kind in kinds:
                self.model.dropEvent(kind, self)

        def eventexec(self, event: Any) -> None:
            x = None
            if event.getType() == SCIP_EVENTTYPE.BESTSOLFOUND:
                x = run.point(self.model.getBestSol())
                if run.job.exchange is not None:
                    run.job.exchange.send(x)
            value = None if x is None else run.job.model.objective(x)
            run.trace.record(value, self.model.getDualbound(), int(self.model.getNTotalNodes()), x)

    return Watcher()
