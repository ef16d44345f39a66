"""`Pruning`: one pruning of an ensemble with its error, cost and bound.

It is found on the pruning curve, for a λ or for a budget, or by a mixed-integer program for a
budget.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError, NothingFound, SolverFailure
from milp_trees.common.exact import fraction
from milp_trees.common.limits import Limits, Stopped
from milp_trees.methods.callback import current_callback, current_progress
from milp_trees.methods.watch import Watch
from milp_trees.models.ensemble import Ensemble
from milp_trees.problems.problem import Problem
from milp_trees.pruning.view import NodeGains
from milp_trees.results.result import Status

if TYPE_CHECKING:
    from milp_trees.pruning.engines.min_cut.curve import PruningCurve


@dataclass(frozen=True, eq=False)
class Pruning:
    """A pruned ensemble with its error, its cost and its certificate.

    Attributes
    ----------
    ensemble : Ensemble
    lam : Fraction or None
        The smallest λ for which it is optimal; None if it is not on the curve.
    error, cost : Fraction
        Mean error of the trees and mean cost of a row, on the rows of the objective.
    status : str
        "optimal": proven optimal for its λ or for the budget. "hull point": the best pruning on the
        curve within a budget, where other prunings within the budget may be better. "feasible": the
        program for a budget stopped without a proof. "unpruned": the ensemble as it was fitted.
    bound : Fraction or None
        A lower bound on the error of every pruning within the budget; None without a budget.
    note : str
        The status in a sentence.
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
        """Relative distance between the error and its bound; None without a budget."""
        if self.bound is None:
            return None
        return 0.0 if self.error <= self.bound else float((self.error - self.bound) / self.error)

    def plain(self) -> dict[str, Any]:
        """The figures as plain Python objects.

        A pickled model that contains them can be loaded where this package is not installed.
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
    """Mean error of the trees and mean cost of a row, for the pruning with the given splits."""
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
    """Build a `Pruning` from the splits that it keeps.

    Parameters
    ----------
    problem : Problem
        Its space contains the ensemble.
    keep : bool array of shape (nodes,)
        Whether a node stays a split.
    lam : Fraction or None
        The smallest λ for which the pruning is optimal.
    status : str
        See `Pruning`.
    figures : pair of Fraction, optional
        Error and cost; by default they are counted on the rows of the problem.
    **more
        Further fields of `Pruning`.

    Returns
    -------
    Pruning

    Raises
    ------
    DataError
        The rows of the problem are needed and were left out of a pickle.
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
        note="No pruning on the curve is good enough on the validation rows, so the ensemble is not pruned.",
    )


# -- on the curve --------------------------------------------------------------------------------


def exact_lam(curve: PruningCurve, lam: Any) -> Fraction:
    """λ as an exact number.

    A float that is the nearest float of a breakpoint stands for the breakpoint, so that the values
    in `validation_curve_` can be used.
    """
    price = fraction(lam, "lam")
    if price < 0:
        raise DataError(f"lam must not be negative; got {lam!r}.")
    if isinstance(lam, float):
        price = next((b for b in curve.breakpoints if float(b) == lam), price)
    return price


def at_lam(problem: Problem, curve: PruningCurve, lam: Any) -> Pruning:
    """The smallest pruning that is optimal for λ."""
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
    """The pruning on the curve with the least error within the budget, and a bound from it."""
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
    """The best pruning within a budget, by an integer program with the budget as a row."""
    from milp_trees.solving.solve import answer

    most = float(fraction(budget, "budget"))
    task = replace(problem.task, lam=0, max_cost=budget)  # type: ignore[type-var]
    requested = Problem(problem.dataset, task, problem.space)
    result = answer(requested, method, limits, start=point.ensemble, progress=current_progress())
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


def curve_of(problem: Problem) -> PruningCurve:
    """The optimal prunings for all λ; the user's function is called meanwhile."""
    from milp_trees.pruning.engines.min_cut.curve import prune_curve

    watch = None if current_callback() is None else Watch(Limits(time=None))
    try:
        if watch is not None:
            watch.check()
        return prune_curve(problem, watch=watch)
    except Stopped:
        raise NothingFound(
            "The user stopped the search for the pruning curve, which has no part that could be kept; fit again, and let it end."
        ) from None


def stages(curve: PruningCurve) -> tuple[np.ndarray, int]:
    """The prunings of the curve as a nested sequence, from the smallest to the largest.

    Returns
    -------
    enters : int64 array of shape (nodes,)
        Number of the first pruning that keeps a node as a split; not less than `n_prunings` if no
        pruning does.
    n_prunings : int
    """
    n = len(curve.vertices)
    # Vertex i keeps the splits whose rank is below (number of ranks) - i; it is pruning n - 1 - i
    # of the sequence.
    return np.maximum(0, curve.rank.astype(np.int64) - len(curve.gains) + n), n
