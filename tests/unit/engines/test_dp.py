"""The dynamic programme against the enumerator, published optima, and its limits."""

import subprocess
import sys

import numpy as np
import pytest
from random_views import random_space, random_view

import milp_trees as mt
from milp_trees.engines.dp.method import DynamicProgramme, solve_view
from milp_trees.engines.enumerate import enumerate_trees
from milp_trees.results.result import Limit, Status

#: Errors of the optimal trees of depth 2, 3 and 4.
ERRORS = {
    "anneal": (137, 112, 91), "audiology": (10, 5, 1), "australian-credit": (87, 73, 56), "breast-wisconsin": (22, 15, 7),
    "compas": (2333, 2272, 2250), "diabetes": (177, 162, 137), "german-credit": (267, 236, 204), "heart-cleveland": (60, 41, 25),
    "hepatitis": (16, 10, 3), "hypothyroid": (70, 61, 53), "ionosphere": (32, 22, 7), "kr-vs-kp": (418, 198, 144), "letter": (599, 369, 261),
    "lymph": (22, 12, 3), "mushroom": (252, 8, 0), "pendigits": (153, 47, 13), "primary-tumor": (58, 46, 34), "segment": (9, 0, 0),
    "soybean": (55, 29, 14), "splice-1": (508, 224, 141), "tic-tac-toe": (282, 216, 137), "vote": (17, 12, 5),
}  # fmt: skip
SMALL = ["anneal", "compas", "diabetes", "hepatitis", "lymph", "primary-tumor", "tic-tac-toe"]


def oracle(view, space):
    """(Z, fewest leaves of an optimal tree), None if there is no tree."""
    most = space.max_leaf_nodes or 2**space.max_depth
    achieved = enumerate_trees(view, space.max_depth, space.min_samples_leaf)
    return min(
        ((cost, leaves) for (leaves, _), (cost, _) in achieved.items() if leaves <= most),
        default=None,
    )


def check(view, space, seed):
    expected = oracle(view, space)
    Z, tree = solve_view(view, space, ties="fewest-leaves")
    where = f"seed {seed}, {view.n_rows} rows, {view.n_features} tests, {view.n_actions} actions, {space}"
    if expected is None:
        assert Z is None, where
        return
    assert expected[0] == Z, f"{where}: {Z} instead of {expected[0]}\n{tree}"
    assert view.objective(tree) == Z, where
    assert tree.n_leaves == expected[1], f"{where}: {tree.n_leaves} leaves where {expected[1]} do"
    sizes = np.bincount(tree.routes(view).leaf, weights=view.counts, minlength=tree.n_leaves)
    assert sizes.min() >= space.min_samples_leaf, where
    assert tree.depth <= space.max_depth, where
    assert tree.n_leaves <= (space.max_leaf_nodes or 99), where


def test_equals_the_enumerator_on_random_problems():
    """Optimum, leaf sizes, limits, and fewest leaves among the optimal trees."""
    for seed in range(400):
        rng = np.random.default_rng(seed)
        check(random_view(rng), random_space(rng), seed)


def test_equals_the_enumerator_at_depth_four():
    """The search above the kernels: budgets, memo, limited leaves. Only the value: below depth four
    ties are not settled by leaves.
    """
    for seed in range(60):
        rng = np.random.default_rng(1000 + seed)
        view = random_view(rng)
        space = mt.Trees(
            4,
            max_leaf_nodes=None if seed % 3 else int(rng.integers(4, 12)),
            min_samples_leaf=1 + seed % 2,
        )
        expected = oracle(view, space)
        Z, tree = solve_view(view, space)
        assert (expected and expected[0]) == Z, f"seed {1000 + seed}, {space}"
        if tree is not None:
            assert view.objective(tree) == Z
            assert tree.n_leaves <= (space.max_leaf_nodes or 99)


def test_constant_tests_that_are_kept_are_no_splits():
    """Presolve drops them; without it a shallow tree may be found through a split with an empty side."""
    rng = np.random.default_rng(0)
    for i in range(60):
        X = rng.integers(0, 2, (rng.integers(2, 25), 4))
        X[:, 0], y = i % 2, rng.integers(0, 3, len(X))
        y[:2] = 0, 1
        problem = mt.Problem(mt.Dataset(X, y=y), mt.Accuracy(), mt.Trees(1 + i % 2))
        found = DynamicProgramme(drop_tests=False, merge_rows=False).run(problem)
        assert found.optimal
        assert found.objective == DynamicProgramme().run(problem).objective


@pytest.mark.parametrize("rows", [247, 248, 249, 520])
def test_counts_survive_the_limits_of_a_byte(rows):
    """Depth four on more rows of a class than a byte counts equals the best of all root tests at
    depth three.
    """
    rng = np.random.default_rng(rows)
    X = rng.integers(0, 2, (rows, 7)).astype(np.uint8)
    y = (X[:, 0] & X[:, 1]) ^ (X[:, 2] & X[:, 3]) ^ (rng.random(rows) < 0.1)
    dataset = mt.Dataset(X, y=y.astype(int))
    values = [
        DynamicProgramme().run(mt.Problem(dataset, mt.Accuracy(), mt.Trees(d))).objective
        for d in (3, 4)
    ]
    by_root = []
    for f in range(7):
        parts = [dataset.subset(X[:, f] == side) for side in (0, 1)]
        by_root.append(
            sum(
                DynamicProgramme().run(mt.Problem(part, mt.Accuracy(), mt.Trees(3))).objective
                for part in parts
            )
        )
    assert values[1] == min(by_root)
    assert values[1] <= values[0]


def wide_problem(depth):
    rng = np.random.default_rng(1)
    dataset = mt.Dataset(rng.integers(0, 2, (400, 60)), y=rng.integers(0, 2, 400))
    return mt.Problem(dataset, mt.Accuracy(), mt.Trees(depth))


def test_without_any_time_the_greedy_tree_is_returned():
    problem = wide_problem(3)
    result = DynamicProgramme().run(problem, mt.Limits(time=0.0))
    assert result.limit is Limit.TIME
    assert result.value == mt.solve(problem, "cart").value


def test_a_start_is_the_incumbent_until_beaten():
    problem = wide_problem(3)
    best = DynamicProgramme().run(problem)
    stopped = DynamicProgramme().run(problem, mt.Limits(time=0.0), start=best.tree)
    assert stopped.status is Status.FEASIBLE
    assert stopped.objective == best.objective
    assert stopped.bound <= best.objective


def test_side_rows_are_refused():
    dataset = mt.Dataset([[0], [1]], y=[0, 1], groups=["a", "b"], group_column="g")
    task = mt.Accuracy(constraints=(mt.tasks.StatisticalParity(0.1),))
    with pytest.raises(mt.errors.Unsupported, match="side constraints"):
        DynamicProgramme().run(mt.Problem(dataset, task, mt.Trees(1)))


def test_listing_the_methods_does_not_load_numba():
    code = "import sys; from milp_trees.mip.registry import registry; assert 'dp' in registry.classes('methods'); assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def accuracy_problem(data_folder, name, depth):
    path = next((data_folder / "classification").glob(f"{name}.txt*"))
    table = np.loadtxt(path, dtype=np.int64)
    return mt.Problem(mt.Dataset(table[:, 1:], y=table[:, 0]), mt.Accuracy(), mt.Trees(depth))


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_published_optima(data_folder, name):
    for depth in (2, 3, 4) if name in SMALL else (2, 3):
        result = DynamicProgramme().run(accuracy_problem(data_folder, name, depth))
        assert result.optimal
        assert result.objective == result.bound == ERRORS[name][depth - 2], f"{name}, depth {depth}"
        assert result.seconds < 10, f"{name}, depth {depth}"
