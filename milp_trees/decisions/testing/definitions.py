"""The task of decisions by a definition apart from its code, and options to try it with."""

from __future__ import annotations

import math
from collections.abc import Sequence

from milp_trees.decisions.listed import ListedDecisions
from milp_trees.testing.definitions import penalty
from milp_trees.testing.seen import Row, Seen, Spec


def _decision(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    """Mean loss of the leaves' decisions against the best decision of every row.

    Decisions are the listed vertices of the set.
    """
    vertices = spec["vertices"]
    paid = [
        sum(c * w for c, w in zip(row["values"], vertices[seen.actions[k]], strict=True))
        for row, k in zip(rows, seen.said, strict=True)
    ]
    least = [
        min(sum(c * w for c, w in zip(row["values"], v, strict=True)) for v in vertices.values())
        for row in rows
    ]
    weight = [row["weight"] for row in rows]
    total = math.fsum(w * (p - z) for w, p, z in zip(weight, paid, least, strict=True))
    per = (
        math.fsum(w * abs(z) for w, z in zip(weight, least, strict=True))
        if spec.get("normalised")
        else math.fsum(weight)
    )
    return total / per + float(penalty(spec, seen) or 0)


CHOICE = ListedDecisions([[1, 0], [0, 1], [0.5, 0.25]], ["class 0", "class 1"])
#: The name of the task, its definition, and options with which it is tried; `{}` is none of them, because it needs some.
DECISION = (
    "decision",
    _decision,
    [{"decisions": CHOICE}, {"decisions": CHOICE, "normalised": True, "leaf_penalty": "1/9"}],
)
