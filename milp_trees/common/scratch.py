"""Temporary folders with their owner's identity in the name.

With it, folders of killed processes are found and removed. A folder is called
`milp-trees-scratch-HOST-PID-START-…` after the process that removes it: its number, the second in
which it started (numbers are reused), and the name of its machine (folders may be shared). It is
removed by its owner, by a solver process whose parent has ended, or by the next process that makes
a folder.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

#: Beginning of the names of folders whose processes run on this machine.
PREFIX = f"milp-trees-scratch-{re.sub(r'[^A-Za-z0-9]', '', platform.node())}-"
#: Beginning of the names of folders that a message names, and the days after which they are removed.
KEPT, KEPT_DAYS = "milp-trees-model-", 7
_OWNED = re.compile(re.escape(PREFIX) + r"(\d+)-(\d+)-")
#: Largest difference, in seconds, between two readings of the start of one process; the system's
#: clock may have been set in between.
SAME = 5


def make() -> Path:
    """A new folder of this process.

    Folders that killed processes left are removed first, once in the life of this process.
    """
    import psutil

    home = tempfile.gettempdir()
    _sweep_once(home, os.getpid())
    return Path(
        tempfile.mkdtemp(
            prefix=f"{PREFIX}{os.getpid()}-{int(psutil.Process().create_time())}-", dir=home
        )
    )


def kept() -> Path:
    """A new folder for a model that a message names; it is removed when it is old.

    It belongs to the user, so it outlives this process. Those that are older than `KEPT_DAYS` are
    removed by the next process that makes any folder.
    """
    home = tempfile.gettempdir()
    _sweep_once(home, os.getpid())
    return Path(tempfile.mkdtemp(prefix=KEPT, dir=home))


def remove(folder: str | Path) -> None:
    """Remove a folder.

    A file that cannot be removed now (on some systems because it is open) is left to a later sweep.
    """
    for _ in range(
        5
    ):  # others may remove its files at the same time, and a missing file ends an attempt
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.exists(folder):
            return
        time.sleep(0.02)


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder that exists during a `with` block."""
    path = make()
    try:
        yield path
    finally:
        remove(path)


def sweep(home: str | Path) -> list[Path]:
    """Remove the folders whose owners have ended, and old kept ones; return the removed folders."""
    found = [path for path in Path(home).glob(f"{PREFIX}*") if _left_behind(path.name)]
    found += [path for path in Path(home).glob(f"{KEPT}*") if _old(path)]
    for path in found:
        remove(path)
    return found


@functools.lru_cache(1)
def _sweep_once(home: str, pid: int) -> None:
    sweep(home)


def _old(path: Path) -> bool:
    """Whether a kept folder was last changed more than `KEPT_DAYS` ago."""
    try:
        seen = path.lstat()
    except OSError:  # another process removes it
        return False
    return stat.S_ISDIR(seen.st_mode) and time.time() - seen.st_mtime > KEPT_DAYS * 86_400


def _left_behind(name: str) -> bool:
    """Whether the owner in a folder's name has ended; False if the name holds no owner."""
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
