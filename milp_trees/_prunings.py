"""`Pruning`: one pruning of an ensemble with what is known about it; for a λ, for a budget from the path, for a budget with a proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.errors import DataError
from milp_trees.models.ensemble import Ensemble
from milp_trees.problem import Problem
from milp_trees.result import Status
from milp_trees.tasks.pruning_view import NodeGains


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
        `optimal` (for its λ, or for the budget: proven), `hull point` (the best on the path below a budget; nothing is proven for the budget itself),
        `feasible` (a budget's program was stopped), or `unpruned`.
    bound : float or None
        No pruning within the budget has a smaller error.
    note : str
        The same in a sentence.
    """

    ensemble: Ensemble
    lam: Fraction | None
    error: Fraction
    cost: Fraction
    status: str
    bound: float | None = None
    note: str = ""

    @property
    def gap(self) -> float | None:
        """How far the error may be above the best within the budget, as a share of the error; None without a budget."""
        if self.bound is None:
            return None
        return 0.0 if self.error <= self.bound else (float(self.error) - self.bound) / float(self.error)

    def plain(self) -> dict[str, Any]:
        """In plain Python types, so that what carries it can be loaded where this package is not installed."""
        return {
            "lam": None if self.lam is None else float(self.lam), "error": float(self.error), "cost": float(self.cost), "status": self.status,
            "bound": self.bound, "gap": self.gap, "note": self.note, "splits": self.ensemble.n_splits,
        }  # fmt: skip


def totals(problem: Problem, keep: np.ndarray) -> tuple[Fraction, Fraction]:
    """Mean error of the trees and mean cost of a row, of the pruning that keeps these splits."""
    view = problem.view(NodeGains)
    E, C = view.totals(keep)
    return E * view.error_unit, C * view.cost_unit + view.cost_offset


def of(problem: Problem, keep: np.ndarray, lam: Fraction | None, status: str, **more: Any) -> Pruning:
    """A pruning with its figures."""
    ensemble: Ensemble = problem.space.ensemble  # type: ignore[attr-defined]
    return Pruning(ensemble.pruned(keep), lam, *totals(problem, keep), status, **more)


def unpruned(problem: Problem) -> Pruning:
    """The ensemble as it was fitted."""
    ensemble: Ensemble = problem.space.ensemble  # type: ignore[attr-defined]
    return of(problem, ensemble.kept, None, "unpruned", note="No pruning on the path passes on the validation rows; the ensemble is left as it is.")


# -- on the path ---------------------------------------------------------------------------------------------------


def at_lam(problem: Problem, path: Any, lam: Fraction) -> Pruning:
    """The pruning that is optimal for λ, of equally good ones the smallest.

    Raises
    ------
    DataError
        λ is negative.
    """
    if lam < 0:
        raise DataError(f"lam must not be negative; got {lam}.")
    begins = max((b for b in path.breakpoints if b <= lam), default=Fraction(0))
    return of(problem, path.keep(lam), begins, "optimal", note=f"optimal for lambda from {float(begins):.6g} to the next breakpoint")


def at_budget(problem: Problem, path: Any, budget: Fraction) -> Pruning:
    """The pruning on the path with the least error among those within the budget, and the bound that the path gives.

    Raises
    ------
    DataError
        No pruning is within the budget.
    """
    lams = [Fraction(0), *sorted(b for b in path.breakpoints if b > 0)]
    low, high = 0, len(lams) - 1  # the cost falls as lambda rises: search the first that is within the budget
    cheapest = totals(problem, path.keep(lams[-1]))[1]
    if cheapest > budget:
        raise DataError(f"No pruning costs so little: the cheapest costs {float(cheapest):.6g} per row, the budget is {float(budget):.6g}.")
    while low < high:
        middle = (low + high) // 2
        if totals(problem, path.keep(lams[middle]))[1] <= budget:
            high = middle
        else:
            low = middle + 1
    point = of(problem, path.keep(lams[low]), lams[low], "hull point")
    bound = point.error
    if low > 0:  # beside the next larger one, what lies between the two is a bound: errors on the lower hull are convex in cost
        error, cost = totals(problem, path.keep(lams[low - 1]))
        bound = point.error + (error - point.error) * (budget - point.cost) / (cost - point.cost)
    if bound == point.error:
        return replace(point, status="optimal", bound=float(bound), note=f"optimal for the budget {float(budget):.6g}: it lies on the hull")
    note = (
        f"hull point, not proven optimal for the budget {float(budget):.6g}: it costs {float(point.cost):.6g}; no pruning within the budget has an error "
        f"below {float(bound):.6g}, it has {float(point.error):.6g}"
    )
    return replace(point, bound=float(bound), note=note)


def within_budget(problem: Problem, point: Pruning, budget: Fraction, method: str, time_limit: float | None) -> Pruning:
    """The best pruning within a budget, by a program with the budget as a row.

    Parameters
    ----------
    problem : Problem
        Whose task is a PrunedError.
    point : Pruning
        The hull point below the budget: the start, and its bound.
    """
    from milp_trees.api import solve

    task = replace(problem.task, lam=0, max_cost=budget)  # type: ignore[type-var]
    asked = Problem(problem.dataset, task, problem.space)
    result = solve(asked, method, start=point.ensemble, time_limit=time_limit)
    best = point
    if result.predictor is not None:
        found = of(problem, result.predictor.kept, None, "feasible")
        best = found if found.error < point.error else point
    assert point.bound is not None
    bound = max(point.bound, -np.inf if result.bound is None else float(result.bound))
    if result.status is Status.OPTIMAL:
        note = f"optimal for the budget {float(budget):.6g}, proven by {result.method}"
        return replace(best, status="optimal", bound=float(best.error), note=note)
    note = f"{result.method} stopped without a proof: error {float(best.error):.6g}, bound {bound:.6g}, for the budget {float(budget):.6g}; raise time_limit"
    return replace(best, status="feasible", bound=bound, note=note)


def stages(path: Any) -> tuple[np.ndarray, list[Fraction]]:
    """The path as a nested sequence, the smallest pruning first.

    Returns
    -------
    enters : int64 array of shape (M,)
        Number of the first pruning that keeps a node as a split; that of prunings where none does.
    lams : list of Fraction, falling
        The smallest λ for which each is optimal; the last is 0.
    """
    lams = [*sorted((b for b in path.breakpoints if b > 0), reverse=True), Fraction(0)]
    enters = np.full(len(path.keep(lams[0])), len(lams), dtype=np.int64)
    for k in range(len(lams) - 1, -1, -1):
        enters[path.keep(lams[k])] = k
    return enters, lams
