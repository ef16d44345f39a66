"""The recursion in plain Python, against the search with its kernels on hundreds of small problems."""

import numpy as np
import pytest
from separable_cases import KINDS, WIDTHS, random_problem

import milp_trees as mt
from milp_trees.engines.separable.plain import PlainStates
from milp_trees.plugins import Front, States
from milp_trees.results.result import Status

PROBLEMS = 60


@pytest.mark.parametrize("kind", KINDS)
def test_equals_the_search(kind):
    """Best values and fronts, and whether there is a tree at all."""
    for seed in range(PROBLEMS):
        rng = np.random.default_rng([seed, 7, list(KINDS).index(kind)])
        question = Front() if kind in WIDTHS and seed % 2 else None
        problem = random_problem(rng, kind, question)
        view = problem.view(States)
        expected = PlainStates(view, problem.space).values()
        found = mt.solve(problem, "separable:compiled=off", reference=None)
        where = f"seed {seed}, {problem.space}"
        if not expected:
            assert found.status is Status.INFEASIBLE, where
        elif question is None:
            assert found.value.exact == view.to_value(min(map(view.units_of, expected))), where
        else:
            points = {tuple(int(c.exact) for c in s.coordinates) for s in found.solutions}
            assert points == set(expected), where
