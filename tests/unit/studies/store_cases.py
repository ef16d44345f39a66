"""Changes of a study's file, for the tests of stores."""

import sqlite3


def tamper(path, statement, *values):
    """Change the file by hand; the hashes of rows stay as they were."""
    with sqlite3.connect(path) as db:
        db.execute(statement, values)
    db.close()


def change(path, statement, *values):
    """Change rows of a file of an earlier version, which kept no hashes."""
    tamper(path, statement, *values)
    with sqlite3.connect(path) as db:
        known = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'hashes'").fetchone()
    if known:
        tamper(path, "UPDATE hashes SET sha256 = ''")
