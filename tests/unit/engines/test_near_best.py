"""All trees near the best, against the list of all trees of small problems."""

import itertools
import os
import signal
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.engines.near_best import graph as near_graph
from milp_trees.engines.near_best import states as near_states
from milp_trees.mip.registry import registry
from milp_trees.models.nodes import Branch, Leaf


def every_tree(problem, trivial=True, one=False):
    """All trees of a problem by the definition, as plainly as possible: nodes over its tests, no
    side below the smallest leaf, cheapest actions.
    """
    data, space = problem.dataset, problem.trees
    view = problem.view(mt.plugins.CostMatrix)
    masses = view.row_weight if view.row_weight is not None else np.zeros(data.n_rows, dtype=int)

    def enough(rows):
        return (
            len(rows) >= max(1, space.min_samples_leaf)
            and masses[rows].sum() >= view.min_weight_leaf
        )

    def grow(rows, depth):
        yield Leaf(int(view.costs[rows].sum(axis=0).argmin()))
        if depth == 0:
            return
        chosen = {}
        for f in range(view.n_features):
            true = view.X[rows, f] == 1
            key = min(true.tobytes(), (~true).tobytes()) if one else f
            if (
                enough(rows[true])
                and enough(rows[~true])
                and (key not in chosen or view.split_costs[f] < view.split_costs[chosen[key]])
            ):
                chosen[key] = f
        for f in chosen.values():
            true = view.X[rows, f] == 1
            for left, right in itertools.product(
                list(grow(rows[~true], depth - 1)), list(grow(rows[true], depth - 1))
            ):
                if trivial or not (isinstance(left, Leaf) and left == right):
                    yield Branch(view.features[f], left, right)

    whole = np.arange(data.n_rows)
    depth = view.n_features if space.max_depth is None else space.max_depth
    trees = [mt.Tree(root, view.actions) for root in grow(whole, depth)] if enough(whole) else []
    return [t for t in trees if space.max_leaf_nodes is None or t.n_leaves <= space.max_leaf_nodes]


def random_problem(rng):
    """Labels, weights or listed costs; penalties, test costs, equal rows, equal and complementary
    and constant tests; every limit.
    """
    n, F = int(rng.integers(4, 13)), int(rng.integers(1, 5))
    X = rng.integers(0, 2, (n, F))
    if F >= 3 and rng.random() < 0.5:
        X[:, 1], X[:, 2] = 1 - X[:, 0], X[:, 0] if rng.random() < 0.5 else 1
    tests = [mt.BinaryFeature(f"x{f}") for f in range(F)]
    penal = {}
    if rng.random() < 0.6:
        penal = {
            "leaf_penalty": Fraction(int(rng.integers(0, 4)), 2 * n),
            "split_penalty": Fraction(int(rng.integers(0, 2)), 3 * n),
        }
        if rng.random() < 0.5:
            penal["feature_costs"] = {
                f"x{f}": Fraction(int(rng.integers(0, 3)), n) for f in range(F)
            }
    kind = int(rng.integers(3))
    if kind == 2:
        values = rng.integers(0, 4, (n, 3)).astype(float)
        data, task = (
            mt.Dataset(X, features=tests, values=values),
            mt.tasks.ActionCostMatrix(**penal),
        )
    else:
        y = rng.integers(0, 2, n)
        y[:2] = 0, 1
        data = mt.Dataset(X, features=tests, y=y, weights=rng.integers(1, 4, n).astype(float))
        task = mt.Accuracy(**penal) if kind == 0 else mt.tasks.WeightedError(**penal)
    depth = int(rng.integers(0, 4)) if F < 4 or rng.random() < 0.7 else 2
    leaves = None if rng.random() < 0.7 else int(rng.integers(1, 6))
    weight = 0 if rng.random() < 0.7 or kind == 2 else int(rng.integers(1, 6))
    return mt.Problem(
        data,
        task,
        mt.Trees(
            depth if F > 3 or rng.random() < 0.7 else None,
            leaves,
            int(rng.choice([1, 1, 2])),
            min_weight_leaf=weight,
        ),
    )


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_counts_and_order_are_those_of_the_list_of_all_trees(part):
    """Per value, the number of trees; all of them, each once, best first; by number and from the
    end; usage of tests.
    """
    several = 0
    for seed in range(60 * part, 60 * part + 60):
        rng = np.random.default_rng(seed)
        problem = random_problem(rng)
        trivial, one = bool(rng.random() < 0.6), bool(rng.random() < 0.3)
        listed = [(problem.value(t).exact, t.root) for t in every_tree(problem, trivial, one)]
        if not listed:
            with pytest.raises(mt.DataError, match="No tree"):
                mt.near_best(problem, slack=1)
            continue
        best = min(v for v, _ in listed)
        slack = Fraction(
            int(rng.integers(0, 5)), 1 if problem.task.unit != "rate" else problem.dataset.n_rows
        )
        expected = {root: v for v, root in listed if v <= best + slack}
        trees = mt.near_best(
            problem, slack=slack, trivial=trivial, equal_tests="one" if one else "all"
        )
        where = f"seed {seed}, {problem}, slack {slack}, trivial {trivial}, one {one}"
        assert trees.values() == dict(sorted(Counter(expected.values()).items())), where
        assert trees.complete
        assert trees.optimum.exact == best
        assert trees.count == len(trees) == len(expected), where
        if trees.count > 3000:
            continue
        found = list(trees)
        assert {s.predictor.root: s.value.exact for s in found} == expected, where
        assert [s.value.exact for s in found] == sorted(expected.values())
        assert not any(problem.violations(s.predictor) for s in found[:20])
        assert trees[-1].predictor.root == found[-1].predictor.root
        used = trees.importance().set_index("test")
        for test in problem.view(mt.plugins.CostMatrix).features:
            users = [v for root, v in expected.items() if test in mt.Tree(root, ()).splits]
            others = [v for root, v in expected.items() if test not in mt.Tree(root, ()).splits]
            if not users:
                assert test.name not in used.index
                continue
            row = used.loc[test.name]
            assert (row["trees"], row["best_with"]) == (len(users), float(min(users))), where
            assert (
                row["best_without"] == float(min(others))
                if others
                else np.isnan(row["best_without"])
            ), where
        several += trees.count > 1
    assert several > 15


@pytest.mark.slow
def test_the_optimum_is_that_of_the_other_engine():
    """Depths 3 to 5 and none, where sets of rows are bounded and remembered."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (60, 6))
        y = (X[:, 0] & X[:, 1]) ^ X[:, 2] ^ (rng.random(60) < 0.2)
        for depth, penalty in ((3, 0), (4, 0), (4, "1/60"), (5, "1/100")):
            problem = mt.Problem(
                mt.Dataset(X, y=y),
                mt.Accuracy(leaf_penalty=penalty),
                mt.Trees(depth, min_samples_leaf=1 + seed % 3),
            )
            assert (
                mt.near_best(problem, slack=0).optimum.exact == mt.solve(problem, "dp").value.exact
            ), (seed, depth)


def test_no_depth_limit_is_a_limit_that_forbids_nothing():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (40, 5))
    data = mt.Dataset(X, y=X[:, 0] ^ (X[:, 1] & X[:, 2]) ^ (rng.random(40) < 0.15))
    free, deep = (
        mt.near_best(mt.Problem(data, mt.Accuracy(leaf_penalty="1/50"), mt.Trees(d)), slack="3/50")
        for d in (None, 5)
    )
    assert free.values() == deep.values()
    assert free.count > 100
    shallow = mt.near_best(
        mt.Problem(data, mt.Accuracy(leaf_penalty="1/50"), mt.Trees(2)), slack="3/50"
    )
    assert shallow.count < free.count


def planted(depth=3, **more):
    return mt.Problem(mt.load("planted:rows=60,depth=2"), mt.Accuracy(**more), mt.Trees(depth))


def test_samples_are_uniform():
    """Pearson's statistic of 20 draws per tree, at a fixed seed, within five standard deviations of
    its mean; other seeds draw others.
    """
    trees = mt.near_best(planted(2), slack=15)
    assert 20 < trees.count < 600
    drawn = Counter(s.predictor.root for s in trees.sample(20 * trees.count, seed=1))
    assert len(drawn) == trees.count
    chi2 = sum((drawn[s.predictor.root] - 20) ** 2 / 20 for s in trees)
    assert abs(chi2 - (trees.count - 1)) < 5 * (2 * (trees.count - 1)) ** 0.5
    assert [s.predictor.root for s in trees.sample(5, seed=1)] == [
        s.predictor.root for s in trees.sample(5, seed=1)
    ]
    assert [s.predictor.root for s in trees.sample(5, seed=1)] != [
        s.predictor.root for s in trees.sample(5, seed=2)
    ]


def test_astronomical_sets_are_counted_exactly():
    """All trees of depth 5 over 8 tests on all 256 rows: T(d) = 1 + (9 - level) T(d-1)²; the list
    and the sample do not care how many there are.
    """
    X = np.array(list(itertools.product((0, 1), repeat=8)))
    problem = mt.Problem(mt.Dataset(X, y=X[:, 0] ^ X[:, 1]), mt.Accuracy(), mt.Trees(5))
    trees = mt.near_best(problem, slack=256)
    expected = 1
    for tests in (4, 5, 6, 7, 8):
        expected = 1 + tests * expected**2
    assert trees.count == expected > sys.maxsize
    with pytest.raises(OverflowError, match=r"use \.count"):
        len(trees)
    assert trees[0].value.exact == 0
    last = trees[expected - 1]
    assert problem.value(last.predictor).exact == last.value.exact == max(trees.values())
    for s in [*trees.sample(3), *trees[10**6 : 10**6 + 2]]:
        assert problem.value(s.predictor).exact == s.value.exact
    used = trees.importance()
    assert len(used) == 8
    assert all(0 < t < expected for t in used["trees"])
    assert len(set(used["trees"][:2])) == 2 or used["trees"][0] == used["trees"][1]


def test_maximised_and_relative():
    """Balanced accuracy is maximised: the slack goes down. A relative slack is a share of the best
    value.
    """
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (30, 4))
    problem = mt.Problem(
        mt.Dataset(X, y=X[:, 0] ^ (rng.random(30) < 0.3)), mt.tasks.BalancedAccuracy(), mt.Trees(2)
    )
    values = [problem.value(t).exact for t in every_tree(problem)]
    for arguments, least in (
        ({"slack": "1/20"}, max(values) - Fraction(1, 20)),
        ({"relative": 0.1}, max(values) * Fraction(9, 10)),
    ):
        trees = mt.near_best(problem, **arguments)
        assert trees.values() == dict(
            sorted(Counter(v for v in values if v >= least).items(), reverse=True)
        )


def test_the_result_lists_the_first_and_holds_all():
    question = mt.plugins.NearBest(slack=2, most=7)
    result = mt.solve(
        mt.Problem(planted().dataset, mt.Accuracy(), mt.Trees(3), question), "near-best"
    )
    assert result.optimal
    assert len(result.solutions) == 7
    assert result.trees.count > 7
    assert [s.predictor.root for s in result.solutions] == [
        s.predictor.root for s in result.trees[:7]
    ]
    assert result.bound == result.objective == 0
    frame = result.trees.frame(5)
    assert frame["value"].tolist() == [0] * 5
    assert result.trees.to_json()["count"] == result.trees.count
    with pytest.raises(mt.errors.Unsupported, match="dp answers best, not near-best"):
        mt.solve(result.problem, "dp")


def test_what_cannot_be_asked():
    with pytest.raises(mt.DataError, match=r"slack= .* or relative="):
        mt.near_best(planted())
    with pytest.raises(mt.DataError, match="not be negative"):
        mt.near_best(planted(), slack=-1)
    with pytest.raises(mt.DataError, match="'all' or 'one'"):
        mt.plugins.NearBest(slack=1, equal_tests="some")
    data = mt.Dataset([[0], [1], [1]], values=np.random.default_rng(0).random((3, 2)))
    with pytest.raises(mt.errors.Unsupported, match="measured floats"):
        mt.near_best(mt.Problem(data, mt.tasks.ActionCostMatrix(), mt.Trees(1)), slack=1)


def hard():
    rng = np.random.default_rng(0)
    return mt.Problem(
        mt.Dataset(rng.integers(0, 2, (400, 18)), y=rng.integers(0, 2, 400)),
        mt.Accuracy(),
        mt.Trees(4),
    )


def test_a_limit_leaves_the_complete_set_of_a_smaller_slack():
    trees = mt.near_best(hard(), slack=60, memory_mb=6)
    assert not trees.complete
    assert trees.limit is mt.plugins.Limit.MEMORY
    assert "complete only up to" in repr(trees)
    assert trees.covered < 60
    assert trees.values() == mt.near_best(hard(), slack=trees.covered).values()
    with pytest.raises(mt.errors.SolverFailure, match="Raise time_limit"):
        mt.near_best(hard(), slack=60, time_limit=1e-3)


@pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way")
def test_an_interrupt_leaves_the_complete_set_of_a_smaller_slack(monkeypatch):
    """Ctrl-C while the third of four hypergraphs is made: the second is kept. (A signal sent by a
    clock would hit another test on a fast machine.)
    """
    made, tick, allowances = near_graph.TreeGraph.__init__, near_states.RowSets.tick, []

    def make(graph, sets, given, depth, allowance, *rest):
        allowances.append(allowance)
        made(graph, sets, given, depth, allowance, *rest)

    def interrupted(sets, *more):
        if len(allowances) == 3:
            signal.raise_signal(signal.SIGINT)
        tick(sets, *more)

    monkeypatch.setattr(near_graph.TreeGraph, "__init__", make)
    monkeypatch.setattr(near_states.RowSets, "tick", interrupted)
    trees = mt.near_best(planted(2), slack=12)
    assert trees.limit is mt.plugins.Limit.INTERRUPTED
    assert not trees.complete
    assert trees.covered == allowances[1] - allowances[0] == 3


def test_the_picture_shows_values_and_tests():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    trees = mt.near_best(planted(2), slack=15)
    left, right = trees.plot().axes
    assert len(left.patches) == len(trees.values())
    assert len(right.patches) == min(15, len(trees.importance()))


@pytest.mark.parametrize(
    "name, slack, states",
    [
        ("tic-tac-toe", 0, (1, 8, 30)),
        ("tic-tac-toe", 10, (1, 24, 144)),
        ("lymph", 3, (1, 20, 123)),
        ("lymph", 0, (1, 2, 4)),
    ],
)
def test_the_hypergraph_has_the_expected_size(data_folder, name, slack, states):
    """Sets of rows per level of depth that are in some tree within the slack."""
    path = next((data_folder / "classification").glob(f"{name}.txt*"))
    problem = mt.Problem(
        mt.load(str(path)), mt.Accuracy(), mt.Trees(3), mt.plugins.NearBest(slack=slack)
    )
    trees = registry.method("near-best").run(problem).trees
    sizes = Counter(s.depth for s in trees._graph.states)
    assert trees.complete
    assert tuple(sizes[d] for d in (3, 2, 1)) == states
