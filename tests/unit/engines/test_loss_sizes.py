"""The best trees of every number of leaves where leaves cost a function of sums."""

import csv
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest

import milp_trees as mt
from tests.unit.engines.leaf_sums_cases import Exact, drawn


def test_every_size_is_the_optimum_in_fractions():
    for seed in range(120):
        case = drawn(seed)
        case = case if case.max_depth is not None else case.at(3)
        if Exact(case).optimum() is None:
            with pytest.raises(mt.errors.Infeasible):
                mt.size_path(case.problem(), max_leaves=6, method="dp-sizes")
            continue
        path = mt.size_path(case.problem(), max_leaves=6, method="dp-sizes")
        for k in range(1, 7):
            most = min(k, case.max_leaf_nodes or k)
            best = Exact(replace(case, max_leaf_nodes=most)).optimum()
            if best is None:
                assert not [p for p in path.points if p.leaves <= most], (seed, k)
                continue
            point = path.at_leaves(most)
            assert point.n_leaves <= most
            assert point.bound <= best <= point.value.exact, (seed, k)
            assert point.value.exact <= best + case.tolerance, (seed, k)
            assert point.proven, (seed, k)


def test_similar_sets_change_nothing():
    from milp_trees.engines.dp.by_leaves.turns import solve_sizes

    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (60, 7))
        y = (X[:, :3].sum(axis=1) + rng.normal(size=60)).round(2)
        problem = mt.Problem(mt.Dataset(X, y=y), mt.tasks.SquaredError(), mt.Trees(4))
        view = problem.presolved_view()
        with_them, without = (
            solve_sizes(view, problem.space, similar=similar) for similar in (True, False)
        )
        for a, b in zip(with_them.sizes, without.sizes, strict=True):
            assert abs(a.Z - b.Z) <= view.tolerance, (seed, a.leaves)
            assert view.objective(a.tree) == a.Z, (seed, a.leaves)


def test_a_stopped_path_has_trees_and_bounds_that_hold():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 30))
    y = (X[:, :6].sum(axis=1) ** 2 + rng.normal(size=400)).round(3)
    problem = mt.Problem(mt.Dataset(X, y=y), mt.tasks.SquaredError(), mt.Trees(6))
    path = mt.size_path(problem, max_leaves=40, method="dp-sizes", time_limit=0.3)
    assert not path.proven
    for small, large in zip(path.points, path.points[1:], strict=False):
        assert large.value.exact <= small.value.exact
        assert large.bound < large.value.exact
    exact = mt.solve(replace(problem, space=mt.Trees(3)), method="dp").value.exact
    assert path.at_leaves(40).bound <= exact
    greedy = mt.solve(replace(problem, space=mt.Trees(6, max_leaf_nodes=40)), method="cart")
    assert path.at_leaves(40).value.exact <= greedy.value.exact


@pytest.fixture
def published(data_folder):
    """Rows of losses that others reached, by set and depth, and the sets."""
    folder = data_folder / "regression"
    if not folder.exists():
        pytest.skip(f"{folder} holds no sets for regression")
    rows = defaultdict(list)
    with (folder / "published-loss.csv").open() as file:
        for row in csv.DictReader(file):
            rows[row["set"], int(row["depth"])].append(row)
    return folder, rows


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_no_published_loss_is_smaller(published, depth):
    """Mean squared errors of OSRT, IAI, evtree and CART; they are printed with six decimals."""
    folder, rows = published
    for (name, own), reached in rows.items():
        if own != depth or not (folder / f"{name}-binary.csv").exists():
            continue
        table = np.genfromtxt(folder / f"{name}-binary.csv", delimiter=",", skip_header=1)
        data = mt.Dataset(table[:, :-1].astype(np.uint8), y=table[:, -1])
        problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(depth))
        most = max(int(row["leaves"]) for row in reached)
        path = mt.size_path(problem, max_leaves=most, method="dp-sizes")
        assert path.proven, name
        for row in reached:
            mine = path.at_leaves(int(row["leaves"])).value.number / data.n_rows
            others = [float(v) for key, v in row.items() if key.endswith("_mse") and v]
            assert mine <= min(others) * (1 + 1e-6) + 1e-6, (name, row)
            if row["osrt_mse"] and depth < 5:  # proven there too
                assert mine == pytest.approx(float(row["osrt_mse"]), rel=1e-6, abs=1e-6)
