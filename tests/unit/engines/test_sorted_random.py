"""Random small tables: `dp-sorted` against `dp` over the same midpoints, whole and stopped runs."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.mip.registry import registry
from milp_trees.results.result import Status
from milp_trees.tasks.policy import ActionCostMatrix
from milp_trees.tasks.views import CostMatrix
from milp_trees.verification.check_proof import check
from milp_trees.verification.proof_reading import unpacked


def drawn(seed: int) -> mt.Problem:
    """Columns with ties, flags, prices, and minima and numbers of leaves; some without a tree."""
    rng = np.random.default_rng(seed)
    rows, K = int(rng.integers(6, 25)), int(rng.integers(2, 5))
    distinct = int(rng.choice([2, 4, 8, 20]))
    frame = pd.DataFrame(
        {f"x{j}": rng.integers(0, distinct, rows).astype(float) for j in range(rng.integers(1, 4))}
    )
    for j in range(rng.integers(0, 3)):
        frame[f"flag{j}"] = rng.integers(0, 2, rows)
    y = np.concatenate([np.arange(K), rng.integers(0, K, rows - K)])
    weights = rng.integers(1, 4, rows).astype(float) if seed % 3 else None
    data = mt.Binarizer(kind="midpoints").dataset(frame, y, weights=weights)
    prices = {
        "leaf_penalty": Fraction(int(rng.choice([0, 0, 1, 2, 6])), 3 * rows),
        "split_penalty": Fraction(int(rng.choice([0, 0, 0, 1])), 2 * rows),
    }
    space = {
        "min_samples_leaf": int(rng.choice([1, 1, 2, 4])),
        "min_weight_leaf": int(rng.choice([0, 0, 0, 5])),
        "max_leaf_nodes": int(rng.integers(1, 9)) if rng.random() < 0.6 else None,
    }
    depth = (1, 2, 3, 4, None)[int(rng.integers(5))]
    if seed % 2:
        given = [f"t{k}" for k in rng.integers(0, 2, rows)]
        data = data.with_(
            y=None,
            classes=None,
            values=rng.integers(-6, 12, (rows, K)),
            treatments=given,
            actions=tuple(range(K)),
        )
        space["min_samples_treatment"] = int(rng.choice([0, 1, 2, 6]))
        return mt.Problem(data, ActionCostMatrix(**prices), mt.Trees(depth, **space))
    return mt.Problem(data, mt.tasks.WeightedError(**prices), mt.Trees(depth, **space))


def test_equals_dp_and_the_value_of_its_own_tree():
    sorted_, dp, seen = registry.method("dp-sorted"), registry.method("dp"), Counter()
    for seed in range(110):
        problem = drawn(seed)
        found, expected = sorted_.run(problem), dp.run(problem)
        assert found.status is expected.status, seed
        seen[found.status] += 1
        if found.status is Status.OPTIMAL:
            assert found.value.exact == expected.value.exact, seed
            assert found.value.exact == problem.value(found.tree).exact, seed
            assert found.certificate.bound_exact == found.value.exact, seed
            assert not problem.violations(found.tree), seed
            seen[problem.trees.max_depth, problem.trees.limits_leaves] += 1
    assert seen[Status.INFEASIBLE] > 3
    assert min(seen[depth, few] for depth in (2, 3, 4, None) for few in (False, True)) > 3


def test_a_stopped_run_is_honest_and_its_tree_is_a_start():
    sorted_, stopped = registry.method("dp-sorted"), 0
    for seed in range(40):
        problem = drawn(seed)
        best = sorted_.run(problem)
        if best.tree is None:
            continue
        view = problem.view(CostMatrix)
        for seconds in (1e-6, 1e-3):
            found = sorted_.run(problem, Limits(time=seconds))
            stopped += found.limit is not None
            assert view.objective(best.tree) <= view.objective(found.tree), seed
            assert found.value.exact == problem.value(found.tree).exact, seed
            assert found.bound <= best.value.number + 1e-12, seed
            again = sorted_.run(problem, start=found.tree)
            assert again.status is Status.OPTIMAL, seed
            assert again.value.exact == best.value.exact, seed
    assert stopped > 20


def test_proofs_of_few_leaves_are_accepted(tmp_path):
    """The claim names the number of leaves: of larger trees it may be false."""
    accepted = 0
    for seed in range(60):
        problem = drawn(seed)
        if not problem.trees.limits_leaves or registry.method("dp-sorted").unproved(problem):
            continue
        result = mt.solve(problem, "dp-sorted", proof=tmp_path / "p", start=None, reference=None)
        if result.status is Status.OPTIMAL:
            verdict = check(unpacked(tmp_path / "p").decode().splitlines())
            assert verdict.proved, seed
            accepted += 1
    assert accepted > 10
