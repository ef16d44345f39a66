"""The answer of a search for prunings that was stopped before it had one.

It is the better one of the two prunings that need no search, with a bound for all prunings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.methods.finish import Clock, finish
from milp_trees.pruning.view import NodeGains
from milp_trees.results.result import Limit, Result

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


def unfinished(
    problem: Problem, name: str, view: NodeGains, start: Any, clock: Clock, limit: Limit | None
) -> Result:
    """A feasible result without a proof."""
    ensemble: Any = problem.space.ensemble  # type: ignore[attr-defined]
    keeps = simple(view) + ([] if start is None else [start.kept])
    best = min((k for k in keeps if _within_budget(view, k)), key=view.Z, default=None)
    return finish(
        problem,
        name,
        None if best is None else ensemble.pruned(best),
        bound=view.to_value(round(view.unavoidable)),
        claims_optimal=False,
        proved_by="the data (what every pruning costs at least)",
        clock=clock,
        limit=limit,
    )


def simple(view: NodeGains) -> list[np.ndarray]:
    """The prunings that keep no split and every split."""
    none = np.zeros(view.n_nodes, dtype=bool)
    every = none.copy()
    every[view.splits] = True
    return [none, every]


def _within_budget(view: NodeGains, keep: np.ndarray) -> bool:
    return view.budget is None or view.totals(keep)[1] <= view.budget
