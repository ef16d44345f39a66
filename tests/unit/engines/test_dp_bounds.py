"""Bounds of the engine `dp` that would be wrong if a detail were forgotten."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from dp_bounds_cases import best
from dp_search_cases import solve
from random_views import random_view

import milp_trees as mt
from milp_trees.engines.dp.method import DynamicProgramme
from milp_trees.engines.dp.switches import ORDERS
from milp_trees.testing.problems import problem

# -- bounds that would be wrong ------------------------------------------------------------------------------


def naive(view, depth, least, rule, costs):
    """The optimum as a depth-first search sees it that trusts a bound between sets of rows (None:
    no bound).
    """
    infinite, worst = 10**9, costs.max(axis=1)
    solved = {}

    def lower(rows, d):
        known = [(other, value) for (other, e), value in solved.items() if e == d]
        inside = [(other, value) for other, value in known if other <= rows]
        if rule == "similarity":
            values = [value - int(worst[sorted(other - rows)].sum()) for other, value in known]
        elif rule == "monotone":
            values = [value for _, value in inside]
        elif rule == "superadditive":
            values = [v + w for (a, v), (b, w) in combinations(inside, 2) if not a & b]
        else:
            values = []
        return max(values, default=-infinite)

    def search(rows, d):
        if (rows, d) in solved:
            return solved[rows, d]
        found = int(costs[sorted(rows)].sum(axis=0).min()) if len(rows) >= least else infinite
        for f in range(view.n_features if d else 0):
            right = frozenset(i for i in rows if view.X[i, f])
            left = rows - right
            if (
                min(len(left), len(right)) < least
                or lower(left, d - 1) + lower(right, d - 1) >= found
            ):
                continue
            value = search(left, d - 1)
            if value + lower(right, d - 1) < found:
                found = min(found, value + search(right, d - 1))
        solved[rows, d] = found
        return found

    return search(frozenset(range(view.n_rows)), depth)


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("min_leaf_not_similar", "similarity"),
        ("min_leaf_not_similar", "monotone"),
        ("min_leaf_not_superadditive", "superadditive"),
        ("costs_below_zero", "similarity"),
    ],
)
def test_a_search_that_trusts_an_invalid_bound_is_wrong_and_dp_is_not(name, rule):
    tiny = problem(name)
    view, least = tiny.view(mt.plugins.CostMatrix), tiny.trees.min_samples_leaf
    true = best(view, 2, least)[0]
    assert naive(view, 2, least, None, view.costs) == true
    assert naive(view, 2, least, rule, view.costs) > true
    # With one row per leaf, and costs from which the cheapest action is subtracted, the bound
    # holds.
    base = int(view.costs.min(axis=1).sum())
    assert naive(view, 2, 1, rule, view.regret) + base == best(view, 2, 1)[0]
    for depth in (2, 3, 4):
        for order in ORDERS:
            found = solve(
                view, mt.Trees(depth, min_samples_leaf=least), DynamicProgramme(order=order)
            )
            assert found.value == found.bound == best(view, depth, least)[0]


def test_gains_of_several_actions_fit_the_numbers():
    view = problem("many_gains").view(mt.plugins.CostMatrix)
    for depth in (2, 3):
        assert solve(view, mt.Trees(depth)).value == best(view, depth)[0] == -59_999


@pytest.mark.parametrize(
    "off", [(), ("sibling",), ("look_ahead",), ("sibling", "look_ahead"), ("cache", "similarity")]
)
def test_no_search_goes_deeper_than_its_stack(monkeypatch, off):
    """Without a depth limit the penalties bound the depth; a stack that is too short would be
    written past its end.
    """
    from milp_trees.engines.dp import runs, shared

    made = []

    def longer(inst, levels, *more, whole=shared.stack_of):
        stack = whole(inst, levels + 40, *more)
        made.append((levels, stack))
        return stack

    monkeypatch.setattr(shared, "stack_of", longer)
    for seed in range(20):
        monkeypatch.setattr(runs, "TURN", 8e10 if seed % 3 else 0)
        rng = np.random.default_rng(seed)
        rows, tests = int(rng.integers(10, 22)), int(rng.integers(8, 14))
        X = rng.random((rows, tests)) < 0.15 if seed % 2 else np.eye(rows, tests)
        y = rng.integers(0, 2, rows)
        costs = np.column_stack([y, 1 - y])
        view = replace(
            random_view(
                rng, X=X.astype(np.uint8), costs=costs, split_costs=np.zeros(tests, np.int64)
            ),
            leaf_cost=1 + seed % 4,
        )
        solve(view, mt.Trees(None), DynamicProgramme(ties="first", **dict.fromkeys(off, False)))
    assert any(level.size for _, stack in made for level in stack.parts[1:])
    for levels, stack in made:
        assert not any(level.size or level.depth for level in stack.parts[levels:])


def test_depth_limits_beyond_the_keys_of_the_table_are_refused():
    """A chain of seventy levels: none of them fits 64 levels, which a table entry has no room for."""
    dataset = mt.Dataset(np.eye(140, dtype=int), y=np.arange(140) % 2)
    with pytest.raises(mt.errors.Unsupported, match="up to 62"):
        DynamicProgramme().run(mt.Problem(dataset, mt.Accuracy(), mt.Trees(64)))
    for depth in (None, 200):
        result = DynamicProgramme().run(mt.Problem(dataset, mt.Accuracy(), mt.Trees(depth)))
        assert result.optimal
        assert result.objective == 0
