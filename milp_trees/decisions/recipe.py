"""Decisions in a SPEC file: from a recipe to the problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.studies.planning.recipes import about, place
from milp_trees.studies.planning.tasks import exact

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem


def build(recipe: Mapping[str, Any], folder: Path) -> tuple[Problem, Dataset | None]:
    """The problem of a best tree for generated decisions, and its test rows."""
    from milp_trees.decisions.generated import DecisionData
    from milp_trees.decisions.generated_problems import generated_problem
    from milp_trees.models.space import Trees

    data = DecisionData.from_text(place(dict(recipe["data"]), folder))
    with about("space"):
        space = Trees(**recipe["space"])
    problem, test = generated_problem(data, 0, **exact(recipe["task"]))
    return replace(problem, space=space), test


#: The kind of problem in a SPEC, and the function that makes it.
RECIPE = ("decisions", build)
