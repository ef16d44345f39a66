"""Stops Python code at a time limit: `within(seconds, work)`.

Models are built by Python code of Pyomo, which does not look at a clock. A timer thread raises an
exception in the working thread; CPython delivers it between two instructions. This works in every
thread and on every system, and needs no signals. Compiled code is not stopped in the middle but
when it returns.
"""

from __future__ import annotations

import _thread
import contextlib
import ctypes
import math
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from importlib import _bootstrap
from typing import Any, TypeVar

from milp_trees.common.compiling import run_clock, under_way
from milp_trees.common.limits import Limit, Stopped
from milp_trees.methods.callback import BEAT, Callback, current_callback

T = TypeVar("T")

#: Seconds after its limit at which work is stopped from outside at the earliest.
LATE = 0.3
#: Seconds until the exception is raised once more if it was not noticed. The second one must not
#: come during the clean-up after the first, which can take long.
AGAIN = 3.0
#: Seconds that a timer waits for threads to start.
PATIENCE = 0.1

#: Timers whose thread was started and does not run yet. Until it runs, CPython counts it under the
#: number of the thread that made it, and may give it an exception that is meant for that thread. So
#: no timer raises one meanwhile, unless this takes longer than `PATIENCE` seconds: then it may be
#: lost, is printed by Python, and is raised again.
_STARTING: set[_Timer] = set()
#: Held where a thread is started, and where an exception is raised.
_DELIVERY = threading.RLock()


def _forget() -> None:
    """A forked process has none of the threads, and maybe the lock of one that it does not have."""
    global _DELIVERY
    _DELIVERY = threading.RLock()
    _STARTING.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def within(seconds: float | None, work: Callable[[], T], grace: float = 0.0) -> T:
    """Return `work()`, or raise `Stopped` if it takes longer than allowed."""
    callback = current_callback()
    if seconds is None and callback is None:
        return work()
    if seconds is not None and seconds <= 0:
        raise Stopped
    timer = _Timer(math.inf if seconds is None else seconds, callback, grace)
    try:
        try:
            timer.start()
            return work()
        finally:
            timer.end()
    except timer.overtime:
        timer.end()
        raise Stopped(timer.limit) from None
    except Exception as error:
        timer.end()
        if not timer.fired:
            raise
        # Interrupted code may report the interruption as an error of its own: Pyomo does, and
        # compiled code raises a SystemError.
        raise Stopped(timer.limit) from error
    except BaseException:  # not raised by this timer; it may have come in the middle of `end`
        timer.end()
        raise


class _Timer:
    """Raises `overtime` in the thread that made it, until that thread has called `end`."""

    def __init__(
        self, seconds: float, callback: Callback | None = None, grace: float = 0.0
    ) -> None:
        self.callback, self.grace, self.limit = callback, grace, Limit.TIME
        self.until = run_clock() + seconds
        self.worker = ctypes.c_ulong(threading.get_ident())
        # No Event: a finaliser may wake this thread while it, or the worker, holds an event's lock,
        # and would then wait for that lock forever.
        self.wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        # Every timer has its own class of exception, so that nested calls of `within` can tell
        # which time limit has passed; `except Exception` does not catch it. Python prints and drops
        # an exception that is raised in a finaliser, so one that disappears before the end is
        # raised again.
        self.overtime: type[BaseException] = type(
            "Overtime",
            (BaseException,),
            {"__del__": lambda _: self.wake.put(None), "__str__": lambda _: "Overtime"},
        )
        self.lock = threading.Lock()
        self.ended = self.fired = False
        self.thread: int | None = None
        self.hook = sys.unraisablehook
        self.quiet = self._quiet  # one object, so that `end` can compare by identity

    def start(self) -> None:
        # No Thread, whose start waits until it runs: it would wait forever if that thread were given
        # an exception by someone else.
        with _DELIVERY:
            _STARTING.add(self)
            self.thread = _thread.start_new_thread(self._run, ())

    def _run(self) -> None:
        _STARTING.discard(self)
        while not self.ended and (left := self.until - run_clock()) > 0:
            if self.callback is None:
                self._wait(left)
            elif (limit := self.callback.stops_in_silence()) is None:
                self._wait(min(left, BEAT / 2))
            elif limit is not self.limit and not under_way():
                self.limit = limit
                self.until = min(self.until, run_clock() + self.grace)
            else:
                self._wait(min(left, BEAT / 2))
        while not self.ended and self._imports():
            self._wait(0.01)
        while not self.ended:
            while not self.wake.empty():
                self._wait(0.0)
            given_up = time.perf_counter() + PATIENCE
            while not self._fire(time.perf_counter() > given_up):
                self._wait(0.001)
            if not self.ended:
                self._wait(AGAIN)

    def _fire(self, in_any_case: bool) -> bool:
        """Raise the exception in the worker, unless the work has ended; False if it has to wait."""
        with _DELIVERY:
            starting = any(t.worker.value == self.worker.value for t in tuple(_STARTING))
            if starting and not (in_any_case or self.ended):
                return False
            with self.lock:
                if not self.ended:
                    if not self.fired:
                        self.hook, sys.unraisablehook = sys.unraisablehook, self.quiet
                    self.fired = True
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        self.worker, ctypes.py_object(self.overtime)
                    )
        return True

    def _imports(self) -> bool:
        """Whether the worker imports a module, which an exception would leave half made.

        The locks of modules are asked, not the worker's frames: CPython 3.11 may collect garbage
        while it makes the object of a frame, let the worker run meanwhile, and then hand out a frame
        that has ended. Reading it crashes the process.
        """
        locks = [made() for made in list(_bootstrap._module_locks.values())]  # type: ignore[attr-defined]
        return any(lock is not None and lock.owner == self.worker.value for lock in locks)

    def _wait(self, seconds: float) -> None:
        with contextlib.suppress(queue.Empty):
            self.wake.get(timeout=seconds)

    def _quiet(self, lost: Any) -> None:
        """Prints nothing for a dropped exception of this timer, as it is raised again."""
        if lost.exc_type is not self.overtime:
            self.hook(lost)

    def end(self) -> None:
        """Stop the timer: no exception is raised after this call, and a pending one is delivered.

        A pending exception is not withdrawn by raising None: Python would then go on looking for an
        exception that does not exist, which is slow, and endless where code is traced.
        """
        others: BaseException | None = None
        while True:
            try:
                with self.lock:
                    self.ended = True
                    if sys.unraisablehook is self.quiet:
                        sys.unraisablehook = self.hook
                self.wake.put(None)
                if self.thread is None:  # its start was interrupted, or failed
                    _STARTING.discard(self)
                _let_come()
                break
            except self.overtime:
                continue
            except BaseException as error:  # Ctrl-C, or the end of an enclosing `within`
                others = error
        if others is not None:
            raise others


def _let_come() -> None:
    """Let Python deliver a pending exception, which it does where a function is entered."""
