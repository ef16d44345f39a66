"""Problems that nothing solves, because what they ask for contradicts itself: every method that
takes them says infeasible.
"""

import pytest
from solver_params import solver_params

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.tasks.views import CostMatrix

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


def takes(cls: type, problem: mt.Problem) -> bool:
    """Whether methods of a class say that they take a problem: asked of the class, because asking
    a method may compile kernels while tests are collected.
    """
    limit = "takes_side_rows" if problem.task.constraints else "takes_min_leaf"
    return issubclass(mt.Trees, cls.space) and cls.needs is CostMatrix and getattr(cls, limit, True)


def cases():
    """Side rows go to every solver; what formulations state themselves goes to one."""
    for case, problem in PROBLEMS.items():
        engines, formulations = (
            [name for name, cls in registry.classes(group).items() if takes(cls, problem)]
            for group in ("methods", "formulations")
        )
        for engine in engines:
            yield pytest.param(problem, engine, id=f"{case}-{engine}")
        for solver in (
            solver_params() if problem.task.constraints else solver_params(names=("highs",))
        ):
            for name in registry.methods(formulations, solver.values):
                yield pytest.param(problem, name, id=f"{case}-{name}", marks=solver.marks)


@pytest.mark.parametrize("problem, name", list(cases()))
def test_what_contradicts_itself_is_infeasible_for_every_method(problem, name):
    result = registry.method(name).run(problem, mt.Limits(time=20))
    assert result.status is mt.plugins.Status.INFEASIBLE, result.message
    assert (result.predictor, result.limit, result.objective) == (None, None, None)
    assert result.certificate.proved_by


def test_there_is_a_case_for_every_kind_of_method():
    names = [p.values[1] for p in cases()]
    assert {"enumerate", "dp", "flow-oct@highs", "state-flow@highs", "oct@highs"} <= set(names)
