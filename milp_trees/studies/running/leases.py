"""Claims: of all processes of a study, exactly one makes an attempt at a run.

A claim is the file `claims/KEY.ATTEMPT`; it is made once and never removed or changed. Attempt 2 can
be claimed when attempt 1 has failed: its process is dead and wrote no row, or said why it failed.
So two processes that find the same dead worker cannot both take its run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from milp_trees.studies.running.folder import Folder
from milp_trees.studies.running.heartbeats import STALE, Heartbeats
from milp_trees.studies.running.row_files import Rows


@dataclass(frozen=True)
class Acquired:
    """An attempt that belongs to this process now.

    Parameters
    ----------
    attempt : int
        From 1 on.
    crashes : tuple of str
        How the attempts before it failed.
    """

    attempt: int
    crashes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Held:
    """Another living process makes the run, or has made it."""

    worker: str


@dataclass(frozen=True)
class Finished:
    """The run was finished by a process that has ended."""

    attempt: int


@dataclass
class Leases:
    """Claims of one process.

    Parameters
    ----------
    folder : Folder
    me : Heartbeats
    """

    folder: Folder
    me: Heartbeats
    _rows: dict[str, Rows] = field(default_factory=dict)

    def take(self, key: str, first: int = 1) -> Acquired | Held | Finished:
        """Claim the next attempt at a run."""
        attempt, crashes = first, []
        while not self._make(key, attempt):
            fate = self._fate(key, attempt)
            if not isinstance(fate, str):
                return fate
            if fate:
                crashes.append(fate)
            attempt += 1
        return Acquired(attempt, tuple(crashes))

    def first(self, key: str) -> bool:
        """Claim what no process has claimed before, dead ones included."""
        return self._make(key, 1)

    def looked_at(self, key: str, first: int = 1) -> Acquired | Held | Finished:
        """What `take` would return, without a claim; an attempt that is free is `Acquired`."""
        attempt = first
        while (self.folder / f"claims/{key}.{attempt}").exists():
            fate = self._fate(key, attempt)
            if not isinstance(fate, str):
                return fate
            attempt += 1
        return Acquired(attempt)

    def give_up(self, key: str, attempt: int, why: str) -> bool:
        """Say that an attempt has failed and why; an empty sentence is no crash."""
        return self.folder.make(f"claims/{key}.{attempt}.why", {"why": why})

    def _make(self, key: str, attempt: int) -> bool:
        return self.folder.make(f"claims/{key}.{attempt}", self.me.about, self.me.file)

    def _fate(self, key: str, attempt: int) -> str | Held | Finished:
        """What became of an attempt: a sentence if it failed."""
        name = f"claims/{key}.{attempt}"
        claim = self.folder.read(name)
        if claim is None:  # its process is just writing it, on a system without second names
            return Held("?") if self.me.age(name) <= STALE else "The process was killed at once."
        owner = claim["worker"]
        failed = self.folder.read(f"{name}.why")
        if failed is None and (owner == self.me.name or self.me.sees(owner)):
            return Held(owner)
        rows = self._rows.setdefault(owner, Rows(self.folder / f"rows/{owner}.jsonl"))
        rows.read()
        if (key, attempt) in rows.seen:
            return Finished(attempt)
        if failed is not None:
            return str(failed["why"])
        # Other machines may see a claim before they see the file of the process that made it.
        if claim["machine"] != self.me.about["machine"] and self.me.age(name) <= STALE:
            return Held(owner)
        return vanished(claim)


def vanished(about: dict[str, Any]) -> str:
    """The sentence about a worker that was there and is not."""
    return f"The process {about['pid']} on {about['host']} ended during this run: it was killed, ran out of memory, or its machine stopped."
