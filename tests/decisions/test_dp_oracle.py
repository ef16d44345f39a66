"""Exact search with an oracle at the leaves: its bounds, its optima, its limits."""

import itertools

import numpy as np
import pytest
from dp_oracle_cases import Hidden, find, instance, listed, problems, rows_of
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError, SolverFailure, Unsupported
from milp_trees.common.limits import Limits
from milp_trees.data.dataset import BinaryFeature as Question
from milp_trees.decisions.engines.dp_oracle import one_split
from milp_trees.decisions.engines.dp_oracle.method import OracleProgramme
from milp_trees.decisions.engines.dp_oracle.two_splits import leaf_sets
from milp_trees.results.result import Limit, Status


def same(a, b):
    return a.status == b.status and (
        a.value is None or a.objective == pytest.approx(b.objective, rel=1e-6, abs=1e-7)
    )


# -- the optimum ---------------------------------------------------------------------------------------------


@pytest.mark.slow
@each_row("seed", range(40))
def test_the_optimum_is_that_of_the_cost_matrix_and_hiding_the_list_changes_nothing(seed):
    open_, hidden = problems(seed)
    expected = mt.solve(open_, "dp")
    assert expected.status in (Status.OPTIMAL, Status.INFEASIBLE)
    assert same(mt.solve(open_, "dp-oracle"), expected)
    assert same(mt.solve(hidden, "dp-oracle"), expected)


@each_row("seed", range(100, 112))
def test_the_optimum_is_that_of_all_trees(seed):
    open_, _ = problems(seed, rows=10, depth=2, weigh_leaves=False)
    assert same(mt.solve(open_, "dp-oracle"), mt.solve(open_, "enumerate"))


@pytest.mark.parametrize(
    "options",
    [
        {"similarity": False},
        {"merge_rows": False},
        {"pool": 4},
        {"pool": 1, "similarity": False, "merge_rows": False},
    ],
)
def test_the_optimum_does_not_depend_on_the_bounds(options):
    for seed in range(200, 210):
        _, hidden = problems(seed)
        assert same(OracleProgramme(**options).run(hidden), OracleProgramme().run(hidden))


def test_depth_four_is_solved_too():
    open_, hidden = problems(301, depth=4)
    assert same(mt.solve(hidden, "dp-oracle"), mt.solve(open_, "dp"))


def test_tests_of_one_name_that_are_not_nested_are_columns_of_their_own():
    rng = np.random.default_rng(5)
    tests = [Question("x", "<=", float(t)) for t in range(4)]
    data = mt.Dataset(
        rng.integers(0, 2, (20, 4)),
        features=tests,
        values=rng.normal(size=(20, 2)),
        actions=["a", "b"],
    )
    problem = mt.Problem(
        data,
        mt.decisions.Decision(decisions=mt.decisions.ListedDecisions(np.eye(2), ["a", "b"])),
        mt.Trees(2),
    )
    assert same(mt.solve(problem, "dp-oracle"), mt.solve(problem, "dp"))


# -- many decisions ------------------------------------------------------------------------------------------


def paths_problem(n, thresholds, side, depth, **space):
    made = mt.decisions.shortest_path_data(
        n, features=3, degree=6, noise=0.3, grid=(side, side), seed=1
    )
    cuts = np.arange(1, thresholds + 1) / (thresholds + 1)
    X = np.concatenate([made.X[:, [j]] <= cuts for j in range(3)], axis=1).astype(np.uint8)
    tests = [Question(f"x{j}", "<=", float(c)) for j in range(3) for c in cuts]
    data = mt.Dataset(X, values=made.C, actions=list(made.decisions.components), features=tests)
    return mt.Problem(
        data, mt.decisions.Decision(decisions=made.decisions), mt.Trees(depth, **space)
    )


def by_pairs(problem):
    """Least loss of depth two: every root, both sides, every test, asked one by one."""
    view = problem.view(mt.plugins.LeafOracle)

    def leaf(rows):
        return (
            float(view.decisions.value(view.vectors[rows].sum(axis=0)[None])[0])
            if rows.any()
            else 0.0
        )

    def one(rows):
        return min(
            leaf(rows & (view.X[:, g] == 1)) + leaf(rows & (view.X[:, g] == 0))
            for g in range(view.n_features)
        )

    return view.natural(
        min(one(view.X[:, f] == 1) + one(view.X[:, f] == 0) for f in range(view.n_features))
        - view.base.sum()
    )


@pytest.mark.slow
def test_depth_two_for_millions_of_decisions_that_are_never_listed(monkeypatch):
    problem = paths_problem(300, 8, 13, 2)
    assert problem.task.decisions.n_vertices == 2_704_156
    monkeypatch.setattr(
        type(problem.task.decisions), "_routes", lambda self: pytest.fail("the paths were listed")
    )
    result = mt.solve(problem)
    assert result.method == "dp-oracle"
    assert result.optimal
    assert result.objective == pytest.approx(by_pairs(problem), rel=1e-6)
    # Two sides of every split of both sides of every root would be four calls per pair of tests.
    assert result.model_size["oracle_calls"] < 4 * problem.dataset.n_features**2
    assert mt.verify(result, time_limit=6)


def test_most_splits_are_never_asked_about():
    made = mt.decisions.two_roads(2000)
    cuts = np.arange(1, 400) / 400
    tests = [Question("x", "<=", float(c)) for c in cuts]
    data = mt.Dataset(
        (cuts >= made.X).astype(np.uint8), values=made.C, actions=["road1", "road2"], features=tests
    )
    result = mt.solve(
        mt.Problem(data, mt.decisions.Decision(decisions=Hidden(made.decisions)), mt.Trees(1)),
        "dp-oracle",
    )
    assert result.optimal
    assert result.tree.root.test.value == pytest.approx(0.2846, abs=0.003)
    assert result.model_size["oracle_calls"] < 2 * 399 / 4


def test_a_linear_programme_at_the_leaves():
    rng = np.random.default_rng(3)
    S = mt.decisions.simplex_decisions(["a", "b", "c"], ([[1, 2, 1], [2, 1, 1]], [1.5, 1.6]))
    data = mt.Dataset(
        rng.integers(0, 2, (25, 4)), values=rng.normal(size=(25, 3)), actions=["a", "b", "c"]
    )
    open_, hidden = (
        mt.Problem(data, mt.decisions.Decision(decisions=s), mt.Trees(2))
        for s in (S, Hidden(S, cache_answers=True))
    )
    assert same(mt.solve(hidden, "dp-oracle"), mt.solve(open_, "dp"))


# -- limits, starts, refusals --------------------------------------------------------------------------------


def stop_after(monkeypatch, calls, error):
    """`best_splits` raises after so many calls."""
    original, left = one_split.best_splits, itertools.count(calls, -1)

    def stopping(*given):
        if next(left) <= 0:
            raise error
        return original(*given)

    monkeypatch.setattr("milp_trees.decisions.engines.dp_oracle.two_splits.best_splits", stopping)


@pytest.mark.parametrize("depth", [2, 3])
@pytest.mark.parametrize("calls", [0, 1, 2])
def test_an_interrupted_run_keeps_its_tree_and_a_valid_bound(monkeypatch, depth, calls):
    problem = paths_problem(150, 6, 3, depth)
    best = mt.solve(problem, "dp-oracle")
    stop_after(monkeypatch, calls, KeyboardInterrupt)
    stopped = mt.solve(problem, "dp-oracle")
    assert stopped.limit is Limit.INTERRUPTED
    assert stopped.status is Status.FEASIBLE
    assert stopped.bound <= best.objective + 1e-9 <= stopped.objective + 2e-9
    assert [p.bound for p in stopped.trace] == sorted(p.bound for p in stopped.trace)


def test_no_time_gives_a_tree_and_a_valid_bound():
    problem = paths_problem(400, 30, 6, 4)
    result = mt.solve(problem, "dp-oracle", time_limit=0.3)
    assert result.limit is Limit.TIME
    assert result.seconds < 3
    assert 0 <= result.bound <= result.objective
    assert result.objective < mt.solve(paths_problem(400, 30, 6, 1), "dp-oracle").objective


def test_a_start_is_kept_unless_a_better_tree_is_found():
    problem = paths_problem(150, 6, 3, 2)
    best = mt.solve(problem, "dp-oracle")
    again = OracleProgramme().run(problem, start=best.tree)
    assert again.optimal
    assert again.tree == best.tree
    assert again.model_size["oracle_calls"] <= best.model_size["oracle_calls"]
    assert len(again.trace) <= len(best.trace)
    shallow = mt.solve(paths_problem(150, 6, 3, 1), "dp-oracle").tree
    assert OracleProgramme().run(problem, start=shallow).objective == pytest.approx(best.objective)


def test_smallest_leaves_are_kept():
    problem = paths_problem(150, 6, 3, 3, min_samples_leaf=25)
    result = mt.solve(problem, "dp-oracle")
    assert result.optimal
    assert np.bincount(result.tree.routes(problem.dataset).leaf).min() >= 25
    assert (
        result.objective
        > mt.solve(paths_problem(150, 6, 3, 3), "dp-oracle", time_limit=20).objective
    )


def test_what_it_cannot_do_is_refused_in_a_sentence():
    method = OracleProgramme()
    assert "number of leaves" in method.unsupported(paths_problem(20, 3, 3, 2, max_leaf_nodes=3))
    assert method.unsupported(paths_problem(20, 3, 3, 2, max_leaf_nodes=4)) is None
    with pytest.raises(Unsupported, match="depth limit"):
        method.run(paths_problem(20, 3, 3, None))
    with pytest.raises(DataError, match="number of decisions"):
        OracleProgramme(pool=-2)


def test_options_are_spelled_as_for_every_engine():
    result = mt.solve(paths_problem(60, 3, 3, 2), "dp-oracle:pool=8,similarity=off")
    assert result.optimal
    assert result.certificate.proved_by == result.method == "dp-oracle:pool=8,similarity=off"


def test_where_leaves_are_limited_listed_decisions_go_to_dp():
    problem = paths_problem(60, 3, 3, 2, max_leaf_nodes=3)
    assert mt.solve(problem).method == "dp"


def test_an_oracle_that_fails_midway_is_a_sentence():
    class Failing(Hidden):
        def _solve(self, costs):
            if self.calls > 60:
                raise SolverFailure("The oracle is gone.")
            return super()._solve(costs)

    rng = np.random.default_rng(0)
    problem = mt.Problem(
        rows_of(rng, 3, 20, False, True, False),
        mt.decisions.Decision(decisions=Failing(listed(rng, 3))),
        mt.Trees(2),
    )
    with pytest.raises(SolverFailure, match="gone"):
        OracleProgramme().run(problem, Limits())


def test_leaves_of_a_shape_divide_the_rows():
    inst = instance(paths_problem(50, 3, 3, 2))
    rows = np.arange(inst.n_rows)
    parts = leaf_sets(inst, rows, find(inst, rows, 2).shape)
    assert sorted(np.concatenate(parts).tolist()) == rows.tolist()
