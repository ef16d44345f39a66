"""The contract of formulations of trees that decide by an oracle: every registered one under the
conformance checks.
"""

import pytest
from taken_problems import taken_problems

from milp_trees.decisions.testing.problems import decision_problem, decision_problems
from milp_trees.mip.registry import registry
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.testing import CHECKS
from milp_trees.testing.deletion import check_deletable_constraints

FORMULATIONS = [n for n, c in registry.classes("formulations").items() if c.needs is LeafOracle]


@pytest.mark.slow
@pytest.mark.parametrize(
    "label, name", [(f, name) for f in FORMULATIONS for name in taken_problems("decisions", f)]
)
def test_a_formulation_on_a_problem(label, name):
    """All checks: documented, sized, optimum and tree as all trees with the oracle's decisions say,
    every tree encodable, relaxation a bound.
    """
    for check in CHECKS.values():
        check(registry.formulation(label), decision_problem(name))


@pytest.mark.slow
@pytest.mark.parametrize("label", FORMULATIONS)
def test_no_constraint_can_be_deleted_unnoticed(label):
    """On every second problem of two levels at most: a deleted constraint is missed there already,
    and larger programs take a minute.
    """
    small = [item for item in decision_problems().items() if item[1].trees.depth <= 2]
    check_deletable_constraints(registry.formulation(label), dict(small[::2]))
