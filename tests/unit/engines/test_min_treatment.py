"""A minimum of rows per treatment in every leaf, against a recursion over the rows as given."""

from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.common.errors import DataError, Unsupported
from milp_trees.results.result import Status
from milp_trees.tasks.constraints import Capacity
from milp_trees.tasks.policy import ActionCostMatrix

METHODS = ("dp", "dp-sorted", "near-best", "enumerate", "state-flow@highs")


def drawn(seed):
    """A small problem with costs, penalties, weights and three minima of a leaf; often infeasible."""
    rng = np.random.default_rng(seed)
    rows, tests, K = (int(rng.integers(*ends)) for ends in ((4, 16), (1, 5), (1, 4)))
    X = rng.integers(0, 2, (rows, tests)).astype(np.uint8)
    costs = rng.integers(-6, 12, (rows, K))
    given = [f"t{k}" for k in rng.integers(0, int(rng.integers(1, 4)), rows)]
    weights = rng.integers(1, 4, rows).astype(float)
    capacity = Capacity(0, at_most=int(rng.integers(0, rows + 1))) if rng.random() < 0.3 else None
    data = mt.Dataset(X, values=costs, treatments=given, weights=weights, actions=tuple(range(K)))
    task = ActionCostMatrix(
        leaf_penalty=Fraction(int(rng.choice([0, 1, 3])), rows),
        constraints=() if capacity is None else (capacity,),
    )
    space = mt.Trees(
        int(rng.integers(0, 4)),
        min_samples_leaf=int(rng.choice([1, 2, 3])),
        min_weight_leaf=int(rng.choice([0, 4])),
        min_samples_treatment=int(rng.choice([1, 2, 3])),
    )
    return mt.Problem(data, task, space), capacity


def least_cost(problem, capacity):
    """The cheapest total of costs and penalties, by all trees and all actions in their leaves."""
    data, space = problem.dataset, problem.space
    X, costs, given = data.X.tolist(), data.values.tolist(), data.treatments.tolist()
    price = problem.task.leaf_penalty * data.n_rows

    def allowed(rows):
        return (
            len(rows) >= space.min_samples_leaf
            and sum(data.weights[r] for r in rows) >= space.min_weight_leaf
            and all(
                sum(given[r] == kind for r in rows) >= space.min_samples_treatment
                for kind in set(given)
            )
        )

    @cache
    def trees(rows, depth):
        """Rows with action 0 → cheapest total."""
        found = {}
        for k in range(len(costs[0])) if allowed(rows) else ():
            found[0 if k else len(rows)] = min(
                found.get(0 if k else len(rows), 10**9), sum(costs[r][k] for r in rows) + price
            )
        for f in range(len(X[0]) if depth else 0):
            sides = [tuple(r for r in rows if X[r][f] == side) for side in (0, 1)]
            if all(sides):
                for a, x in trees(sides[0], depth - 1).items():
                    for b, y in trees(sides[1], depth - 1).items():
                        found[a + b] = min(found.get(a + b, 10**9), x + y)
        return found

    most = data.n_rows if capacity is None else capacity.at_most
    found = trees(tuple(range(data.n_rows)), space.max_depth)
    return min((cost for used, cost in found.items() if used <= most), default=None)


@pytest.mark.parametrize("method", METHODS)
def test_equals_the_recursion(method):
    """Optimal values, and whether there is a tree at all."""
    feasible = 0
    for seed in range(12 if "@" in method else 150):
        problem, capacity = drawn(seed)
        if capacity and method in ("dp", "dp-sorted", "near-best"):
            continue
        expected = least_cost(problem, capacity)
        result = mt.solve(problem, method=method)
        if expected is None:
            assert result.status is Status.INFEASIBLE, seed
            continue
        feasible += 1
        assert result.optimal, seed
        assert not problem.violations(result.tree), seed
        total = problem.value(result.tree).exact
        assert total * (problem.dataset.n_rows if problem.task.penalised else 1) == expected, seed
    assert feasible > 5


def test_methods_that_cannot_say_so_in_a_sentence():
    problem, _ = drawn(3)
    for method in ("flow-oct@highs", "cut@highs"):
        with pytest.raises(Unsupported, match="cannot express a minimum of rows per treatment"):
            mt.solve(problem, method=method)


def test_it_needs_treatments():
    data = mt.Dataset([[0], [1]], values=[[0, 1], [1, 0]])
    with pytest.raises(DataError, match="min_samples_treatment needs `treatments`"):
        mt.solve(mt.Problem(data, ActionCostMatrix(), mt.Trees(1, min_samples_treatment=1)))


def test_the_greedy_tree_honours_it():
    for seed in range(40):
        problem, capacity = drawn(seed)
        if capacity:
            continue
        found = mt.solve(problem, method="cart").tree
        assert found is None or not problem.space.violations(found, problem.dataset), seed
