"""How much of the drop in the loss every split of a model is responsible for.

The drop of a split is the least loss of the rows at its node if they are one leaf, minus the least
loss if the two sides of the split are leaves. Penalties, prices of tests and side constraints do
not count. Over all splits the drops of an additive loss sum up to the loss of the best single leaf
minus the loss of the model with the best actions in its leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature
    from milp_trees.models.shown import Shown
    from milp_trees.tasks.base import Task

#: Views of tasks whose loss follows from sums over the rows of leaves.
OF_SUMS = (CostMatrix, LeafSums)
#: Parts of tasks that are no loss, and what stands for none of them.
NO_LOSS = {
    "leaf_penalty": 0,
    "split_penalty": 0,
    "feature_costs": None,
    "constraints": (),
    "attributes": (),
}


def additive_drops(
    whole: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    least: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """The drops of a loss that is a sum over the rows.

    Parameters
    ----------
    whole, one, other : arrays of shape (splits, d)
        Sums of the cost vectors of the rows at every split, and on its two sides.
    least : callable
        Gives for sums of shape (m, d) the least loss of each as one leaf, shape (m,).

    Returns
    -------
    float array of shape (splits,)
    """
    if not len(whole):
        return np.zeros(0)
    # The difference of measured costs may be rounded to a little less than nothing.
    return np.maximum(0.0, np.asarray(least(whole) - least(one) - least(other), dtype=float))


def drops_of_sums(
    model: Shown, sums: np.ndarray, least: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """The drops of an additive loss, from the sums of shape (leaves, d) in the model's leaves."""
    if not model.splits:
        return np.zeros(0)
    upto = np.vstack([np.zeros_like(sums[:1]), np.cumsum(sums, axis=0)])
    first, middle, last = np.array(model.sides).T
    return additive_drops(
        upto[last] - upto[first], upto[middle] - upto[first], upto[last] - upto[middle], least
    )


def drops(problem: Problem, model: Shown) -> np.ndarray:
    """The drop of the task's loss at every split of a model, on the rows of a problem.

    Parameters
    ----------
    problem : Problem
    model : Tree or RuleList
        A model of its space.

    Returns
    -------
    float array of shape (splits,)
        In the order of `splits`. The tasks whose value is no sum over the rows (F1, AUC, …) give
        the difference of the values of two models: the model in which the node is a leaf, and the
        one in which the two sides of the node are leaves, both with the best actions there.
    """
    task = loss_of(problem.task)
    if any(map(task.offers, OF_SUMS)):
        view = Problem(problem.dataset, task, Trees(1)).first_view(OF_SUMS)
        sums = leaf_totals(model, view, problem.dataset)
        return drops_of_sums(model, sums, view.leaf_values)
    stated = replace(problem, task=task)
    sign = 1 if task.sense == "max" else -1
    K = range(len(model.actions))

    def best(shapes: Iterator[Any]) -> float:
        return max(sign * stated.value(shape).number for shape in shapes)

    found = [
        best(model.cut(k, pair) for pair in product(K, K)) - best(model.cut(k, (a,)) for a in K)
        for k in range(len(model.splits))
    ]
    return np.maximum(0.0, np.array(found))


def leaf_totals(model: Shown, view: Any, dataset: Any) -> np.ndarray:
    """Sums over the rows of a dataset in every leaf of a model, from the view of all rows."""
    totals = np.zeros((model.n_leaves, view.sums.shape[1]), dtype=np.int64)
    np.add.at(totals, model.routes(dataset).leaf, view.sums)
    return totals


def loss_of(task: Task) -> Task:
    """The task without penalties, prices of tests and side constraints."""
    own = {f.name for f in fields(task)}  # type: ignore[arg-type]
    return replace(task, **{k: v for k, v in NO_LOSS.items() if k in own})  # type: ignore[type-var]


def shared(splits: list[tuple[BinaryFeature, ...]], drop: np.ndarray) -> dict[BinaryFeature, float]:
    """Share of every binary feature in the sum of all drops; all zero if the sum is zero.

    The drop of a rule with several literals is divided equally among their features.
    """
    total = float(drop.sum())
    out: dict[BinaryFeature, float] = {}
    for tests, amount in zip(splits, drop.tolist(), strict=True):
        for test in tests:
            part = amount / total / len(tests) if total else 0.0
            out[test] = out.get(test, 0.0) + part
    return out


def by_column(shares: Mapping[BinaryFeature, float], columns: list[str]) -> np.ndarray:
    """Sums of shares of binary features over the columns that they ask, shape (p,)."""
    place = {name: j for j, name in enumerate(columns)}
    out = np.zeros(len(columns))
    for test, share in shares.items():
        out[place[test.column]] += share
    return out
