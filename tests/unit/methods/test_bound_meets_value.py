"""A result whose value meets its bound is optimal, whatever stopped the method."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.engines.enumerate import Enumerator
from milp_trees.methods.finish import Clock, finish
from milp_trees.results.result import Limit, Status

PROBLEM = mt.Problem(
    mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], y=[0, 1, 0, 0]),
    mt.Accuracy(),
    mt.Trees(max_depth=1),
)


def stopped(bound, limit=Limit.TIME, tree=None):
    best = Enumerator().run(PROBLEM).tree
    return finish(
        PROBLEM,
        "any",
        best if tree is None else tree,
        bound=bound,
        claims_optimal=False,
        proved_by="any",
        clock=Clock(),
        limit=limit,
    )


@pytest.mark.parametrize("bound", [Fraction(1), 1.0])
def test_a_value_that_meets_its_bound_is_optimal(bound):
    result = stopped(bound)
    assert (result.status, result.limit, result.gap) == (Status.OPTIMAL, None, 0)
    assert (result.objective, result.bound) == (1, 1)
    mt.verify(result)


@pytest.mark.parametrize("bound", [None, Fraction(0), 0.5])
def test_a_value_that_does_not_meet_its_bound_is_only_feasible(bound):
    result = stopped(bound)
    assert (result.status, result.limit) == (Status.FEASIBLE, Limit.TIME)


def test_a_run_that_the_user_stopped_still_says_so():
    """A comparison ends there, though this one result is proven."""
    result = stopped(Fraction(1), Limit.INTERRUPTED)
    assert (result.status, result.limit) == (Status.OPTIMAL, Limit.INTERRUPTED)


def large(costs):
    data = mt.Dataset([[0], [1]], [mt.BinaryFeature("x")], values=costs, actions=("left", "right"))
    return mt.Problem(data, mt.tasks.ActionCostMatrix(), mt.Trees(max_depth=1))


@each_row("bound", [Fraction(0), None, 0.5, Fraction(1) - Fraction(1, 10**9)])
def test_a_claimed_optimum_whose_bound_is_below_its_value_is_an_error(bound):
    best = Enumerator().run(PROBLEM).tree
    result = finish(
        PROBLEM,
        "any",
        best,
        bound=bound,
        claims_optimal=True,
        proved_by="any",
        clock=Clock(),
    )
    assert result.status is Status.ERROR
    assert "calls its tree of 1 optimal, but proves" in result.message


@each_row("off", [-1, 1])
@each_row("question", [mt.plugins.Best(), mt.plugins.NearBest(slack=0)])
def test_one_unit_of_ten_million_is_one_unit(off, question):
    """A share of the value is no tolerance where both numbers are exact."""
    problem = replace(large([[10**7, 10**7 + 9], [10**8 + 7, 10**8]]), question=question)
    best = Enumerator().run(replace(problem, question=mt.plugins.Best())).tree
    result = finish(
        problem,
        "any",
        best,
        bound=Fraction(11 * 10**7 + off),
        claims_optimal=True,
        proved_by="any",
        clock=Clock(),
    )
    assert result.status is Status.ERROR
    assert str(11 * 10**7 + off) in result.message


def test_a_claimed_optimum_of_measured_costs_has_the_stated_tolerance():
    rng = np.random.default_rng(2)
    problem = large(rng.normal(size=(2, 2)))
    best, step = Enumerator().run(problem), problem.scale.scale
    for units, status in ((1, Status.OPTIMAL), (5, Status.ERROR)):
        bound = Fraction(best.objective) - units * problem.scale.tolerance * step
        result = finish(
            problem,
            "any",
            best.tree,
            bound=float(bound),
            claims_optimal=True,
            proved_by="any",
            clock=Clock(),
        )
        assert result.status is status, units


def test_a_claim_that_nothing_is_feasible_is_refused_by_a_single_leaf():
    result = finish(
        PROBLEM,
        "any",
        None,
        bound=None,
        claims_optimal=False,
        infeasible=True,
        proved_by="any",
        clock=Clock(),
    )
    assert result.status is Status.ERROR
    assert "claims that no tree is feasible, but one of" in result.message
