"""All trees near the best where leaves cost a function of sums, beside enumeration in Fractions."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from plain_regression import random_problem, shape, uses

import milp_trees as mt
from milp_trees.engines.near_best.alternatives import other_splits
from milp_trees.engines.near_best.exact_losses import ExactLosses
from milp_trees.mip.registry import registry
from milp_trees.problems.questions import NearBest


def asked(rng, every):
    """A slack, and the largest value within it; often that of one of the trees."""
    best = every[0][0]
    if rng.random() < 0.5:
        value = every[int(rng.integers(min(len(every), 40)))][0]
        return {"slack": value - best}, value
    share = Fraction(int(rng.choice([0, 1, 5, 20])), 5)
    return {"relative": share}, best + share * best


@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("equal_tests", ["all", "one"])
def test_the_set_is_that_of_enumeration(trivial, equal_tests):
    """Trees, numbers of trees per value, and numbers of trees that use a test, all exact."""
    total = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        depth = 3 if rng.random() < 0.2 else int(rng.integers(1, 3))
        problem, plain = random_problem(rng, rows=10, tests=5 - depth, depth=depth)
        every = sorted(
            plain.trees(trivial=trivial, one=equal_tests == "one"), key=lambda pair: pair[0]
        )
        question, most = asked(rng, every)
        within = [(value, tree) for value, tree in every if value <= most]
        trees = mt.near_best(problem, trivial=trivial, equal_tests=equal_tests, **question)
        assert trees.complete
        assert trees.values() == Counter(value for value, _ in within)
        assert list(trees.values()) == sorted(trees.values())
        index = {test.column: f for f, test in enumerate(problem.dataset.features)}
        assert Counter(shape(s.predictor.root, index) for s in trees) == Counter(
            tree for _, tree in within
        )
        for row in trees.importance().itertuples():
            assert row.trees == sum(uses(tree, index[row.column]) for _, tree in within)
        total += trees.count
    assert total > 60


def test_listed_values_are_those_of_the_task():
    """A listed tree predicts doubles, so that its task finds the value up to their rounding."""
    problem, _ = random_problem(np.random.default_rng(3), rows=9, depth=2)
    result = mt.solve(
        mt.Problem(problem.dataset, problem.task, problem.space, NearBest(relative=2))
    )
    assert result.method == "near-best"
    assert result.status.value == "optimal"
    for listed, held in zip(result.solutions, result.trees, strict=False):
        exact = problem.value(listed.predictor).exact
        assert listed.value.exact == exact
        assert held.value.exact <= exact <= held.value.exact + Fraction(1, 10**18)


def test_a_tie_that_units_cannot_see():
    """Two tests differ in the fortieth digit of the loss: only the better one has no slack."""
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 2, dtype=np.uint8)
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1], dtype=float)
    weights = np.ones(8)
    for far in (0.0, 2.0**-30):
        w = weights.copy()
        w[1] += far
        data = mt.Dataset(X, targets=y[:, None], weights=w)
        problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=1))
        trees = mt.near_best(problem, slack=0)
        values = {problem.value(s.predictor).number for s in trees}
        assert len(values) == 1
        assert trees.count == (3 if not far else 2)


def test_limited_runs_say_what_they_cover():
    """Too little memory leaves the complete set for a smaller slack, or none."""
    rng = np.random.default_rng(11)
    X = rng.integers(0, 2, (40, 7)).astype(np.uint8)
    data = mt.Dataset(X, targets=rng.normal(size=(40, 1)).round(3))
    problem = mt.Problem(data, mt.tasks.SquaredError(), mt.Trees(max_depth=3))
    whole = mt.near_best(problem, relative=Fraction(1, 20))
    short = mt.near_best(problem, relative=Fraction(1, 2), memory_mb=5)
    assert not short.complete
    assert short.covered < short.slack
    assert short.limit.value == "memory"
    most = short.optimum.exact + short.covered
    shared = {v: n for v, n in whole.values().items() if v <= most}
    assert shared == {v: n for v, n in short.values().items() if v <= max(shared)}


def test_functions_without_exact_values_are_counted_in_units(monkeypatch):
    """Then the result says how close to the edge trees may be counted or left out."""
    problem, plain = random_problem(np.random.default_rng(5), rows=8, depth=2, penalties=False)
    monkeypatch.setattr(ExactLosses, "of", classmethod(lambda cls, problem, view: None))
    near = mt.Problem(problem.dataset, problem.task, problem.space, NearBest(relative=1))
    result = mt.solve(near, method="near-best")
    best = plain.best()
    assert "counted or left out" in result.message
    assert result.trees.count == sum(v <= 2 * best for v, _ in plain.trees())
    assert result.trees[0].value.exact is None
    assert result.trees.optimum.number == pytest.approx(float(best))


def test_sums_that_round_the_data_have_no_exact_values(monkeypatch):
    """Only a loss of the data themselves is compared exactly."""
    problem, _ = random_problem(np.random.default_rng(5))
    view = problem.first_view((mt.plugins.LeafSums,))
    assert ExactLosses.of(problem, view) is not None
    true = type(problem.task).parts
    monkeypatch.setattr(
        type(problem.task), "parts", lambda task, data: true(task, data)._replace(lost=1.0)
    )
    assert ExactLosses.of(problem, view) is None


def test_logarithms_have_no_exact_values():
    """A leaf function that takes no Fractions, or makes doubles of them, is counted in units."""
    problem, _ = random_problem(np.random.default_rng(5))
    view = problem.first_view((mt.plugins.LeafSums,))

    def refuses(sums):
        raise TypeError("no logarithm")

    for leaf in (refuses, lambda sums: 0.5 * sums[0]):
        assert ExactLosses.of(problem, replace(view, leaf=leaf)) is None


def test_proofs_are_refused_in_a_sentence():
    """A count of losses is none that the checker of proofs makes again."""
    problem, _ = random_problem(np.random.default_rng(5))
    near = replace(problem, question=NearBest(relative=1))
    assert "function of sums" in registry.method("near-best").unproved(near)


def test_alternatives_at_a_node_are_those_of_enumeration():
    """Each other split of the root is followed by the best subtrees."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        problem, plain = random_problem(rng, rows=9, depth=2)
        best = next(t for v, t in plain.trees() if v == plain.best())
        if best is None:
            continue
        tree = mt.solve(problem, method="dp").predictor
        others, branches = other_splits(problem, tree, None, 2**28, 50)
        assert branches[0] is tree.root
        ways = {}
        for f, *sides in plain.splits(plain.every):
            value = sum(plain.best(s, 1) for s in sides) + plain.split_price[f]
            ways.setdefault(frozenset(sides), []).append(value)
        expected = sorted([*map(min, ways.values()), plain.best(depth=0)])
        found = sorted(one.value for one in others[0].splits)
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert abs(a - b) <= plain.whole / 10**9
