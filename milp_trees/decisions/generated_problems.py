"""Problems of decisions on generated data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milp_trees.decisions.tasks.decision import Decision
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.decisions.generated import DecisionData


def generated_problem(
    data: DecisionData, depth: int | None, min_samples_leaf: int = 1, **penalties: Any
) -> tuple[Problem, Dataset | None]:
    """The problem of the best tree for generated decisions, and the rows left out for tests."""
    train, test, decisions = data.make()
    space = Trees(depth, min_samples_leaf=min_samples_leaf)
    return Problem(train, Decision(decisions=decisions, **penalties), space), test
