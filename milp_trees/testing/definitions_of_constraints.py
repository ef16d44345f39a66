"""Definitions of the side constraints, which share no code with `milp_trees.tasks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from milp_trees.testing.definitions import Row, Seen, Spec, confusion


def broken(spec: Spec, rows: Sequence[Row], seen: Seen) -> list[str]:
    """Names of the side constraints that do not hold.

    Parameters
    ----------
    spec : mapping
        Description of the task.
    rows : sequence of mappings
        The rows.
    seen : Seen
        Actions and leaves of the rows.

    Returns
    -------
    list of str
    """
    found = [c["name"] for c in spec.get("constraints", ()) if not _holds(c, rows, seen)]
    if spec["name"] == "precision" and "min_recall" in spec:
        n = confusion(spec, rows, seen)
        if n["TP"] < Fraction(spec["min_recall"]) * (n["TP"] + n["FN"]):
            found.append("recall")
    return found


def _holds(constraint: Spec, rows: Sequence[Row], seen: Seen) -> bool:
    if constraint["name"] == "capacity":
        action = next(k for k, a in enumerate(seen.actions) if str(a) == str(constraint["action"]))
        treated = sum(k == action for k in seen.said)
        return (
            int(constraint.get("at_least", 0))
            <= treated
            <= int(constraint.get("at_most", len(rows)))
        )
    last = seen.actions[-1]
    liked = next(
        k for k, a in enumerate(seen.actions) if str(a) == str(constraint.get("favourable", last))
    )
    within: dict[str, Callable[[Row], Any]] = {
        "statistical-parity": lambda row: "all",
        "conditional-statistical-parity": lambda row: row["factor"],
        "equal-opportunity": lambda row: "positive" if row["y"] == liked else None,
        "predictive-equality": lambda row: "negative" if row["y"] != liked else None,
        "equalised-odds": lambda row: row["y"] == liked,
    }
    slice_of = within[constraint["name"]]
    rates: dict[Any, dict[Any, list[bool]]] = {}
    for row, k in zip(rows, seen.said, strict=True):
        if slice_of(row) is not None:
            rates.setdefault(slice_of(row), {}).setdefault(row["group"], []).append(k == liked)
    spans = [
        [Fraction(sum(said), len(said)) for said in groups.values()] for groups in rates.values()
    ]
    return all(
        max(span) - min(span) <= Fraction(constraint.get("max_disparity", "1/100"))
        for span in spans
    )
