"""Scores of an answer on its own rows and on rows that were left out of the problem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milp_trees.data.same_order import in_order_of
from milp_trees.models.predicted import PROBABILITIES, predicts_of

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem


def scores(problem: Problem, predictor: Any, test: Dataset) -> dict[str, float]:
    """Scores of a predictor on the training rows and on the test rows."""
    out: dict[str, float] = {}
    predicts = predicts_of(problem.task, problem.dataset, predictor.actions)
    if predicts is None or predicts.kind == PROBABILITIES:  # numbers have no order of classes
        test = in_order_of(test, problem.dataset)
    for name, data in (("train", problem.dataset), ("test", test)):
        known = data is problem.dataset
        routes = problem.routes(predictor) if known else predictor.routes(data)
        out[name] = problem.task.value(routes, data).number
        out |= {f"{name}_{k}": v for k, v in problem.task.extra_scores(routes, data).items()}
        if (
            data.y is not None
            and data.classes is not None
            and predicts is None
            and tuple(predictor.actions) == tuple(data.classes)
        ):
            right = data.row_counts[routes.action == data.y]
            out[f"{name}_accuracy"] = float(right.sum() / data.total_rows)
        out[f"{name}_rows"] = data.total_rows
    return out
