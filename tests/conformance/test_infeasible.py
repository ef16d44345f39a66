"""Problems that nothing solves, because what they ask for contradicts itself: every method that
takes them says infeasible.
"""

import pytest

import milp_trees as mt
from milp_trees.by_name import registry

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


def cases():
    """Side rows go to every solver; what formulations state themselves goes to one."""
    present = [s for s in registry.classes("solvers") if registry.solver(s).availability().found]
    for case, problem in PROBLEMS.items():
        formulations = [
            f
            for f in registry.formulations_for(problem)
            if registry.formulation(f).unsupported(problem) is None
        ]
        engines = [
            e
            for e in registry.classes("methods")
            if registry.method(e).unsupported(problem) is None
        ]
        for name in [
            *engines,
            *registry.methods(formulations, present if problem.task.constraints else ["highs"]),
        ]:
            yield pytest.param(problem, name, id=f"{case}-{name}")


@pytest.mark.parametrize("problem, name", list(cases()))
def test_what_contradicts_itself_is_infeasible_for_every_method(problem, name):
    result = registry.method(name).run(problem, mt.Limits(time=20))
    assert result.status is mt.plugins.Status.INFEASIBLE, result.message
    assert (result.predictor, result.limit, result.objective) == (None, None, None)
    assert result.certificate.proved_by


def test_there_is_a_case_for_every_kind_of_method():
    names = [p.values[1] for p in cases()]
    assert {"enumerate", "dp", "flow-oct@highs", "state-flow@highs", "oct@highs"} <= set(names)
