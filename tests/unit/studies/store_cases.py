"""Changes of a study's file, for the tests of stores."""

import sqlite3


def change(path, statement, *values):
    with sqlite3.connect(path) as db:
        db.execute(statement, values)
    db.close()
