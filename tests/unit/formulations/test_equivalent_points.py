"""Cuts of rows that few tests separate: which rows they are, what the cuts say of every tree, and
that the minimum cut is the published recursion over the nodes.
"""

from itertools import combinations

import numpy as np
import pytest
from milp_trees.formulations import _equivalent_points as points

import milp_trees as mt
from milp_trees import Trees
from milp_trees.common.errors import DataError
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.testing import random_cost_problem, random_tree
from milp_trees.testing.solve import minimise


def modelled(problem, tests, **options):
    f = registry.formulation("benders-oct", equivalent_points=tests, **options)
    m = f.build(problem, incomplete=True)
    matrix = compile_model(m)
    return f, m, matrix, f.separator(m, matrix)


def bound(problem, tests, **options):
    """Optimum of the linear relaxation, with all cuts."""
    _, _, matrix, separator = modelled(problem, tests, **options)
    return minimise(matrix, separator, relax=True).objective


def labelled(seed, n_rows=18, n_features=4, depth=2, n_classes=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    return mt.Problem(
        mt.Dataset(rng.integers(0, 2, (n_rows, n_features)), y=y), mt.Accuracy(), Trees(depth)
    )


# -- sets of rows ---------------------------------------------------------------------------------------------


def test_sets_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    for _ in range(30):
        n, F, most = int(rng.integers(1, 12)), int(rng.integers(0, 6)), int(rng.integers(0, 4))
        X = rng.integers(0, 2, (n, F)).astype(np.uint8)
        found = [(tuple(rows), tests) for rows, tests in points.sets_of_rows(X, most)]
        expected = set()
        for size in range(min(most, F) + 1):
            for tests in combinations(range(F), size):
                others = [f for f in range(F) if f not in tests]
                for i in range(n):
                    rows = [j for j in range(n) if (X[j, others] == X[i, others]).all()]
                    differ = tuple(f for f in range(F) if len(set(X[rows, f])) == 2)
                    if len(rows) > 1 and differ == tests:
                        expected.add((tuple(rows), tests))
        assert len(found) == len(set(found))
        assert set(found) == expected


def test_rows_in_blocks(monkeypatch):
    X = np.random.default_rng(1).integers(0, 2, (40, 5)).astype(np.uint8)
    whole = [(tuple(rows), tests) for rows, tests in points.sets_of_rows(X, 2)]
    monkeypatch.setattr(points, "BLOCK", 7)
    monkeypatch.setattr(points, "PAIRS", 3)
    assert whole
    assert [(tuple(rows), tests) for rows, tests in points.sets_of_rows(X, 2)] == whole


def test_rows_whose_words_collide_are_told_apart(monkeypatch):
    """Equal sums of words make candidates only."""

    class Zeros:
        def integers(self, low, high, size, dtype):
            return np.zeros(size, dtype=dtype)

    X = np.array([[0, 0], [0, 1], [1, 0]], dtype=np.uint8)
    monkeypatch.setattr(points.np.random, "default_rng", lambda seed: Zeros())
    for rows, tests in points.sets_of_rows(X, 2):
        assert (np.delete(X[rows] != X[rows[0]], tests, axis=1) == 0).all()


# -- cuts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tests", [1, 2, 3])
def test_no_tree_violates_a_cut_and_the_bound_is_one(tests):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        given = random_cost_problem(
            seed,
            n_rows=int(rng.integers(2, 11)),
            n_features=int(rng.integers(1, 5)),
            n_actions=int(rng.integers(2, 4)),
            depth=int(rng.integers(0, 3)),
            penalty=bool(seed % 2),
        )
        view = given.presolved_view()
        best = view.objective(mt.solve(given, method="enumerate").predictor)
        f, m, matrix, separator = modelled(given, tests)
        assert minimise(matrix, separator, relax=True).objective <= best + 1e-6
        assert minimise(matrix, separator).objective == pytest.approx(best, abs=1e-6)
        for _ in range(5):
            f.encode(random_tree(given, rng), m)
            x = matrix.values()
            found, upper = separator.points.separate(x, -1e9)
            assert found.shape[0] == len(separator.points.together)
            assert (found @ x <= upper + 1e-9).all()


def recursion(cuts, x, j, v=1):
    """The limit of alpha at node v, as it is published."""
    if v > len(cuts.b):
        return 0
    tests = x[cuts.b[v - 1]]
    left = min(cuts.false[j] @ tests, recursion(cuts, x, j, 2 * v))
    return (
        cuts.separating[j] @ tests
        + left
        + min(cuts.true[j] @ tests, recursion(cuts, x, j, 2 * v + 1))
    )


def test_the_cut_is_the_published_recursion_at_every_point():
    rng = np.random.default_rng(3)
    _, _, matrix, separator = modelled(labelled(2, n_rows=14, depth=3), 2)
    cuts = separator.points
    m = len(cuts.together)
    assert m > 5
    for _ in range(20):
        x = rng.random(matrix.n_variables) * rng.integers(0, 2, matrix.n_variables)
        found, upper = cuts.separate(x, -1e9)
        limit = np.array([recursion(cuts, x, j) for j in range(m)])
        expected = cuts.gained @ x - cuts.together - (1 - cuts.together) * limit
        assert np.allclose(np.sort(found @ x - upper), np.sort(expected))


def test_bounds_rise_with_the_number_of_tests():
    risen = []
    for seed in range(4):
        problem = labelled(seed)
        best = mt.solve(problem, method="enumerate").value.number
        bounds = [bound(problem, tests) for tests in (0, 1, 2)]
        assert bounds[0] - 1e-6 <= bounds[1] <= bounds[2] + 1e-6
        assert bounds[2] <= best + 1e-6
        risen.append(bounds[2] - bounds[0])
    assert max(risen) > 0.5


def test_equal_rows_are_never_separated():
    """Rows that are not merged have the equivalent-points bound."""
    problem = mt.Problem(
        mt.Dataset([[0, 1]] * 4 + [[1, 0]], y=[0, 1, 0, 1, 1]), mt.Accuracy(), Trees(2)
    )
    apart = {"merge_rows": False, "drop_tests": False}
    assert bound(problem, 0, **apart) == pytest.approx(0, abs=1e-6)
    assert bound(problem, 1, **apart) == pytest.approx(2, abs=1e-6)


def test_only_the_largest_violations_are_added(monkeypatch):
    _, _, matrix, separator = modelled(labelled(2, n_rows=14), 2)
    x = np.random.default_rng(0).random(matrix.n_variables)
    every, held = separator.points.separate(x, -1e9)
    monkeypatch.setattr(points, "MOST", 2)
    some, upper = separator.points.separate(x, -1e9)
    assert len(upper) == 2
    assert np.allclose(np.sort(some @ x - upper), np.sort(every @ x - held)[-2:])


# -- what is published and not here ---------------------------------------------------------------------------


def test_strengthened_cuts_are_means_of_two_others():
    """For a row in leaf 5: half of the tests at its parent 2 and half of the label of its sibling 4
    lie between the cut that has 4 in S and the cut that has not.
    """
    _, _, matrix, separator = modelled(labelled(1, depth=2), 1)
    x = np.random.default_rng(1).random(matrix.n_variables)
    X, share, rows = separator.X, separator.share, np.arange(len(separator.X))
    labels, tests = share @ x[separator.w].T, x[separator.b]
    leaves_root = (1 * (X == 1)) @ tests[0]
    leaves_parent = (1 * (X == 0)) @ tests[1]
    path = x[separator.g] - labels[:, 0] - labels[:, 1] - labels[:, 4] - leaves_root
    strengthened = path - leaves_parent / 2 - labels[:, 3] / 2

    left, right = np.zeros((2, len(rows), 3), dtype=bool)
    right[:, 0] = True
    sibling_inside = separator._rows(rows, left, right) @ x
    left[:, 1] = True
    sibling_outside = separator._rows(rows, left, right) @ x
    assert np.allclose(strengthened, (sibling_inside + sibling_outside) / 2)
    assert not np.allclose(sibling_inside, sibling_outside)


def test_a_negative_number_is_refused():
    with pytest.raises(DataError, match="equivalent_points is a number of tests"):
        registry.formulation("benders-oct", equivalent_points=-1)


def test_rows_that_gain_all_or_nothing_together_have_no_cut():
    values = np.array([[3, 3], [1, 1], [0, 2], [0, 5]])
    problem = mt.Problem(
        mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], values=values),
        mt.tasks.ActionCostMatrix(),
        Trees(2),
    )
    _, _, _, separator = modelled(problem, 1, merge_rows=False, drop_tests=False)
    assert not len(separator.points.together)
