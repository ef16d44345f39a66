"""A model whose cuts are found while it is solved says that it is incomplete, and no other program
finds a wrong optimum with it.
"""

import warnings

import pyomo.environ as pyo
import pytest

import milp_trees as mt
from milp_trees.common.errors import IncompleteModelWarning, Unsupported
from milp_trees.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.testing.sets import default_problems, get
from milp_trees.testing.solve import minimise


def first_incomplete(formulation):
    """A problem of which the formulation's model is incomplete, or None."""
    return next(
        (
            problem
            for problem in default_problems().values()
            if formulation.unsupported(problem) is None and not formulation.whole(problem)
        ),
        None,
    )


INCOMPLETE = [
    name
    for name in registry.classes("formulations")
    if first_incomplete(registry.formulation(name)) is not None
]


def test_benders_oct_is_one_of_them():
    assert "benders-oct" in INCOMPLETE


@pytest.mark.parametrize("name", INCOMPLETE)
def test_an_incomplete_model_says_so(name):
    formulation = registry.formulation(name)
    problem = first_incomplete(formulation)
    with pytest.warns(IncompleteModelWarning, match=f"cuts of {name} .* method='{name}@SOLVER'"):
        m = formulation.build(problem)
    assert m.name == f"{name} without its cuts"
    assert "infeasible" in m.incomplete.doc
    assert minimise(compile_model(m)).status == "infeasible"


def test_a_solver_of_pyomo_finds_no_wrong_optimum():
    """Without its cuts the model has an optimum that is none of the problem's."""
    problem, formulation = get("wide-deep-0"), registry.formulation("benders-oct")
    with pytest.warns(IncompleteModelWarning):
        m = formulation.build(problem)
    answer = pyo.SolverFactory("appsi_highs").solve(m, load_solutions=False)
    assert answer.solver.termination_condition == "infeasible"
    m.incomplete.deactivate()
    matrix = compile_model(m)
    assert minimise(matrix).objective < minimise(matrix, formulation.separator(m, matrix)).objective


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
    best = registry.method("state-flow-reduced@highs").run(problem)
    assert best.optimal, best.message
    formulation.encode(problem.space.simplify(best.predictor, m.view), m)
    assert whole.objective == pytest.approx(matrix.objective(matrix.values()))


def test_complete_models_are_as_they_were():
    for name in ("flow-oct", "state-flow", "oct"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            m = registry.formulation(name).build(get("xor"))
        assert (m.name, m.component("incomplete")) == (name, None)


def test_no_file_of_an_incomplete_model_is_written(tmp_path):
    problem = first_incomplete(registry.formulation("benders-oct"))
    with pytest.raises(Unsupported, match="would hold a part of it only"):
        mt.export_model(problem, "benders-oct", tmp_path / "m.mps")
    assert not list(tmp_path.iterdir())
