"""The contract of methods and formulations of rule lists: they give the oracle's value, on named and
random problems.
"""

import pytest
from hypothesis import HealthCheck, given, settings

import milp_trees as mt
from milp_trees.common.errors import MilpTreesError
from milp_trees.lists.testing.problems import list_problems
from milp_trees.lists.testing.sets import default_list_problems
from milp_trees.lists.testing.strategies import list_problems as any_problems
from milp_trees.mip.registry import registry
from milp_trees.models.space import space_classes
from milp_trees.testing import METAMORPHIC_CHECKS, check_method, check_solver_pair
from milp_trees.testing.pairs import check_result
from milp_trees.testing.suite import check_formulation


def of_lists(group):
    """Names of the registered methods or formulations that take rule lists."""
    return [
        name
        for name, cls in registry.classes(group).items()
        if mt.RuleLists in space_classes(cls.space)
    ]


FORMULATIONS = of_lists("formulations")
#: The largest effort of methods that list everything, which is slow: they take named problems only.
LISTING = 5
EXACT = [
    name
    for name in of_lists("methods")
    if registry.method(name).exact and registry.method(name).verification_rank > LISTING
]


# -- methods ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", of_lists("methods"))
def test_a_method_on_all_problems_of_lists(name):
    """An exact method proves the oracle's value on every problem it takes; a heuristic is feasible
    and never better.
    """
    check_method(registry.method(name), default_list_problems())


@pytest.mark.parametrize("name", EXACT)
def test_a_method_on_any_small_problem(name):
    """Whatever hypothesis finds, the method agrees with the oracle."""
    method = registry.method(name)

    @settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
    @given(any_problems())
    def check(problem):
        try:
            refused = method.unsupported(problem)
        except MilpTreesError:  # the data do not suit the task, whatever the method
            return
        if not refused:
            check_result(method, problem)

    check()


# -- formulations ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_formulation_on_problems_of_lists(name):
    """All checks on all problems."""
    problems = default_list_problems()
    check_formulation(registry.formulation(name), problems, metamorphic=False)


@pytest.mark.parametrize("name", FORMULATIONS)
@pytest.mark.parametrize("problem", ["weights", "costs_of_actions", "capacity"])
def test_a_formulation_does_not_depend_on_how_a_problem_is_written(name, problem):
    formulation, requested = registry.formulation(name), list_problems()[problem]
    if formulation.unsupported(requested) is None:
        for check in METAMORPHIC_CHECKS.values():
            check(formulation, requested)


@pytest.mark.parametrize("name", FORMULATIONS)
def test_a_formulation_with_a_solver_and_starts(name):
    names = ("capacity", "cannot_hold", "large_rules")
    problems = {label: list_problems()[label] for label in names}
    check_solver_pair(name, registry.default_solver, problems)
