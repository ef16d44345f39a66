"""Cores that a run owns: no two runs of a study share one, and a worker stays on its own."""

from __future__ import annotations

import contextlib
import os
import re

import psutil

from milp_trees.studies.processes_seen import machine
from milp_trees.studies.running.leases import Acquired, Leases

#: Variables that set how many threads libraries start.
VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def here() -> list[int]:
    """The cores that this process may use."""
    own = psutil.Process()
    if hasattr(own, "cpu_affinity"):
        with contextlib.suppress(psutil.Error, OSError):
            return list(own.cpu_affinity())
    return list(range(os.cpu_count() or 1))


def claim(claims: Leases, wanted: int) -> list[int] | None:
    """Claim cores that no other worker of the study has."""
    possible = here()
    wanted = min(wanted, len(possible))
    mine: dict[int, int] = {}
    for core in possible:
        taken = claims.take(_name(core))
        if isinstance(taken, Acquired):
            mine[core] = taken.attempt
        if len(mine) == wanted:
            return list(mine)
    for core, attempt in mine.items():
        claims.give_up(_name(core), attempt, "")
    return None


def pin(cores: list[int]) -> bool:
    """Keep this process, and those that it starts, on its cores; False where that is impossible."""
    own = psutil.Process()
    if not hasattr(own, "cpu_affinity"):
        return False
    try:
        own.cpu_affinity(cores)
    except (psutil.Error, OSError):
        return False
    return True


def limited(threads: int) -> dict[str, str]:
    """Environment variables with which libraries start at most so many threads."""
    return dict.fromkeys(VARIABLES, str(threads))


def _name(core: int) -> str:
    return f"core-{re.sub(r'[^A-Za-z0-9-]', '', machine())}-{core}"
