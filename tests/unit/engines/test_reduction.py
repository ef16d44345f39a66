"""The reduced hypergraph: exactly the columns of trees within a bound, against a filter of the full
hypergraph and against all trees.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from random_views import random_space, random_view

import milp_trees as mt
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limits, Stopped
from milp_trees.engines.hypergraph.all_states import enumerate_states
from milp_trees.engines.hypergraph.graph import SPLIT, STOP
from milp_trees.engines.hypergraph.shrink import shrink
from milp_trees.engines.hypergraph.within_bound import TreesWithin, trees_within
from milp_trees.methods.watch import Watch


@dataclass(frozen=True)
class Prices:
    """Multipliers without bounds of rows: the Lagrangian cost is Z + Σ λ s."""

    denominator: int
    numerators: tuple

    def view_at(self, view):
        costs = self.denominator * view.regret
        for n, row in zip(self.numerators, view.side, strict=True):
            costs = costs + n * row.coefs
        return replace(
            view,
            costs=costs,
            leaf_cost=self.denominator * view.leaf_cost,
            split_costs=self.denominator * view.split_costs,
            side=(),
        )

    def bound(self, z, view):
        return Fraction(z, self.denominator) + int(view.base.sum())


def drawn(rng, most_side=3, **sizes):
    """A view with side rows, and prices for them."""
    view = random_view(rng, **sizes)
    shape = (view.n_rows, view.n_actions)
    side = tuple(
        mt.plugins.SideRow(f"s{j}", rng.integers(-2, 3, shape), -3, 3)
        for j in range(rng.integers(1, most_side))
    )
    return replace(view, side=side)


def prices(rng, view):
    numbers = tuple(int(n) for n in rng.integers(-6, 7, len(view.side)))
    return Prices(int(rng.integers(1, 5)), numbers)


def paths(h):
    """The columns with the way to them: (path, kind, test, actions, cost, side numbers)."""
    out = []

    def walk(s, path):
        for c in range(*h.columns_of(s).indices(h.n_columns)):
            here = h.kind[c], h.test[c], h.action_left[c], h.action_right[c], h.cost[c]
            out.append((path, *map(int, here), tuple(h.side[c].tolist())))
            if h.kind[c] == SPLIT:
                walk(int(h.child_left[c]), (*path, (int(h.test[c]), 0)))
                walk(int(h.child_right[c]), (*path, (int(h.test[c]), 1)))

    walk(0, ())
    return sorted(out)


def least(h, cost):
    """The least cost of a tree with each column, by recursion (None: there is none)."""
    best, through = {}, [None] * h.n_columns

    def value(c):
        if h.kind[c] != SPLIT:
            return int(cost[c])
        sides = [best[int(h.child_left[c])], best[int(h.child_right[c])]]
        return None if None in sides else int(cost[c]) + sum(sides)

    for s in range(h.n_states - 1, -1, -1):
        here = range(*h.columns_of(s).indices(h.n_columns))
        best[s] = min((v for v in map(value, here) if v is not None), default=None)

    def down(s, around):
        for c in range(*h.columns_of(s).indices(h.n_columns)):
            v = value(c)
            if v is None:
                continue
            through[c] = around + v if through[c] is None else min(through[c], around + v)
            if h.kind[c] == SPLIT:
                left, right = int(h.child_left[c]), int(h.child_right[c])
                down(left, around + v - best[left])
                down(right, around + v - best[right])

    down(0, 0)
    return through


def test_exactly_the_columns_within_the_bound_are_kept():
    """Against a filter of the full hypergraph, and for several multipliers one after the other."""
    reduced = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        view, space = drawn(rng).reduce(), random_space(rng)
        if space.max_depth is None or space.max_depth > 4:
            continue
        full = enumerate_states(view, space)
        first, second = prices(rng, view), prices(rng, view)
        cost = first.denominator * full.cost + full.side @ np.array(first.numerators)
        through = least(full, cost)
        best = min((t for t in through if t is not None), default=0)
        most = best + int(rng.integers(0, abs(best) // 2 + 10 * first.denominator))
        upper = Fraction(most, first.denominator) + int(view.base.sum())
        h = trees_within(view, space, [first], upper)
        keep = [c for c, t in enumerate(through) if t is not None and t <= most]
        again = shrink(full, view, [first], upper)
        assert paths(h) == paths(again), f"seed {seed}"
        assert (h.n_states, h.n_columns) == (again.n_states, len(keep)), f"seed {seed}"
        both = trees_within(view, space, [first, second], upper)
        assert paths(both) == paths(shrink(full, view, [first, second], upper)), f"seed {seed}"
        reduced += h.n_columns < full.n_columns
    assert reduced > 40


def all_trees(view, rows, depth, least_rows, price, leaf, split):
    """(Lagrangian cost, cost, side numbers) of every tree on some rows, without empty sides."""
    if view.counts[rows].sum() < least_rows:
        return
    for k in range(view.n_actions):
        sides = tuple(int(row.coefs[rows, k].sum()) for row in view.side)
        yield (
            int(price[rows, k].sum()) + leaf[0],
            int(view.costs[rows, k].sum()) + leaf[1],
            sides,
        )
    for f in range(view.n_features) if depth else ():
        true = view.X[rows, f] == 1
        if true.all() or not true.any():
            continue
        parts = [
            list(all_trees(view, rows[part], depth - 1, least_rows, price, leaf, split))
            for part in (~true, true)
        ]
        for (p, c, s), (q, d, t) in product(*parts):
            sides = tuple(a + b for a, b in zip(s, t, strict=True))
            yield p + q + int(split[0][f]), c + d + int(split[1][f]), sides


def held_trees(h, base):
    """(cost, side numbers) of every tree of a hypergraph."""
    made = {}
    for s in range(h.n_states - 1, -1, -1):
        made[s] = []
        for c in range(*h.columns_of(s).indices(h.n_columns)):
            if h.kind[c] != SPLIT:
                made[s].append((int(h.cost[c]), tuple(h.side[c].tolist())))
                continue
            for (a, x), (b, y) in product(made[int(h.child_left[c])], made[int(h.child_right[c])]):
                sides = tuple(i + j for i, j in zip(x, y, strict=True))
                made[s].append((a + b + int(h.cost[c]), sides))
    return [(cost + base, sides) for cost, sides in made[0]]


def test_every_tree_within_the_bound_is_held_with_all_labels():
    """With nothing merged every tree of the space within the bound is in the hypergraph, once."""
    for seed in range(60):
        rng = np.random.default_rng(1000 + seed)
        view = drawn(rng, rows=7, tests=3)
        if view.n_actions > 3:
            continue
        view = view.reduce(merge_rows=True, drop_tests=False)
        space = mt.Trees(int(rng.integers(0, 3)), None, int(rng.integers(1, 3)))
        price = prices(rng, view)
        lagrangian = price.view_at(view)
        trees = list(
            all_trees(
                view,
                np.arange(view.n_rows),
                space.depth,
                space.min_samples_leaf,
                lagrangian.costs,
                (lagrangian.leaf_cost, view.leaf_cost),
                (lagrangian.split_costs, view.split_costs),
            )
        )
        best = min((p for p, *_ in trees), default=0)
        most = best + int(rng.integers(0, 8)) * price.denominator
        upper = Fraction(most, price.denominator) + int(view.base.sum())
        h = TreesWithin(view, space, price, merge=False).within(upper)
        number = np.array(price.numerators)
        held = [
            t
            for t in held_trees(h, int(view.base.sum()))
            if price.denominator * (t[0] - int(view.base.sum())) + int(number @ np.array(t[1]))
            <= most
        ]
        assert sorted(held) == sorted((c, s) for p, c, s in trees if p <= most), f"seed {seed}"


def test_a_bound_below_the_optimum_leaves_no_column():
    view = replace(drawn(np.random.default_rng(3)).reduce(), leaf_cost=1)
    h = trees_within(view, mt.Trees(2), [Prices(1, (0,) * len(view.side))], view.base.sum() - 1)
    assert (h.n_states, h.n_columns) == (1, 0)


def test_limits_end_the_reduction():
    rng = np.random.default_rng(5)
    view = drawn(rng, rows=60, tests=8, X=rng.integers(0, 2, (60, 8)).astype(np.uint8)).reduce()
    price = Prices(1, (0,) * len(view.side))
    upper = int(view.costs.max(axis=1).sum()) + 10**6
    with pytest.raises(Stopped):
        trees_within(view, mt.Trees(3), [price], upper, Watch(Limits(time=0)))
    with pytest.raises(OverflowError, match="states"):
        trees_within(view, mt.Trees(3), [price], upper, max_states=5)
    with pytest.raises(OverflowError, match="columns"):
        trees_within(view, mt.Trees(3), [price], upper, max_columns=5)
    with pytest.raises(Unsupported, match="at least 0"):
        trees_within(replace(view, leaf_cost=-1), mt.Trees(3), [price], upper)
    assert (trees_within(view, mt.Trees(0), [price], upper).kind == STOP).all()
