"""`Callback`: the user's `progress` function during a run, and what it answers.

It is called with every new incumbent and bound, and again where nothing is new for `BEAT` seconds,
so that a function that looks at a clock of its own is heard. Where the run asks its `Watch` or
waits for a solver, the call comes from the thread that began the run. Python code that prepares
data or builds a model does neither; after `SILENT` seconds of it another thread calls. Two calls
never overlap.

A function that returns True, or raises, stops the run as a limit does. Its exception is kept until
the run has ended, and is raised then, so that nothing is left running.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import Limit
from milp_trees.results.result import TracePoint

#: Called with every new (seconds, incumbent, bound) of a run, in natural units; True stops it.
Progress = Callable[[TracePoint], object]

#: Seconds after a call until the function is called again although nothing is new.
BEAT = 0.2
#: Seconds without a call after which another thread calls.
SILENT = 0.4


def is_true(answer: object) -> bool:
    """Whether a function has said stop: by True of Python or NumPy, and by nothing else."""
    return isinstance(answer, (bool, np.bool_)) and bool(answer)


class Callback:
    """A user's function, during one call of the package.

    Parameters
    ----------
    progress : callable
        Called with a `TracePoint`. The run stops once it returns True (of Python or NumPy; other
        values mean nothing, such as those of functions that draw something).
    """

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        #: Why the run has to stop; None as long as the function has not asked for it.
        self.limit: Limit | None = None
        #: A feasible predictor that the run has found, for functions that show it; None if the
        #: run has none that can be read yet.
        self.predictor: Any = None
        #: What the function raised.
        self.error: Exception | None = None
        self._thread = threading.get_ident()
        self._calling = threading.RLock()
        self._closed = False
        #: When the function is called again, a reading of `run_clock`.
        self.due = 0.0
        self.restart()

    def restart(self) -> None:
        """Count the seconds from now on: another run begins."""
        self._last = TracePoint(0.0, None, None)
        self._began = self._called = run_clock()
        self.due = self._began + BEAT

    def point(self, point: TracePoint) -> None:
        """Call the function with something new."""
        self._last, self._began = point, run_clock() - point.seconds
        with self._calling:
            self._call(point)

    def stops(self) -> Limit | None:
        """Why the run has to stop, or None; calls the function if that is due.

        Nothing is called in a thread that did not begin the run. Most calls take less than a
        microsecond.
        """
        if run_clock() >= self.due and threading.get_ident() == self._thread:
            self._again()
        return self.limit

    def stops_in_silence(self) -> Limit | None:
        """As `stops`, for a thread beside the run, which calls only after a silence."""
        # `due` is no measure of silence: an incumbent makes a call due at once, in the run's thread.
        if run_clock() >= self._called + SILENT:
            self._again()
        return self.limit

    def close(self) -> None:
        """Call the function no more, and wait for a call that another thread makes."""
        with self._calling:
            self._closed = True

    def _again(self) -> None:
        if self._calling.acquire(blocking=False):
            try:
                self._call(self._last._replace(seconds=run_clock() - self._began))
            finally:
                self._calling.release()

    def _call(self, point: TracePoint) -> None:
        if self._closed or self.limit is not None:
            return
        try:
            with without_callback():  # a run inside the function is a run of its own
                answer = self.progress(point)
            if is_true(answer):
                self.limit = Limit.CALLBACK
        except Exception as error:
            self.error, self.limit = error, Limit.CALLBACK
        except KeyboardInterrupt:
            self.limit = Limit.INTERRUPTED
            if threading.get_ident() == self._thread:
                raise
        finally:
            self._called = run_clock()
            self.due = self._called + BEAT


_here = threading.local()


def current_callback() -> Callback | None:
    """The callback of the run in this thread; None if there is none."""
    found: Callback | None = getattr(_here, "callback", None)
    return found


def current_progress() -> Progress | None:
    """The user's function in this thread, for a run that is a part of what it listens to."""
    callback = current_callback()
    return None if callback is None else callback.progress


def report_incumbent(predictor: Any) -> None:
    """Tell that the run in this thread has found a predictor, its best so far."""
    callback = current_callback()
    if callback is not None:
        callback.predictor, callback.due = predictor, 0.0  # it is shown at the next look


@contextmanager
def without_callback() -> Iterator[None]:
    """Within this block the callback neither is called nor stops anything."""
    before = current_callback()
    _here.callback = None
    try:
        yield
    finally:
        _here.callback = before


@contextmanager
def callback_scope(progress: Progress | None) -> Iterator[Callback | None]:
    """Within this block a run takes place, and the user's function is called.

    Parameters
    ----------
    progress : callable or None
        None: the run has no function of its own, and that of an enclosing block may stop it.

    Yields
    ------
    Callback or None
        Its `point` is what traces are reported to; None if `progress` is None.

    Raises
    ------
    Exception
        What the function raised, once the block has ended.
    """
    outer = current_callback()
    if progress is None:
        yield None
        return
    inner = outer if outer is not None and outer.progress == progress else Callback(progress)
    _here.callback = inner
    try:
        inner.restart()
        yield inner
    except BaseException:  # a run that was stopped may have found nothing
        if inner is outer or inner.error is None:
            raise
    finally:
        _here.callback = outer
        if inner is not outer:
            inner.close()
    if inner is not outer and inner.error is not None:
        raise inner.error
