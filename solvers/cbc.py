"""CBC as an executable, which is found on PATH or in an installed wheel.

It reads an MPS file, and its log is read while it runs.
"""

from __future__ import annotations

import math
import os
import queue
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from milp_trees.common.errors import SolverFailure, SolverUnavailable
from milp_trees.common.registering import register
from milp_trees.mip.linear.mps import write_mps
from milp_trees.mip.solver import Answer, Availability, Event, Job, Solver
from milp_trees.results.result import Limit, Status

from ._cbc_log import AWAY, NOTHING, Said
from ._cbc_program import executable, line_buffered, probe, read_all
from ._common import (
    FEASIBILITY,
    WINDOWS,
    Log,
    Trace,
    agrees,
    bound_within,
    early,
    finite,
    integral_objective,
    repeated,
    write_start,
)

#: Largest violation of the model by a returned point.
TOLERANCE = 1e-5
#: Seconds that CBC gets to write its solution after an interrupt of the user; shorter than the time
#: after which it is ended from outside.
ENDING = 1.3
#: The same after the time limit.
LATE = 0.1

#: Parameters that change the meaning of "optimal" or "infeasible".
CLAIM_CHANGING = ("allow", "ratio", "cuto", "inc", "maximize", "maxs")


@register
class Cbc(Solver):
    """CBC. Options are its command-line parameters: `{"cuts": "off", "strong": 20}`.

    For a seed s, `randomSeed` and `randomCbcSeed` are s + 1, because 0 means the time of day.
    """

    name = "cbc"
    title = "CBC"
    notes = (
        "runs as a program, its log is read as it goes; version 2.10.3 may hand back a "
        "fractional point at a limit, which is recognised and not used, and call a feasible model "
        "infeasible when its time ends during preprocessing, which is not used; where "
        "preprocessing leaves nothing to solve its answers may be wrong, and it is run again without"
    )
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
            "memory",
            "general-integers",
            "continuous",
            "files",
        }
    )
    cannot_read = {".mps.gz": "the CBC in PuLP's wheel reads no gzipped files; write .mps for it"}
    install = "pip install 'pulp>=3.3.2,<4' (its wheel has CBC inside), or put cbc on PATH"

    def availability(self) -> Availability:
        path = executable()
        if path is None:
            return Availability(
                False, reason=f"no cbc on PATH and none in an installed wheel; {self.install}."
            )
        return probe(path)

    def solve(self, job: Job, emit: Callable[[Event], None], stop: Callable[[], bool]) -> Answer:
        path = executable()
        if path is None:
            raise SolverUnavailable(self.availability().reason)
        if job.relax or not job.model.integer.any():
            job = replace(job, model=job.model.relaxed(), start=None)
        with tempfile.TemporaryDirectory(prefix="milp-trees-cbc-") as folder:
            run = Run(path, job, Trace(emit), stop, Path(folder))
            answer = run.answer()
            if not run.unreliable(answer):
                return answer
            (Path(folder) / "model.sol").unlink(missing_ok=True)
            job, fresh = repeated(job, run.trace, preprocess="off")
            again = Run(path, job, fresh, stop, Path(folder)).answer()
            sentence = " ".join(filter(None, [AWAY, again.message]))
            return replace(again, log=answer.log + again.log, message=sentence)


class Run:
    """One call of CBC."""

    def __init__(
        self, path: str, job: Job, trace: Trace, stop: Callable[[], bool], folder: Path
    ) -> None:
        self.path, self.job, self.trace, self.stop, self.folder = path, job, trace, stop, folder
        self.model = job.model
        self.said = Said(self.model.offset, self.trace, self._start_reported)
        self.log = Log(job.limits.log_file)
        self.interrupted: Limit | None = None
        #: The second, since the run began, at which CBC is to end by itself.
        self.until = math.inf
        violation = 0.0 if job.start is None else job.model.violation(job.start)
        # After an infeasible start CBC has given wrong answers (coin-or/Cbc issue 449), so it gets
        # none.
        self.start = job.start if violation <= FEASIBILITY else None
        self.message = (
            ""
            if violation <= FEASIBILITY
            else f"The start violates the model by {violation:g} and was not given to CBC."
        )

    def command(self) -> list[str]:
        limits = self.job.limits
        words: list[Any] = [self.path, self.job.file or "model.mps", "-timeMode", "elapsed"]
        left = self.trace.left(limits.time)
        if left is not None:
            words += ["-sec", left - early(left)]
            self.until = self.trace.seconds + left - early(left)
        words += ["-allowableGap", limits.abs_gap, "-ratioGap", limits.rel_gap]
        words += ["-randomSeed", limits.seed + 1, "-randomCbcSeed", limits.seed + 1]
        if limits.threads > 1:
            words += ["-threads", limits.threads]
        if limits.nodes is not None:
            words += ["-maxNodes", limits.nodes]
        for key, value in self.job.options.items():
            if key.lower().startswith(CLAIM_CHANGING):
                raise SolverFailure(
                    f"CBC's option {key!r} changes what its answers claim; give gaps and limits as such, not as options."
                )
            words += [
                f"-{key}",
                {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value,
            ]
        if self.start is not None:
            words += ["-mipstart", "start.mst"]
        return [str(w) for w in [*words, "-solve", "-solution", "model.sol"]]

    # -- while it runs -----------------------------------------------------------------------------

    def answer(self) -> Answer:
        try:
            if self.job.file is None:
                write_mps(self.model, self.folder / "model.mps")
            if self.start is not None:
                # Without the constant of the objective, which the MPS file leaves out too.
                write_start(
                    self.start,
                    self.model.objective(self.start) - self.model.offset,
                    self.folder / "start.mst",
                )
            code = self._execute()
        finally:
            self.log.close()
        return self._read(code)

    def _execute(self) -> int:
        reader, writer = line_buffered()
        try:
            process = subprocess.Popen(
                self.command(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=writer,
                stderr=subprocess.STDOUT,
            )
        except OSError:
            os.close(reader)
            raise
        finally:
            os.close(writer)
        texts: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=read_all, args=(reader, texts), daemon=True).start()
        try:
            self._follow(process, texts)
            return process.wait()
        finally:
            process.kill()
            process.wait()

    def _follow(
        self, process: subprocess.Popen[bytes], texts: queue.SimpleQueue[str | None]
    ) -> None:
        rest, requested, limit = "", 0.0, self.job.limits.time
        text: str | None = ""
        while text is not None:
            try:
                text = texts.get(timeout=0.05)
            except queue.Empty:
                text = ""
            rest = self._take_text(rest + (text if text is not None else "\n"))
            if self.said.refused:
                raise SolverFailure(f"CBC did not take an option or a file: {self.said.refused}")
            if not requested and (why := self._over()):
                self.interrupted, requested = why, time.perf_counter()
                process.terminate() if WINDOWS else process.send_signal(signal.SIGINT)
            late = limit is not None and self.trace.seconds > limit + LATE
            if requested and (late or time.perf_counter() - requested > ENDING):
                process.kill()

    def _over(self) -> Limit | None:
        limit = self.job.limits.time
        if self.stop():
            return Limit.INTERRUPTED
        # CBC looks at its clock only between nodes; a little later it is stopped in a second way.
        return (
            Limit.TIME
            if limit is not None and self.trace.seconds > limit - early(limit) / 2
            else None
        )

    def _take_text(self, text: str) -> str:
        *lines, rest = text.replace("\r", "").split("\n")
        for line in lines:
            self.log.write(line + "\n")
            self.said.take(line)
        return rest

    # -- after -------------------------------------------------------------------------------------

    def unreliable(self, answer: Answer) -> bool:
        """Whether CBC says something after its preprocessing left nothing to solve."""
        return (
            self.said.preprocessed_away
            and answer.status in (Status.OPTIMAL, Status.INFEASIBLE)
            and self.job.options.get("preprocess") != "off"
        )

    def _read(self, code: int) -> Answer:
        file = self.folder / "model.sol"
        if not file.exists():
            if self.interrupted is None:
                raise SolverFailure(
                    f"CBC ended with exit code {code} and wrote no solution; the end of its log: {self.log.text[-300:].strip()!r}"
                )
            text = "CBC did not end when it was asked to and was killed; what it held is lost."
            return self._answer(Status.NO_SOLUTION, self.interrupted, None, text)
        with open(file) as lines:
            header = next(lines, "")
            status, limit = self._status(header)
            x = self._point(lines) if status in (Status.OPTIMAL, Status.FEASIBLE) else None
        if x is not None and (
            abs(_value(header)) >= NOTHING or self.model.violation(x) > TOLERANCE
        ):
            if status is Status.OPTIMAL:
                raise SolverFailure(
                    f"CBC calls a point optimal that violates the model by {self.model.violation(x):g}."
                )
            x = None
        claimed = None if x is None else _value(header) + self.model.offset
        if status is Status.FEASIBLE and x is None:
            status = Status.NO_SOLUTION
        lost = (
            "CBC accepted the start but returned no feasible point; the start still stands."
            if x is None and self._accepted()
            else ""
        )
        answer = self._answer(status, limit, x, lost if status is Status.NO_SOLUTION else "")
        return replace(answer, claimed=claimed)

    def _status(self, header: str) -> tuple[Status, Limit | None]:
        head, result = header.partition(" - objective")[0].strip(), self.said.result
        if head.startswith("Optimal"):
            return Status.OPTIMAL, None
        if head in ("Infeasible", "Integer infeasible"):
            # CBC 2.10 says this also if its time ends during preprocessing.
            late = self.trace.seconds >= self.until
            return (Status.NO_SOLUTION, Limit.TIME) if late else (Status.INFEASIBLE, None)
        if head.startswith("Stopped on"):
            if "no integer solution" in head or "no solution" in head:
                return Status.NO_SOLUTION, self._limit(head, result)
            return Status.FEASIBLE, self._limit(head, result)
        raise SolverFailure(f"CBC ended with the status {head!r}.")

    def _limit(self, head: str, result: str) -> Limit:
        if "ctrl-c" in result or "user event" in head:
            return self.interrupted or Limit.INTERRUPTED
        if "time" in result or "time" in head:
            return Limit.TIME
        if "node" in result or "node" in head or "solution limit" in result:
            # CBC prints this also if its time ends during the first linear program.
            requested = self.job.limits.nodes is not None or any(
                key.lower().startswith("maxn") for key in self.job.options
            )
            return Limit.NODES if requested or self.job.limits.time is None else Limit.TIME
        if self.interrupted is not None:
            return self.interrupted
        raise SolverFailure(
            f"CBC stopped for a reason this adapter does not know: {head!r}, {result!r}."
        )

    def _point(self, lines: Any) -> np.ndarray:
        """The point in the solution file, which leaves out columns at zero.

        A mark `**` before an index means infeasible.
        """
        x = np.zeros(self.model.n_variables)
        for line in lines:
            words = line.replace("**", " ").split()
            x[int(words[0])] = float(words[2])
        return x

    def _accepted(self) -> bool | None:
        """Whether CBC accepted the start; None if it ended before it read the start."""
        if self.job.start is None:
            return None
        if self.start is None or self.said.start_refused:
            return False
        return None if self.said.start is None else self._is_start(self.said.start)

    def _start_reported(self, value: float) -> None:
        if self.start is not None and self._is_start(value):
            self.trace.record(value, None, 0, self.start)

    def _is_start(self, value: float) -> bool:
        """Whether CBC's printed value of a start is that of the given start.

        CBC prints six digits, without the offset.
        """
        assert self.start is not None
        offset = self.model.offset
        return math.isclose(
            value - offset, self.model.objective(self.start) - offset, rel_tol=1e-5, abs_tol=1e-6
        )

    def _answer(
        self, status: Status, limit: Limit | None, x: np.ndarray | None, message: str
    ) -> Answer:
        sentence, mip = self.said, bool(self.model.integer.any())
        objective = None if x is None else self.model.objective(x)
        bound = max(
            (
                b
                for b in (sentence.bound, sentence.continuous, finite(self.trace.bound))
                if b is not None
            ),
            default=None,
        )
        if (
            status is Status.OPTIMAL
            and objective is not None
            and "gap tolerance" not in sentence.result
        ):
            gaps = (self.job.limits.abs_gap, self.job.limits.rel_gap) if mip else (0.0, 0.0)
            bound = max(
                bound if bound is not None else -np.inf, bound_within(self.model, objective, *gaps)
            )
        if bound is not None and integral_objective(self.model) and mip:
            bound = float(np.ceil(bound - 1e-6))
        if bound is not None and objective is not None and agrees(bound, objective):
            bound = min(bound, objective)
        if status is Status.INFEASIBLE:
            bound = None
        roots = (sentence.root, sentence.continuous, bound if status is Status.OPTIMAL else None)
        root = next((b for b in roots if b is not None), None)
        return Answer(
            status,
            limit,
            x,
            objective,
            bound,
            root,
            sentence.nodes if sentence.nodes is not None else 0,
            self._accepted(),
            self.log.text,
            probe(self.path).version,
            " ".join(filter(None, [self.message, message])),
            seconds=self.trace.seconds,
        )


def _value(header: str) -> float:
    return float(header.rpartition(" ")[2])
