"""Compiled code and its user: who is told that it is being compiled, if that takes long enough to be noticed, and who may interrupt it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from milp_trees.errors import SolverFailure

log = logging.getLogger("milp_trees")

#: Seconds after which it is not a cache that is read.
_NOTICED = 1.5


@contextmanager
def compiling(what: str) -> Iterator[None]:
    """Within this block `what` is compiled or read from numba's cache; a warning says so where it takes more than a moment.

    Parameters
    ----------
    what : str
        E.g. `the exact search`.

    Raises
    ------
    SolverFailure
        The cache is from another version and names what no longer exists.
    """
    began = time.perf_counter()
    told = threading.Event()

    def tell() -> None:
        told.set()
        log.warning("Compiling %s for this machine; this takes up to half a minute, once. Later processes read it from a cache.", what)

    timer = threading.Timer(_NOTICED, tell)
    timer.daemon = True
    timer.start()
    try:
        yield
    except AttributeError as error:
        if "Can't get attribute" not in str(error):
            raise
        raise SolverFailure(
            "numba's cache on disk was written by an older version of this package and cannot be read. Delete the files *.nbi in the folders "
            "__pycache__ of milp_trees/engines (or in the folder that NUMBA_CACHE_DIR names), and run again."
        ) from error
    finally:
        timer.cancel()
        if told.is_set():
            log.info("compiled %s in %.1f s", what, time.perf_counter() - began)


@contextmanager
def interruptible() -> Iterator[None]:
    """Within this block compiled code runs: Ctrl-C meanwhile is a KeyboardInterrupt when it ends.

    Python notices the signal while the results are being packed, and calls it a SystemError (or several, each the cause of the next) that a function
    returned a result with an exception set.
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
