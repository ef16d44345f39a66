"""The answer to the question `front`: the order of its models, its table and its JSON form."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from milp_trees.common.errors import DataError
from milp_trees.results.json import plain_number, ratio_text
from milp_trees.tasks.base import Value
from milp_trees.tasks.comparing import exact_value


def place(coordinates: tuple[Value, ...]) -> tuple[Fraction, ...]:
    """A key that sorts coordinates: the best first coordinate first, then the best second one."""
    return tuple(exact_value(v) if v.sense == "min" else -exact_value(v) for v in coordinates)


def front_rows(result: Any) -> list[dict[str, Any]]:
    """One mapping per model of a front, in the order of the coordinates; see `Result.front`."""
    if result.complete is None:
        raise DataError(
            f"This result answers the question {result.problem.question.name!r}; only an answer to 'front' has this table."
        )
    rows = []
    for solution in sorted(result.solutions, key=lambda s: place(s.coordinates)):
        shape = {"value": solution.value.number}
        if hasattr(solution.predictor, "n_leaves"):
            shape |= {"leaves": solution.predictor.n_leaves, "depth": solution.predictor.depth}
        exact = {f"{v.unit} (exact)": exact_value(v) for v in solution.coordinates}
        rows.append({**{v.unit: v.number for v in solution.coordinates}, **shape, **exact})
    return rows


def front_json(result: Any) -> dict[str, Any]:
    """The part `front` of a stored result: whether it is complete, and all models."""
    return {
        "complete": result.complete,
        "solutions": [_stored(solution) for solution in result.solutions],
    }


def _stored(solution: Any) -> dict[str, Any]:
    return {
        "predictor": solution.predictor.to_json(),
        "objective": plain_number(solution.value.number, solution.value.exact),
        "exact": ratio_text(solution.value.exact),
        "coordinates": [
            {
                "name": v.unit,
                "number": plain_number(v.number, v.exact),
                "exact": ratio_text(v.exact),
                "sense": v.sense,
            }
            for v in solution.coordinates
        ],
    }


def read_coordinates(stored: Any) -> tuple[Value, ...]:
    """The coordinates that `front_json` wrote."""
    return tuple(
        Value(float(c["number"]), read_exact(c["exact"]), str(c["name"]), str(c["sense"]))
        for c in stored
    )


def read_exact(text: str | None) -> Fraction | None:
    """The exact form of a stored number, if it has one."""
    return None if text is None else Fraction(text)
