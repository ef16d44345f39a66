"""Rows of a study in a SQLite file (WAL mode): appended as each run ends, readable meanwhile, never changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from milp_trees.errors import MilpTreesError

#: Columns that queries and notebooks use without reading the JSON.
COLUMNS = ("method", "status", "limit", "objective", "unit", "bound", "gap", "seconds", "agrees")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, role TEXT NOT NULL, problem TEXT NOT NULL, seed INTEGER NOT NULL, method TEXT NOT NULL,
    status TEXT NOT NULL, "limit" TEXT, objective REAL, unit TEXT, bound REAL, gap REAL, seconds REAL, agrees INTEGER, finished TEXT NOT NULL,
    result TEXT NOT NULL, log TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS runs_key ON runs (key);
"""


class StoreError(MilpTreesError):
    """The file of a study cannot be read or written; rows that were finished before are safe in it."""


class Store:
    """The rows of a study; in memory if no path is given.

    Parameters
    ----------
    path : str or Path, optional
        SQLite file; made if it does not exist.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        with self._explained("opened"):
            self._db = sqlite3.connect(":memory:" if path is None else str(path), timeout=30.0)
            if path is not None:
                self._db.execute("PRAGMA journal_mode=WAL")
                # Every row survives a killed process; a row is rare enough to wait for the disk.
                self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_SCHEMA)

    def append(self, row: Mapping[str, Any], *, key: str, role: str, problem: str, seed: int, log: str = "") -> None:
        """Add a finished row."""
        head = {name: row.get(name) for name in COLUMNS}
        head["agrees"] = None if head["agrees"] is None else int(head["agrees"])
        values = {
            **head, "key": key, "role": role, "problem": problem, "seed": seed, "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "result": json.dumps(row), "log": log,
        }  # fmt: skip
        names = ", ".join(f'"{n}"' for n in values)
        with self._explained("written"), self._db:
            self._db.execute(f"INSERT INTO runs ({names}) VALUES ({', '.join('?' * len(values))})", tuple(values.values()))

    def latest(self, key: str) -> dict[str, Any] | None:
        """The newest row with a key; None if there is none."""
        with self._explained("read"):
            found = self._db.execute("SELECT result FROM runs WHERE key = ? ORDER BY id DESC LIMIT 1", (key,)).fetchone()
        return None if found is None else json.loads(found[0])

    def has(self, key: str, role: str) -> bool:
        """Whether there is a row with a key and a role."""
        with self._explained("read"):
            return self._db.execute("SELECT 1 FROM runs WHERE key = ? AND role = ?", (key, role)).fetchone() is not None

    def rows(self, role: str | None = "run") -> Iterator[dict[str, Any]]:
        """The newest row of every key, in the order they were first finished."""
        with self._explained("read"):
            found = self._db.execute(
                "SELECT result, seed, problem, key, finished, role FROM runs WHERE ?1 IS NULL OR role = ?1 ORDER BY id", (role,)
            ).fetchall()
        newest: dict[tuple[str, str], dict[str, Any]] = {}
        for result, seed, problem, key, finished, its_role in found:
            newest[key, its_role] = {**json.loads(result), "seed": seed, "problem_key": problem, "key": key, "finished": finished}
        yield from newest.values()

    def log(self, key: str) -> str:
        """The solver's log of the newest row with a key."""
        with self._explained("read"):
            found = self._db.execute("SELECT log FROM runs WHERE key = ? ORDER BY id DESC LIMIT 1", (key,)).fetchone()
        return "" if found is None else str(found[0])

    def __len__(self) -> int:
        with self._explained("read"):
            return int(self._db.execute("SELECT COUNT(*) FROM runs").fetchone()[0])

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """One sentence for what SQLite says."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            remedy = {
                "database or disk is full": "free some space and run the same command again",
                "disk I/O error": "check the disk (is it full?) and run the same command again",
                "attempt to write a readonly database": "make it writable, or name another file",
                "unable to open database file": "check that its folder exists and that you may write there",
                "file is not a database": "name another file: this one is something else",
                "database is locked": "another process is writing; wait for it",
            }.get(str(error), "name another file")
            safe = "" if what == "opened" else " Finished rows in it are safe, and a study resumes."
            raise StoreError(f"The study file {self.path} cannot be {what} ({error}); {remedy}.{safe}") from error
