"""The best trees of every size: one run against the enumerator, against a run per size, and against
penalties per leaf.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from random_views import random_space, random_view

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.engines.dp.by_leaves import fronts
from milp_trees.engines.dp.by_leaves.turns import solve_sizes
from milp_trees.engines.enumerate import enumerate_trees
from milp_trees.methods.by_size import result_at
from milp_trees.methods.watch import Watch
from milp_trees.results.result import Limit, Status


def check(view, space, where, **options):
    """Every size has the enumerator's value, with a tree that keeps the limits and wastes no leaf."""
    achieved = enumerate_trees(view, space.max_depth, space.min_samples_leaf)
    reduced = view.reduce()
    found = solve_sizes(reduced, space, **options)
    assert found.limit is None
    assert len(found.sizes) >= 1
    for size in found.sizes:
        fitting = [
            (cost, leaves) for (leaves, _), (cost, _) in achieved.items() if leaves <= size.leaves
        ]
        expected = min(fitting, default=None)
        assert (expected and expected[0]) == size.Z, (
            f"{where}: {size.Z} instead of {expected} with {size.leaves} leaves, {space}"
        )
        if expected is None:
            assert size.tree is None
            continue
        assert size.proven, where
        assert (view.objective(size.tree), size.tree.n_leaves) == expected, where
        assert size.tree.depth <= space.max_depth, where
        held = np.bincount(
            reduced.canonical(size.tree).routes(reduced).leaf,
            weights=reduced.counts,
            minlength=size.tree.n_leaves,
        )
        assert held.min() >= space.min_samples_leaf, where
    return found


def test_equals_the_enumerator_on_random_problems():
    """Any costs, penalties, numbers of actions, minimum sizes of leaves."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        check(random_view(rng), random_space(rng), f"seed {seed}")


@pytest.mark.parametrize("similar", [True, False])
def test_equals_the_enumerator_at_depth_four_to_six(similar):
    """The nodes above depth three: budgets, memo, bounds from similar sets, which a minimum leaf
    size restricts.
    """
    recalled = 0
    for seed in range(80):
        rng = np.random.default_rng(5000 + seed)
        view = random_view(rng, rows=18, tests=6)
        space = mt.Trees(
            4 + seed % 3,
            None if seed % 2 else int(rng.integers(5, 12)),
            int(rng.choice([1, 1, 2, 3])),
        )
        recalled += check(view, space, f"seed {5000 + seed}", similar=similar).counters.get(
            "recalled", 0
        )
    assert recalled, "the memo was never asked for anything it knew"


def random_problem(seed, rows=40, tests=6, depth=None, task=None, **limits):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (rows, tests))
    y = (X[:, 0] & X[:, 1] | X[:, 2] & ~X[:, 3] & 1) ^ (rng.random(rows) < 0.2)
    return mt.Problem(
        mt.Dataset(X, y=y.astype(int)), task or mt.Accuracy(), mt.Trees(depth, **limits)
    )


def test_without_a_depth_limit_the_leaves_bound_the_depth():
    """L leaves with no depth limit are the same as a depth of L - 1, and more than a smaller depth
    on some problem.
    """
    deeper = 0
    for seed in range(8):
        values = [
            mt.size_path(random_problem(seed, rows=60, tests=7, depth=d), max_leaves=7)
            .at_leaves(7)
            .value.exact
            for d in (None, 6, 3)
        ]
        assert values[0] == values[1] <= values[2]
        deeper += values[1] < values[2]
    assert deeper


@pytest.mark.parametrize(
    ("method", "seeds", "depth", "most"),
    [("dp", 6, 3, 6), ("enumerate", 6, 3, 6), ("flow-oct@highs", 1, 2, 4)],
)
def test_one_run_equals_a_run_per_size(method, seeds, depth, most):
    """Values, and the sizes that improve, are those of separate problems with a limit on leaves."""
    for seed in range(seeds):
        problem = random_problem(
            seed, rows=40 if most > 4 else 20, tests=6 if most > 4 else 4, depth=depth
        )
        path, runs = (
            mt.size_path(problem, max_leaves=most),
            mt.size_path(problem, max_leaves=most, method=method),
        )
        assert [p.value for p in path.points] == [p.value for p in runs.points]
        assert [p.leaves for p in runs.points] == list(range(1, most + 1))
        assert path.proven
        assert [p.n_leaves for p in path.improving] == [p.n_leaves for p in runs.improving]
        assert path.penalties == runs.penalties


@pytest.mark.slow
@pytest.mark.parametrize(
    "task",
    [mt.Accuracy(), mt.tasks.BalancedAccuracy(), mt.Accuracy(split_penalty="1/100")],
)
def test_the_hull_equals_runs_with_a_penalty_per_leaf(task):
    """Between breakpoints the tree of the path is optimal for the penalised problem; at a
    breakpoint two sizes are equally good.
    """
    for seed in range(4):
        problem = random_problem(seed, depth=3, task=task)
        path = mt.size_path(problem, max_leaves=8)
        ends = [path.penalties[0] + 1, *path.penalties, Fraction(0)]
        for penalty in [*ends, *((a + b) / 2 for a, b in pairwise(ends))]:
            result = result_at(path, penalty)
            assert result.status is Status.OPTIMAL
            assert (
                result.value.exact
                == mt.solve(result.problem, "dp").value.exact
                == mt.solve(result.problem, "enumerate").value.exact
            )
            point = path.at_penalty(penalty)
            low, high = path.interval(point)
            assert low <= penalty
            assert high is None or penalty <= high
        for penalty, a, b in zip(path.penalties, path.hull, path.hull[1:], strict=False):
            assert a.loss + penalty * a.n_leaves == b.loss + penalty * b.n_leaves
            assert path.at_penalty(penalty) is a, "of equal ones the smaller tree"


def test_a_path_says_what_it_is():
    """The frame, the JSON and the repr hold the same sizes; what is not there is refused with a
    sentence.
    """
    path = mt.size_path(random_problem(3, depth=3), max_leaves=8)
    frame = path.frame()
    assert list(frame["leaves"]) == [p.predictor.n_leaves for p in path.improving]
    assert list(frame["value"]) == sorted(frame["value"], reverse=True)
    assert list(frame["exact"]) == [p.value.exact for p in path.improving]
    assert frame["proven"].all()
    assert frame["on_hull"].sum() == len(path.hull)
    plain = path.to_json()
    assert [row["leaves"] for row in plain["sizes"]] == list(frame["leaves"])
    assert plain["problem"]["question"] == "by-size"
    assert repr(path).startswith("<SizePath by dp-sizes")
    assert "proven" in repr(path)
    with pytest.raises(mt.DataError, match="negative"):
        path.at_penalty(-1)
    with pytest.raises(mt.DataError, match="at most 0 leaves"):
        path.at_leaves(0)
    with pytest.raises(mt.DataError, match="max_leaves"):
        mt.size_path(random_problem(3, depth=3), max_leaves=0)


def test_the_question_by_size_has_one_solution_per_size_that_improves():
    """The largest first, which is what the question for the best tree gives."""
    problem = random_problem(1, depth=3)
    requested = mt.Problem(problem.dataset, problem.task, problem.space, mt.plugins.BySize(5))
    result = mt.solve(requested, "dp-sizes")
    assert [s.predictor for s in result.solutions] == [
        p.predictor for p in reversed(result.curve.improving)
    ]
    assert (
        result.value
        == mt.solve(mt.Problem(problem.dataset, problem.task, mt.Trees(3, 5)), "enumerate").value
    )
    with pytest.raises(mt.errors.Unsupported, match="by-size"):
        mt.solve(requested, "enumerate")


def test_a_minimum_weight_in_the_leaves():
    """Whole weights are repeated rows, and a minimum of them a minimum of rows."""
    rng = np.random.default_rng(2)
    X, y, weights = rng.integers(0, 2, (30, 5)), rng.integers(0, 2, 30), rng.integers(0, 4, 30)
    dataset, again = mt.Dataset(X, y=y, weights=weights), np.repeat(np.arange(30), weights)
    for least in (1, 5, 9):
        weighed = mt.Problem(
            dataset, mt.tasks.WeightedError(), mt.Trees(3, max_leaf_nodes=5, min_weight_leaf=least)
        )
        repeated = mt.Problem(
            mt.Dataset(X[again], y=y[again]),
            mt.Accuracy(),
            mt.Trees(3, max_leaf_nodes=5, min_samples_leaf=least),
        )
        assert (
            mt.solve(weighed, "dp-sizes").value.exact == mt.solve(repeated, "enumerate").value.exact
        )
    values = [
        mt.solve(
            mt.Problem(
                dataset, mt.tasks.WeightedError(), mt.Trees(2, leaves, 4, min_weight_leaf=6)
            ),
            name,
        ).value.exact
        for name, leaves in (("dp-sizes", 4), ("dp", 4), ("dp", None))
    ]
    assert len(set(values)) == 1, "rows and weight at once"


def test_a_run_that_is_stopped_keeps_honest_bounds(monkeypatch):
    """Stopped at the first look at the clock: trees, and bounds that the true values respect."""
    monkeypatch.setattr(fronts, "QUOTA", 1.0)
    problem = random_problem(0, rows=200, tests=10, depth=5)
    view = problem.presolved_view()
    space = mt.Trees(5, 9)
    true = [s.Z for s in solve_sizes(view, space).sizes]
    for looks in (0, 3, 20, 60, 200):
        left = [looks]

        class Counting(Watch):
            def over(self, ended=None, left=left):
                left[0] -= 1
                return Limit.INTERRUPTED if left[0] < 0 else None

        found = solve_sizes(view, space, Counting(Limits()))
        for size, Z in zip(found.sizes, true, strict=True):
            assert size.bound <= Z <= size.Z
            assert view.objective(size.tree) <= size.Z
            assert size.tree.n_leaves <= size.leaves
        assert found.limit is Limit.INTERRUPTED or [s.Z for s in found.sizes] == true
    assert solve_sizes(view, space, Watch(Limits(time=0.0))).limit is Limit.TIME


def test_progress_falls_and_memory_may_be_short():
    """What is reported improves; with room for a handful of sets the values are the same."""
    problem = random_problem(5, rows=120, tests=9, depth=5)
    stated = []
    whole = solve_sizes(problem.presolved_view(), mt.Trees(5, 8), progress=stated.append)
    assert stated[-1] == tuple(s.Z for s in whole.sizes)
    assert all(
        b <= a for first, second in pairwise(stated) for a, b in zip(first, second, strict=True)
    )
    short = solve_sizes(problem.presolved_view(), mt.Trees(5, 8), memory_bytes=2000)
    assert [s.Z for s in short.sizes] == [s.Z for s in whole.sizes]
    assert short.counters["cached"] <= 2 < whole.counters["cached"]


def test_bounds_from_similar_sets_save_work():
    """The switch changes a counter, not an answer."""
    problem = random_problem(7, rows=300, tests=10, depth=4)
    on, off = (
        solve_sizes(problem.presolved_view(), mt.Trees(4, 8), similar=switch)
        for switch in (True, False)
    )
    assert [s.Z for s in on.sizes] == [s.Z for s in off.sizes]
    assert on.counters["pairs"] < off.counters["pairs"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "errors"),
    [
        ("tic-tac-toe", [332, 288, 282, 240, 228, 190, 182, 178]),
        ("german-credit", [300, 290, 271, 259, 250, 240, 232, 228]),
    ],
)
def test_public_data_at_depth_four(data_folder, name, errors):
    """Errors by number of leaves, of which the dynamic programme with a limit on leaves gave each
    alone.
    """
    dataset = mt.load(data_folder / "classification" / f"{name}.txt")
    path = mt.size_path(mt.Problem(dataset, mt.Accuracy(), mt.Trees(4)), max_leaves=8)
    assert [p.value.number for p in path.points] == errors
    assert path.proven


@pytest.mark.parametrize("method", ["dp-sizes", "dp"])
def test_sizes_of_measured_weights_are_proven(method):
    """The bound is a sum of rounded weights, the value one of the weights as they are."""
    data = mt.Dataset([[0], [0], [1]], y=[0, 1, 1], weights=[0.7, 1 / 7, 5 / 7])
    problem = mt.Problem(data, mt.tasks.WeightedError(), mt.Trees(1))
    assert not problem.scale.exact
    path = mt.size_path(problem, max_leaves=2, method=method)
    assert path.points[-1].bound != path.points[-1].value.number
    assert path.proven
