"""Cuts from best subtrees below a path: what subtrees gain, what the cuts say of every tree, and
that no violated one is missed.
"""

from itertools import product

import numpy as np
import pytest
from milp_trees.formulations import _path_bounds as bounds

import milp_trees as mt
from milp_trees import Trees
from milp_trees.common.errors import DataError
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.testing import random_cost_problem, random_tree
from milp_trees.testing.solve import minimise


def modelled(problem, levels):
    f = registry.formulation("benders-oct", path_bounds=levels)
    m = f.build(problem, incomplete=True)
    matrix = compile_model(m)
    return f, m, matrix, f.separator(m, matrix)


def costs(seed, depth, **sizes):
    rng = np.random.default_rng(seed)
    return random_cost_problem(
        seed,
        n_rows=sizes.get("n_rows", int(rng.integers(2, 10))),
        n_features=sizes.get("n_features", int(rng.integers(1, 4))),
        n_actions=int(rng.integers(2, 5)),
        depth=depth,
        penalty=bool(seed % 2),
    )


def every_path(cuts):
    """Every path to the root of a subtree, with that root."""
    above = len(cuts.b).bit_length() - cuts.levels
    arcs = list(product(range(cuts.X.shape[1]), (0, 1)))
    for path in product(arcs, repeat=above):
        v = 1
        for _, side in path:
            v = 2 * v + side
        yield v, path


@pytest.mark.parametrize("levels", [0, 1, 2])
def test_the_most_that_a_tree_gains(levels):
    for seed in range(20):
        problem = costs(seed, levels)
        view = problem.presolved_view(drop_tests=False)
        best = mt.solve(problem, method="enumerate").predictor
        gain = view.costs.max(axis=1, keepdims=True) - view.costs
        price = view.split_costs + view.leaf_cost
        most = bounds.most_gained(gain, np.asarray(view.X, dtype=np.uint8), price, levels)
        worst = int(view.costs.max(axis=1).sum()) + view.leaf_cost
        assert worst - most == view.objective(best), seed


def test_nothing_is_gained_without_rows_or_tests():
    none = np.zeros((0, 3), dtype=np.int64)
    for levels in (0, 1, 2):
        no_rows = bounds.most_gained(none, np.zeros((0, 2), dtype=np.uint8), np.ones(2), levels)
        assert no_rows == 0
        gain = np.array([[1, 4], [3, 0]])
        no_tests = bounds.most_gained(gain, np.zeros((2, 0), dtype=np.uint8), np.ones(0), levels)
        assert no_tests == 4


@pytest.mark.parametrize("levels, depth", [(1, 2), (1, 3), (2, 3)])
def test_no_tree_violates_a_cut(levels, depth):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        problem = costs(seed, depth, n_features=2)
        f, m, matrix, separator = modelled(problem, levels)
        cuts = separator.paths
        for _ in range(6):
            tree = random_tree(problem, rng)
            f.encode(tree, m)
            x = matrix.values()
            for v, path in every_path(cuts):
                if cuts._subtree(path)[2]:
                    left, upper = cuts._cut(v, path)
                    assert (left @ x)[0] <= upper + 1e-9
            assert not len(separator.separate(x, True)[1])


@pytest.mark.parametrize("levels, depth", [(1, 2), (1, 3), (2, 3)])
def test_no_violated_cut_is_missed(levels, depth):
    rng = np.random.default_rng(5)
    _, _, matrix, separator = modelled(costs(2, depth, n_rows=24, n_features=5), levels)
    cuts, some = separator.paths, 0
    for _ in range(15):
        x = rng.random(matrix.n_variables)
        weights = rng.dirichlet(np.full(cuts.X.shape[1], 0.05), len(cuts.b))
        for v in range(len(cuts.b)):
            x[cuts.b[v]] = weights[v]
        x[separator.g] = 1
        found, upper = cuts.separate(x, 1e-6)
        expected = []
        for v, path in every_path(cuts):
            if cuts._subtree(path)[2]:
                left, most = cuts._cut(v, path)
                if (left @ x)[0] > most + 1e-6:
                    expected.append((left @ x)[0] - most)
        assert np.allclose(np.sort(found @ x - upper), np.sort(expected))
        some += len(expected)
    assert some > 20


def test_only_the_largest_violations_are_added(monkeypatch):
    _, _, matrix, separator = modelled(costs(3, 2, n_rows=9, n_features=3), 1)
    x = np.ones(matrix.n_variables)
    every, held = separator.paths.separate(x, 1e-6)
    monkeypatch.setattr(bounds, "MOST", 1)
    some, upper = separator.paths.separate(x, 1e-6)
    assert len(upper) == 1 < len(held)
    assert (some @ x - upper)[0] == pytest.approx(max(every @ x - held))


def test_the_root_gets_no_cut():
    """It would state the optimum of the whole problem."""
    _, _, matrix, separator = modelled(costs(3, 1, n_rows=9, n_features=3), 1)
    assert not len(separator.paths.separate(np.ones(matrix.n_variables), 1e-6)[1])


def test_bounds_rise():
    risen = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        problem = mt.Problem(
            mt.Dataset(rng.integers(0, 2, (16, 3)), y=rng.integers(0, 2, 16)),
            mt.Accuracy(),
            Trees(2),
        )
        best = mt.solve(problem, method="enumerate").value.number
        values = []
        for levels in (0, 1):
            _, _, matrix, separator = modelled(problem, levels)
            values.append(minimise(matrix, separator, relax=True).objective)
            assert minimise(matrix, separator).objective == pytest.approx(best, abs=1e-6)
        assert values[0] - 1e-6 <= values[1] <= best + 1e-6
        risen.append(values[1] - values[0])
    assert max(risen) > 0.1


def test_the_certificate_names_the_subproblems():
    problem = costs(3, 2, n_rows=9, n_features=3)
    plain, bounded = (
        mt.solve(problem, method=f"benders-oct{options}@highs").certificate.proved_by
        for options in ("", ":path_bounds=1")
    )
    assert "best subtrees" not in plain
    assert "after best subtrees below paths" in bounded


@pytest.mark.parametrize("levels", [-1, 3])
def test_other_numbers_of_levels_are_refused(levels):
    with pytest.raises(DataError, match="number of levels from 0 to 2"):
        registry.formulation("benders-oct", path_bounds=levels)
