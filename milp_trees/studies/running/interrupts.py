"""Ctrl-C in the front end of a study: it is counted, and the loop asks for the count."""

from __future__ import annotations

import signal
import threading
from typing import Any


class Interrupts:
    """Counts Ctrl-C in the main thread while the block runs; a third one is raised as ever."""

    def __init__(self) -> None:
        self.count = 0
        self._woken = threading.Event()
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._take)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _take(self, *_: object) -> None:
        self.count += 1
        self._woken.set()
        if self.count > 2:
            raise KeyboardInterrupt

    def wait(self, seconds: float) -> None:
        """Wait for so long, or until the next Ctrl-C."""
        if self._woken.wait(seconds):
            self._woken.clear()
