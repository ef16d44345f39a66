"""Proofs by `dp` and `lagrangian`: the checker derives all claims, and no higher bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.data.dataset import BinaryFeature
from milp_trees.engines.dp.method import solve_view
from milp_trees.engines.dp.proofs.leaves import prove_few_leaves
from milp_trees.engines.dp.proofs.trees import prove_trees
from milp_trees.methods.watch import Watch
from milp_trees.mip.registry import registry
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix
from milp_trees.verification.check_proof import Instance, check
from milp_trees.verification.proof_reading import Wrong, unpacked
from milp_trees.verification.reference_checker.check import check_slowly


def view_of(X, costs, leaf, split, weights, least):
    n, F = X.shape
    more = {"row_weight": weights, "min_weight_leaf": least} if least else {}
    return CostMatrix(
        X=X,
        features=tuple(BinaryFeature(f"x{f}") for f in range(F)),
        costs=costs,
        actions=tuple(range(costs.shape[1])),
        counts=np.ones(n, np.int64),
        leaf_cost=leaf,
        split_costs=split,
        side=(),
        offset=Fraction(0),
        scale=Fraction(1),
        exact=True,
        rows=np.arange(n),
        **more,
    )


def random_problem(seed):
    """A view, a space and the minima of the checker."""
    r = np.random.default_rng(seed)
    n, F, K = int(r.integers(2, 80)), int(r.integers(1, 12)), int(r.integers(2, 5))
    X = (r.random((n, F)) < r.choice([0.2, 0.5])).astype(np.uint8)
    if F > 3 and seed % 2:
        X[:, 1], X[:, 2] = 1 - X[:, 0], X[:, 3]
    large = 10 ** int(r.choice([0, 1, 8]))
    costs = r.integers(-large, 4 * large, (n, K)).astype(np.int64)
    leaf, split = int(r.integers(0, 5)), r.integers(0, 3, F).astype(np.int64)
    if seed % 3 == 0:
        leaf, split = 0, split * 0
    depth = [3, 4, 5, None][seed % 4] if leaf + split.min() else [3, 4, 5, 6][seed % 4]
    fewest, least = int(r.choice([1, 1, 2, 5])), int(r.choice([0, 0, 4]))
    weights = r.integers(0, 5, n).astype(np.int64)
    minima = [(fewest, np.ones(n, np.int64))] + ([(least, weights)] if least else [])
    return view_of(X, costs, leaf, split, weights, least), Trees(depth, None, fewest), minima


def test_proofs_of_random_problems_are_accepted_and_tight():
    proved = several = 0
    for seed in range(120):
        view, space, minima = random_problem(seed)
        Z, _ = solve_view(view, space)
        if Z is None:
            continue
        claims = prove_trees(view, view.reduce(), space, Z, Watch(Limits(time=None)))
        instance = Instance(view.X, view.costs, view.leaf_cost, view.split_costs, minima)
        assert instance.follow(claims.items, space.max_depth) == Z, seed
        higher = [*claims.items[:-1], (Z + 1, *claims.items[-1][1:])]
        with pytest.raises(Wrong):
            instance.follow(higher, space.max_depth)
        proved, several = proved + 1, several + (len(claims.items) > 1)
    assert proved > 90
    assert several > 30


def planted(depth, rows=300, **space):
    data = mt.load(f"planted:rows={rows},tests=14,depth=4,noise=0.15")
    return mt.Problem(data, mt.Accuracy(), mt.Trees(depth, **space))


def test_claims_of_a_deep_tree_need_few_claims():
    problem, method = planted(4), registry.method("dp")
    result = mt.solve(problem, "dp")
    claims = method.prove(problem, result, Limits(time=None))
    view = problem.view(CostMatrix)
    assert 1 < len(claims.items) < 4 * view.n_features
    assert Instance(view.X, view.costs).follow(claims.items, 4) == result.value.number
    for k in range(len(claims.items) - 1):  # a claim that is left out is missed, or was not needed
        rest = [(b, d, p) for b, d, p, *_ in claims.items]
        del rest[k]
        with pytest.raises(Wrong):
            Instance(view.X, view.costs).follow(rest, 4)


@pytest.mark.parametrize(("depth", "leaves"), [(3, 5), (5, 4), (2, 3)])
def test_few_leaves(depth, leaves):
    problem = planted(depth, max_leaf_nodes=leaves)
    result = mt.solve(problem, "dp")
    claims = registry.method("dp").prove(problem, result, Limits(time=None))
    view = problem.view(CostMatrix)
    Z = result.value.number
    assert Instance(view.X, view.costs).follow(claims.items, depth, leaves) == Z


def test_proofs_with_few_leaves_are_accepted_and_tight():
    proved = several = 0
    for seed in range(24):
        view, space, minima = random_problem(seed)
        leaves = 5 + seed % 4
        space = Trees(space.max_depth, leaves, space.min_samples_leaf)
        Z, _ = solve_view(view, space)
        if Z is None:
            continue
        claims = prove_few_leaves(view, view.reduce(), space, Z, Watch(Limits(time=None))).items
        instance = Instance(view.X, view.costs, view.leaf_cost, view.split_costs, minima)
        assert instance.follow(claims, space.max_depth, leaves) == Z, seed
        with pytest.raises(Wrong):  # one leaf more is another claim
            instance.follow(claims, space.max_depth, leaves + 1)
        higher = [*claims[:-1], (Z + 1, *claims[-1][1:])]
        with pytest.raises(Wrong):
            instance.follow(higher, space.max_depth, leaves)
        proved, several = proved + 1, several + (len(claims) > 1)
    assert proved > 15
    assert several > 6


def test_few_leaves_of_deep_trees_are_proved_to_both_checkers(tmp_path):
    data = mt.load("planted:rows=40,tests=6,depth=4,noise=0.15")
    problem = mt.Problem(data, mt.Accuracy(), mt.Trees(None, max_leaf_nodes=6))
    result = mt.solve(problem, "dp", proof=tmp_path / "proof")
    lines = unpacked(tmp_path / "proof").decode().splitlines()
    Z = result.value.number
    assert len(lines) > 2
    assert check(lines).proved
    assert check_slowly(lines) == (Z, Z)
