"""BendersOCT: cuts hold at every tree, none is missed, and they are minimum cuts of the row's flow
network.
"""

import itertools
import pickle

import numpy as np
import pytest
from milp_trees.formulations import _benders_cuts, _gains

import milp_trees as mt
from milp_trees import Trees
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.testing import random_cost_problem, random_tree
from milp_trees.testing.solve import minimise


def built(problem):
    f = mt.registry.formulation("benders-oct")
    m = f.build(problem, incomplete=True)
    matrix = compile_model(m)
    return f, m, matrix, f.separator(m, matrix)


def fractional_point(m, matrix, rng):
    """A mixture of trees in which every row pretends to gain all."""
    f = mt.registry.formulation("benders-oct")
    problem = mt.Problem(m.problem.dataset, m.problem.task, m.problem.space)
    points, weights = [], rng.dirichlet(np.ones(4))
    while len(points) < 4:
        tree = random_tree(problem, rng)
        f.encode(tree, m)
        points.append(matrix.values())
    x = weights @ np.array(points)
    x[[j for j, v in enumerate(matrix.columns) if v.name.startswith("g[")]] = 1
    return x


def closed_sets(depth):
    """All sets of nodes that hold the root and, with a node, its parent."""
    nodes = range(2, 2 ** (depth + 1))
    for chosen in itertools.product([False, True], repeat=len(nodes)):
        S = {1, *(v for v, is_in in zip(nodes, chosen, strict=True) if is_in)}
        if all(v // 2 in S for v in S if v > 1):
            yield S


def capacity(S, i, m, x_of, view, share):
    """Right-hand side of the cut of row i and S, written as in the paper."""
    total = sum(share[i, k] * x_of(m.w[v, k]) for v in S for k in m.actions)
    for v in S:
        if v in m.branch:
            for side in (0, 1):
                if 2 * v + side not in S:
                    total += sum(x_of(m.b[v, f]) for f in m.features if view.X[i, f] == side)
    return total


@pytest.mark.parametrize("seed", range(4))
def test_fractional_points_are_cut_by_minimum_cuts(seed):
    problem = random_cost_problem(seed, n_rows=8, n_features=3, n_actions=3)
    _f, m, matrix, cuts = built(problem)
    m.problem = problem
    view = m.view
    share, _ = _gains.shares(view)
    x = fractional_point(m, matrix, np.random.default_rng(seed))
    column = {id(v): j for j, v in enumerate(matrix.columns)}

    def x_of(v):
        return x[column[id(v)]]

    least = {i: min(capacity(S, i, m, x_of, view, share) for S in closed_sets(2)) for i in m.scored}
    A, lower, upper = cuts.separate(x, False)
    violated = {i for i in m.scored if 1 - least[i] > _benders_cuts.FRACTIONAL}
    assert len(upper) == len(violated)
    assert np.isneginf(lower).all()
    assert np.allclose(sorted(A @ x - upper), sorted(1 - least[i] for i in violated))
    assert (np.diff(A @ x - upper) <= 1e-12).all(), "the most violated come first"


@pytest.mark.parametrize("seed", range(4))
def test_cuts_hold_at_every_tree(seed):
    problem = random_cost_problem(seed, n_rows=8, n_features=3, n_actions=3)
    f, m, matrix, cuts = built(problem)
    m.problem = problem
    rng = np.random.default_rng(seed)
    found = [cuts.separate(fractional_point(m, matrix, rng), False) for _ in range(5)]
    for _ in range(30):
        f.encode(random_tree(problem, rng), m)
        x = matrix.values()
        assert not len(cuts.separate(x, True)[1])
        for A, _, upper in found:
            assert (A @ x <= upper + 1e-9).all()


@pytest.mark.parametrize("seed", range(4))
def test_no_row_that_gains_too_much_is_missed_at_a_tree(seed):
    problem = random_cost_problem(seed, n_rows=8, n_features=3, n_actions=3, depth=seed % 3)
    f, m, matrix, cuts = built(problem)
    rng = np.random.default_rng(seed)
    for _ in range(10):
        f.encode(random_tree(problem, rng), m)
        x = matrix.values()
        for i in m.scored:
            if m.g[i].value < 1:
                wrong = x.copy()
                wrong[next(j for j, v in enumerate(matrix.columns) if v is m.g[i])] += 0.001
                A, _, upper = cuts.separate(wrong, True)
                assert len(upper) == 1
                assert (A @ wrong - upper)[0] == pytest.approx(0.001)


def test_separator_travels():
    problem = random_cost_problem(1, n_rows=6)
    _f, m, matrix, cuts = built(problem)
    m.problem = problem
    x = fractional_point(m, matrix, np.random.default_rng(0))
    here, there = cuts.separate(x, False), pickle.loads(pickle.dumps(cuts)).separate(x, False)
    assert (here[0] != there[0]).nnz == 0


@pytest.mark.parametrize("seed", range(6))
def test_loop_ends_at_the_optimum(seed):
    given = random_cost_problem(
        seed, n_rows=10, n_features=3, n_actions=2 + seed % 2, depth=seed % 3, penalty=seed % 2 == 1
    )
    problem = mt.Problem(
        given.dataset,
        given.task,
        Trees(given.trees.max_depth, max_leaf_nodes=3 if seed > 3 else None),
    )
    f, m, matrix, cuts = built(problem)
    best = problem.presolved_view().objective(mt.solve(problem, method="enumerate").predictor)
    point = minimise(matrix, cuts)
    assert point.objective == pytest.approx(best, abs=1e-5)
    matrix.load(point.x)
    assert (
        problem.presolved_view().objective(f.decode(m).prune_empty(problem.presolved_view()))
        == best
    )


@pytest.mark.parametrize("solver", ["highs", "scip"])
def test_on_a_solver(solver):
    if not mt.registry.solver(solver).availability().found:
        pytest.skip(f"{solver} is not installed")
    rng = np.random.default_rng(0)
    problem = mt.Problem(
        mt.Dataset(rng.integers(0, 2, (24, 4)), y=rng.integers(0, 2, 24)),
        mt.Accuracy(),
        Trees(2),
    )
    result = mt.solve(problem, method=f"benders-oct@{solver}", time_limit=60)
    assert result.status is mt.plugins.Status.OPTIMAL
    assert result.value.number == mt.solve(problem, method="enumerate").value.number
    assert result.model_size["cuts"] > 0
