"""The same data with equal rows as one row with a count, made by a slow loop over rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from milp_trees.data.dataset import Dataset
from milp_trees.problems.problem import Problem
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.views import CostMatrix

#: Fields with an entry per row; rows that are equal in all of them are one row.
_OF_ROWS = (
    "y",
    "weights",
    "groups",
    "factor",
    "treatments",
    "outcomes",
    "propensities",
    "values",
    "targets",
)


def grouped(dataset: Dataset) -> Dataset:
    """The dataset with `counts`, and without rows that equal an earlier one.

    Parameters
    ----------
    dataset : Dataset
        Without `numeric`; it may have counts already.

    Returns
    -------
    Dataset
    """
    arrays = [getattr(dataset, name) for name in _OF_ROWS]
    columns = [dataset.X.tolist(), *(a.tolist() for a in arrays if a is not None)]
    first: dict[str, int] = {}
    count: dict[str, int] = {}
    for row, entries in enumerate(zip(*columns, strict=True)):
        key = repr(entries)
        first.setdefault(key, row)
        count[key] = count.get(key, 0) + int(dataset.row_counts[row])
    kept = dataset.subset(np.array(list(first.values())))
    return kept.with_(classes=kept.classes, counts=np.array(list(count.values())))


def difference(problem: Problem, models: Sequence[Any]) -> str | None:
    """How the problem on grouped rows differs from the same problem on all rows.

    Parameters
    ----------
    problem : Problem
        Its rows are copied, some once and some twice, and then grouped.
    models : sequence of Tree or RuleList
        Their values and violations are compared.

    Returns
    -------
    str or None
        None if nothing differs, or if the task takes no grouped rows.
    """
    if not problem.task.takes_counts:
        return None
    n = problem.dataset.n_rows
    every = replace(
        problem, dataset=problem.dataset.subset(np.repeat(np.arange(n), 1 + np.arange(n) % 3))
    )
    few = replace(every, dataset=grouped(every.dataset))
    if few.dataset.total_rows != every.dataset.n_rows:
        return "grouped rows have another number of original rows"
    for model in models:
        a, b = every.value(model), few.value(model)
        same = a.exact == b.exact if a.exact is not None else np.isclose(a.number, b.number)
        if not same or a.unit != b.unit:
            return f"the value is {b} on grouped rows, and {a} on all rows"
        if every.violations(model) != few.violations(model):
            return (
                f"grouped rows violate {few.violations(model)}, all rows {every.violations(model)}"
            )
    if problem.task.offers(LeafSums):
        return _other_objective(every, few, models)
    if not problem.task.offers(CostMatrix):
        return None
    first, second = every.presolved_view(), few.presolved_view()
    if _summary(first) != _summary(second):
        return "the view of costs is another one on grouped rows"
    return None


def _other_objective(every: Problem, few: Problem, models: Sequence[Any]) -> str | None:
    """How the objective of a model on grouped rows differs by more than rounding, or None."""
    first, second = every.presolved_view(), few.presolved_view()
    for model in models:
        a, b = (float(view.to_value(view.objective(model))) for view in (first, second))
        if abs(a - b) > float(
            abs(first.scale) * first.tolerance + abs(second.scale) * second.tolerance
        ):
            return f"a model has the objective {b} on grouped rows, and {a} on all rows"
    return None


def _summary(view: CostMatrix) -> Any:
    """What a presolved view says, without the order of its rows; side rows are compared by name."""
    order = sorted(range(view.n_rows), key=lambda row: view.X[row].tolist())
    arrays = (view.X, view.costs, view.counts, view.row_weight, view.treated)
    parts = [getattr(part, "hits", np.zeros(view.n_rows)) for part in view.structure]
    return (
        [None if a is None else a[order].tolist() for a in (*arrays, *parts)],
        [t.name for t in view.features],
        (view.leaf_cost, view.split_costs.tolist(), view.offset, view.scale, view.exact),
        (view.min_weight_leaf, view.min_treated, [row.name for row in view.side]),
    )
