"""The thread that watches over a worker: heartbeat, memory, time, orders to end, its live file."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Protocol

from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.gauges import Gauges
from milp_trees.studies.running.heartbeats import BEAT, Heartbeats
from milp_trees.studies.running.live import Live
from milp_trees.studies.running.rounds import Round

#: Seconds between two looks at the memory; at the orders; at whether the front end is alive, and the
#: run has not ignored its time limit.
MEMORY, ORDERS, FRONT = 0.25, 0.5, 1.0
#: Exit codes of a worker that was ended by its own monitor, and of one that cannot work here.
ENDED_BY_MONITOR, ENDED_NOW, CANNOT = 70, 71, 72


class Watched(Protocol):
    """What a monitor sees of its worker, and what it tells it."""

    folder: Folder
    front: str
    round: Round
    me: Heartbeats
    live: Live
    gauges: Gauges
    own_process: bool
    running: bool
    limit: float | None
    ending: bool
    ending_now: bool

    @property
    def overdue(self) -> bool:
        """Whether the run, or the helper run, in flight has ignored its time limit for long."""

    def give_up(self, why: str) -> None:
        """Say why the run in flight ends without a row; an empty sentence is no crash."""


class Monitor(threading.Thread):
    """Watches one worker.

    Parameters
    ----------
    worker : Watched
    """

    def __init__(self, worker: Watched) -> None:
        super().__init__(daemon=True)
        self.worker = worker
        self._end = threading.Event()
        self._parent = os.getppid()

    def run(self) -> None:
        worker = self.worker
        jobs = [
            _Every(MEMORY, self._memory),
            _Every(FRONT, self._overtime),
            _Every(ORDERS, self.orders),
            _Every(BEAT, worker.me.beat),
            _Every(FRONT, self._front),
            _Every(MEMORY, worker.live.flush),
        ]
        while not self._end.wait(MEMORY):
            for job in jobs:
                try:
                    job()
                except OSError:  # the folder is away for a moment, or for ever
                    continue

    def stop(self) -> None:
        self._end.set()
        self.join()

    def _memory(self) -> None:
        worker = self.worker
        if not worker.running:
            return
        used, cap = worker.gauges.look(), worker.round.memory_mb
        if cap is not None and used > cap and worker.own_process:
            worker.give_up(f"The run used {used:.0f} MB of memory; the cap is {cap:g} MB.")
            self._exit(ENDED_BY_MONITOR)

    def _overtime(self) -> None:
        worker = self.worker
        if worker.own_process and worker.overdue:
            worker.give_up(
                f"The run did not end at its time limit ({worker.limit:g} s), nor long after it."
            )
            self._exit(ENDED_BY_MONITOR)

    def orders(self) -> None:
        """Look whether the worker has to end."""
        worker = self.worker
        order = worker.folder.read(f"stops/{worker.front}.json")
        if order is None:
            return
        worker.ending = True
        if order.get("now"):
            worker.ending_now = True
            if worker.own_process:
                worker.give_up("")
                self._exit(ENDED_NOW)

    def _front(self) -> None:
        """End after the run if its front end has ended, unless that is intended.

        A process also ends after the one that started it.
        """
        worker = self.worker
        orphan = worker.own_process and os.getppid() != self._parent
        if orphan or not (worker.round.detached or worker.me.sees(worker.front)):
            worker.ending = True

    def _exit(self, code: int) -> None:
        self.worker.gauges.kill_children()
        self.worker.me.leave()
        os._exit(code)


class _Every:
    """Calls a function at most once in so many seconds."""

    def __init__(self, seconds: float, do: Callable[[], object]) -> None:
        self.seconds, self.do = seconds, do
        self.last = time.monotonic()

    def __call__(self) -> None:
        now = time.monotonic()
        if now - self.last >= self.seconds * 0.9:
            self.last = now
            self.do()
