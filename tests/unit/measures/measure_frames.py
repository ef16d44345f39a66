"""Frames of runs for the tests of measures: what is not said has a plain value."""

import pandas as pd

from milp_trees.studies.columns import COLUMNS

PLAIN = {
    "kind": "trees",
    "seed": 0,
    "permutation": 0,
    "status": "optimal",
    "sense": "min",
    "unit": "errors",
    "evidence": "claimed",
}


def frame(*runs):
    """A frame of runs, each a dict with `name`, `variant` and what differs from `PLAIN`."""
    rows = []
    for run in runs:
        row = {**dict.fromkeys(COLUMNS), **PLAIN, **run}
        row["problem"] = row["problem"] or row["name"]
        row["data"] = row["data"] or row["name"]
        rows.append(row)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def grid(times, limit=10.0, **common):
    """Runs from a table {line: {problem: seconds, None if it was not solved}}."""
    return frame(
        *(
            {
                "name": name,
                "variant": line,
                "seconds": limit if seconds is None else seconds,
                "status": "feasible" if seconds is None else "optimal",
                "limit": "time" if seconds is None else None,
                "time_limit": limit,
                **common,
            }
            for line, row in times.items()
            for name, seconds in row.items()
        )
    )


def traces(*points):
    """Points (run, seconds, incumbent, bound)."""
    columns = ["run", "seconds", "incumbent", "bound"]
    return pd.DataFrame(points, columns=columns).astype(dict.fromkeys(columns[1:], float))
