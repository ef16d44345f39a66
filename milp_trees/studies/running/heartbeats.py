"""Processes of a study: each says that it is there, and can ask about the others.

A process of this machine is looked up by its number and its start. One of another machine counts as
alive while the time of its file is young; times are compared as the file server gives them, so the
clocks of the machines need not agree.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
from typing import Any

import psutil

from milp_trees.studies.processes_seen import host, lives, machine
from milp_trees.studies.running.folder import Folder

#: Seconds between two heartbeats; the environment variable sets another number.
BEAT = float(os.environ.get("MILP_TREES_HEARTBEAT") or 5.0)
#: Age at which a process of another machine is taken for dead. Network file systems show times up to
#: a minute late.
STALE = 24 * BEAT


class Heartbeats:
    """This process, or this thread of it, in a study.

    Parameters
    ----------
    folder : Folder
    role : str
        "front" or "worker".
    name : str, optional
        Unique in the folder; made from the machine and the number of the process by default.
    more : mapping
        Further plain values for the file.
    """

    def __init__(self, folder: Folder, role: str, name: str = "", **more: Any) -> None:
        self.folder = folder
        self.name = name or new_name()
        self.about = {
            "worker": self.name,
            "role": role,
            "machine": machine(),
            "host": host(),
            "pid": os.getpid(),
            "created": psutil.Process().create_time(),
            **more,
        }
        self.file = folder / f"workers/{self.name}.json"
        folder.write(f"workers/{self.name}.json", self.about, durable=False)
        self._gone: set[str] = set()

    def beat(self) -> None:
        """Say that this process is alive."""
        os.utime(self.file)

    def leave(self) -> None:
        """Say that this process does nothing more in the study."""
        self.folder.remove(f"workers/{self.name}.json")

    def sees(self, name: str) -> bool:
        """Whether another process of the study is alive."""
        if name in self._gone:
            return False  # names are not used again
        about = self.folder.read(f"workers/{name}.json")
        alive = about is not None and self._alive(name, about)
        if not alive:
            self._gone.add(name)
        return alive

    def _alive(self, name: str, about: dict[str, Any]) -> bool:
        if about["machine"] == self.about["machine"]:
            return lives(about["pid"], about["created"])
        return self.age(f"workers/{name}.json") <= STALE

    def age(self, name: str) -> float:
        """Seconds since a file of the study was written, by the clock of the file server."""
        try:
            self.beat()
            return self.file.stat().st_mtime - (self.folder / name).stat().st_mtime
        except OSError:
            return float("inf")

    def others(self) -> list[dict[str, Any]]:
        """What the other living processes say about themselves."""
        names = [name.removesuffix(".json") for name in self.folder.names("workers", ".json")]
        alive = [name for name in names if name != self.name and self.sees(name)]
        return [about for name in alive if (about := self.folder.read(f"workers/{name}.json"))]


class HeartbeatThread(threading.Thread):
    """A thread that beats while its process waits or computes."""

    def __init__(self, heartbeats: Heartbeats) -> None:
        super().__init__(daemon=True)
        self.heartbeats = heartbeats
        self._end = threading.Event()

    def run(self) -> None:
        while not self._end.wait(BEAT):
            try:
                self.heartbeats.beat()
            except OSError:
                return

    def stop(self) -> None:
        self._end.set()


def new_name() -> str:
    """A name that no other process of the study has."""
    return f"{re.sub(r'[^A-Za-z0-9-]', '', host())}-{os.getpid()}-{secrets.token_hex(3)}"
