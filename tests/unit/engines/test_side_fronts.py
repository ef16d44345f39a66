"""`side-fronts`: side rows in exact integers, against all trees and all labels."""

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.plugins import CostMatrix
from milp_trees.results.result import Status
from milp_trees.tasks import (
    Accuracy,
    ActionCostMatrix,
    Capacity,
    EqualisedOdds,
    EqualOpportunity,
    StatisticalParity,
)
from milp_trees.verification import Verdict, verify


def random_problem(seed):
    """Few rows and tests, two or three groups and classes, limits and penalties by turns."""
    rng = np.random.default_rng(seed)
    n, F, K = (int(rng.integers(*ends)) for ends in ((1, 10), (1, 4), (2, 4)))
    X, delta = rng.integers(0, 2, (n, F)), int(rng.integers(0, 5)) / 10
    if F > 1 and seed % 3 == 0:
        X[:, 1] = 1 - X[:, 0]
    rules = [
        StatisticalParity(delta),
        EqualOpportunity(delta),
        EqualisedOdds(delta),
        Capacity(int(rng.integers(0, K)), at_most=int(rng.integers(0, n + 1)), at_least=seed % 2),
    ]
    chosen = tuple(rules[i] for i in {seed % 4, int(rng.integers(0, 4))})
    y, groups = rng.integers(0, K, n), rng.integers(0, 2 + seed % 2, n)
    data = mt.Dataset(X, y=y, classes=tuple(range(K)), groups=groups)
    task = Accuracy(constraints=chosen, leaf_penalty="0.05" if seed % 4 == 1 else 0)
    if seed % 5 == 0:
        values = rng.integers(-(10**6), 10**6, (n, K))
        data = mt.Dataset(X, groups=groups, values=values)
        task = ActionCostMatrix(constraints=(rules[0], rules[3]))
    leaves = int(rng.integers(1, 5)) if seed % 3 == 1 else None
    depth, least = int(rng.integers(0, 3)), int(rng.integers(1, 3))
    return mt.Problem(data, task, mt.Trees(depth, max_leaf_nodes=leaves, min_samples_leaf=least))


def best_of_all(problem):
    """The best value of a feasible tree: every labelling of every tree of every set of rows."""
    view, space = problem.view(CostMatrix), problem.space

    @cache
    def trees(rows, depth, leaves):
        found = set()
        if len(rows) >= space.min_samples_leaf and leaves:
            for k in range(view.n_actions):
                totals = tuple(int(row.coefs[list(rows), k].sum()) for row in view.side)
                found.add((int(view.costs[list(rows), k].sum()) + view.leaf_cost, totals))
        for f in range(view.n_features if depth else 0):
            sides = [tuple(i for i in rows if view.X[i, f] == side) for side in (0, 1)]
            for left in range(1, leaves):
                pairs = product(
                    trees(sides[0], depth - 1, left), trees(sides[1], depth - 1, leaves - left)
                )
                for (a, p), (b, q) in pairs:
                    totals = tuple(x + y for x, y in zip(p, q, strict=True))
                    found.add((a + b + int(view.split_costs[f]), totals))
        return frozenset(found)

    most = min(space.max_leaf_nodes or 99, 2**space.max_depth)
    costs = [
        cost
        for cost, totals in trees(tuple(range(view.n_rows)), space.max_depth, most)
        if all(row.holds(total) for row, total in zip(view.side, totals, strict=True))
    ]
    return view.to_value(min(costs)) if costs else None


@each_row("seed", range(40))
def test_the_optimum_is_that_of_all_trees_and_labels(seed):
    problem = random_problem(seed)
    expected, result = best_of_all(problem), mt.solve(problem, "side-fronts")
    if expected is None:
        assert result.status is Status.INFEASIBLE
    else:
        assert result.status is Status.OPTIMAL
        assert result.value.exact == result.certificate.bound_exact == expected


def fair(rows, tests, depth):
    rng = np.random.default_rng(2)
    X, groups = rng.integers(0, 2, (rows, tests)), rng.integers(0, 2, rows)
    data = mt.Dataset(X, y=X[:, 0] ^ (rng.random(rows) < 0.3) ^ (groups & X[:, 1]), groups=groups)
    return mt.Problem(data, Accuracy(constraints=(StatisticalParity("0.01"),)), mt.Trees(depth))


def test_a_fair_optimum_is_derived_again_without_a_solver():
    """A problem that is too large for enumeration, with the answer of the dynamic programme."""
    result = replace(mt.solve(fair(300, 45, 2), "side-fronts"), method="lagrangian")
    found = verify(result)
    assert found.verdict is Verdict.DERIVED
    assert found.derived_by == "side-fronts"


def test_what_is_too_large_is_said():
    with pytest.raises(mt.MilpTreesError, match="few tests or levels"):
        mt.solve(fair(50, 60, 5), "side-fronts")
