"""What a run uses: memory and processor time of this process and of those it started, and the load.

Solvers run in processes of their own, so their use counts too.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass, field
from typing import Any

import psutil

#: Seconds between two looks at which processes there are; between them only known ones are asked.
FAMILY = 1.0


def load_average() -> float | None:
    """Mean number of processes that ran or waited in the last minute; None if not known."""
    with contextlib.suppress(OSError, AttributeError):  # Windows has no such number
        return os.getloadavg()[0]
    return None


@dataclass
class Gauges:
    """Measures one run after the other."""

    own: psutil.Process = field(default_factory=psutil.Process)
    _children: dict[int, psutil.Process] = field(default_factory=dict)
    _seconds: dict[tuple[int, float], float] = field(default_factory=dict)
    _looked: float = 0.0
    _before: float = 0.0
    _peak: float = 0.0
    _loads: list[float] = field(default_factory=list)

    def begin(self) -> None:
        """A run begins."""
        self._seconds.clear()
        self._peak, self._loads = 0.0, []
        self._weigh()
        self._before = sum(self._seconds.values())
        self._load()

    def look(self) -> float:
        """Look at memory, time and load; returns the memory in use now, in MB."""
        now = time.monotonic()
        if now - self._looked > FAMILY:
            self._looked = now
            self._find()
            self._load()
        return self._weigh()

    def end(self, of_solver: bool = True) -> dict[str, Any]:
        """What the run used: the fields of a row."""
        if of_solver:
            self._find()
        self._weigh()
        return {
            "peak_memory_mb": round(self._peak, 1),
            "cpu_seconds": round(max(0.0, sum(self._seconds.values()) - self._before), 4),
            "load": round(sum(self._loads) / len(self._loads), 3) if self._loads else None,
        }

    def _find(self) -> None:
        with contextlib.suppress(psutil.Error):
            self._children = {p.pid: p for p in self.own.children(recursive=True)}

    def _load(self) -> None:
        busy = load_average()
        if busy is not None:
            self._loads.append(busy)

    def _weigh(self) -> float:
        """Memory in use, in MB, by the processes that are known; their times are kept."""
        memory = 0.0
        for process in (self.own, *list(self._children.values())):
            with contextlib.suppress(psutil.Error):
                with process.oneshot():
                    memory += process.memory_info().rss / 2**20
                    used = process.cpu_times()
                    name = (process.pid, process.create_time())
                self._seconds[name] = used.user + used.system
        self._peak = max(self._peak, memory)
        return memory

    def kill_children(self) -> None:
        """End all processes that this one started."""
        for process in self.own.children(recursive=True):
            with contextlib.suppress(psutil.Error):
                process.kill()
