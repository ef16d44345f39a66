"""Where the time limit is short for the data, a greedy tree comes before the preparation."""

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.limits import Limit, Limits, Stopped
from milp_trees.methods import greedy_first
from milp_trees.methods.finish import Clock
from milp_trees.methods.unprepared import unprepared


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
