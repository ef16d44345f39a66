"""Runs that must keep their time limits."""

import functools
import time

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.pruning.testing.random_prunings import random_problem


def allowed(limit: float) -> float:
    """Seconds over the limit that a run may take."""
    return max(0.5, 0.1 * limit)


def demand_in_time(
    method: mt.plugins.Method, problem: mt.Problem, limit: float = 1.0, **more
) -> mt.Result:
    """The result of a run that keeps its limit; another job may have held up one or two, but not
    all.
    """
    method.warm_up()
    seconds = []
    for _ in range(4):
        began = time.perf_counter()
        result = method.run(problem, mt.Limits(time=limit), **more)
        seconds.append(time.perf_counter() - began)
        if seconds[-1] <= limit + allowed(limit):
            return result
    pytest.fail(f"{method.name} took {seconds} s where {limit:g} s were allowed; {result.message}")


@functools.cache
def long_problems() -> dict[str, mt.Problem]:
    """One for each kind of view, each far beyond a second, and one on which building alone is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    noisy = ((X[:, 0] * X[:, 1] > 0) ^ (X[:, 2] > 0.5) ^ (rng.random(60) < 0.2)).astype(int)
    import pandas as pd

    numeric = mt.Binarizer(kind="midpoints").dataset(pd.DataFrame(X, columns=list("abcde")), noisy)
    from milp_trees.decisions.generated import DecisionData
    from milp_trees.decisions.generated_problems import generated_problem

    return {
        "trees": mt.Problem(
            mt.load("planted:rows=250,tests=18,depth=4,noise=0.2"), mt.Accuracy(), mt.Trees(3)
        ),
        "lists": mt.Problem(
            mt.load("planted:rows=250,tests=18,depth=4,noise=0.2"),
            mt.Accuracy(),
            mt.RuleLists(max_length=4),
        ),
        "large": mt.Problem(
            mt.load("planted:rows=1500,tests=60,depth=4,noise=0.2"),
            mt.Accuracy(),
            mt.Trees(4),
        ),
        "numeric": mt.Problem(numeric, mt.Accuracy(), mt.Trees(3)),
        "decisions": generated_problem(
            DecisionData("shortest-path", 200, 0, 6.0, 0.25, thresholds=20, seed=1), 3
        )[0],
        **{
            name: random_problem(
                np.random.default_rng(0),
                n_trees=12,
                depth=7,
                n_features=12,
                n_rows=400,
                budget=budget,
            )
            for name, budget in (("prunings", True), ("prunings without a budget", False))
        },
    }


def kept(name: str, case: str, limit: float) -> None:
    """A formulation with a solver ends in time, or refuses the problem."""
    method, problem = registry.method(name), long_problems()[case]
    if not method.solver.availability().found:
        pytest.skip(method.solver.availability().reason)
    if case == "prunings" and method.unsupported(problem):
        problem = long_problems()["prunings without a budget"]
    if method.unsupported(problem):
        return
    try:
        result = demand_in_time(method, problem, limit)
    except mt.errors.NotInTime:  # what is left of the time is too short for building the model
        return
    assert result.status is not mt.plugins.Status.ERROR, result.message
