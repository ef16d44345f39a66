"""`HullPoint` and `PointBelow`: corners of the hull of all prunings, and its bound."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from milp_trees.models.ensemble import Ensemble


@dataclass(frozen=True)
class HullPoint:
    """One corner of the hull: the pruning that is optimal for λ from `lambda_from` to `lambda_to`.

    Parameters
    ----------
    index : int
        Position in `curve.vertices`.
    lambda_from, lambda_to : Fraction
        `lambda_to` is None if there is no limit.
    error, cost : Fraction
        Natural units: mean error of the trees, mean cost of a row.
    splits : int
        Number of splits that are kept.
    """

    index: int
    lambda_from: Fraction
    lambda_to: Fraction | None
    error: Fraction
    cost: Fraction
    splits: int


@dataclass(frozen=True, eq=False)
class PointBelow:
    """The most expensive hull point within a budget, and the hull's bound for the budget.

    Parameters
    ----------
    budget : Fraction
    point : HullPoint
        Of the hull points within the budget, the one with the largest cost.
    bound : Fraction
        No pruning within the budget has a smaller error: the line between the two hull points
        around it.
    predictor : Ensemble or None
        None if the curve was made from a view without an ensemble.
    """

    budget: Fraction
    point: HullPoint
    bound: Fraction
    predictor: Ensemble | None

    @property
    def proven(self) -> bool:
        """Whether the bound is reached: no pruning within the budget has a smaller error."""
        return self.point.error == self.bound

    @property
    def note(self) -> str:
        """The bound as a sentence, and whether it is reached."""
        at = f"cost {float(self.point.cost):.6g} and error {float(self.point.error):.6g} within the budget {float(self.budget):.6g}"
        if self.proven:
            return f"Hull point with {at}; the hull proves that no pruning within the budget has a smaller error."
        return (
            f"Hull point with {at}. It is the best on the hull, not proven the best within the budget: no pruning there has an error below "
            f"{float(self.bound):.6g}; the formulation ip3-closure with max_cost decides."
        )

    def to_json(self) -> dict[str, Any]:
        """Plain data, fractions as "p/q"."""
        from milp_trees.results.json import json_safe

        plain: dict[str, Any] = json_safe(
            {
                "budget": self.budget,
                **row_of(self.point),
                "bound": self.bound,
                "proven": self.proven,
                "note": self.note,
                "predictor": None if self.predictor is None else self.predictor.to_json(),
            }
        )
        return plain

    def __str__(self) -> str:
        return self.note


def row_of(point: HullPoint) -> dict[str, Any]:
    return {
        name: getattr(point, name)
        for name in ("lambda_from", "lambda_to", "error", "cost", "splits")
    }
