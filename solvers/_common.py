"""Common parts of several adapters."""

from __future__ import annotations

import contextlib
import importlib.metadata
import math
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from milp_trees.common.limits import LOG_HEAD
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Event, Job

#: Largest violation of the model by a start that is still handed over.
FEASIBILITY = 1e-6


def integral_objective(model: MatrixModel) -> bool:
    """Whether the objective of every feasible point is an integer."""
    return (
        not np.any(model.c[~model.integer])
        and bool(np.all(model.c == np.rint(model.c)))
        and float(model.offset).is_integer()
    )


def bounded_objective(model: MatrixModel) -> bool:
    """Whether every variable that could decrease the objective without end is bounded.

    If so, the status "infeasible or unbounded" means infeasible.
    """
    return bool(
        np.isfinite(
            np.where(model.c > 0, model.lower, np.where(model.c < 0, model.upper, 0.0))
        ).all()
    )


def bound_within(model: MatrixModel, objective: float, abs_gap: float, rel_gap: float) -> float:
    """The bound that a solver has proved that only reports a solution as optimal up to its gaps."""
    bound = objective - max(abs_gap, rel_gap * abs(objective))
    return float(math.ceil(bound - 1e-6)) if integral_objective(model) else bound


def agrees(a: float, b: float) -> bool:
    """Whether two objective values are equal, up to the precision of logs and floating point."""
    return abs(a - b) <= 1e-6 * max(1.0, abs(a), abs(b))


@cache
def version_of(distribution: str) -> str:
    """The version of an installed distribution; reading its metadata takes milliseconds."""
    return importlib.metadata.version(distribution)


def finite(value: float | None) -> float | None:
    """A number, or None for any of the values with which solvers report that there is none."""
    return None if value is None or not math.isfinite(value) or abs(value) >= 1e19 else float(value)


def write_start(x: np.ndarray, objective: float, path: Path) -> None:
    """A solution file with a value for every column, as CBC reads it."""
    lines = [f"Stopped on time - objective value {objective!r}"]
    lines += [f"{j} x{j} {value!r} 0" for j, value in enumerate(x.tolist())]
    path.write_text("\n".join([*lines, ""]))


class Log:
    """Lines of a solver's log, kept in memory and written to a file as they come."""

    def __init__(self, path: str | None) -> None:
        self.parts: list[str] = []
        self.file: TextIO | None = open(path, "w", encoding="utf-8") if path else None  # noqa: SIM115 (closed by `close`)
        if self.file is not None:
            self.file.write(LOG_HEAD)

    def write(self, text: str) -> None:
        self.parts.append(text)
        if self.file is not None:
            self.file.write(text)
            self.file.flush()

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
            self.file = None

    @property
    def text(self) -> str:
        return "".join(self.parts)


def early(left: float) -> float:
    """Seconds before the end of the time limit at which such a solver is asked to stop.

    It is for solvers that write their solution to a file, and only when they end.
    """
    return min(0.15 * left, 1.0)


class Trace:
    """Emits an event only if the incumbent or the bound has improved."""

    def __init__(self, emit: Callable[[Event], None]) -> None:
        self.emit = emit
        self.began = time.perf_counter()
        self.incumbent = math.inf
        self.bound = -math.inf
        self.first: float | None = None

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def left(self, limit: float | None) -> float | None:
        """Rest of a time limit in seconds, after the time that was used to hand over the model."""
        return None if limit is None else max(limit - self.seconds, 0.01)

    def record(
        self,
        incumbent: float | None,
        bound: float | None,
        nodes: int | None = None,
        x: np.ndarray | None = None,
    ) -> None:
        incumbent, bound = finite(incumbent), finite(bound)
        better = incumbent is not None and incumbent < self.incumbent - 1e-9 * max(
            1.0, abs(incumbent)
        )
        higher = bound is not None and bound > self.bound + 1e-9 * max(1.0, abs(bound))
        if better and incumbent is not None:
            self.first = incumbent if self.first is None else self.first
            self.incumbent = incumbent
        if higher and bound is not None:
            self.bound = bound
        if better or higher:
            low = finite(self.bound)
            self.emit(
                Event(
                    self.seconds, incumbent if better else None, low, nodes, x if better else None
                )
            )


def silent() -> Trace:
    """A trace that emits nothing."""
    return Trace(lambda event: None)


def repeated(job: Job, trace: Trace, **options: Any) -> tuple[Job, Trace]:
    """The job with other options and the time that is left, and a trace without incumbent or bound.

    It is for a run after one that contradicts itself.
    """
    limits = replace(job.limits, time=trace.left(job.limits.time))
    fresh = Trace(trace.emit)
    fresh.began = trace.began
    return replace(job, limits=limits, options={**job.options, **options}), fresh


@contextlib.contextmanager
def captured(path: str | None) -> Iterator[list[str]]:
    """Everything that is printed, also by C code and other programs, as a list of lines.

    It is first written to a file.
    """
    text: list[str] = []
    with tempfile.TemporaryDirectory(prefix="milp-trees-pulp-") as folder:
        file = Path(path) if path else Path(folder) / "log"
        sys.stdout.flush()
        kept = os.dup(1)
        with open(file, "wb") as target:
            target.write(LOG_HEAD.encode())
            target.flush()
            os.dup2(target.fileno(), 1)
        try:
            yield text
        finally:
            sys.stdout.flush()
            os.dup2(kept, 1)
            os.close(kept)
            text.append(file.read_text(errors="replace").removeprefix(LOG_HEAD))


WINDOWS = sys.platform == "win32"
