"""A stored result, read and attached to its problem."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.results.changed import ChangedModel
from milp_trees.results.front import read_coordinates, read_exact
from milp_trees.results.json import SCHEMA
from milp_trees.results.result import (
    Certificate,
    Limit,
    Result,
    Solution,
    Status,
    TracePoint,
)
from milp_trees.results.strict_json import refuse_newer
from milp_trees.tasks.base import Value

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Fields by which a stored result is recognised.
MARKS = frozenset({"schema", "predictor", "sense", "objective", "problem"})


def stored_results(data: Any, path: str | Path) -> list[dict[str, Any]]:
    """The stored results of a file, as they are; whether they make sense is not checked."""
    rows = data if isinstance(data, list) else [data]
    for row in rows:
        if isinstance(row, dict) and "schema" in row:  # a newer layout may have other fields
            refuse_newer(row["schema"], SCHEMA, f"The result in {path}")
    if not all(isinstance(row, dict) and set(row) >= MARKS for row in rows):
        raise DataError(
            f"{path} is not a result of milp-trees; give a file that solve or compare wrote with --out or --json."
        )
    if not rows:
        raise DataError(f"{path} holds no result.")
    return rows


def result_from_json(data: Mapping[str, Any], problem: Problem) -> Result:
    """The Result that `Result.to_json` described, for a given problem."""
    front = data.get("front")
    stored = [data] if data["predictor"] is not None and front is None else []
    if front is not None:
        stored = front["solutions"]
    solutions = tuple(
        Solution(
            problem.space.read(one["predictor"]),
            Value(float(one["objective"]), read_exact(one["exact"]), data["unit"], data["sense"]),
            read_coordinates(one.get("coordinates", ())),
        )
        for one in stored
    )
    bound = data["bound"]
    certificate = Certificate(
        None if bound is None else float(bound),
        None if data["bound_exact"] is None else Fraction(data["bound_exact"]),
        data["proved_by"],
        tuple(data["checked"]),
    )
    return Result(
        problem,
        data["method"],
        Status(data["status"]),
        None if data["limit"] is None else Limit(data["limit"]),
        solutions,
        certificate,
        data["seconds"],
        data["times"],
        data["sizes"],
        tuple(TracePoint(*p) for p in data["trace"]),
        data["root_bound"],
        data["nodes"],
        data["start"],
        data["agrees"],
        data["message"],
        data.get("log", ""),
        data["options"],
        data["versions"],
        data["scores"],
        complete=None if front is None else front["complete"],
        history=data.get("history"),
        proof=data.get("proof"),
        derived_by=data.get("derived_by"),
        found_by=data.get("found_by", ""),
        transformation=data.get("transformation", ""),
        reference=data.get("reference"),
        changed=ChangedModel.from_json(data["changed"]) if data.get("changed") else None,
    )
