"""Messages while code is compiled, time that is not charged for it, and Ctrl-C in compiled code.

The user gets a message if compiling takes long enough to be noticed, no time limit includes it, and
Ctrl-C interrupts compiled code.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger("milp_trees")

_spent, _under_way = 0.0, 0
_since = 0.0


def uncharged() -> float:
    """Seconds that this process has spent in `compiling`; time limits do not include them."""
    return _spent + (time.perf_counter() - _since if _under_way else 0.0)


def under_way() -> bool:
    """Whether something is being compiled, or read from files, in any thread of this process."""
    return bool(_under_way)


@contextmanager
def _counted() -> Iterator[None]:
    global _spent, _under_way, _since
    with _counting:
        if not _under_way:
            _since = time.perf_counter()
        _under_way += 1
    try:
        yield
    finally:
        with _counting:
            _under_way -= 1
            if not _under_way:
                _spent += time.perf_counter() - _since


_counting = threading.Lock()

#: Seconds of compilation after which a message is given.
_NOTICED = 1.5
#: Seconds that the largest kernels take on a machine with nothing else to do (measured: 8 to 14).
_QUIET = 15


def forecast() -> str:
    """A text on how long a compilation takes.

    It gives a range for an idle machine, and what the range becomes with the present load.
    """
    idle = f"this takes 2 to {_QUIET} s where a core is free"
    cores = os.cpu_count() or 1
    busy = os.getloadavg()[0] / cores if hasattr(os, "getloadavg") else 1.0
    if busy <= 1.2:
        return idle
    return f"{idle}; here {busy * cores:.0f} processes want {cores} cores, so it may take up to {_QUIET * (1 + busy):.0f} s"


class _Told:
    """What is being compiled, and since when; gives one message for each thing if it lasts."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.what: list[str] = []
        self.said: set[str] = set()
        self.running = 0
        self.began = self.spent = 0.0
        self.timer: threading.Timer | None = None

    def begin(self) -> None:
        """Note that a kernel is being compiled because it was not found on disk."""
        with self.lock:
            self.running += 1
            what = self.what[-1] if self.what else "what this run needs"
            if self.running == 1:
                self.began = time.perf_counter()
                if what not in self.said:
                    self.timer = threading.Timer(_NOTICED - self.spent, self._say, (what,))
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

    def _say(self, what: str) -> None:
        self.said.add(what)
        log.warning(
            "Compiling %s for this machine, once; %s. No time limit is charged for it, and later processes read a cache.",
            what,
            forecast(),
        )


_told = _Told()


def compile_seconds() -> float:
    """Seconds in which this process has compiled kernels that were not found on disk."""
    return _told.spent


@contextmanager
def kernel_compiled() -> Iterator[None]:
    """Within this block a kernel is compiled; its time is not charged."""
    _told.begin()
    try:
        with _counted():
            yield
    finally:
        _told.end()


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Within this block `what` is compiled or read from files; no time limit is charged for it.

    Parameters
    ----------
    what : str
        Its name in the message, which is given if compiling takes more than a moment: for example
        `the exact search`.
    """
    began, before = time.perf_counter(), _told.spent
    _told.what.append(what)
    try:
        with _counted():
            yield
    finally:
        _told.what.remove(what)
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
