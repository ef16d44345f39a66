"""A result whose value meets its bound is optimal, whatever stopped the method."""

from fractions import Fraction

import pytest

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
