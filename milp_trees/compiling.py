"""Compiled code: a message while it is compiled, and its interruption.

The message comes only if compilation takes long enough to be noticed.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from milp_trees.errors import SolverFailure

log = logging.getLogger("milp_trees")

_spent, _under_way = 0.0, 0
_since = 0.0


def uncharged() -> float:
    """Seconds that this process has spent in `compiling`; time limits do not include them."""
    return _spent + (time.perf_counter() - _since if _under_way else 0.0)


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

#: Seconds of compilation after which there is a message.
_NOTICED = 1.5
#: Seconds that the largest kernels take on an idle machine (measured: 20 to 45).
_QUIET = 60


def forecast() -> str:
    """The expected time of a compilation: a range for an idle machine, and for the present load."""
    idle = f"this takes 5 to {_QUIET} s where a core is free"
    cores = os.cpu_count() or 1
    busy = os.getloadavg()[0] / cores if hasattr(os, "getloadavg") else 1.0
    if busy <= 1.2:
        return idle
    return f"{idle}; here {busy * cores:.0f} processes want {cores} cores, so it may take up to {_QUIET * (1 + busy):.0f} s"


class _Teller:
    """Listener for numba's compilations that writes a message if they last.

    Reading a cache causes no such event.
    """

    def __init__(self, what: str) -> None:
        self.what, self.told = what, threading.Event()
        self.timer: threading.Timer | None = None

    def notify(self, event: Any) -> None:
        """The function that numba calls."""
        if event.is_start and self.timer is None:
            self.timer = threading.Timer(_NOTICED, self._tell)
            self.timer.daemon = True
            self.timer.start()

    def _tell(self) -> None:
        self.told.set()
        log.warning(
            "Compiling %s for this machine, once; %s. No time limit is charged for it, and later processes read a cache.",
            self.what,
            forecast(),
        )


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Within this block `what` is compiled, or read from numba's cache.

    A warning is given if it is compiled and this takes more than a moment.

    Parameters
    ----------
    what : str
        For example `the exact search`.

    Raises
    ------
    SolverFailure
        The cache is from another version and refers to code that no longer exists.
    """
    from numba.core import event

    began = time.perf_counter()
    teller = _Teller(what)
    event.Listener.register(
        _Teller
    )  # the same as a subclass, but numba is not loaded with this module
    event.register("numba:compile", teller)
    try:
        with _counted():
            yield
    except AttributeError as error:
        if "Can't get attribute" not in str(error):
            raise
        raise SolverFailure(
            "numba's cache on disk was written by an older version of this package and cannot be read. Delete the files *.nbi in the folders "
            "__pycache__ of milp_trees/engines (or in the folder that NUMBA_CACHE_DIR names), and run again."
        ) from error
    finally:
        event.unregister("numba:compile", teller)
        if teller.timer is not None:
            teller.timer.cancel()
        if teller.told.is_set():
            log.info("compiled %s in %.1f s", what, time.perf_counter() - began)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this block compiled code runs, and Ctrl-C becomes a KeyboardInterrupt at its end.

    Python notices the signal while the results are packed, and reports it as a SystemError (or as
    several, each the cause of the next) that a function returned a result with an exception set.
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
