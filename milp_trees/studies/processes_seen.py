"""Is a process alive? Asked about processes of this machine, and of others.

A process is named by its machine, its number and the second in which it started, because numbers
are used again. The machine is its name, its boot and its space of process numbers: containers may
share a name, and after a restart no process of before lives.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from pathlib import Path

import psutil

#: Another name of this machine, for machines that cannot be told apart otherwise.
VARIABLE = "MILP_TREES_HOST"
#: Largest difference, in seconds, between two readings of the start of one process.
SAME = 1.0


def host() -> str:
    """The name of this machine, for people."""
    return os.environ.get(VARIABLE) or platform.node() or "localhost"


@functools.cache
def _boot() -> str:
    parts = []
    for path in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            parts.append(os.readlink(path) if "ns" in path else Path(path).read_text("ascii"))
        except OSError:
            parts.append(str(int(psutil.boot_time() / 60)))
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:8]


def machine() -> str:
    """The identity of this machine, under which its processes can be looked up."""
    return f"{host()}-{_boot()}"


def started(pid: int) -> float | None:
    """When a process of this machine started; None if there is none, or if it has ended."""
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return float(process.create_time())
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return None


def lives(pid: int, created: float) -> bool:
    """Whether the process of this machine with a number and a start is alive."""
    now = started(pid)
    return now is not None and abs(now - created) <= SAME
