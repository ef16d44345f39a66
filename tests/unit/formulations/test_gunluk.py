"""Sets of categories that a model chooses: the search over all listed sets is the judge."""

import os

import numpy as np
import pandas as pd
import pytest

import milp_trees as mt
from milp_trees.tasks.constraints import Capacity
from milp_trees.tasks.policy import ActionCostMatrix
from milp_trees.testing.checks import (
    check_decoded_value,
    check_every_tree_can_be_encoded,
    check_optimum_equals_oracle,
    check_relaxation_is_a_bound,
    check_sizes,
)
from milp_trees.testing.oracle import brute_force

SEEDS = range(
    int(os.environ.get("MILP_TREES_GUNLUK_FROM", 0)),
    int(os.environ.get("MILP_TREES_GUNLUK_TO", 12)),
)


def drawn_table(rng, n, gaps):
    """Columns of categories with all sets, and perhaps numbers, 0/1, and constant columns."""
    k = int(rng.integers(4, 6))
    letters = np.array(list("abcde"), dtype=object)
    first = letters[np.concatenate([np.arange(k), rng.integers(0, k, n - k)])]
    if gaps:
        first[int(rng.integers(k, n))] = None
    frame = pd.DataFrame({"first": first})
    if rng.random() < 0.5:
        frame["second"] = letters[rng.integers(0, int(rng.integers(1, 4)), n)]
    if rng.random() < 0.5:
        frame["number"] = rng.integers(0, 4, n).astype(float)
    if rng.random() < 0.5:
        frame["flag"] = rng.integers(0, 2, n)
    if rng.random() < 0.2:  # divides the rows like a set of the first column
        frame["same"] = (frame["first"] == "b").astype(int)
    return frame


def drawn(seed):
    """A random problem: costs of any size and sign, penalties, prices, leaf limits, capacities."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 13))
    frame = drawn_table(rng, n, gaps=rng.random() < 0.2)
    large = 10**6 if rng.random() < 0.1 else 1
    values = rng.integers(-6, 10, (n, 2)) * large
    binarizer = mt.Binarizer(category_sets=5).fit(frame)
    data = binarizer.dataset(frame, values=values)
    options = {}
    if rng.random() < 0.4:
        options["leaf_penalty"] = int(rng.integers(0, 4)) * large
    if rng.random() < 0.3:
        options["feature_costs"] = {
            c: int(rng.integers(0, 3)) for c in sorted({t.column for t in data.features})
        }
    if rng.random() < 0.3:
        least = int((values.argmin(axis=1) == 1).sum())
        options["constraints"] = (Capacity(1, at_most=max(0, least - 1)),)
    depth = int(rng.choice([0, 1, 2, 2, 2, 3]))
    space = {"min_samples_leaf": int(rng.choice([1, 1, 2, 3]))}
    if rng.random() < 0.3:
        space["max_leaf_nodes"] = int(rng.integers(2, 5))
    return mt.Problem(data, ActionCostMatrix(**options), mt.Trees(depth, **space))


def formulations():
    return [
        mt.registry.formulation("gunluk", rows=rows, anchor=anchor)
        for rows in ("strong", "weak")
        for anchor in (True, False)
    ]


@pytest.mark.parametrize("seed", SEEDS)
def test_it_agrees_with_searches_over_all_listed_sets(seed):
    """With the exhaustive search, and with `dp` where it takes the problem."""
    problem, every = drawn(seed), formulations()
    for formulation in [every[0], every[1 + seed % 3]]:
        assert formulation.unsupported(problem) is None
        check_sizes(formulation, problem)
        check_optimum_equals_oracle(formulation, problem)
        check_decoded_value(formulation, problem)
        check_relaxation_is_a_bound(formulation, problem)
        check_every_tree_can_be_encoded(formulation, problem)
    best = brute_force(problem)
    if best is not None and mt.registry.method("dp").unsupported(problem) is None:
        assert mt.solve(problem, "dp").value == best[1]
