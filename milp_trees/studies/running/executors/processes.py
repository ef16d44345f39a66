"""`processes`: workers in processes of their own on this machine, each on cores of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from milp_trees.studies.running import cores
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.executors.base import Executor, Order
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.heartbeats import new_name
from milp_trees.studies.running.monitor import CANNOT, ENDED_BY_MONITOR, ENDED_NOW
from milp_trees.studies.running.row_files import Rows

#: Characters at the end of what a worker printed that a sentence quotes.
QUOTED = 400


class Processes(Executor):
    """As many workers as `jobs`, which may not need more cores than there are."""

    def __init__(self, order: Order) -> None:
        super().__init__(order)
        there = len(cores.here())
        most = max(1, there // order.cores)
        if self.slots > most:
            each = f" of {order.cores} threads" if order.cores > 1 else ""
            raise StudyError(
                f"{self.slots} jobs{each} need more than the {there} cores of this machine, and their times would be worth nothing; take jobs={most} at most."
            )
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._failure: str | None = None
        self._killing = False

    def start(self, workers: int) -> None:
        for _ in range(workers):
            name = new_name()
            self._workers[name] = start(self.order, name)

    def alive(self) -> int:
        for name, process in list(self._workers.items()):
            code = process.poll()
            if code is not None:
                del self._workers[name]
                self._ended(name, code)
        return len(self._workers)

    def _ended(self, name: str, code: int) -> None:
        """Keep in mind why a worker ended; a crash of a run is said in its row."""
        folder = self.order.folder
        if code == CANNOT:
            self._failure = last_words(folder / f"logs/{name}.txt")
        report_crash(folder, name, code, silent=self._killing)
        folder.remove(f"live/{name}.json")
        folder.remove(f"workers/{name}.json")
        if code == 0:
            folder.remove(f"logs/{name}.txt")

    def kill(self) -> None:
        """End the workers that have not ended by themselves after the order to do so."""
        self._killing = True
        for process in self._workers.values():
            try:
                process.wait(timeout=2)
            except subprocess.TimeoutExpired:
                process.kill()

    def failure(self) -> str | None:
        return self._failure


def start(order: Order, name: str, most: int | None = None) -> subprocess.Popen[bytes]:
    """Start a worker as a process of its own."""
    variables = {
        **cores.limited(order.cores),
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    with open(order.folder / f"logs/{name}.txt", "wb") as log:
        # A session of its own: Ctrl-C in a terminal reaches the front end only.
        return subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "milp_trees.studies.running.worker",
                *order.arguments(most),
                "--name",
                name,
            ],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={**os.environ, **variables},
        )


def report_crash(folder: Folder, name: str, code: int, silent: bool = False) -> None:
    """Say how a worker crashed in all that it had claimed and not finished.

    Its claims are looked at, since its live file is behind by up to half a second.
    """
    if code in (0, CANNOT, ENDED_BY_MONITOR, ENDED_NOW):
        return
    how = f"exit code {code}: {last_words(folder / f'logs/{name}.txt')}"
    if code < 0:
        how = f"signal {-code} ({signal_name(-code)})"
    rows = Rows(folder / f"rows/{name}.jsonl")
    rows.read()
    for claim in folder.names("claims"):
        key, _, attempt = claim.partition(".")
        if not attempt.isdigit() or (key, int(attempt)) in rows.seen:
            continue
        if (folder / f"helpers/{key.removeprefix('helper-')}.json").exists():
            continue
        owner = folder.read(f"claims/{claim}")
        if owner is not None and owner["worker"] == name:
            why = f"The process {owner['pid']} on {owner['host']} ended during this run with {how}."
            folder.make(f"claims/{claim}.why", {"why": "" if silent else why})


def signal_name(number: int) -> str:
    """The name of a signal; those without one (of real time) have their number only."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "no name"


def last_words(log: Path) -> str:
    """The end of what a worker printed."""
    try:
        text = log.read_text("utf-8", errors="replace").strip()
    except OSError:
        text = ""
    return text.splitlines()[-1][-QUOTED:] if text else "a worker ended without a word"
