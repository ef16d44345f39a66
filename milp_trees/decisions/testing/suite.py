"""Decisions in the checks of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from milp_trees.decisions.listed import UnitSimplex
from milp_trees.decisions.tasks.decision import Decision
from milp_trees.decisions.testing.problems import decision_problems
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.testing._named import numeric_dataset
from milp_trees.testing.family_suites import Suite

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation


def _golden(formulation: Formulation) -> Problem | None:
    """Three rows with two thresholds of one column, and depth 1."""
    if formulation.needs is not LeafOracle:
        return None
    data = numeric_dataset({"x": [1, 2, 4]}, values=[[1, 2], [3, 1], [0, 2]])
    return Problem(data, Decision(decisions=UnitSimplex(["u", "v"]), leaf_penalty="1/30"), Trees(1))


SUITE = Suite("decisions", decision_problems, lambda: list(decision_problems().values()), _golden)
