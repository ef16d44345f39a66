"""Ctrl-C while a model is built, or between two calls of the solver, keeps what is known."""

import pytest

import milp_trees as mt
from milp_trees.common.limits import Limit
from milp_trees.mip.method import FormulationMethod
from milp_trees.results.result import Status


@pytest.fixture(scope="module")
def problem():
    return mt.Problem(
        mt.load("planted:rows=30,tests=4,depth=2"), mt.Accuracy(), mt.Trees(max_depth=2)
    )


@pytest.fixture(scope="module")
def known(problem):
    return mt.solve(problem, "dp").predictor


def interrupted(*_, **__):
    raise KeyboardInterrupt


STAGES = ("presolved_view", "model_size", "declare", "encode", "decode")


@pytest.mark.parametrize("stage", STAGES)
def test_an_interrupt_keeps_the_start(problem, known, monkeypatch, stage):
    method = mt.registry.method("flow-oct@highs")
    monkeypatch.setattr(type(method.formulation), stage, interrupted)
    if stage == "presolved_view":  # support is asked for before the run, which is no part of it
        monkeypatch.setattr(type(method.formulation), "unsupported", lambda self, problem: None)
    result = mt.solve(problem, method, start=known, reference=None)
    assert result.limit is Limit.INTERRUPTED
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert result.value == problem.value(known)


def test_an_interrupt_without_a_start_is_a_result_without_a_model(problem, monkeypatch):
    method = mt.registry.method("flow-oct@highs")
    monkeypatch.setattr(type(method.formulation), "declare", interrupted)
    result = mt.solve(problem, method, start=None, reference=None)
    assert (result.limit, result.predictor) == (Limit.INTERRUPTED, None)
    assert result.message == "The run was interrupted while the model was being built."
    assert result.message in repr(result)


def test_an_interrupt_while_a_result_is_kept_is_no_optimum(problem, known, monkeypatch):
    monkeypatch.setattr(FormulationMethod, "solve_once", interrupted)
    result = mt.solve(problem, "flow-oct@highs", start=known, reference=None)
    assert result.limit is Limit.INTERRUPTED
    assert result.value == problem.value(known)
