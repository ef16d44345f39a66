"""Where the time limit is short for the data, a greedy tree comes before the preparation."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.limits import Limit, Limits, Stopped
from milp_trees.methods import greedy_first, simplest
from milp_trees.methods import unprepared as unprepared_module
from milp_trees.methods.finish import Clock
from milp_trees.methods.unprepared import unprepared
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Leaf
from milp_trees.models.tree import Tree
from milp_trees.problems.questions import Front
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.testing.problems import PROBLEMS
from milp_trees.testing.problems import problem as named_problem


def problem(rows=3000, tests=100, **task):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (rows, tests)).astype(np.uint8)
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(rows) < 0.1)
    return mt.Problem(mt.Dataset(X, y=y.astype(int)), mt.Accuracy(**task), mt.Trees(3))


@pytest.mark.parametrize(("seconds", "tight"), [(0.01, True), (60.0, False), (None, False)])
def test_only_limits_that_are_short_for_the_data_are_tight(seconds, tight):
    """60 seconds leave enough for the search, so an ordinary run is no slower."""
    rows = problem(9000)
    assert greedy_first.is_tight(rows, Limits(time=seconds)) is tight


def test_small_data_are_never_tight():
    assert not greedy_first.is_tight(problem(100, 10), Limits(time=0.001))


def test_a_run_stopped_in_its_preparation_has_the_greedy_tree(monkeypatch):
    """Its answer is that of cart, and a run that goes on begins with it."""
    rows = problem()
    monkeypatch.setattr(greedy_first, "is_tight", lambda *_: True)
    cart = mt.registry.method("cart").run(rows, Limits(time=None))
    method = mt.registry.method("dp")

    def search(self, *_):
        raise Stopped(Limit.TIME)

    monkeypatch.setattr(type(method), "search", search)
    result = method.run(rows, Limits(time=60.0))
    assert (result.limit, result.start) == (Limit.TIME, {})
    assert result.objective <= cart.objective
    assert result.tree.n_leaves > 1


def test_a_constraint_that_the_greedy_tree_breaks_leaves_the_answer_to_the_run(monkeypatch):
    monkeypatch.setattr(greedy_first, "is_tight", lambda *_: True)
    none = mt.tasks.Capacity(action=1, at_most=0)
    result = mt.registry.method("lagrangian").run(problem(60, 5, constraints=[none]))
    assert result.optimal


def test_without_any_search_the_best_leaf_is_the_answer(monkeypatch):
    """Single leaves are tried in the order of their costs, as far as a moment allows."""
    monkeypatch.setattr("milp_trees.methods.simplest.LOOKING", 0.0)
    rng = np.random.default_rng(0)
    y = np.concatenate([rng.integers(0, 9, 60), np.full(200, 7)])
    rows = mt.Problem(mt.Dataset(np.ones((260, 1)), y=y), mt.Accuracy(), mt.Trees(2))
    rows.view(mt.plugins.CostMatrix)
    result = unprepared("dp", rows, None, Clock(), Limit.MEMORY)
    assert result.tree.predict(rows.dataset)[0] == 7


@each_row("name", PROBLEMS)
def test_without_data_prepared_the_best_simplest_model_is_the_answer(name, monkeypatch):
    """Whatever the task, its weights, penalties and side constraints, and without any time."""
    monkeypatch.setattr(simplest, "LOOKING", 0.0)
    monkeypatch.setattr(unprepared_module, "GROWING", 0.0)
    requested = named_problem(name).without_views()
    actions = requested.task.actions(requested.dataset)
    leaves = list(requested.space.simplest(actions))
    if not actions:  # a leaf predicts a number of its own
        leaves = [named_problem(name).first_view((LeafSums,)).decided(Tree(Leaf(0), ()))]
    values = [requested.value(leaf) for leaf in leaves if not requested.violations(leaf)]
    for limit in (Limit.TIME, Limit.MEMORY, Limit.INTERRUPTED):
        result = unprepared("dp", requested, None, Clock(), limit)
        # Leaves that predict a number are not listed; the best one is known without a search.
        numbers = requested.task.predicts_numbers
        assert (result.predictor is None) == (not values and not numbers)
        assert not any(value.better_than(result.value) for value in values)


def test_costs_alone_are_those_of_single_leaves():
    """Kinds of rows, rows that stand for several, weights, and costs of their own."""
    X, y = np.zeros((4, 1)), np.array([0, 1, 1, 2])
    counted = mt.Dataset(X, y=y, counts=np.array([5, 1, 1, 3]))
    weighed = mt.Dataset(X, y=y, weights=np.array([0.5, 2, 0.25, 1]))
    for data, task in (
        (counted, mt.Accuracy()),
        (weighed, mt.tasks.WeightedError()),
        (weighed, mt.tasks.BalancedAccuracy()),
    ):
        requested = mt.Problem(data, task, mt.Trees(1))
        leaves = requested.space.simplest(task.actions(data))
        order = np.argsort(task.costs_alone(data), kind="stable")
        values = [requested.value(leaf) for leaf in leaves]
        assert not any(values[b].better_than(values[a]) for a, b in pairwise(order))


@pytest.mark.parametrize("stored", ["matrix", "ranks"])
def test_tight_limits_count_columns_of_thresholds(stored):
    rng = np.random.default_rng(0)
    if stored == "matrix":
        requested = problem(9000)
    else:
        table = pd.DataFrame(rng.integers(0, 3, (300_000, 5)), columns=list("abcde"))
        data = mt.Binarizer(kind="midpoints").dataset(table, rng.integers(0, 2, 300_000))
        requested = mt.Problem(data, mt.Accuracy(), mt.Trees(3))
        assert data.ranked is not None
    assert greedy_first.is_tight(requested, Limits(time=0.05))
    assert not greedy_first.is_tight(requested, Limits(time=50.0))


def test_a_greedy_tree_that_takes_all_of_the_time_is_the_answer(monkeypatch):
    monkeypatch.setattr(greedy_first, "is_tight", lambda *_: True)
    requested = problem()
    cart = mt.registry.method("cart").run(requested, Limits(time=None))
    whole = greedy_first.greedy_tree
    monkeypatch.setattr(greedy_first, "greedy_tree", lambda view, space, _: whole(view, space))
    result = mt.registry.method("dp").run(requested, Limits(time=1e-6))
    assert (result.limit, result.status.value) == (Limit.TIME, "feasible")
    assert result.objective == cart.objective


def test_the_front_of_a_run_that_was_stopped_in_its_preparation_is_the_greedy_tree(monkeypatch):
    requested = replace(problem(60, 5), question=Front(mt.tasks.Capacity(1)))
    grown = greedy_first.greedy_tree(requested.view(mt.plugins.CostMatrix), requested.space)
    Watch(Limits(), None, requested).has_answer(grown)
    result = unprepared("dp", requested, None, Clock(), Limit.TIME)
    assert [one.predictor for one in result.solutions] == [grown]
