"""Stops Python code at a time limit: `within(seconds, work)`.

Model building is Python code of Pyomo's, which knows no clock. A timer thread raises an exception
in the thread that works, which CPython delivers between two instructions; it works in every thread
and on every system, and takes no signal from anybody. Compiled code is not stopped in the middle
but as it returns.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import queue
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from milp_trees.compiling import uncharged
from milp_trees.limits import Stopped

T = TypeVar("T")

#: Seconds until the exception is raised once more if nobody has seen it. It must not come into the
#: clean-up after the first, which can take long.
AGAIN = 3.0


def within(seconds: float | None, work: Callable[[], T]) -> T:
    """What `work()` returns, if that takes no longer than allowed.

    Parameters
    ----------
    seconds : float or None
        None is no limit. Compilation (`milp_trees.compiling`) is not counted.
    work : callable
        It is left by an exception, as by Ctrl-C: what it changes beyond its own objects it must
        restore in `finally`.

    Raises
    ------
    Stopped
        By the time limit: it takes longer.
    """
    if seconds is None:
        return work()
    if seconds <= 0:
        raise Stopped
    timer = _Timer(seconds)
    try:
        try:
            timer.start()
            return work()
        finally:
            timer.end()
    except timer.overtime:
        timer.end()
        raise Stopped from None
    except Exception as error:
        timer.end()
        if not timer.fired:
            raise
        # What is left in the middle may say so in an error of its own: Pyomo does, and compiled
        # code calls it a SystemError.
        raise Stopped from error
    except BaseException:  # of somebody else; it may have come in the middle of `end`
        timer.end()
        raise


class _Timer:
    """Raises `overtime` in the thread that made it, until that thread says that it has ended."""

    def __init__(self, seconds: float) -> None:
        self.until = time.perf_counter() + seconds - uncharged()
        self.worker = ctypes.c_ulong(threading.get_ident())
        # No Event: a finaliser may wake this thread while it, or the worker, holds an event's lock,
        # and would wait for that for ever.
        self.wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        # Of its own, so that one call of `within` inside another knows whose time is up; no `except
        # Exception` holds it up. Python prints and forgets an exception that is raised in a
        # finaliser: one that vanishes before the end is raised again.
        self.overtime: type[BaseException] = type(
            "Overtime",
            (BaseException,),
            {"__del__": lambda _: self.wake.put(None), "__str__": lambda _: "Overtime"},
        )
        self.lock = threading.Lock()
        self.ended = self.fired = False
        self.hook = sys.unraisablehook
        self.quiet = self._quiet  # one object, which `end` knows again

    def start(self) -> None:
        # No Thread, whose start waits until it runs: where another timer fires in that moment,
        # CPython gives the exception to the new thread, which bears the number of its maker until
        # it runs. It ends then, and the other timer fires again.
        _thread.start_new_thread(self._run, ())

    def _run(self) -> None:
        while not self.ended and (left := self.until + uncharged() - time.perf_counter()) > 0:
            self._wait(left)
        while not self.ended:
            while not self.wake.empty():
                self._wait(0.0)
            with self.lock:
                if not self.ended:
                    if not self.fired:
                        self.hook, sys.unraisablehook = sys.unraisablehook, self.quiet
                    self.fired = True
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        self.worker, ctypes.py_object(self.overtime)
                    )
            if not self.ended:
                self._wait(AGAIN)

    def _wait(self, seconds: float) -> None:
        with contextlib.suppress(queue.Empty):
            self.wake.get(timeout=seconds)

    def _quiet(self, lost: Any) -> None:
        """Says nothing of an exception of this timer that a finaliser swallowed: it comes again."""
        if lost.exc_type is not self.overtime:
            self.hook(lost)

    def end(self) -> None:
        """After this nothing is raised any more, and what was about to be has been.

        It is not taken back by raising None: Python would look for an exception in vain from then
        on, slowly, and without end where code is traced.
        """
        others: BaseException | None = None
        while True:
            try:
                with self.lock:
                    self.ended = True
                    if sys.unraisablehook is self.quiet:
                        sys.unraisablehook = self.hook
                self.wake.put(None)
                _let_come()
                break
            except self.overtime:
                continue
            except BaseException as error:  # Ctrl-C, or the end of a `within` around this one
                others = error
        if others is not None:
            raise others


def _let_come() -> None:
    """Python raises what is pending where functions are entered."""
