"""Temporary folders that say whose they are, so that those of a killed process are found and
removed.

A folder is called `milp-trees-scratch-HOST-PID-START-…` after the process that removes it: its
number and the second in which it started, since numbers are given again, and the name of its
machine, since folders may be shared. It is removed by its owner, by a solver process that finds its
parent gone, or by the next process that makes a folder.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

#: Of folders whose processes can be seen from here.
PREFIX = f"milp-trees-scratch-{re.sub(r'[^A-Za-z0-9]', '', platform.node())}-"
_OWNED = re.compile(re.escape(PREFIX) + r"(\d+)-(\d+)-")
#: Seconds by which two readings of the start of one process may differ: the system's clock may have
#: been set in between.
SAME = 5


def make() -> Path:
    """A new folder of this process. Those that killed processes left are removed first, once in the
    life of this one.
    """
    import psutil

    home = tempfile.gettempdir()
    _sweep_once(home, os.getpid())
    return Path(
        tempfile.mkdtemp(
            prefix=f"{PREFIX}{os.getpid()}-{int(psutil.Process().create_time())}-", dir=home
        )
    )


def remove(folder: str | Path) -> None:
    """Remove a folder; what cannot be removed now (a file that is still open, on some systems) is
    left to a later sweep.
    """
    for _ in range(
        5
    ):  # others may remove its files at the same time, and what is gone already ends an attempt
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.02)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder for the time of a block."""
    path = make()
    try:
        yield path
    finally:
        remove(path)


def sweep(home: str | Path) -> list[Path]:
    """Remove the folders whose owners are gone; which they were."""
    found = [path for path in Path(home).glob(f"{PREFIX}*") if _left_behind(path.name)]
    for path in found:
        remove(path)
    return found


@functools.lru_cache(1)
def _sweep_once(home: str, pid: int) -> None:
    sweep(home)


def _left_behind(name: str) -> bool:
    """Whether the owner that a name tells has ended; False for a name that tells none."""
    import psutil

    owner = _OWNED.match(name)
    if owner is None:
        return False
    try:
        return abs(psutil.Process(int(owner[1])).create_time() - int(owner[2])) > SAME
    except psutil.NoSuchProcess:
        return True
    except psutil.AccessDenied:
        return False
