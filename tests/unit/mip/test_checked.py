"""Answers of solvers that contradict the model or themselves are never used."""

from dataclasses import replace

import numpy as np
import pytest
from row_tests import each_row
from scipy import sparse

from milp_trees import Limits
from milp_trees.mip.checked import checked, news
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Answer, Event, Job
from milp_trees.results.result import Status

#: min -x - y with x + y <= 1.5, both in [0, 1], x integer: the optimum is -1.5.
MODEL = MatrixModel(
    "two",
    np.array([-1.0, -1.0]),
    0.0,
    sparse.csr_matrix([[1.0, 1.0]]),
    np.array([-np.inf]),
    np.array([1.5]),
    np.zeros(2),
    np.ones(2),
    np.array([True, False]),
)
JOB = Job(MODEL, Limits())
RIGHT = Answer(Status.OPTIMAL, None, np.array([1.0, 0.5]), -1.5, -1.5, claimed=-1.5)


def test_an_answer_that_agrees_with_its_point_stays_as_it_is():
    answer = checked("highs", JOB, RIGHT)
    assert answer.x is RIGHT.x
    assert (answer.status, answer.objective, answer.bound) == (Status.OPTIMAL, -1.5, -1.5)
    assert not answer.message


@each_row(
    ("wrong", "said"),
    [
        ({"claimed": -2.0}, "reports the objective -2, but its point has -1.5"),
        ({"bound": -1.0}, "reports the bound -1, but its point has -1.5"),
        ({"bound": np.nan}, "a bound that is no number"),
        ({"x": None}, "calls a point optimal that it does not have"),
        ({"x": np.array([1.0, np.nan])}, "a point that is not finite"),
        ({"x": np.array([1.0])}, "returns 1 values for 2 columns"),
    ],
)
def test_answers_that_contradict_themselves_are_errors_without_any_claim(wrong, said):
    answer = checked("highs", JOB, replace(RIGHT, **wrong))
    assert answer.status is Status.ERROR
    assert answer.message.startswith("highs ")
    assert said in answer.message
    assert (answer.x, answer.objective, answer.bound, answer.root_bound) == (None,) * 4


def test_an_optimum_with_a_larger_gap_than_asked_for_is_only_feasible():
    wide = replace(RIGHT, bound=-3.5)
    answer = checked("scip", JOB, wide)
    assert (answer.status, answer.bound) == (Status.FEASIBLE, -3.5)
    assert "calls a point of -1.5 optimal, but its bound is -3.5" in answer.message
    requested = replace(JOB, limits=Limits(abs_gap=2.0))
    assert checked("scip", requested, wide).status is Status.OPTIMAL


def test_the_objective_of_an_answer_is_that_of_its_point():
    answer = checked("highs", JOB, replace(RIGHT, objective=-7.0, claimed=None))
    assert answer.objective == -1.5


def test_a_feasible_point_beside_other_claims_that_are_wrong_is_kept_alone():
    stopped = replace(RIGHT, status=Status.FEASIBLE, claimed=-2.0, bound=-2.0, root_bound=-2.0)
    answer = checked("highs", JOB, stopped)
    assert (answer.status, answer.objective, answer.bound) == (Status.FEASIBLE, -1.5, None)
    assert "its bound is not used" in answer.message


@pytest.mark.parametrize("known", ["start", "event"])
def test_infeasible_is_refused_where_a_feasible_point_is_known(known):
    point = np.array([0.0, 0.5])
    job = replace(JOB, start=point) if known == "start" else JOB
    events = (Event(0.0, -0.5, None, 0, point),) if known == "event" else ()
    answer = checked("cbc", job, Answer(Status.INFEASIBLE), events)
    assert answer.status is Status.ERROR
    assert "although a feasible point is known" in answer.message
    outside = replace(JOB, start=np.array([1.0, 1.0]))
    assert checked("cbc", outside, Answer(Status.INFEASIBLE)).status is Status.INFEASIBLE


def test_an_event_with_a_point_outside_the_model_reports_no_incumbent():
    good = Event(0.0, -1.5, -2.0, 1, np.array([1.0, 0.5]))
    assert news(MODEL, good) is good
    bad = news(MODEL, replace(good, x=np.array([1.0, 1.0])))
    assert (bad.incumbent, bad.x, bad.bound) == (None, None, -2.0)
