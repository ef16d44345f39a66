"""The checks of models notice every deliberately wrong model of rule lists."""

import pytest
from wrong_list_models import WRONG

from milp_trees.lists.testing.problems import list_problems
from milp_trees.mip.registry import registry
from milp_trees.testing.solve import built, minimise


@pytest.mark.parametrize("wrong", WRONG, ids=lambda cls: cls.__name__)
def test_a_wrong_model_has_another_optimum_or_decodes_to_a_wrong_list(wrong):
    formulation, right = wrong(), wrong.__mro__[1]()
    problem = list_problems()[WRONG[wrong]]
    found = registry.method("enumerate-lists").run(problem).predictor
    best = problem.presolved_view().objective(found)
    assert fault(formulation, problem, best) is not None
    assert fault(right, problem, best) is None


def fault(formulation, problem, best):
    """What is wrong with the optimum of a model, or None."""
    b, view = built(formulation, problem), formulation.presolved_view(problem)
    point = minimise(b.matrix)
    if point.objective is None or abs(point.objective - best) > 1e-4:
        return f"the model is {point.status} with {point.objective}; the best list costs {best}"
    b.matrix.load(point.x)
    try:
        found = problem.space.simplify(formulation.decode(b.model), view)
    except KeyError:
        return "the point is no list"
    if view.objective(found) != best or problem.violations(found):
        return f"the decoded list {found} costs {view.objective(found)} or is not allowed"
    return None
