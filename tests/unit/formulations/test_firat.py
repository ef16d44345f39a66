"""The path master problem: random problems against all trees, with and without the rows of data."""

from dataclasses import replace

import numpy as np
import pytest
import side_rows

import milp_trees as mt
from milp_trees import Trees
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.results.status import Status
from milp_trees.testing import brute_force, random_cost_problem
from milp_trees.testing.solve import minimise

LABELS = ["firat:row_cover=on", "firat"]


def formulation(label):
    return mt.registry.formulation("firat", row_cover=label != "firat")


def constrained(seed):
    """A problem with side rows and a minimum leaf size of 1 to 3."""
    rng = np.random.default_rng(seed)
    given = side_rows.random_problem(rng)
    least = int(rng.integers(1, 4))
    return mt.Problem(
        given.dataset, given.task, replace(given.space, min_weight_leaf=0, min_samples_leaf=least)
    )


def solved(label, problem):
    """Optimum of the model in units of the view, or None."""
    f = formulation(label)
    m = f.build(problem)
    matrix = compile_model(m)
    size = f.model_size(m.view, problem.space)
    assert (matrix.n_variables, matrix.n_rows) == (size.variables, size.rows)
    return minimise(matrix, None).objective


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("seed", range(6))
def test_the_optimum_is_that_of_all_trees(label, seed):
    problem = random_cost_problem(seed, n_rows=8, n_features=3, n_actions=3, depth=2)
    result = mt.solve(problem, method=f"{label}@highs")
    assert result.status is Status.OPTIMAL
    assert result.value == brute_force(problem)[1]


@pytest.mark.parametrize("seed", range(20, 32))
def test_side_rows_and_leaf_sizes_are_kept(seed):
    problem = constrained(seed)
    truth = brute_force(problem)
    results = [mt.solve(problem, method=f"{label}@highs") for label in LABELS]
    for result in results:
        if truth is None:
            assert result.status is Status.INFEASIBLE
        else:
            assert result.value == truth[1]


def test_rows_of_data_only_tighten_the_relaxation():
    problem = random_cost_problem(3, n_rows=12, n_features=4, n_actions=2, depth=2)
    bounds = []
    for label in LABELS:
        matrix = compile_model(formulation(label).build(problem))
        bounds.append(minimise(matrix, None, relax=True).objective)
    assert bounds[0] >= bounds[1] - 1e-6
    assert solved(LABELS[0], problem) == pytest.approx(solved(LABELS[1], problem))


def test_too_many_paths_are_refused_before_any_is_made():
    rng = np.random.default_rng(0)
    data = mt.Dataset(rng.integers(0, 2, (60, 50)), y=rng.integers(0, 2, 60))
    problem = mt.Problem(data, mt.Accuracy(), Trees(4))
    assert "column for every path" in formulation("firat").unsupported(problem)


def test_one_path_per_leaf_does_not_follow_from_the_rows_of_data():
    rng = np.random.default_rng(226)
    problem = random_cost_problem(
        226,
        n_rows=int(rng.integers(1, 12)),
        n_features=int(rng.integers(1, 4)),
        n_actions=int(rng.integers(2, 5)),
        depth=int(rng.integers(0, 3)),
    )
    m = formulation(LABELS[0]).build(problem)
    whole = minimise(compile_model(m), None).objective
    m.del_component(m.one_path)
    assert minimise(compile_model(m), None).objective < whole - 0.5
