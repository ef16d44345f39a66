"""Hashes of the rows of a study's file, by which rows are found that were changed by hand."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from typing import Any

#: A row per run. Rows that an earlier version wrote have an empty hash.
TABLE = "CREATE TABLE IF NOT EXISTS hashes (id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL)"
#: What is hashed of a run, in this order.
HASHED = (
    *("key", "role", "problem", "seed", "method", "status", "limit", "objective", "unit"),
    *("bound", "gap", "seconds", "agrees", "finished", "result", "log"),
)
_COLUMNS = ", ".join(f'runs."{name}"' for name in HASHED)


def prepare(db: sqlite3.Connection) -> None:
    """Make the table of hashes; runs that are there already have none."""
    found = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'hashes'").fetchone()
    if found is None:
        db.execute(TABLE)
        db.execute("INSERT OR IGNORE INTO hashes SELECT id, '' FROM runs")


def keep(db: sqlite3.Connection, number: Any) -> None:
    """Keep the hash of a run that was just written."""
    row = db.execute(f"SELECT {_COLUMNS} FROM runs WHERE id = ?", (number,)).fetchone()
    db.execute("INSERT OR REPLACE INTO hashes VALUES (?, ?)", (number, _hash(row)))


def states(db: sqlite3.Connection, where: str = "1", given: tuple[Any, ...] = ()) -> dict[int, str]:
    """What the hashes say of runs, by their ids."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'hashes'").fetchone() is None:
        return {}
    found = db.execute(
        f"SELECT runs.id, hashes.sha256, {_COLUMNS} FROM runs LEFT JOIN hashes ON hashes.id = runs.id WHERE {where}",
        given,
    )
    gone = "SELECT id FROM hashes WHERE id NOT IN (SELECT id FROM runs)"
    deleted = {number: "deleted" for (number,) in (db.execute(gone) if where == "1" else ())}
    return deleted | {
        number: "unknown" if kept == "" else "same" if kept == _hash(row) else "changed"
        for number, kept, *row in found
    }


def _hash(row: Any) -> str:
    text = json.dumps(list(row), ensure_ascii=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()
