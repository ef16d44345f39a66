"""The engine `separable`: every kind of separable task against all values that trees can have."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from row_tests import each_row
from separable_cases import KINDS, WIDTHS, Drawn, all_values, random_problem

import milp_trees as mt
from milp_trees.plugins import Front, States
from milp_trees.results.result import Limit, Status


def check_reasons(problem, result):
    """No limit is in conflict where the task refuses all trees by itself, and only there."""
    tests = problem.dataset.n_features
    if tests <= 2:
        free = mt.Problem(problem.dataset, problem.task, mt.Trees(max_depth=tests))
        alone = "even without any of the constraints" in result.message
        assert alone == (not all_values(free)), result.message


def check(problem, method):
    """Compare the answer of a method with all values; returns the result."""
    view, values = problem.view(States), all_values(problem)
    result = mt.solve(problem, method)
    assert not result.message or not values  # an infeasible answer has its reasons there
    if not values:
        assert result.status is Status.INFEASIBLE
        check_reasons(problem, result)
    elif problem.question.name == "front":
        assert result.complete
        found = {tuple(int(c.exact) for c in s.coordinates) for s in result.solutions}
        assert found == {v for v in values if not any(view.is_better(o, v) for o in values)}
    else:
        assert result.status is Status.OPTIMAL
        assert result.value.exact == view.to_value(min(map(view.units_of, values)))
        assert result.certificate.bound_exact == result.value.exact
    return result


@each_row("kind", KINDS)
def test_the_answer_is_the_best_of_all_values(kind):
    """Also with limits on leaves and rows, equal rows and columns, and where nothing is feasible.

    Compiled parts and plain ones give the same.
    """
    for seed in range(12):
        rng = np.random.default_rng([seed, list(KINDS).index(kind)])
        question = Front() if kind in WIDTHS and seed % 3 else None
        problem = random_problem(rng, kind, question)
        check(problem, "separable:compiled=off")
        if kind in ("prices", "two"):
            check(problem, "separable")


def test_a_part_that_is_not_compiled_is_said():
    def leaf(sums, action, context, tables):
        return (int(Fraction(sums[1 + action])),)

    class Odd(Drawn):
        def states(self, dataset, space):
            return replace(super().states(dataset, space), leaf=leaf)

    data = mt.Dataset([[0], [1], [1]], y=[0, 1, 1], classes=(0, 1))
    result = mt.solve(mt.Problem(data, Odd(), mt.Trees(1)), "separable")
    assert result.optimal
    assert "plain Python" in result.message
    assert "'leaf'" in result.message


def test_a_run_that_is_stopped_keeps_its_tree_and_bound():
    rng = np.random.default_rng(0)
    data = mt.Dataset(rng.integers(0, 2, (300, 40)), y=rng.integers(0, 2, 300), classes=(0, 1))
    problem = mt.Problem(data, Drawn("linear"), mt.Trees(4))
    result = mt.solve(problem, "separable:compiled=off", time_limit=0.5)
    assert result.limit is Limit.TIME
    assert result.status is Status.FEASIBLE
    assert result.bound == 0
    assert result.seconds < 5


def test_what_the_engine_cannot_take_is_said():
    data = mt.Dataset([[0], [1]], y=[0, 1], classes=(0, 1))
    with pytest.raises(mt.MilpTreesError, match="the action whose rows"):
        mt.solve(mt.Problem(data, Drawn("two"), mt.Trees(1), Front("capacity")), "separable")
    with pytest.raises(mt.MilpTreesError, match="views it offers"):
        mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(1)), "separable")
