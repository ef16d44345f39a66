"""Hands jobs to solver processes and enforces the limits from outside.

So a crash, a hang or a full memory costs one answer and nothing else.
"""

from __future__ import annotations

import atexit
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from milp_trees.common.errors import SolverUnavailable, Unsupported
from milp_trees.common.registering import plugins
from milp_trees.mip.checked import checked, news
from milp_trees.mip.process import CRASHED, Pool, Worker
from milp_trees.mip.solver import Answer, Event, Job, availability_of
from milp_trees.results.result import Limit, Status

#: Largest number of seconds between two checks of the clock.
POLL = 0.1
#: Seconds between two checks of memory.
MEMORY_POLL = 0.2
#: A process that holds more MB than this after a solve is not used again, so that the next job has
#: its whole memory limit for itself.
REUSABLE = 400
#: Seconds that an interrupted solver has for its answer.
STOPPING = 3.0
#: Seconds that a new process has for importing its solver.
LOADING = 120.0
#: How long after the time limit a solver is ended that has not ended by itself: the larger of so
#: many seconds and this share of the limit.
GRACE, GRACE_SHARE = 0.2, 0.06


_pool = Pool()
atexit.register(lambda: _pool.close())


def _after_fork() -> None:
    """Make a forked process forget the parent's workers: it must neither use them nor keep them."""
    global _pool
    for worker in _pool.idle.values():
        worker.close()
    _pool = Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def warm_up(solver_name: str) -> None:
    """Start the process of a solver and return at once, so that it loads during other work."""
    _pool.give_back(_pool.take(solver_name))


def wait_until_ready(solver_name: str) -> None:
    """Wait until the process of a solver has loaded it, so that this takes no time of a run.

    The next `run` reports what went wrong.
    """
    worker = _pool.take(solver_name)
    ready = False
    try:
        ready = _await_ready(worker, LOADING) is None
    finally:
        if ready:
            _pool.give_back(worker)
        else:
            worker.kill()


@dataclass
class Watch:
    """What the parent has seen of a run; it is enough for an answer if the solver crashes."""

    job: Job
    events: list[Event]
    began: float
    stopping_since: float | None = None
    memory_seen: float = 0.0

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def take(self, event: Event) -> None:
        if event.x is not None:
            # One point is enough; one for each improvement could need a lot of memory.
            self.events = [replace(e, x=None) if e.x is not None else e for e in self.events]
        self.events.append(event)

    @property
    def left(self) -> float:
        """Seconds until a solver that has not ended by itself is ended."""
        limit = self.job.limits.time
        return math.inf if limit is None else limit + max(GRACE, GRACE_SHARE * limit) - self.seconds

    def over(self, worker: Worker) -> Limit | None:
        """The limit that a solver has exceeded without ending by itself."""
        limits = self.job.limits
        if self.stopping_since is not None and time.perf_counter() - self.stopping_since > STOPPING:
            return Limit.INTERRUPTED
        if self.left <= 0:
            return Limit.TIME
        if limits.memory_mb is not None and time.perf_counter() - self.memory_seen > MEMORY_POLL:
            self.memory_seen = time.perf_counter()
            if worker.memory_mb() > limits.memory_mb:
                return Limit.MEMORY
        return None

    def _start_seen(self) -> bool | None:
        """True if the first incumbent was the start; None, which means unknown, otherwise."""
        if self.job.start is None:
            return None
        first = next((e.incumbent for e in self.events if e.incumbent is not None), None)
        return (
            True
            if first is not None
            and math.isclose(
                first, self.job.model.objective(self.job.start), rel_tol=1e-6, abs_tol=1e-6
            )
            else None
        )

    def answer(
        self, status: Status | None, limit: Limit | None, message: str, log: str = ""
    ) -> Answer:
        """The answer that follows from the events alone."""
        x = next((e.x for e in reversed(self.events) if e.x is not None), None)
        bounds = [e.bound for e in self.events if e.bound is not None]
        nodes = [e.nodes for e in self.events if e.nodes is not None]
        objective = None if x is None else self.job.model.objective(x)
        return Answer(
            status or (Status.FEASIBLE if x is not None else Status.NO_SOLUTION),
            limit,
            x,
            objective,
            max(bounds, default=None),
            nodes=max(nodes, default=None),
            start_accepted=self._start_seen(),
            message=message,
            log=log,
            events=tuple(self.events),
            seconds=self.seconds,
        )


def run(
    solver_name: str,
    job: Job,
    progress: Callable[[Event], None] | None = None,
    stop: Callable[[], bool] | None = None,
    better: Callable[[np.ndarray], np.ndarray | None] | None = None,
) -> Answer:
    """Solve a job in a process of its own.

    A solver with the capability `points` sends points, if there is a function `better`: it makes a
    feasible point of one that need not be integral, or returns None.
    """
    solver = plugins.get("solvers", solver_name)()
    found = availability_of(solver)
    if not found.found:
        raise SolverUnavailable(found.reason)
    for wanted, capability in (
        (job.lazy is not None and not job.relax, "lazy"),
        (job.lazy is not None and job.relax, "lp-cuts"),
        (job.relax, "lp"),
        (job.file is not None, "files"),
    ):
        if wanted and capability not in solver.capabilities:
            able = [
                name
                for name, cls in plugins.classes("solvers").items()
                if capability in cls.capabilities  # type: ignore[attr-defined]
            ]
            raise Unsupported(f"{solver_name} cannot do {capability!r}; {', '.join(able)} can.")
    empty = (job.model.relaxed() if job.relax else job.model).contradiction()
    if empty is not None and job.file is None:
        return Answer(Status.INFEASIBLE, message=empty)
    if job.limits.log_file:  # a solver's process may have another current folder
        log = os.path.abspath(job.limits.log_file)
        job = replace(job, limits=replace(job.limits, log_file=log))
    watch = Watch(job, [], time.perf_counter())
    worker = _pool.take(solver_name)
    healthy = False
    try:
        failure = _await_ready(worker, min(LOADING, max(watch.left, 0.0)))
        if failure is not None:
            if watch.left <= 0:
                return watch.answer(
                    None, Limit.TIME, f"The time limit ended while {solver_name} was being loaded."
                )
            return watch.answer(Status.ERROR, None, failure)
        better = better if "points" in solver.capabilities else None
        worker.begin(job, watch.began, better is not None)
        answer, healthy = _follow(worker, watch, Listeners(progress, stop, better))
        return replace(answer, version=answer.version or found.version)
    finally:
        if healthy and worker.memory_mb() < REUSABLE:
            _pool.give_back(worker)
        else:
            # The caller need not wait until the system has freed the memory of that process; this
            # process waits for it when it ends.
            threading.Thread(target=worker.kill).start()


def _await_ready(worker: Worker, seconds: float) -> str | None:
    """Wait until the solver is imported; the sentence that explains why it cannot be, or None."""
    if worker.ready:
        return None
    message = worker.receive(seconds)
    worker.ready = message is not None and message[0] == "ready"
    if worker.ready:
        return None
    if message is None:
        return f"{worker.solver_name} could not be imported within {seconds:g} s."
    why = message[2] if message[0] == "error" else f"the solver process {worker.last_words()}"
    return f"{worker.solver_name} could not be imported: {why}"


class Interrupts:
    """Counts Ctrl-C instead of raising it, while a solver is running.

    An exception can be lost: Python prints and drops one that is raised in a finaliser or a
    callback of the garbage collector. A count cannot be lost. Outside the main thread nothing
    changes, since signals only arrive there.
    """

    def __init__(self) -> None:
        self.count = 0
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread() and callable(
            signal.getsignal(signal.SIGINT)
        ):
            self._before = signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _take(self, *_: object) -> None:
        self.count += 1

    def check(self) -> None:
        """Raise a KeyboardInterrupt if Ctrl-C was counted; an exception does no harm here."""
        if self.count:
            self.count -= 1
            raise KeyboardInterrupt


@dataclass(frozen=True)
class Listeners:
    """Functions of the caller: what takes events, what stops a run, what makes better points."""

    progress: Callable[[Event], None] | None = None
    stop: Callable[[], bool] | None = None
    better: Callable[[np.ndarray], np.ndarray | None] | None = None


def _follow(worker: Worker, watch: Watch, listeners: Listeners) -> tuple[Answer, bool]:
    """The answer of a running job, and whether its process can be used again."""
    with Interrupts() as interrupts:
        answer, healthy = _follow_until(worker, watch, listeners, interrupts)
    # A Ctrl-C at the last moment is meant for the code that goes on after this run.
    return (replace(answer, limit=Limit.INTERRUPTED) if interrupts.count else answer), healthy


def _follow_until(
    worker: Worker, watch: Watch, listeners: Listeners, interrupts: Interrupts
) -> tuple[Answer, bool]:
    while True:
        try:
            interrupts.check()
            if watch.stopping_since is None and listeners.stop is not None and listeners.stop():
                raise KeyboardInterrupt
            message = worker.receive(min(POLL, max(watch.left, 0.0)))
            if message is not None and message[0] != "ended" and message[1] != worker.number:
                continue  # what is left of an earlier job: a solver's library may call back while that job's memory is freed
            if message is None or message[0] in ("event", "point"):
                limit = watch.over(worker)
                if limit is not None:
                    return watch.answer(
                        None,
                        limit,
                        f"{worker.solver_name} was ended from outside: {_why(limit, watch.job)}.",
                    ), False
            if message is None:
                continue
            if message[0] == "point":
                assert listeners.better is not None
                worker.send_point(listeners.better(message[2]))
                continue
            if message[0] == "event":
                event = news(watch.job.model, message[2])
                watch.take(event)
                if listeners.progress is not None:
                    listeners.progress(event)
                continue
            return _final(worker, watch, message)
        except KeyboardInterrupt:
            if watch.stopping_since is not None:
                return watch.answer(
                    None,
                    Limit.INTERRUPTED,
                    f"{worker.solver_name} was interrupted twice and ended from outside.",
                ), False
            watch.stopping_since = time.perf_counter()
            worker.stop()


def _why(limit: Limit, job: Job) -> str:
    return {
        Limit.TIME: f"it ran past what was left of the time limit ({job.limits.time:.3g} s)",
        Limit.MEMORY: f"it used more than {job.limits.memory_mb} MB",
        Limit.INTERRUPTED: f"it did not answer within {STOPPING:g} s of an interrupt",
    }[limit]


def _final(worker: Worker, watch: Watch, message: tuple[Any, ...]) -> tuple[Answer, bool]:
    if message[0] == "ended":
        return watch.answer(
            Status.ERROR, None, f"{worker.solver_name} {CRASHED} {worker.last_words()}."
        ), False
    if message[0] == "error":
        return watch.answer(
            Status.ERROR, None, f"{worker.solver_name}: {message[2]}", log=message[3]
        ), True
    answer: Answer = message[2]
    answer = replace(answer, events=tuple(watch.events), seconds=watch.seconds)
    interrupted = watch.stopping_since is not None and answer.status in (
        Status.FEASIBLE,
        Status.NO_SOLUTION,
    )
    if interrupted:
        answer = replace(answer, limit=Limit.INTERRUPTED)
    if answer.x is None and answer.status is Status.NO_SOLUTION:
        answer = _with_last_point(answer, watch.events)
    return checked(worker.solver_name, watch.job, answer, watch.events), True


def _with_last_point(answer: Answer, events: Iterable[Event]) -> Answer:
    """An answer without a point gets the last point that the solver reported."""
    held: list[tuple[np.ndarray, float | None]] = [
        (e.x, e.incumbent) for e in events if e.x is not None
    ]
    if not held:
        return answer
    return replace(answer, status=Status.FEASIBLE, x=held[-1][0], objective=held[-1][1])
