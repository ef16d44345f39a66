"""Which rows of a comparison derive each other's claims again."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from typing import Any

from milp_trees.results.result import Status
from milp_trees.solving.agreement import built_on


def credit_derivers(rows: Iterable[dict[str, Any]]) -> None:
    """Fill in `derived_by` of proven rows that a row of an independent method proves too.

    Rows that have a deriver keep it. The first row that has no part in common with the method and
    proves the same value of the same problem becomes the deriver.
    """
    proven: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        done = row["status"] in (Status.OPTIMAL.value, Status.INFEASIBLE.value)
        if done and row["agrees"] is not False:
            proven[row.get("problem_key")].append(row)
    parts = cache(built_on)
    for of_problem in proven.values():
        first: dict[str, dict[str, Any]] = {}
        for row in of_problem:
            first.setdefault(row["method"], row)
        for row in of_problem:
            if row.get("derived_by") or (row["agrees"] and "derived_by" not in row):
                continue  # a row of an earlier version does not say by whom
            own = parts(row["method"])
            able = (n for n, other in first.items() if not parts(n) & own and _same(row, other))
            row["derived_by"] = next(able, None)


def _same(row: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two proven rows of a problem have the same answer."""
    if row["status"] != other["status"]:
        return False
    if row["status"] == Status.INFEASIBLE.value:
        return True
    if row["exact"] is not None and other["exact"] is not None:
        return bool(row["exact"] == other["exact"])
    return math.isclose(row["objective"], other["objective"], rel_tol=1e-9, abs_tol=1e-9)
