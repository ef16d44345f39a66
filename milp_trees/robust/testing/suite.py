"""Shifted rows in the checks of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.robust.tasks.robust_boxes import RobustBoxes
from milp_trees.robust.testing.problems import robust_problems, shifted_dataset
from milp_trees.robust.view import WorstCase
from milp_trees.testing.family_suites import Suite

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation


def _golden(formulation: Formulation) -> Problem | None:
    """Three rows with two thresholds of one column, and depth 1."""
    if formulation.needs is not WorstCase:
        return None
    data = shifted_dataset({"x": [1, 2, 4]}, ["no", "yes", "no"])
    return Problem(data, RobustBoxes(radius=1), Trees(1))


SUITE = Suite("robust", robust_problems, lambda: list(robust_problems().values()), _golden)
