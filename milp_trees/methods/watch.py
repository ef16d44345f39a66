"""`Watch`: checks the limits of a run inside this process, and keeps a greedy tree as fallback.

An engine asks its watch often (between two nodes, or every few hundredths of a second while
compiled code runs in a thread of its own). When a search takes longer than a moment, a greedy tree
is made beside it, unless the search ends first. That tree is no input of the search, so the
search's steps and its tree do not depend on the clock. It is the answer of a run that is stopped
before it has found a better tree.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import FrameType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from milp_trees.common.compiling import interruptible, run_clock
from milp_trees.common.limits import Deadline, Limit, Limits, Stopped
from milp_trees.methods.callback import current_callback, report_incumbent, without_callback
from milp_trees.results.result import TracePoint

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem
    from milp_trees.tasks.base import Value

T = TypeVar("T")

#: Seconds after which a greedy tree is made beside the search.
SHORT = 0.05
#: Seconds that a greedy tree may always take, and the share of the time left that it may take if
#: that is more.
GREEDY, GREEDY_SHARE = 0.25, 0.25
#: Largest share of the time limit that is kept back for the work after the search.
RESERVED = 0.3
#: Seconds between two checks of compiled code, and between two checks of memory.
POLL = 0.05
MEMORY_POLL = 0.1
#: What `Watch.beside` gives to its work, for work that takes no time and runs without it.
GO = np.zeros(8, dtype=np.uint8)


class Fallback(NamedTuple):
    """A greedy predictor, its value, and the second of the run at which it was ready."""

    predictor: Any
    value: Value
    seconds: float


class _Unneeded(Exception):
    """Ends the making of a greedy tree, since the search has ended."""


_interrupts = 0


@contextmanager
def sigint_scope() -> Iterator[None]:
    """Within this block Ctrl-C is raised and also counted; every watch looks at the count.

    An exception can be lost: Python prints and drops one that is raised in a finaliser or a
    callback of the garbage collector. Outside the main thread nothing changes, since signals only
    arrive there.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return

    def count_interrupt(number: int, frame: FrameType | None) -> None:
        global _interrupts
        _interrupts += 1
        before(number, frame)

    signal.signal(signal.SIGINT, count_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Watch:
    """Limits of one run.

    Parameters
    ----------
    limits : Limits
        Time counts from `began`. A reserve for reading the answer is subtracted: as long as the
        preparation took, from `began` until now. Memory is the growth of this process from now on.
    began : float, optional
        Reading of `run_clock`; now by default.
    problem : Problem, optional
        The problem for which a greedy tree is made, unless an earlier watch of it has one. None: no
        tree is made.
    """

    def __init__(
        self, limits: Limits, began: float | None = None, problem: Problem | None = None
    ) -> None:
        self.began = run_clock() if began is None else began
        self._callback = current_callback()
        asks = None if self._callback is None else self._callback.stops
        self.deadline = replace(Deadline.after(limits.time, self.began), sooner=asks)
        if limits.time is not None:
            # After a long preparation, reading, scoring and checking the answer take long too.
            prepared = min(run_clock() - self.began, RESERVED * limits.time)
            self.deadline = self.deadline.later(-prepared)
        self.problem = problem
        self.fallback: Fallback | None = None
        self._most = None if limits.memory_mb is None else limits.memory_mb * 2**20
        self._before = 0 if self._most is None else _resident()
        self._looked = self.began
        self._asked = self._answered = False
        self._interrupts = _interrupts
        if problem is not None:
            if problem.watch is not None and problem.watch.fallback is not None:
                self.fallback, self._asked = problem.watch.fallback, True
            problem.watched_by(self)

    def over(self, ended: Callable[[], bool] | None = None) -> Limit | None:
        """The limit that the run has reached, or None.

        Most calls take less than a microsecond. One of them makes the greedy tree.
        """
        now = run_clock()
        waits = not self._asked and not self._answered
        if waits and self.problem is not None and now - self.began > SHORT:
            self.make_fallback(ended)
        if _interrupts > self._interrupts:
            return Limit.INTERRUPTED
        stated = self._callback
        if stated is not None and (stated.limit is not None or now >= stated.due):
            requested = stated.stops()
            if requested is not None:
                return requested
        if now >= self.deadline.at:
            return Limit.TIME
        if self._most is not None and now - self._looked > MEMORY_POLL:
            self._looked = now
            if _resident() - self._before > self._most:
                return Limit.MEMORY
        return None

    def check(self, ended: Callable[[], bool] | None = None) -> None:
        """Raise `Stopped` where a limit has been reached; `ended` is that of `over`."""
        limit = self.over(ended)
        if limit is not None:
            raise Stopped(limit)

    def until(self, work: Callable[[], T]) -> tuple[T | None, Limit | None]:
        """`work()` and None, or None and the limit that ended it; `work` must call `check`."""
        try:
            with interruptible():
                return work(), None
        except Stopped as stopped:
            return None, stopped.limit
        except MemoryError:
            return None, Limit.MEMORY
        except KeyboardInterrupt:
            return None, Limit.INTERRUPTED

    def beside(
        self,
        work: Callable[[np.ndarray], T],
        stop: np.ndarray | None = None,
        look: Callable[[], object] | None = None,
    ) -> T:
        """Run compiled code in a thread of its own, so that limits and Ctrl-C still work.

        The code must release Python's lock.
        """
        stop = np.zeros(8, dtype=np.uint8) if stop is None else stop
        done = threading.Event()
        answers: list[T] = []
        failures: list[BaseException] = []

        def run() -> None:
            try:
                answers.append(work(stop))
            except BaseException as error:  # raised below, in the caller's thread
                failures.append(error)
            finally:
                done.set()

        threading.Thread(target=run, daemon=True).start()
        try:
            while not done.wait(self.deadline.wait(POLL)):
                if look is not None:
                    look()
                self.check(done.is_set)
        finally:
            if not done.is_set():
                stop[0] = 1
                while not done.wait(POLL):  # open to exceptions from outside
                    pass
            stop[0] = 0
        if failures:
            raise failures[0]
        return answers[0]

    # -- the greedy tree ---------------------------------------------------------------------------------------

    def make_fallback(self, ended: Callable[[], bool] | None = None) -> None:
        """Make the greedy tree, once; give it up where the search has `ended` (see `over`)."""
        if self._asked or self.problem is None:
            return
        self._asked = True
        from milp_trees.methods.greedy import greedy_for

        stopped = self._callback is not None and self._callback.stops() is not None
        deadline = self.deadline.share(GREEDY_SHARE, GREEDY)
        if ended is not None:
            deadline = replace(deadline, sooner=_or_unneeded(ended, deadline.sooner))
        try:
            with without_callback() if stopped else nullcontext():
                tree = greedy_for(self.problem, deadline)
        except _Unneeded:  # a search that was stopped may still need one
            self._asked = False
            return
        if tree is not None:
            self.fallback = Fallback(tree, self.problem.value(tree), run_clock() - self.began)
            report_incumbent(tree)

    def has_answer(self, predictor: Any = None) -> None:
        """Make no greedy tree beside the search: the run has a feasible predictor of its own."""
        self._answered = True
        if predictor is not None and self.problem is not None:
            self._asked = True
            value, seconds = self.problem.value(predictor), run_clock() - self.began
            self.fallback = Fallback(predictor, value, seconds)
            report_incumbent(predictor)

    def better(self, predictor: Any) -> Any:
        """The predictor of a stopped run, or the greedy one if that is better."""
        self.make_fallback()
        if self.fallback is None:
            return predictor
        assert self.problem is not None
        worse = predictor is None or self.fallback.value.better_than(self.problem.value(predictor))
        return self.fallback.predictor if worse else predictor

    def traced(self, trace: Sequence[TracePoint]) -> tuple[TracePoint, ...]:
        """A trace in which the greedy tree is the incumbent until the run had a better one."""
        if self.fallback is None:
            return tuple(trace)
        at, number = self.fallback.seconds, self.fallback.value.number
        best = max if self.fallback.value.sense == "max" else min
        before = [p for p in trace if p.seconds < at]
        last = before[-1] if before else TracePoint(0.0, None, None)
        out = [
            *before,
            TracePoint(
                at, number if last.incumbent is None else best(number, last.incumbent), last.bound
            ),
        ]
        for p in trace[len(before) :]:
            out.append(
                p._replace(incumbent=number if p.incumbent is None else best(number, p.incumbent))
            )
        return tuple(p for i, p in enumerate(out) if not i or p[1:] != out[i - 1][1:])


def _or_unneeded(
    ended: Callable[[], bool], sooner: Callable[[], Limit | None] | None
) -> Callable[[], Limit | None]:
    """The answer of `sooner`, which raises `_Unneeded` once the search has ended."""

    def asks() -> Limit | None:
        if ended():
            raise _Unneeded
        return None if sooner is None else sooner()

    return asks


def _resident() -> int:
    import psutil

    return int(psutil.Process().memory_info().rss)
