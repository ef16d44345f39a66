"""Rows of a study in a SQLite file in WAL mode.

A row is appended as its run ends, and never changed; the file can be read meanwhile. Comparisons
that share a file claim a run before they make it.
"""

from __future__ import annotations

import json
import sqlite3
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from types import NoneType
from typing import Any, NamedTuple

from milp_trees.common.errors import DamagedRowWarning, MilpTreesError
from milp_trees.studies import row_hashes
from milp_trees.studies.rows import DamagedRow, NewerRow, read_row
from milp_trees.studies.run_claims import SCHEMA, RunClaims

#: Columns that queries and notebooks use without reading the JSON.
COLUMNS = ("method", "status", "limit", "objective", "unit", "bound", "gap", "seconds", "agrees")
#: Version of the table below, kept as the file's `user_version`. Files of the first versions, which
#: did not count, have 0.
LAYOUT = 2

_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS runs (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL, role TEXT NOT NULL, problem TEXT NOT NULL, seed INTEGER NOT NULL, method TEXT NOT NULL,
    status TEXT NOT NULL, "limit" TEXT, objective REAL, unit TEXT, bound REAL, gap REAL, seconds REAL, agrees INTEGER, finished TEXT NOT NULL,
    result TEXT NOT NULL, log TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS runs_key ON runs (key);
CREATE TABLE IF NOT EXISTS environments (fingerprint TEXT PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
{SCHEMA}PRAGMA user_version = {LAYOUT};
"""
_OWN = {"id", "key", "role", "problem", "seed", *COLUMNS, "finished", "result", "log"}

_SAFE = "finished rows in it are safe, and a study resumes"
_LOST = "the file is damaged and rows in it may be lost: keep a copy, try the command `.recover` of the program sqlite3, or name another file"
#: Messages of SQLite, and what the user can do.
_REMEDIES = {
    "database or disk is full": f"free some space and run the same command again: {_SAFE}",
    "disk I/O error": "check the disk (is it full?) and run the same command again",
    "attempt to write a readonly database": f"make it writable, or name another file: {_SAFE}",
    "unable to open database file": "check that its folder exists and that you may write there",
    "file is not a database": "name another file: this one is something else, or damaged",
    "database is locked": f"another process is writing; wait for it: {_SAFE}",
}


class StoreError(MilpTreesError):
    """A study's file cannot be read or written; the message tells whether its rows are safe."""


class Entry(NamedTuple):
    """A row with what it is found by, and the solver's log."""

    row: Mapping[str, Any]
    key: str
    role: str
    problem: str
    seed: int
    log: str = ""


class Store:
    """The rows of a study; in memory if no path is given.

    Parameters
    ----------
    path : str or Path, optional
        SQLite file; it is made if it does not exist.
    read_only : bool, default=False
        Read an existing file, which may be write-protected.

    Raises
    ------
    StoreError
        The path is a folder, no database, a database of another program, damaged, or written by a
        newer version.
    """

    def __init__(self, path: str | Path | None = None, read_only: bool = False) -> None:
        if not isinstance(path, (str, PathLike, NoneType)):
            raise StoreError(f"The file of a study is named by a path; got {path!r}.")
        self.path = None if path is None else Path(path)
        if self.path is not None and self.path.is_dir():
            raise StoreError(f"The study file {self.path} is a folder; name a file in it.")
        with self._explained("opened"):
            self._db = self._connected(read_only)
            self._claims = RunClaims(self._db)
            self._check(read_only)
            if read_only:
                return
            if path is not None:
                self._db.execute("PRAGMA journal_mode=WAL")
                # Every row must survive a killed process; rows are rare, so waiting for the disk is
                # no problem.
                self._db.execute("PRAGMA synchronous=FULL")
            self._db.executescript(_SCHEMA)
            with self._db:
                row_hashes.prepare(self._db)

    def _connected(self, read_only: bool) -> sqlite3.Connection:
        if self.path is None:
            return sqlite3.connect(":memory:")
        if not read_only:
            return sqlite3.connect(str(self.path.absolute()), timeout=30.0)
        uri = self.path.absolute().as_uri()
        db = sqlite3.connect(f"{uri}?mode=ro", uri=True, timeout=30.0)
        try:
            db.execute("SELECT COUNT(*) FROM sqlite_master")
        except sqlite3.OperationalError:
            # In a folder without permission to write, SQLite reads a file only if it is certain
            # that no process is writing it.
            if Path(f"{self.path}-wal").exists():
                raise
            db = sqlite3.connect(f"{uri}?immutable=1", uri=True)
        return db

    def _check(self, read_only: bool) -> None:
        """Refuse a file that is no study, or is of a newer version, before writing to it."""
        version = self._db.execute("PRAGMA user_version").fetchone()[0]
        tables = self._tables()
        columns = {found[1] for found in self._db.execute("PRAGMA table_info(runs)")}
        if tables and not columns >= _OWN:
            raise StoreError(
                f"The file {self.path} is a database, but not of a study of milp-trees; name another file."
            )
        if version > LAYOUT:
            raise StoreError(
                f"The study file {self.path} was written by a newer milp-trees (layout {version}; this version reads up to {LAYOUT}); "
                "update milp-trees, or name another file."
            )
        if read_only and not tables:
            raise StoreError(f"The file {self.path} is empty: it holds no study.")

    def append(
        self, row: Mapping[str, Any], *, key: str, role: str, problem: str, seed: int, log: str = ""
    ) -> None:
        """Add a finished row."""
        entry = Entry(row, key, role, problem, seed, log)
        with self._explained("written"), self._db:
            self._insert(entry)
            self._claims.end(key, role)

    def number(self, key: str, role: str) -> int:
        """How many rows have a key and a role."""
        with self._explained("read"):
            return self._claims.number(key, role)

    def claim(self, key: str, role: str, number: int) -> bool:
        """Say that this process makes a run now; `append` and `release` take it back."""
        with self._explained("written"), self._db:
            return self._claims.take(key, role, number)

    def release(self) -> None:
        """Leave the runs that were claimed and not appended to other processes."""
        with self._explained("written"), self._db:
            self._claims.release()

    def merge(self, entries: Iterable[Entry], about: Mapping[str, str]) -> None:
        """Add rows and notes in one step: after a crash, all of them are there, or none."""
        with self._explained("written"), self._db:
            for entry in entries:
                self._insert(entry)
            self._db.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", about.items())

    def _insert(self, entry: Entry) -> None:
        head = {name: entry.row.get(name) for name in COLUMNS}
        head |= {name: _real(head[name]) for name in ("objective", "bound", "gap")}
        head["agrees"] = None if head["agrees"] is None else int(head["agrees"])
        values = {
            **head,
            "key": entry.key,
            "role": entry.role,
            "problem": entry.problem,
            "seed": entry.seed,
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "result": json.dumps(entry.row, allow_nan=False),
            "log": entry.log,
        }
        names = ", ".join(f'"{n}"' for n in values)
        done = self._db.execute(
            f"INSERT INTO runs ({names}) VALUES ({', '.join('?' * len(values))})",
            tuple(values.values()),
        )
        row_hashes.keep(self._db, done.lastrowid)

    def about(self) -> dict[str, str]:
        """Notes about the study, such as its title; none in files of the layouts 0 and 1."""
        return dict(self._table("about"))

    def environments(self) -> dict[str, dict[str, Any]]:
        """The machines and software with which rows were made, by their fingerprints."""
        return {name: json.loads(text) for name, text in self._table("environments")}

    def add_environment(self, fingerprint: str, environment: Mapping[str, Any]) -> None:
        """Keep an environment, once."""
        with self._explained("written"), self._db:
            self._db.execute(
                "INSERT OR IGNORE INTO environments VALUES (?, ?)",
                (fingerprint, json.dumps(environment)),
            )

    def ends(self, role: str) -> dict[str, tuple[str, str | None]]:
        """Status and limit of the newest row of every key."""
        with self._explained("read"):
            found = self._db.execute(
                'SELECT key, status, "limit" FROM runs WHERE role = ? ORDER BY id', (role,)
            ).fetchall()
        return {key: (status, limit) for key, status, limit in found}

    def _table(self, name: str) -> list[tuple[str, str]]:
        with self._explained("read"):
            if name not in self._tables():
                return []
            return self._db.execute(f"SELECT * FROM {name}").fetchall()

    def _tables(self) -> set[str]:
        found = self._db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {name for (name,) in found}

    def latest(self, key: str, role: str) -> dict[str, Any] | None:
        """The newest row with a key and a role.

        None if there is none, or if it is damaged; then there is a warning.
        """
        with self._explained("read"):
            found = self._db.execute(
                "SELECT id, result FROM runs WHERE key = ? AND role = ? ORDER BY id DESC LIMIT 1",
                (key, role),
            ).fetchone()
            state = {} if found is None else row_hashes.states(self._db, "runs.id = ?", found[:1])
        try:
            return None if found is None else self._read(found[0], found[1], state.get(found[0]))
        except DamagedRow as why:
            self.left_out(found[0], str(why))
            return None

    def rows(self, role: str | None = "run") -> Iterator[dict[str, Any]]:
        """The newest row of every key and role, in the order in which they were first finished.

        Damaged rows are left out with a warning.
        """
        with self._explained("read"):
            found = self._db.execute(
                "SELECT id, result, seed, problem, key, finished, role FROM runs WHERE ?1 IS NULL OR role = ?1 ORDER BY id",
                (role,),
            ).fetchall()
            states = row_hashes.states(self._db)
        newest: dict[tuple[str, str], dict[str, Any]] = {}
        damaged: dict[tuple[str, str], tuple[int, str]] = {}
        for number, result, seed, problem, key, finished, its_role in found:
            try:
                if not (
                    type(seed) is int
                    and all(isinstance(text, str) for text in (problem, key, finished, its_role))
                ):
                    raise DamagedRow("its columns are of other kinds")
                row = self._read(number, result, states.get(number))
                newest[key, its_role] = {
                    **row,
                    "seed": seed,
                    "problem_key": problem,
                    "key": key,
                    "finished": finished,
                }
                damaged.pop((key, its_role), None)  # a later row replaces it
            except DamagedRow as why:
                damaged[key, its_role] = number, str(why)
        shown = {number for number, *_ in found}
        for number, state in states.items():
            if state in ("changed", "deleted") and number not in shown:
                self.left_out(number, f"it was {state} after it was written")
        for number, why_damaged in damaged.values():
            self.left_out(number, why_damaged)
        yield from newest.values()

    def _read(self, number: int, result: Any, state: str | None) -> dict[str, Any]:
        """The row in a JSON text; without a hash its proof counts as unchecked."""
        if state == "changed":
            raise DamagedRow("it was changed after it was written")
        try:
            row = read_row(result)
            if row.get("proof") and state != "same":
                row["proof"] = {**row["proof"], "checked": False}
            return row
        except NewerRow as why:
            raise StoreError(
                f"Row {number} of the study file {self.path} is newer: {why}; update milp-trees, or name another file."
            ) from None

    def left_out(self, number: Any, why: str) -> None:
        """Warn that a row cannot be used."""
        sentence = f"Row {number} of the study file {self.path} is damaged ({why.rstrip('.')}) and is left out; the same comparison runs it again."
        warnings.warn(sentence, DamagedRowWarning, stacklevel=3)

    def log(self, key: str, role: str) -> str:
        """The solver's log of the newest row with a key and a role."""
        with self._explained("read"):
            found = self._db.execute(
                "SELECT log FROM runs WHERE key = ? AND role = ? ORDER BY id DESC LIMIT 1",
                (key, role),
            ).fetchone()
        return "" if found is None else str(found[0])

    def __len__(self) -> int:
        with self._explained("read"):
            return int(self._db.execute("SELECT COUNT(*) FROM runs").fetchone()[0])

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """Turn an error of SQLite into one sentence."""
        try:
            yield
        except (
            sqlite3.DatabaseError,
            UnicodeDecodeError,
        ) as error:  # UnicodeDecodeError: even the names of tables may be damaged
            text = " ".join(str(error).split())
            words = (
                ("malformed", "corrupt", "decode")
                if what == "opened"
                else ("malformed", "corrupt", "decode", "not a database")
            )
            remedy = (
                _LOST
                if any(word in text for word in words)
                else _REMEDIES.get(text, "name another file")
            )
            raise StoreError(
                f"The study file {self.path} cannot be {what} ({text}); {remedy}."
            ) from error


def _real(number: Any) -> float | None:
    """A number as SQLite can hold it; exact values beyond its range are only in the row's JSON."""
    try:
        return None if number is None else float(number)
    except OverflowError:
        return None
