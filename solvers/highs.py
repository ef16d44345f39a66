"""HiGHS, through `highspy`: it is given arrays, and reports events through callbacks."""

from __future__ import annotations

import importlib.util
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.common.registering import register
from milp_trees.mip.linear.claims import dual_value
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Answer, Availability, Event, Job, Solver
from milp_trees.results.result import Limit, Status

from ._common import Log, Trace, agrees, bounded_objective, finite, repeated, silent, version_of
from ._highs_points import contradicts, relaxation, send_relaxation
from ._highs_rounds import solve_by_rounds

#: HiGHS's message that a solution of the presolved problem does not solve the model
#: (https://github.com/ERGO-Code/HiGHS/issues/2204).
UNTRANSFORMED = re.compile(
    r"untransformed violations: bound = ([\d.e+-]+).*?; integrality = ([\d.e+-]+).*?; row = ([\d.e+-]+)"
)
#: HiGHS's message that it takes a start. Version 1.16 omits the first sentence where presolve leaves
#: nothing to solve.
START_IS_FEASIBLE = re.compile(
    "MIP start solution is feasible|Assessing feasibility of MIP solution .*: feasible"
)
#: Why a model was solved a second time.
CHANGED = "HiGHS's presolve changed the problem (its solutions break the rows of the model), so it was solved without presolve."
ANOTHER = "HiGHS returned another point than the one whose objective it reports, so it was solved again without"
#: A violation of this size cannot be explained by tolerances.
BROKEN = 1e-3


@register
class Highs(Solver):
    """HiGHS: simplex, interior point and first-order LP, branch and cut.

    All options of HiGHS are allowed.
    """

    name = "highs"
    title = "HiGHS"
    notes = "callbacks give incumbents and bounds as they come"
    default_rank = 10
    capabilities = frozenset(
        {
            "lp",
            "mip",
            "start",
            "trace",
            "nodes",
            "root-bound",
            "seed",
            "threads",
            "gap",
            "general-integers",
            "continuous",
            "memory",
            "files",
            "duals",
            "lp-cuts",
            "points",
        }
    )
    install = "pip install highspy"

    def availability(self) -> Availability:
        if importlib.util.find_spec("highspy") is None:
            return Availability(False, reason=f"highspy is not installed; {self.install}.")
        return Availability(True, version_of("highspy"))

    def warm_up(self) -> None:
        import highspy  # noqa: F401

    def solve(self, job: Job, emit: Callable[[Event], None], stop: Callable[[], bool]) -> Answer:
        log = Log(job.limits.log_file)
        try:
            if job.relax and job.lazy is not None:
                run = Run(relaxation(job), job.options, Trace(emit), stop, log)
                return solve_by_rounds(run, job)
            if job.relax or not job.model.integer.any():
                return Run(relaxation(job), job.options, Trace(emit), stop, log).answer()
            trace = Trace(emit)
            if job.exchange is not None:
                send_relaxation(job, lambda part: Run(part, {}, silent(), stop, Log(None)).answer())
            return self._branch_and_cut(job, trace, stop, log)
        finally:
            log.close()

    def _branch_and_cut(self, job: Job, trace: Trace, stop: Callable[[], bool], log: Log) -> Answer:
        """One run, and further ones without what has made HiGHS contradict itself.

        That is presolve if its solutions do not solve the model, and the start if HiGHS returns
        another point than the one whose objective it reports, as version 1.16 may.
        """
        given, messages = job.start is not None, []
        run = Run(job, job.options, trace, stop, log)
        answer = run.answer()
        while run.presolve_failed or contradicts(job, answer):
            presolved = job.options.get("presolve") != "off"
            if run.presolve_failed and presolved:
                messages.append(CHANGED)
                job, trace = repeated(job, trace, presolve="off")
            elif job.start is not None:
                messages.append(f"{ANOTHER} the start.")
                job, trace = repeated(replace(job, start=None), trace)
            elif presolved:
                messages.append(f"{ANOTHER} presolve.")
                job, trace = repeated(job, trace, presolve="off")
            else:
                break  # what all answers are checked by says so
            run = Run(job, job.options, trace, stop, log)
            answer = run.answer()
        if given and job.start is None:
            answer = replace(answer, start_accepted=False)
        return replace(answer, message=" ".join(filter(None, [*messages, answer.message])))


class Run:
    """One call of HiGHS."""

    def __init__(
        self, job: Job, options: Mapping[str, Any], trace: Trace, stop: Callable[[], bool], log: Log
    ) -> None:
        import highspy

        self.job, self.trace, self.stop, self.log = job, trace, stop, log
        self.mip = bool(job.model.integer.any())
        #: Whether solutions of the presolved problem do not solve the model; then all claims of
        #: this run are wrong.
        self.presolve_failed = False
        self.root_bound: float | None = None
        self.h = highspy.Highs()
        self._subscribe()
        # The first solve of a process fixes the number of threads, unless the scheduler is reset.
        highspy.Highs.resetGlobalScheduler(True)
        self._set_options(options)
        if job.file is None:
            load(self.h, job.model)
        else:
            whole(self.h.readModel(job.file), f"the file {job.file}")
        left = trace.left(job.limits.time)  # the clock of HiGHS starts when it runs
        if left is not None and "time_limit" not in options:
            self._set("time_limit", left)

    # -- before ------------------------------------------------------------------------------------

    def _set_options(self, options: Mapping[str, Any]) -> None:
        limits = self.job.limits
        # Logging must be on for the callbacks that report bounds; it goes to a callback, and from
        # there to the file.
        settings: dict[str, Any] = {"output_flag": True, "log_to_console": False}
        settings |= {
            "threads": limits.threads,
            "random_seed": limits.seed,
            "mip_rel_gap": limits.rel_gap,
            "mip_abs_gap": limits.abs_gap,
        }
        settings |= {"mip_min_logging_interval": 1.0}
        if self.mip:
            settings["parallel"] = "on" if limits.threads > 1 else "off"
        if limits.nodes is not None:
            settings["mip_max_nodes"] = limits.nodes
        if self.mip and self.job.target is not None:
            settings["objective_target"] = self.job.target + 0.5  # it ends below, not at it
        settings |= options
        for key, value in settings.items():
            self._set(key, value)

    def _set(self, key: str, value: Any) -> None:
        import highspy

        if self.h.getOptionType(key)[0] != highspy.HighsStatus.kOk:
            raise SolverFailure(
                f"HiGHS has no option {key!r}; its options are listed at https://ergo-code.github.io/HiGHS/dev/options/definitions/."
            )
        if isinstance(value, np.generic):
            value = value.item()
        if self.h.setOptionValue(key, value) != highspy.HighsStatus.kOk:
            raise SolverFailure(f"HiGHS does not take {value!r} for the option {key!r}.")

    def _subscribe(self) -> None:
        h = self.h
        h.cbLogging.subscribe(self._on_log)
        if self.mip:
            h.cbMipImprovingSolution.subscribe(self._on_solution)
            h.cbMipLogging.subscribe(self._on_progress)
            h.cbMipInterrupt.subscribe(self._on_check)
            if self.job.exchange is not None:
                h.cbMipUserSolution.subscribe(self._on_asked)
        else:
            h.cbSimplexInterrupt.subscribe(self._on_check)
            h.cbIpmInterrupt.subscribe(self._on_check)

    def _give_start(self) -> None:
        import highspy

        if self.job.start is None:
            return
        solution = highspy.HighsSolution()
        solution.col_value = self.job.start.tolist()
        solution.value_valid = True
        check(self.h.setSolution(solution), "the start")

    # -- while it runs -----------------------------------------------------------------------------

    def _on_log(self, e: Any) -> None:
        self.log.write(e.message)
        if self.mip and (sentence := UNTRANSFORMED.search(e.message)):
            self.presolve_failed |= max(float(number) for number in sentence.groups()) > BROKEN

    def _on_check(self, e: Any) -> None:
        if self.mip and not self.presolve_failed:
            self._take_bound(e.data_out)
        if self.presolve_failed or self.stop():
            e.interrupt()

    def _on_progress(self, e: Any) -> None:
        self._take_bound(e.data_out)

    def _on_solution(self, e: Any) -> None:
        x = np.array(e.data_out.mip_solution, dtype=float)
        self._take_bound(e.data_out, x)
        if self.job.exchange is not None:
            self.job.exchange.send(x)

    def _on_asked(self, e: Any) -> None:
        """HiGHS asks for a point; it compares what it gets with the model itself."""
        assert self.job.exchange is not None
        x = self.job.exchange.take()
        if x is not None:
            e.data_in.setSolution(x)

    def _take_bound(self, out: Any, x: np.ndarray | None = None) -> None:
        bound, nodes = finite(out.mip_dual_bound), int(out.mip_node_count)
        if bound is not None and nodes >= 1 and self.root_bound is None:
            self.root_bound = bound
        self.trace.record(None if x is None else self.job.model.objective(x), bound, nodes, x)

    # -- after -------------------------------------------------------------------------------------

    def answer(self) -> Answer:
        import highspy

        self._give_start()
        self.h.run()
        if self.presolve_failed:
            return Answer(Status.NO_SOLUTION)
        status, limit, message = self._status()
        solution, info = self.h.getSolution(), self.h.getInfo()
        x = np.array(solution.col_value, dtype=float) if solution.value_valid else None
        feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        if not feasible and (self.mip or status is Status.FEASIBLE):
            x = None
        if status is Status.OPTIMAL and x is None:
            raise SolverFailure("HiGHS says Optimal but has no feasible solution.")
        if status is Status.FEASIBLE and x is None:
            status = Status.NO_SOLUTION
        if status in (Status.INFEASIBLE, Status.NO_SOLUTION):
            x = None
        bound = None if status is Status.INFEASIBLE else self._bound(status)
        duals = solution.row_dual if status is Status.OPTIMAL and solution.dual_valid else None
        nodes = max(int(info.mip_node_count), 0)
        root = (
            self.root_bound
            if self.root_bound is not None
            else (bound if status is Status.OPTIMAL or nodes >= 1 else None)
        )
        return Answer(
            status,
            limit,
            x,
            None if x is None else self.job.model.objective(x),
            bound,
            root,
            nodes,
            self._start_accepted(x),
            self.log.text,
            self.h.version(),
            message,
            seconds=self.trace.seconds,
            duals=None if duals is None or self.mip else np.array(duals, dtype=float),
            claimed=None if x is None else finite(info.objective_function_value),
        )

    def _bound(self, status: Status) -> float | None:
        if self.mip:
            bounds = [
                b
                for b in (finite(self.h.getInfo().mip_dual_bound), finite(self.trace.bound))
                if b is not None
            ]
            return max(bounds, default=None)
        if status is not Status.OPTIMAL:
            return None
        value = float(self.h.getInfo().objective_function_value)
        model = self.job.model
        y = np.array(self.h.getSolution().row_dual, dtype=float)
        dual = dual_value(model, model.c, y, model.offset)
        # The multipliers of an interior point can be off by the tolerance; whatever they are, no
        # more than their dual value is proved.
        return min(value, dual) if math.isfinite(dual) else None

    def _start_accepted(self, x: np.ndarray | None) -> bool | None:
        """Whether HiGHS accepted the start.

        It did so by its log, by its first incumbent, or because it still has the start if it ends
        before its search begins.
        """
        if self.job.start is None:
            return None
        value = self.job.model.objective(self.job.start)
        sentence = START_IS_FEASIBLE.search(self.log.text) is not None
        first = self.trace.first is not None and agrees(self.trace.first, value)
        return sentence or first or (x is not None and np.array_equal(x, self.job.start))

    def _status(self) -> tuple[Status, Limit | None, str]:
        import highspy

        status = self.h.getModelStatus()
        S = highspy.HighsModelStatus
        sentence = f"HiGHS stopped: {self.h.modelStatusToString(status)}."
        wanted = self.job.target is not None
        known: dict[Any, tuple[Status, Limit | None, str]] = {
            S.kOptimal: (Status.OPTIMAL, None, ""),
            S.kModelEmpty: (Status.OPTIMAL, None, ""),
            S.kInfeasible: (Status.INFEASIBLE, None, ""),
            S.kTimeLimit: (Status.FEASIBLE, Limit.TIME, ""),
            S.kSolutionLimit: (Status.FEASIBLE, Limit.NODES, ""),
            S.kInterrupt: (Status.FEASIBLE, Limit.INTERRUPTED, ""),
            S.kHighsInterrupt: (Status.FEASIBLE, Limit.INTERRUPTED, ""),
            S.kMemoryLimit: (Status.FEASIBLE, Limit.MEMORY, ""),
            # These follow from options of the user, so no limit of this package is reported.
            S.kObjectiveBound: (Status.FEASIBLE, None, sentence),
            S.kObjectiveTarget: (Status.FEASIBLE, None, "" if wanted else sentence),
            S.kIterationLimit: (Status.FEASIBLE, None, sentence),
            # A first-order solution that does not meet the tolerances.
            S.kUnknown: (
                Status.NO_SOLUTION,
                None,
                "HiGHS ended without a solution that meets its own tolerances (status Unknown).",
            ),
        }
        if status == S.kUnboundedOrInfeasible and bounded_objective(self.job.model):
            return Status.INFEASIBLE, None, ""
        if status not in known:
            raise SolverFailure(
                f"HiGHS ended with the status {self.h.modelStatusToString(status)!r}."
            )
        return known[status]


def load(h: Any, model: MatrixModel) -> None:
    """Give HiGHS the arrays."""
    A = model.A.tocsr()
    whole(
        h.passModel(
            model.n_variables,
            model.n_rows,
            int(A.nnz),
            2,
            1,
            float(model.offset),
            model.c.astype(float),
            model.lower,
            model.upper,
            model.row_lower,
            model.row_upper,
            A.indptr[:-1].astype(np.int32),
            A.indices.astype(np.int32),
            A.data.astype(float),
            model.integer.astype(np.int32),
        ),
        "the model",
    )


def whole(status: Any, what: str) -> None:
    """Refuse a model of which HiGHS leaves something out, with a warning."""
    import highspy

    check(status, what)
    if status != highspy.HighsStatus.kOk:
        raise SolverFailure(
            f"HiGHS does not take {what} as it is; no coefficient may be below 1e-9 or above 1e15 in size."
        )


def check(status: Any, what: str) -> None:
    import highspy

    if status == highspy.HighsStatus.kError:
        raise SolverFailure(f"HiGHS refused {what}.")
