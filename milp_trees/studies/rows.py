"""Rows as a study's file holds them, checked when they are read because files get damaged."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from types import NoneType
from typing import Any

from milp_trees.common.errors import MilpTreesError
from milp_trees.results.json import SCHEMA, number, relative_gap
from milp_trees.results.result import Limit, Status, TracePoint
from milp_trees.results.strict_json import parse_json
from milp_trees.results.tables import reasons, summary
from milp_trees.studies.columns import flat as flat
from milp_trees.tasks.comparing import floats_cross

#: Errors that arise from reading something that this package did not write, or that is incomplete.
UNREADABLE = (
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


class DamagedRow(ValueError):
    """A row holds something that this package does not write; the message describes it."""


class NewerRow(MilpTreesError):
    """A row was written by a newer version of this package."""


def read_row(text: Any) -> dict[str, Any]:
    """The row in a JSON text, after a check that it can be shown and holds numbers."""
    try:
        row = parse_json(text, "it", "the run is made again")
        if not isinstance(row, dict):
            raise DamagedRow("it is no JSON object")
        if type(row["schema"]) is not int:
            raise DamagedRow(f"schema is {row['schema']!r:.50}")
        if row["schema"] > SCHEMA:
            raise NewerRow(
                f"it has the layout {row['schema']}, and this version of milp-trees reads layouts up to {SCHEMA}"
            )
        _check(row)
    except UNREADABLE as error:
        raise DamagedRow(said(error)) from error
    return row


def said(error: BaseException) -> str:
    """A few words on what is wrong with a row."""
    return (
        f"it has no {error}"
        if isinstance(error, KeyError)
        else " ".join(str(error).split())[:200] or type(error).__name__
    )


def _check(row: dict[str, Any]) -> None:
    """Try everything that is done with a row; an impossible operation raises an error."""
    Status(row["status"])
    if row["limit"] is not None:
        Limit(row["limit"])
    for name in ("exact", "bound_exact"):
        if row[name] is not None and not re.fullmatch(r"-?\d+/\d*[1-9]\d*", row[name]):
            raise DamagedRow(f"{name} is {row[name]!r:.50}")
    if row["agrees"] not in (True, False, None) or row["sense"] not in ("min", "max"):
        raise DamagedRow(f"agrees is {row['agrees']!r:.50} and sense {row['sense']!r:.50}")
    for point in row["trace"]:
        if not all(value is None or number(value) for value in TracePoint(*point)):
            raise DamagedRow(f"a point of its trace is {point!r:.50}")
    for name, kind in (
        ("method", str),
        ("unit", str),
        ("message", str),
        ("checked", list),
        ("options", dict),
        ("versions", dict),
    ):
        if not isinstance(row[name], kind):
            raise DamagedRow(f"{name} is {row[name]!r:.50}")
    if not row["method"].isprintable():
        raise DamagedRow(f"method is {row['method']!r:.50}")
    float(row["seconds"])
    if row["predictor"] is not None:
        float(row["objective"])
    _check_run(row.get("run") or {})
    flat(row)
    summary(row)
    reasons([row])


#: What `row["run"]` holds as text.
_TEXTS = ("name", "group", "kind", "data", "start", "environment", "worker", "started")


def _check_run(run: dict[str, Any]) -> None:
    """Refuse a description of a run whose entries are of other kinds; any may be absent."""
    limits = run.get("limits") or {}
    for name, value in (
        *((name, run.get(name)) for name in ("permutation", "attempt", "load")),
        *((f"limits.{name}", value) for name, value in limits.items()),
    ):
        if value is not None and not number(value):
            raise DamagedRow(f"run.{name} is {value!r:.50}")
    for name in _TEXTS:
        if not isinstance(run.get(name), (str, NoneType)):
            raise DamagedRow(f"run.{name} is {run[name]!r:.50}")
    if not isinstance(run.get("crashes", []), list):
        raise DamagedRow(f"run.crashes is {run['crashes']!r:.50}")


def with_gaps_to_best(
    rows: Iterable[Mapping[str, Any]], reference: Mapping[str, Any] | None = None
) -> list[dict[str, Any]]:
    """Rows of one problem with `gap_to_best`, the gap to the best bound of them all.

    So a method that proves no bound, such as a heuristic, has a gap too.
    """
    own = [dict(row) for row in rows]
    known = [row for row in [*own, *([reference] if reference else [])] if row["status"] != "error"]
    bounds = [row["bound"] for row in known if row["bound"] is not None]
    tight = max if all(row["sense"] == "min" for row in own) else min
    bound = tight(bounds) if bounds else None
    sign = 1 if tight is max else -1
    values = [sign * row["objective"] for row in known if row["objective"] is not None]
    for row in own:
        gap, value = relative_gap(row["objective"], bound), row["objective"]
        crossed = (
            bound is not None and value is not None and floats_cross(sign * bound, sign * value)
        )
        row["gap_to_best"] = gap if gap is not None and math.isfinite(gap) and not crossed else None
        claimed = None if row["status"] == "error" else row["bound"]
        if claimed is not None and values and floats_cross(sign * claimed, min(values)):
            row["agrees"] = False
    return own
