"""`live/WORKER.json`: what a worker does now, for those who watch."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import Any

from milp_trees.results.result import TracePoint
from milp_trees.studies.running.folder import Folder

#: Seconds between two files at least.
EVERY = 0.5


class Live:
    """The live file of one worker; written by the thread that calls `flush`."""

    def __init__(self, folder: Folder, worker: str) -> None:
        self.folder = folder
        self.name = f"live/{worker}.json"
        self._lock = threading.Lock()
        self._now: dict[str, Any] = {}
        self._changed = False
        self._written = 0.0

    def begin(self, **about: Any) -> None:
        """A run begins, or is prepared; `about` is what is known of it."""
        with self._lock:
            self._now = {**about, "since": time.time(), "seconds": 0.0}
            self._now |= {"incumbent": None, "bound": None}
            self._changed = True

    def point(self, point: TracePoint) -> None:
        """The run has another incumbent or bound."""
        with self._lock:
            self._now |= {
                "seconds": point.seconds,
                "incumbent": point.incumbent,
                "bound": point.bound,
            }
            self._changed = True

    def flush(self) -> None:
        """Write the file if something changed, at most twice a second."""
        now = time.monotonic()
        with self._lock:
            if not self._changed or now - self._written < EVERY:
                return
            self._changed, self._written = False, now
            content = dict(self._now)
        with contextlib.suppress(OSError):  # only for those who watch; a run does not fail for it
            self.folder.write(self.name, content, durable=False)

    def remove(self) -> None:
        self.folder.remove(self.name)
