"""The contract on problems that nothing solves, because what they ask for contradicts itself: every
method that takes them says infeasible.
"""

import pytest
from solver_params import solver_params

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.tasks.views import CostMatrix, LeafSums
from milp_trees.testing import check_method, check_solver_pair

DATA = mt.load("planted:rows=12,tests=3,depth=2,noise=0.2")
FIRST = DATA.classes[0]


def capacities(*constraints: mt.tasks.Capacity) -> mt.Problem:
    return mt.Problem(DATA, mt.Accuracy(constraints=constraints), mt.Trees(2))


PROBLEMS = {
    "at_least_above_at_most": capacities(mt.tasks.Capacity(FIRST, at_least=8, at_most=3)),
    "two_capacities": capacities(
        mt.tasks.Capacity(FIRST, at_least=8), mt.tasks.Capacity(FIRST, at_most=3)
    ),
    "more_than_all_rows": capacities(mt.tasks.Capacity(FIRST, at_least=13)),
    "fewer_than_no_row": capacities(mt.tasks.Capacity(FIRST, at_most=-1)),
    "leaf_larger_than_the_data": mt.Problem(DATA, mt.Accuracy(), mt.Trees(2, min_samples_leaf=13)),
    "leaf_larger_than_the_data_without_splits": mt.Problem(
        DATA, mt.Accuracy(), mt.Trees(0, min_samples_leaf=13)
    ),
}


#: Those with side rows go to every solver, which gets them as rows; what formulations state
#: themselves goes to one.
WITH_ROWS = {case: problem for case, problem in PROBLEMS.items() if problem.task.constraints}


def takers(group: str) -> list[str]:
    """Plug-ins of trees by cost matrices: what their classes declare, because asking a method may
    compile kernels while tests are collected.
    """
    classes = registry.classes(group).items()
    return [n for n, c in classes if issubclass(mt.Trees, c.space) and takes_costs(c)]


def takes_costs(cls: type) -> bool:
    """Whether a plug-in takes cost matrices, perhaps beside other sums of leaves."""
    needs = cls.needs if isinstance(cls.needs, tuple) else (cls.needs,)
    return CostMatrix in needs and needs[-1] in (CostMatrix, LeafSums)


def of_kind(method: object, problems: dict[str, mt.Problem]) -> dict[str, mt.Problem]:
    """The problems that a method takes."""
    return {case: problem for case, problem in problems.items() if not method.unsupported(problem)}


@pytest.mark.parametrize("name", takers("methods"))
def test_every_method_says_infeasible(name):
    method = registry.method(name)
    if taken := of_kind(method, PROBLEMS):
        check_method(method, taken)


@pytest.mark.parametrize("solver", solver_params())
@pytest.mark.parametrize("name", takers("formulations"))
def test_every_formulation_says_infeasible_with_every_solver(name, solver):
    """Or the solver says why it does not take the model."""
    formulation = registry.formulation(name)
    every = PROBLEMS if solver == registry.default_solver else WITH_ROWS
    if taken := of_kind(formulation, every):
        check_solver_pair(name, solver, taken)
