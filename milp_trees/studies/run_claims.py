"""Claims on runs: of the comparisons that share a file, exactly one makes a run.

A claim is a row beside the runs. It is taken back in the transaction that adds the run, so no other
process can find neither. The claim of a process that was killed does not count.
"""

from __future__ import annotations

import os
import secrets
import sqlite3

SCHEMA = """
CREATE TABLE IF NOT EXISTS claims (
    key TEXT NOT NULL, role TEXT NOT NULL, owner TEXT NOT NULL, machine TEXT NOT NULL, pid INTEGER NOT NULL, created REAL NOT NULL,
    PRIMARY KEY (key, role)
);
"""


class RunClaims:
    """The claims of one connection; two threads of a process have different ones.

    Parameters
    ----------
    db : sqlite3.Connection
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db
        self._owner = secrets.token_hex(8)

    def take(self, key: str, role: str, number: int) -> bool:
        """Claim a run, in a transaction that the caller ends."""
        # Commands that only read rows do without its psutil.
        from milp_trees.studies.processes_seen import lives, machine, started

        self._db.execute("BEGIN IMMEDIATE")
        found = self._db.execute(
            "SELECT owner, machine, pid, created FROM claims WHERE key = ? AND role = ?",
            (key, role),
        ).fetchone()
        # A process of another machine cannot be looked up, and cannot share the file either.
        here = found is not None and found[0] != self._owner and found[1] == machine()
        if (here and lives(*found[2:])) or self.number(key, role) != number:
            return False
        me = (self._owner, machine(), os.getpid(), started(os.getpid()) or 0.0)
        self._db.execute(
            "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?)", (key, role, *me)
        )
        return True

    def end(self, key: str, role: str) -> None:
        """Take back the claim on a run that was added."""
        claim = (key, role, self._owner)
        self._db.execute("DELETE FROM claims WHERE key = ? AND role = ? AND owner = ?", claim)

    def release(self) -> None:
        """Leave the runs that were claimed and not added to other processes."""
        self._db.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))

    def number(self, key: str, role: str) -> int:
        """How many rows have a key and a role."""
        query = "SELECT COUNT(*) FROM runs WHERE key = ? AND role = ?"
        return int(self._db.execute(query, (key, role)).fetchone()[0])
