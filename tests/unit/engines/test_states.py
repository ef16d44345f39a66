"""The hypergraph of states: optimal values by backward recursion, side numbers, and the columns
that stand for a tree.
"""

import time
from dataclasses import replace

import numpy as np
import pytest
from random_views import random_space, random_view

import milp_trees as mt
from milp_trees.engines.dp.method import solve_view
from milp_trees.engines.enumerate import enumerate_trees
from milp_trees.engines.hypergraph.all_states import enumerate_states
from milp_trees.engines.hypergraph.graph import LAST, SPLIT, STOP


def with_side(view, rng):
    """The view with one or two random side rows."""
    rows = [
        mt.plugins.SideRow(f"s{j}", rng.integers(-2, 3, (view.n_rows, view.n_actions)), -3, 3)
        for j in range(rng.integers(1, 3))
    ]
    return replace(view, side=tuple(rows))


def achieved(h):
    """(splits, side numbers) → cheapest cost from the root, by recursion over the columns."""
    table = {}
    for s in range(h.n_states - 1, -1, -1):
        out = {}

        def offer(splits, numbers, cost, out=out):
            out[splits, numbers] = min(cost, out.get((splits, numbers), cost))

        here = h.columns_of(s)
        for c in range(here.start, here.stop):
            if h.kind[c] != SPLIT:
                offer(int(h.kind[c] == LAST), tuple(h.side[c].tolist()), int(h.cost[c]))
                continue
            assert (
                h.depth_left[h.child_left[c]]
                == h.depth_left[h.child_right[c]]
                == h.depth_left[s] - 1
            )
            for (a, x), u in table[int(h.child_left[c])].items():
                for (b, y), v in table[int(h.child_right[c])].items():
                    offer(
                        a + b + 1,
                        tuple(i + j for i, j in zip(x, y, strict=True)),
                        u + v + int(h.cost[c]),
                    )
        table[s] = out
    return table[0]


def best(entries, most):
    return min((cost for splits, cost in entries if most is None or splits < most), default=None)


def test_the_cheapest_way_through_the_hypergraph_is_the_optimum():
    """Without side rows: against the dynamic programme, with every limit."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        view, space = random_view(rng).reduce(), random_space(rng)
        h = enumerate_states(view, space)
        found = best(
            ((splits, cost) for (splits, _), cost in achieved(h).items()), space.max_leaf_nodes
        )
        Z, _ = solve_view(view, space)
        assert (found if found is None else found + int(view.base.sum())) == Z, (
            f"seed {seed}, {space}"
        )


def test_side_numbers_are_those_of_the_enumerated_trees():
    """With side rows: for all side numbers and leaf limits, the cheapest cost (dominated ways are
    left out, achievable numbers are not).
    """
    for seed in range(80):
        rng = np.random.default_rng(500 + seed)
        view, space = with_side(random_view(rng, rows=8, tests=4), rng), random_space(rng)
        reduced = view.reduce()
        ways = achieved(enumerate_states(reduced, space))
        trees = enumerate_trees(view, space.max_depth, space.min_samples_leaf)
        assert {numbers for _, numbers in ways} == {numbers for _, numbers in trees}, (
            f"seed {500 + seed}"
        )
        for numbers in {numbers for _, numbers in trees}:
            for most in (1, 2, 3, 4, 8):
                expected = best(
                    (
                        (leaves - 1, cost)
                        for (leaves, n), (cost, _) in trees.items()
                        if n == numbers
                    ),
                    most,
                )
                found = best(
                    ((splits, cost) for (splits, n), cost in ways.items() if n == numbers), most
                )
                assert expected == (found if found is None else found + int(reduced.base.sum())), (
                    f"seed {500 + seed}, {numbers}, {most} leaves"
                )


def random_tree(rng, view, depth, least):
    """A random tree within the limits, without empty sides."""

    def grow(rows, d):
        allowed = [
            f
            for f in range(view.n_features)
            if all(view.counts[rows[view.X[rows, f] == v]].sum() >= least for v in (0, 1))
        ]
        if d == 0 or not allowed or rng.random() < 0.2:
            return mt.plugins.Leaf(int(rng.integers(view.n_actions)))
        f = int(rng.choice(allowed))
        true = view.X[rows, f] == 1
        return mt.plugins.Branch(
            view.features[f], grow(rows[~true], d - 1), grow(rows[true], d - 1)
        )

    return mt.Tree(grow(np.arange(view.n_rows), depth), view.actions)


def test_every_tree_is_a_flow_that_costs_no_more():
    for seed in range(200):
        rng = np.random.default_rng(900 + seed)
        view, space = random_view(rng, rows=12, tests=5), random_space(rng)
        if seed % 2:
            view = with_side(view, rng)
        view = view.reduce()
        if view.total_rows < space.min_samples_leaf:
            continue
        h = enumerate_states(view, space)
        tree = random_tree(rng, view, space.max_depth, space.min_samples_leaf)
        x = np.zeros(h.n_columns)
        x[h.follow(tree, view)] = 1
        assert np.array_equal(h.incidence() @ x, (np.arange(h.n_states) == 0).astype(float)), (
            f"seed {900 + seed}"
        )
        assert h.cost @ x + view.base.sum() <= view.objective(tree), f"seed {900 + seed}"
        assert (x @ h.side).tolist() == view.side_totals(tree)
        assert x[h.kind != STOP].sum() <= tree.n_leaves - 1


def test_splits_into_the_same_sides_are_one_column_with_the_cheapest_test():
    X = np.array([[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]], dtype=np.uint8)
    view = random_view(
        np.random.default_rng(0),
        X=X,
        split_costs=np.array([3, 2, 5]),
        costs=np.array([[0, 9], [9, 0], [9, 0], [0, 9]]),
    )
    h = enumerate_states(view, mt.Trees(2))
    assert h.test[h.kind == SPLIT].tolist() == [1, 2]
    assert h.n_states == 1 + 2 + 2


def test_too_many_states_or_columns_are_refused_with_the_number():
    rng = np.random.default_rng(0)
    view = mt.Problem(
        mt.Dataset(rng.integers(0, 2, (200, 40)), y=rng.integers(0, 2, 200)),
        mt.Accuracy(),
        mt.Trees(3),
    ).presolved_view()
    with pytest.raises(OverflowError, match=r"states and more, where at most 1,000 are allowed"):
        enumerate_states(view, mt.Trees(3), max_states=1000)
    with pytest.raises(OverflowError, match=r"columns and more, where at most 500 are allowed"):
        enumerate_states(view, mt.Trees(3), max_columns=500)


def read(folder, name):
    path = next(folder.glob(f"{name}*"))
    table = np.loadtxt(path, dtype=np.int64)
    tests = [mt.BinaryFeature(str(j)) for j in range(table.shape[1] - 1)]
    return mt.Dataset(
        table[:, 1:],
        features=tests,
        y=table[:, 0],
        groups=table[:, 1] if folder.name == "fairness" else None,
        group_column="0",
    )


@pytest.mark.parametrize(
    "name, depth, states",
    [("anneal", 3, 2675), ("german-credit", 3, 13732), ("primary-tumor", 4, 4513)],
)
def test_published_sets_have_the_expected_states_and_optimum(data_folder, name, depth, states):
    data = read(data_folder / "classification", f"{name}.txt")
    view = mt.Problem(mt.Dataset(data.X, y=data.y), mt.Accuracy(), mt.Trees(depth)).presolved_view()
    began = time.perf_counter()
    h = enumerate_states(view, mt.Trees(depth))
    assert time.perf_counter() - began < 5
    assert h.n_states == states
    value = np.zeros(h.n_states, dtype=np.int64)
    for s in range(h.n_states - 1, -1, -1):
        here = h.columns_of(s)
        below = np.where(
            h.kind[here] == SPLIT, value[h.child_left[here]] + value[h.child_right[here]], 0
        )
        value[s] = (h.cost[here] + below).min()
    assert value[0] + view.base.sum() == solve_view(view, mt.Trees(depth))[0]


def test_adult_under_parity_is_small(data_folder):
    problem = mt.Problem(
        read(data_folder / "fairness", "adult-binarized.csv"),
        mt.Accuracy(constraints=(mt.tasks.StatisticalParity(0.01),)),
        mt.Trees(3),
    )
    h = enumerate_states(problem.presolved_view(), mt.Trees(3))
    assert (h.n_states, h.n_columns) == (551, 15449)
