"""Greedy trees where leaves cost a function of sums, and the answers of runs that are stopped."""

import os
import signal
import threading
from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.methods.simplest import incumbent_or_trivial
from milp_trees.results.result import Limit, Status
from tests.unit.engines.leaf_sums_cases import Exact, drawn


def test_greedy_trees_are_feasible_and_no_better_than_the_optimum():
    optimal = 0
    for seed in range(150):
        case = drawn(seed)
        case = case if case.max_depth is not None else case.at(4)
        problem, best = case.problem(), Exact(case).optimum()
        result = mt.solve(problem, method="cart")
        assert (result.tree is None) == (best is None), seed
        if best is None:
            assert result.status is Status.INFEASIBLE, seed
            continue
        assert not problem.violations(result.tree), seed
        assert result.bound is None
        assert result.value.exact >= best, seed
        optimal += result.value.exact <= best + case.tolerance
    assert optimal > 75


def test_one_level_is_optimal():
    for seed in range(100):
        case = drawn(seed).at(1)
        best = Exact(case).optimum()
        if best is not None:
            found = mt.solve(case.problem(), method="cart").value.exact
            assert best <= found <= best + case.tolerance, seed


def table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3)).round(2)
    return x, (x[:, 0] ** 2 + x[:, 1] + 0.1 * rng.normal(size=n)).round(3)


@pytest.mark.parametrize("limits", [{}, {"min_samples_leaf": 20}])
def test_it_is_the_tree_of_scikit_learn(limits):
    """With all thresholds, which are stored as ranks, and the same limits."""
    from sklearn.tree import DecisionTreeRegressor

    x, y = table()
    data = mt.Binarizer(kind="midpoints").fit(x).dataset(x, y=y)
    assert data.ranked is not None
    result = mt.solve(mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(3, **limits)), "cart")
    peer = DecisionTreeRegressor(max_depth=3, random_state=0, **limits).fit(x, y)
    assert result.value.number == pytest.approx(((peer.predict(x) - y) ** 2).sum())


def hard_problem():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (600, 40))
    y = (X[:, :6].sum(axis=1) ** 2 + rng.normal(size=600)).round(3)
    return mt.Problem(mt.Dataset(X, y=y), mt.tasks.SquaredError(), mt.Trees(6))


def checked(result, limit):
    """A stopped run holds a tree as good as the greedy one, and a rational bound below it."""
    assert result.status is Status.FEASIBLE
    assert result.limit is limit
    greedy = mt.solve(result.problem, method="cart").value.exact
    assert result.value.exact <= greedy
    assert isinstance(result.certificate.bound_exact, Fraction)
    assert result.certificate.bound_exact < result.value.exact


def test_a_time_limit_leaves_a_tree_and_a_bound():
    checked(mt.solve(hard_problem(), method="dp", time_limit=0.05), Limit.TIME)


def test_ctrl_c_leaves_a_tree_and_a_bound():
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        checked(mt.solve(hard_problem(), method="dp", time_limit=60), Limit.INTERRUPTED)
    finally:
        timer.cancel()


def test_the_simplest_model_is_one_leaf_with_the_mean():
    problem = mt.Problem(
        mt.Dataset([[0], [1], [1]], y=[1.5, 2.5, 5.0]), mt.tasks.SquaredError(), mt.Trees(1)
    )
    tree = incumbent_or_trivial(problem)
    assert tree.n_leaves == 1
    assert tree.actions == (3.0,)
    too_few = mt.Problem(problem.dataset, problem.task, mt.Trees(1, min_samples_leaf=4))
    assert incumbent_or_trivial(too_few) is None
