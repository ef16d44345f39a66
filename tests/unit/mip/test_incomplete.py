"""No other program finds a wrong optimum with a model whose cuts are found while it is solved."""

import warnings

import pyomo.environ as pyo
import pytest

import milp_trees as mt
from milp_trees.common.errors import IncompleteModelWarning, Unsupported
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.testing.sets import get
from milp_trees.testing.solve import minimise


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


def test_complete_models_are_as_they_were():
    for name in ("flow-oct", "state-flow", "oct"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            m = registry.formulation(name).build(get("xor"))
        assert (m.name, m.component("incomplete")) == (name, None)


def test_no_file_of_an_incomplete_model_is_written(tmp_path):
    problem = get("wide-deep-0")
    with pytest.raises(Unsupported, match="would hold a part of it only"):
        mt.export_model(problem, "benders-oct", tmp_path / "m.mps")
    assert not list(tmp_path.iterdir())
