"""`Pruning`: one pruning of an ensemble with what is known about it; for a λ, for a budget from the
path, for a budget with a proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.errors import DataError, SolverFailure
from milp_trees.exact import fraction
from milp_trees.limits import Limits
from milp_trees.models.ensemble import Ensemble
from milp_trees.problem import Problem
from milp_trees.results.result import Status
from milp_trees.tasks.pruning_view import NodeGains

if TYPE_CHECKING:
    from milp_trees.engines.pruning.curve import PruningCurve


@dataclass(frozen=True, eq=False)
class Pruning:
    """A pruned ensemble and what is known about it.

    Attributes
    ----------
    ensemble : Ensemble
    lam : Fraction or None
        The smallest λ for which it is optimal; None where it is not on the path.
    error, cost : Fraction
        Mean error of the trees and mean cost of a row, on the rows that the objective counts.
    status : str
        `optimal` (for its λ, or for the budget: proven), `hull point` (the best on the path below a
        budget; nothing is proven for the budget itself), `feasible` (a budget's program was
        stopped), or `unpruned`.
    bound : Fraction or None
        No pruning within the budget has a smaller error.
    note : str
        The same in a sentence.
    """

    ensemble: Ensemble
    lam: Fraction | None
    error: Fraction
    cost: Fraction
    status: str
    bound: Fraction | None = None
    note: str = ""

    @property
    def gap(self) -> float | None:
        """How far the error may be above the best within the budget, as a share of the error; None
        without a budget.
        """
        if self.bound is None:
            return None
        return 0.0 if self.error <= self.bound else float((self.error - self.bound) / self.error)

    def plain(self) -> dict[str, Any]:
        """In plain Python types, so that what carries it can be loaded where this package is not
        installed.
        """
        return {
            "lam": None if self.lam is None else float(self.lam),
            "error": float(self.error),
            "cost": float(self.cost),
            "status": self.status,
            "bound": None if self.bound is None else float(self.bound),
            "gap": self.gap,
            "note": self.note,
            "splits": self.ensemble.n_splits,
        }


def totals(problem: Problem, keep: np.ndarray) -> tuple[Fraction, Fraction]:
    """Mean error of the trees and mean cost of a row, of the pruning that keeps these splits."""
    view = problem.view(NodeGains)
    E, C = view.totals(keep)
    return E * view.error_unit, C * view.cost_unit + view.cost_offset


def of(
    problem: Problem,
    keep: np.ndarray,
    lam: Fraction | None,
    status: str,
    figures: tuple[Fraction, Fraction] | None = None,
    **more: Any,
) -> Pruning:
    """A pruning with its error and cost (`figures`; counted on the problem's rows if they are not
    known).
    """
    ensemble: Ensemble = problem.space.ensemble  # type: ignore[attr-defined]
    return Pruning(ensemble.pruned(keep), lam, *(figures or totals(problem, keep)), status, **more)


def unpruned(problem: Problem) -> Pruning:
    """The ensemble as it was fitted."""
    ensemble: Ensemble = problem.space.ensemble  # type: ignore[attr-defined]
    return of(
        problem,
        ensemble.kept,
        None,
        "unpruned",
        note="No pruning on the path passes on the validation rows; the ensemble is left as it is.",
    )


# -- on the path ---------------------------------------------------------------------------------------------------


def exact_lam(curve: PruningCurve, lam: Any) -> Fraction:
    """λ as it was written; a double that is the nearest to a breakpoint stands for the breakpoint,
    so that λ may be read off a table.

    Raises
    ------
    DataError
        It is negative or no number.
    """
    price = fraction(lam, "lam")
    if price < 0:
        raise DataError(f"lam must not be negative; got {lam!r}.")
    if isinstance(lam, float):
        price = next((b for b in curve.breakpoints if float(b) == lam), price)
    return price


def at_lam(problem: Problem, curve: PruningCurve, lam: Any) -> Pruning:
    """The pruning that is optimal for λ, of equally good ones the smallest."""
    price = exact_lam(curve, lam)
    point = curve.at(price)
    until = "on" if point.lambda_to is None else f"to {float(point.lambda_to):.6g}"
    note = f"optimal for lambda from {float(point.lambda_from):.6g} {until}"
    return of(
        problem,
        curve.keep(price),
        point.lambda_from,
        "optimal",
        (point.error, point.cost),
        note=note,
    )


def at_budget(problem: Problem, curve: PruningCurve, budget: Any) -> Pruning:
    """The pruning on the path with the least error among those within the budget, and the bound
    that the hull gives.

    Raises
    ------
    DataError
        No pruning is within the budget.
    """
    below = curve.below(budget)
    point, most = below.point, float(below.budget)
    keep = curve.keep(point.lambda_from)
    if below.proven:
        return of(
            problem,
            keep,
            point.lambda_from,
            "optimal",
            (point.error, point.cost),
            bound=below.bound,
            note=f"optimal for the budget {most:.6g}, proven by the hull",
        )
    note = (
        f"hull point, not proven optimal for the budget {most:.6g}: it costs {float(point.cost):.6g}, with error {float(point.error):.6g}, and no pruning "
        f"within the budget has an error below {float(below.bound):.6g}"
    )
    return of(
        problem,
        keep,
        point.lambda_from,
        "hull point",
        (point.error, point.cost),
        bound=below.bound,
        note=note,
    )


def within_budget(
    problem: Problem, point: Pruning, budget: Any, method: str | None, limits: Limits
) -> Pruning:
    """The best pruning within a budget, by a program with the budget as a row.

    Parameters
    ----------
    problem : Problem
        Whose task is a PrunedError.
    point : Pruning
        The hull point below the budget: the start, and its bound.

    Raises
    ------
    SolverFailure
        What the solver says does not stand up to recomputation.
    """
    from milp_trees.study.solving import answer

    most = float(fraction(budget, "budget"))
    task = replace(problem.task, lam=0, max_cost=budget)  # type: ignore[type-var]
    asked = Problem(problem.dataset, task, problem.space)
    result = answer(asked, method, limits, start=point.ensemble)
    if result.status is Status.ERROR:
        raise SolverFailure(result.message)
    best = point
    if result.predictor is not None:
        found = of(problem, result.predictor.kept, None, "feasible")
        best = found if found.error < point.error else point
    assert point.bound is not None
    bound = (
        max(point.bound, Fraction(result.bound))
        if result.bound is not None and math.isfinite(result.bound)
        else point.bound
    )
    if result.status is Status.OPTIMAL:
        note = f"optimal for the budget {most:.6g}, proven by {result.method}"
        return replace(best, status="optimal", bound=best.error, note=note)
    note = f"{result.method} stopped without a proof: error {float(best.error):.6g}, bound {float(bound):.6g}, for the budget {most:.6g}; raise time_limit"
    return replace(best, status="feasible", bound=bound, note=note)


def stages(curve: PruningCurve) -> tuple[np.ndarray, int]:
    """The path as a nested sequence, the smallest pruning first: that of the last vertex.

    Returns
    -------
    enters : int64 array of shape (M,)
        Number of the first pruning that keeps a node as a split; at least the number of prunings
        where none does.
    n_prunings : int
    """
    n = len(curve.vertices)
    # Vertex i keeps the splits whose rank is below (number of ranks) - i; it is pruning n - 1 - i
    # of the sequence.
    return np.maximum(0, curve.rank.astype(np.int64) - len(curve.gains) + n), n
