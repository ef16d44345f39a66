"""The contract of formulations of prunings: every registered one under its conformance checks."""

import os

import numpy as np
import pytest
from taken_problems import taken_problems

from milp_trees.mip.registry import registry
from milp_trees.pruning.testing.checks import (
    PRUNING_CHECKS,
    check_pruning_formulation,
    default_pruning_problems,
    example,
    unnoticed_constraints,
)
from milp_trees.pruning.testing.random_prunings import random_problem

FORMULATIONS = registry.formulations_for(example("figure-1").space)
#: Number of random ensembles.
MANY = 200 if os.environ.get("MILP_TREES_CONFORMANCE") == "thorough" else 30


@pytest.mark.parametrize(
    "label, name",
    [
        pytest.param(label, name, marks=() if (k + number) % 3 == 0 else pytest.mark.slow)
        for k, label in enumerate(FORMULATIONS)
        for number, name in enumerate(taken_problems("prunings", label))
    ],
)
def test_a_formulation_on_a_tiny_ensemble(label, name):
    """Documented, repeatable, sized, optimum as all prunings say, relaxation a bound (or the
    optimum), every pruning in and out.
    """
    formulation, problem = registry.formulation(label), default_pruning_problems()[name]
    assert formulation.unsupported(problem) is None
    for check in PRUNING_CHECKS.values():
        check(formulation, problem)


@pytest.mark.slow
@pytest.mark.parametrize("label", FORMULATIONS)
def test_a_formulation_on_many_random_ensembles(label):
    """With every kind of price, and budgets in a third of them."""
    many = {
        str(s): random_problem(
            np.random.default_rng(1000 + s), 1 + s % 3, 2, 2 + s % 3, 2 + s % 5, budget=s % 3 == 0
        )
        for s in range(MANY)
    }
    many |= {f"free {s}": random_problem(np.random.default_rng(s), 2, 3, lam=0) for s in range(15)}
    check_pruning_formulation(registry.formulation(label), many)


@pytest.mark.slow
@pytest.mark.parametrize("label", FORMULATIONS)
def test_no_constraint_can_be_deleted_unnoticed(label):
    """Deleting any named constraint changes an optimum, or the formulation declares it redundant."""
    formulation = registry.formulation(label)
    assert unnoticed_constraints(formulation) == sorted(formulation.redundant)
