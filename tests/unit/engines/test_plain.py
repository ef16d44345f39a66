"""The recursion in plain Python, against the compiled search on thousands of small problems."""

from dataclasses import replace

import numpy as np
from random_views import random_view

import milp_trees as mt
from milp_trees.engines.dp.arrays import INFINITY, prepare
from milp_trees.engines.dp.plain import Plain
from milp_trees.engines.dp.runs import DpSearch

PROBLEMS = 2000


def small_problem(rng):
    """A reduced view and a space: any costs and penalties, minima of rows, weight and treatments, any depth;
    in a third of the problems every row is its own cell, so that many leaves pay.
    """
    rows, tests, K = int(rng.integers(1, 11)), int(rng.integers(1, 5)), int(rng.integers(2, 5))
    if cells := rng.random() < 0.35:
        rows, tests, K = 8, 3, 2
        X = ((np.arange(8)[:, None] >> np.arange(3)) & 1).astype(np.uint8)
    else:
        X = rng.integers(0, 2, (rows, tests)).astype(np.uint8)
    costs = rng.integers(0, 9 if rng.random() < 0.5 else 2, (rows, K))
    view = random_view(rng, X=X, costs=costs)
    if cells or rng.random() < 0.4:
        leaf = int(rng.integers(1, 3)) if cells else 0
        view = replace(view, leaf_cost=leaf, split_costs=np.zeros(tests, dtype=np.int64))
    if rng.random() < 0.3:
        weight = rng.integers(1, 5, view.n_rows)
        view = replace(view, row_weight=weight, min_weight_leaf=int(rng.integers(2, 8)))
    if rng.random() < 0.1:
        treated = rng.integers(0, 4, (view.n_rows, int(rng.integers(1, 4))))
        view = replace(view, treated=treated, min_treated=int(rng.integers(1, 4)))
    depth = None if rng.random() < 0.2 else int(rng.integers(0, 5))
    space = mt.Trees(depth, min_samples_leaf=int(rng.choice([1, 1, 1, 2])), min_weight_leaf=0)
    return view.reduce(), space


def test_equals_the_compiled_search():
    """Optimal values, and whether there is a tree at all."""
    seen = {"no tree": 0, "one leaf": 0, "deep": 0}
    for seed in range(PROBLEMS):
        view, space = small_problem(np.random.default_rng(seed))
        inst = prepare(view, space)
        found = DpSearch(inst).solve()
        expected = Plain(view, space).objective()
        where = f"seed {seed}, {space}"
        if found.value >= INFINITY:
            seen["no tree"] += 1
            assert expected is None, where
            continue
        assert inst.to_Z(found.value) == expected, where
        seen["one leaf"] += len(found.tests) == 1
        seen["deep"] += len(found.tests) > 7
    assert min(seen.values()) > 20, seen
