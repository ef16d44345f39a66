"""Problems in another order: the same optimum, on other paths of the solvers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data.permute import orders, permuted
from milp_trees.models.ensemble import Ensemble
from milp_trees.pruning.space import PrunedEnsembles

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


def permuted_problem(problem: Problem, permutation: int) -> Problem:
    """The problem with its rows, its binary features, and the trees of its ensemble permuted.

    Every model of the one problem is a model of the other, with exactly the same value; nothing
    but the order in which methods meet rows, features and trees is another one.

    Parameters
    ----------
    problem : Problem
    permutation : int
        The seed; 0 gives the problem itself.

    Returns
    -------
    Problem
    """
    if permutation == 0:
        return problem
    rows, _ = orders(problem.dataset, permutation)
    task: Any = problem.task.reordered(rows)
    space = problem.space
    if isinstance(space, PrunedEnsembles):
        order = np.random.Generator(np.random.PCG64(permutation)).permutation(
            space.ensemble.n_trees
        )
        space = PrunedEnsembles(_trees_in_order(space.ensemble, order))
        weights = task.error_weights
        if weights is not None and weights.ndim == 2:
            task = replace(task, error_weights=weights[:, order])
    return replace(problem, dataset=permuted(problem.dataset, permutation), task=task, space=space)


def _trees_in_order(ensemble: Ensemble, order: np.ndarray) -> Ensemble:
    """The ensemble with its trees in another order."""
    nodes = np.concatenate([np.flatnonzero(ensemble.member == tree) for tree in order])
    place = np.empty(len(nodes), dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    moved: dict[str, Any] = {
        name: np.where((old := getattr(ensemble, name)[nodes]) >= 0, place[old], -1)
        for name in ("parent", "left", "right")
    }
    rank = np.argsort(order)
    moved |= {name: getattr(ensemble, name)[nodes] for name in ("column", "threshold", "value")}
    original = ensemble.original
    return replace(
        ensemble,
        **moved,
        member=rank[ensemble.member[nodes]],
        kept=ensemble.kept[nodes],
        original=nodes if original is None else original[nodes],
    )
