"""How far a study is: runs that are finished, what the others know now, and how long it will take.

All of it is read from the folder of the study; nothing is written.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from milp_trees.results.json import relative_gap
from milp_trees.studies.planning.plan import Plan, PlannedRun
from milp_trees.studies.processes_seen import lives, machine
from milp_trees.studies.running.errors import StudyError
from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.heartbeats import STALE
from milp_trees.studies.running.rounds import Round
from milp_trees.studies.running.row_files import Rows

#: Seconds that count for an estimate before a run has shown how good it is.
TRUST = 1.0


@dataclass(frozen=True)
class Running:
    """A run that a worker makes now, as its live file says.

    Parameters
    ----------
    key, name, method : str
        Identity of the run, name of its problem, label of its method.
    state : str
        "preparing" or "running".
    seconds : float
        Since it began; at most a second old.
    time_limit : float or None
    incumbent, bound : float or None
    """

    key: str
    name: str
    method: str
    state: str
    seconds: float
    time_limit: float | None
    incumbent: float | None
    bound: float | None

    @property
    def gap(self) -> float | None:
        """Relative gap between incumbent and bound."""
        return relative_gap(self.incumbent, self.bound)


@dataclass(frozen=True)
class StudyProgress:
    """How far a study is at one moment.

    Parameters
    ----------
    title : str
    total, done, errors : int
        Runs of the plan, those that are finished, and those of them that ended in an error since
        this was followed.
    running : tuple of Running
    workers : int
        Processes that make runs.
    left : float or None
        Estimated seconds until the end; 0 if there is nothing left, None if nothing runs.
    stopping : int
        How often the user has asked for the end.
    """

    title: str
    total: int
    done: int
    errors: int
    running: tuple[Running, ...]
    workers: int
    left: float | None
    stopping: int = 0


class Eta:
    """Estimates of the plan, corrected by how long finished runs took.

    Parameters
    ----------
    runs : iterable of PlannedRun
        Those that are to be made.
    """

    def __init__(self, runs: Iterable[PlannedRun]) -> None:
        self.todo = {run.key: run for run in runs}
        self._spent: dict[str, float] = defaultdict(float)
        self._expected: dict[str, float] = defaultdict(float)

    def finish(self, key: str, seconds: float) -> None:
        """A run took so long."""
        run = self.todo.pop(key, None)
        if run is not None:
            self._spent[run.method] += seconds
            self._expected[run.method] += run.estimate

    def of(self, run: PlannedRun) -> float:
        """Seconds that a run will take."""
        overall = (sum(self._spent.values()) + TRUST) / (sum(self._expected.values()) + TRUST)
        spent, expected = self._spent[run.method], self._expected[run.method]
        seconds = run.estimate * (spent + TRUST * overall) / (expected + TRUST)
        return seconds if run.limits.time is None else min(seconds, run.limits.time)

    def left(self, running: Iterable[Running], workers: int) -> float:
        """Seconds until the last run ends."""
        now = {run.key: run.seconds for run in running}
        rest = {key: max(0.0, self.of(run) - now.get(key, 0.0)) for key, run in self.todo.items()}
        longest = max((rest[key] for key in now if key in rest), default=0.0)
        return max(longest, sum(rest.values()) / max(1, workers))


class Follower:
    """Follows one round of a study.

    Parameters
    ----------
    folder : Folder

    Raises
    ------
    StudyError
        There is no study in the folder.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        plan, now = folder.read("plan.json"), Round.read(folder)
        if plan is None or now is None:
            raise StudyError(
                f"No study has begun in {folder.path}; name the store of one that has."
            )
        self.plan, self.round = Plan.from_json(plan), now
        jobs = (folder.read(f"jobs/{job}.json") for job in now.jobs)
        numbers = {number for job in jobs if job is not None for number in job["runs"]}
        todo = [run for run in self.plan.runs if run.number in numbers]
        self.before = len(self.plan.runs) - len(todo)
        self.eta = Eta(todo)
        self.errors = 0
        self._files: dict[str, Rows] = {}

    @property
    def done(self) -> int:
        return len(self.plan.runs) - len(self.eta.todo)

    def take(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Rows were finished."""
        for row in rows:
            key = row["key"]
            if key in self.eta.todo and row["run"]["attempt"] >= self.round.again.get(key, 1):
                self.eta.finish(key, float(row["seconds"]))
                self.errors += row["status"] == "error"

    def read(self) -> None:
        """Read the rows that were finished since the last call from the files of the workers."""
        for name in self.folder.names("rows", ".jsonl"):
            file = self._files.setdefault(name, Rows(self.folder / f"rows/{name}"))
            self.take(entry["row"] for entry in file.read())

    def running(self) -> tuple[Running, ...]:
        """What the workers do now; that of dead workers is left out."""
        found = []
        for name in self.folder.names("live", ".json"):
            now = self.folder.read(f"live/{name}")
            if now is None or now.get("state") not in ("preparing", "running"):
                continue
            if not is_alive(self.folder, name.removesuffix(".json")):
                continue
            found.append(Running(**{field.name: now.get(field.name) for field in fields(Running)}))
        return tuple(sorted(found, key=lambda run: -run.seconds))

    def standing(self, workers: int | None = None, stopping: int = 0) -> StudyProgress:
        """How far the study is."""
        running = self.running()
        alive = self.alive("worker") if workers is None else workers
        left: float | None = None
        if not self.eta.todo:
            left = 0.0
        elif alive:
            left = self.eta.left(running, alive)
        return StudyProgress(
            self.plan.title,
            len(self.plan.runs),
            self.done,
            self.errors,
            running,
            alive,
            left,
            stopping,
        )

    def alive(self, role: str) -> int:
        """How many processes of a role ("front" or "worker") are alive."""
        names = (name.removesuffix(".json") for name in self.folder.names("workers", ".json"))
        return sum(is_alive(self.folder, name, role) for name in names)


def is_alive(folder: Folder, name: str, role: str | None = None) -> bool:
    """Whether a process of the study is alive; nothing is written to find out."""
    about = folder.read(f"workers/{name}.json")
    if about is None or role not in (None, about["role"]):
        return False
    if about["machine"] == machine():
        return lives(about["pid"], about["created"])
    try:
        return time.time() - (folder / f"workers/{name}.json").stat().st_mtime <= STALE
    except OSError:
        return False
