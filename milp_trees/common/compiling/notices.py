"""The message while code is compiled, the clock of runs, and Ctrl-C in compiled code.

The user gets a message if compiling takes long enough to be noticed. The clock by which runs are
timed and limited stands still while anything is compiled, wherever that happens. Ctrl-C interrupts
compiled code.
"""

from __future__ import annotations

import gc
import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("milp_trees")


class Uncharged:
    """Within this block the clock of runs stands still.

    A block counts as long as its object exists at most: an exception that arrives from outside may
    keep `__exit__` from being called, and no time limit would ever end again.
    """

    _lock = threading.RLock()
    _blocks = 0
    #: Seconds of the blocks that have ended, and when the first of those under way began; one
    #: object, so that readers need no lock.
    state: tuple[float, float | None] = 0.0, None

    _open = False

    def __enter__(self) -> None:
        with Uncharged._lock:
            self._open = True
            Uncharged._blocks += 1
            if Uncharged._blocks == 1:
                Uncharged.state = Uncharged.state[0], time.perf_counter()

    def __exit__(self, *_: object) -> None:
        with Uncharged._lock:
            if not self._open:
                return
            self._open = False
            Uncharged._blocks -= 1
            spent, since = Uncharged.state
            if not Uncharged._blocks and since is not None:
                Uncharged.state = spent + time.perf_counter() - since, None

    __del__ = __exit__


def run_clock() -> float:
    """Seconds by the clock of runs.

    It is `time.perf_counter` without the time that this process has spent in compiling, or in
    reading compiled code from files: it stands still meanwhile, for every thread. All time limits
    are readings of this clock, and so are the seconds that results state.
    """
    spent, since = Uncharged.state
    return (time.perf_counter() if since is None else since) - spent


def under_way() -> bool:
    """Whether something is being compiled, or read from files, in any thread of this process."""
    return Uncharged.state[1] is not None


#: Seconds of compilation after which a message is given.
_NOTICED = 1.5
#: Seconds that what a command compiles takes where a core is free (measured: 2 to 10).
_USUAL = 7


def forecast() -> int:
    """About how many seconds a compilation takes: more on a busy machine than on an idle one."""
    busy = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else 1.0
    return round(_USUAL * max(1.0, busy))


class _Told:
    """What this process compiles, and for how long; gives one message if it lasts."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.said = False
        self.running = 0
        self.began = self.spent = 0.0
        self.timer: threading.Timer | None = None

    def begin(self) -> None:
        """Note that a kernel is being compiled because it was not found on disk."""
        with self.lock:
            self.running += 1
            if self.running == 1:
                self.began = time.perf_counter()
                if not self.said:
                    self.timer = threading.Timer(max(0.0, _NOTICED - self.spent), self._say)
                    self.timer.daemon = True
                    self.timer.start()

    def end(self) -> None:
        with self.lock:
            self.running -= 1
            if not self.running:
                self.spent += time.perf_counter() - self.began
                if self.timer is not None:
                    self.timer.cancel()
                    self.timer = None

    def _say(self) -> None:
        with self.lock:
            if self.said or not self.running:
                return
            self.said = True
        log.warning(
            "Compiling kernels (first use on this machine, about %d s); not counted against the time limit.",
            forecast(),
        )


_told = _Told()


def compile_seconds() -> float:
    """Seconds in which this process has compiled kernels that were not found on disk."""
    return _told.spent


@contextmanager
def kernel_compiled(name: str) -> Iterator[None]:
    """Within this block a kernel is compiled, and the clock of runs stands still."""
    _told.begin()
    began = time.perf_counter()
    # A compiler makes millions of objects; to look through them again and again is a tenth of its time.
    collects = gc.isenabled()
    gc.disable()
    try:
        with Uncharged():
            yield
    finally:
        if collects:
            gc.enable()
        _told.end()
        log.debug("compiled %s in %.2f s", name, time.perf_counter() - began)


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Within this block `what` is compiled or read from files; no time limit is charged for it.

    Kernels that are compiled elsewhere are not charged either. This block leaves out the loading of
    modules and the tiny problems that cause compilation, too; a search of its own has no place in it.
    """
    began, before = time.perf_counter(), _told.spent
    try:
        with Uncharged():
            yield
    finally:
        if _told.spent > before + _NOTICED:
            log.info("compiled %s in %.1f s", what, time.perf_counter() - began)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this block compiled code runs, and Ctrl-C becomes a KeyboardInterrupt at its end.

    Python notices the signal while the results are packed. It reports it as a SystemError (or as
    several, each the cause of the next): a function returned a result with an exception set.
    """
    try:
        yield
    except SystemError as error:
        first: BaseException | None = error
        while isinstance(first, SystemError):
            first = first.__cause__ or first.__context__
        if isinstance(first, KeyboardInterrupt):
            raise KeyboardInterrupt from None
        raise
