"""What rows pay for tests in `cost-sensitive`, as plain loops that share no code with the task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any


def prices_paid(
    spec: Mapping[str, Any], weights: Sequence[Fraction], asked: Sequence[Sequence[str]]
) -> Fraction:
    """Prices of all rows together.

    Parameters
    ----------
    spec : mapping
        The task's description, with its `attributes`.
    weights : list of Fraction
        Weight of every row.
    asked : list of lists of str
        Columns of the tests on the path of every row, from the root.

    Returns
    -------
    Fraction
    """
    total = Fraction(0)
    for weight, path in zip(weights, asked, strict=True):
        bought: list[Mapping[str, Any]] = []
        for column in path:
            for a in spec.get("attributes", ()):
                if column not in a["columns"] or a in bought:
                    continue
                less = "group" in a and any(b.get("group") == a["group"] for b in bought)
                total += weight * Fraction(a["discount" if less else "cost"])
                bought.append(a)
    return total
