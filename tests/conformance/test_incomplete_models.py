"""The contract of formulations with a separator: a model whose cuts are found while it is solved says
that it is incomplete, and the separator completes it.
"""

import warnings

import pytest

from milp_trees.common.errors import IncompleteModelWarning
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.robust.testing.problems import robust_problem
from milp_trees.testing import brute_force
from milp_trees.testing.sets import default_problems
from milp_trees.testing.solve import minimise


def first_incomplete(formulation):
    """A problem of which the formulation's model is incomplete."""
    return next(
        problem
        for problem in (default_problems() | {"a leaf": robust_problem("boxes-depth-0")}).values()
        if formulation.unsupported(problem) is None and not formulation.whole(problem)
    )


INCOMPLETE = [
    name for name in registry.classes("formulations") if not registry.formulation(name).complete
]


@pytest.mark.parametrize("name", INCOMPLETE)
def test_an_incomplete_model_says_so(name):
    formulation = registry.formulation(name)
    problem = first_incomplete(formulation)
    with pytest.warns(IncompleteModelWarning, match=f"cuts of {name} .* method='{name}@SOLVER'"):
        m = formulation.build(problem)
    assert m.name == f"{name} without its cuts"
    assert "infeasible" in m.incomplete.doc
    assert minimise(compile_model(m)).status == "infeasible"


@pytest.mark.parametrize("name", INCOMPLETE)
def test_a_model_that_is_to_be_completed_comes_without_a_word(name):
    """And the separator completes it."""
    formulation = registry.formulation(name)
    problem = first_incomplete(formulation)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m = formulation.build(problem, incomplete=True)
    assert m.component("incomplete") is None
    matrix = compile_model(m)
    whole = minimise(matrix, formulation.separator(m, matrix))
    formulation.encode(problem.space.simplify(brute_force(problem)[0], m.view), m)
    assert whole.objective == pytest.approx(matrix.objective(matrix.values()))
