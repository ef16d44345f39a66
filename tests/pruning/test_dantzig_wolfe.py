"""Column generation and subgradients over prunings of single trees: against brute force, a shortest
path, and each other.
"""

import itertools
import random
from fractions import Fraction

import numpy as np
import pytest
from dantzig_wolfe_cases import _one_split
from dantzig_wolfe_forests import random_view, solve
from row_tests import each_row
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

from milp_trees.common.limits import Limits
from milp_trees.mip.registry import registry
from milp_trees.pruning.engines.dantzig_wolfe.coupling import coupled
from milp_trees.pruning.engines.dantzig_wolfe.method import DantzigWolfe
from milp_trees.pruning.engines.dantzig_wolfe.places import Threads
from milp_trees.pruning.engines.dantzig_wolfe.pricing import part, path_pruning
from milp_trees.pruning.engines.dantzig_wolfe.run import PricingRun
from milp_trees.pruning.engines.subgradient import Subgradient
from milp_trees.pruning.view import NodeGains


def prunings(view, h):
    """All prunings of the subtree at h, as sets of kept splits."""
    yield frozenset()
    if view.left[h] >= 0:
        for a, b in itertools.product(prunings(view, view.left[h]), prunings(view, view.right[h])):
            yield a | b | {h}


def brute_force(view) -> Fraction:
    """The least value of all prunings, by the definition of the view and without its methods."""
    needs = {
        int(h): set(view.need[a:b].tolist())
        for h, a, b in zip(view.first, view.start, view.start[1:])
    }
    up = [view.above[view.above[:, 0] == p, 1].tolist() for p in range(len(view.price))]
    best = None
    for choice in itertools.product(
        *(list(prunings(view, h)) for h in np.flatnonzero(view.parent < 0))
    ):
        kept = frozenset().union(*choice)
        leaves = [
            h
            for h in range(len(view.parent))
            if h not in kept and (view.parent[h] < 0 or view.parent[h] in kept)
        ]
        bought = set().union(*(needs.get(h, set()) for h in kept))
        bought |= {g for p in bought for g in up[p]}
        paid = sum(int(view.price[p]) for p in bought) + sum(int(view.keep_cost[h]) for h in kept)
        value = view.error_unit * sum(int(view.error[h]) for h in leaves) + view.lam * (
            view.cost_unit * paid + view.cost_offset
        )
        best = value if best is None else min(best, value)
    return best


@pytest.mark.slow
@each_row("merge", [True, False])
@each_row("seed", range(8))
def test_column_generation_finds_the_best_of_all_prunings_and_proves_it(seed, merge):
    """Twenty-five random ensembles per seed."""
    rng = random.Random(seed)
    for _ in range(25):
        view = random_view(
            rng,
            n_trees=rng.choice([1, 2, 3, 3, 3]),
            depth=rng.choice([0, 1, 2, 2, 2]),
            rows=rng.randrange(1, 5),
        )
        run, more = solve(view, DantzigWolfe(merge=merge))
        assert run.closed
        assert not more["message"]
        assert view.to_value(run.value) == brute_force(view)
        assert run.value == view.Z(run.keep)


@pytest.mark.parametrize("seed", range(4))
def test_no_bound_is_above_the_optimum_and_the_best_never_falls(seed):
    """Of both engines, at every round."""
    rng = random.Random(100 + seed)
    for _ in range(10):
        view = random_view(rng, n_trees=3, rows=4)
        optimum = brute_force(view)
        for method in (DantzigWolfe(), Subgradient(), Subgradient(merge=True, steps=5)):
            run, _ = solve(view, method)
            bounds, incumbents = [p.bound for p in run.trace], [p.incumbent for p in run.trace]
            assert bounds == sorted(bounds)
            assert incumbents == sorted(incumbents, reverse=True)
            assert view.to_value(run.bound) <= optimum <= view.to_value(run.value)
            assert 1 <= len(list(run.trace)) <= run.rounds


def test_any_duals_give_a_bound():
    """Random ones, tiny, huge and negative too; and a bound is worth something: fair shares reach
    the optimum of some ensembles.
    """
    rng, random_duals, reached = random.Random(5), np.random.default_rng(5), 0
    for _ in range(60):
        view = random_view(rng)
        parts, optimum = coupled(view, rng.random() < 0.5), view.from_value(brute_force(view))
        run = PricingRun(view, parts, Threads(parts), Limits())
        for size in (1e-3, 1.0, 30.0, 1e25):
            bound, *_ = run.price(
                size * random_duals.normal(size=parts.n_links),
                size * random_duals.normal(size=len(parts.above)),
            )
            assert bound <= optimum
        bound, *_ = run.price(*parts.fair_duals())
        assert bound <= optimum
        reached += bound > optimum - 1
    assert reached > 20


def test_a_pass_over_the_tree_is_the_shortest_path_is_the_best_of_all_prunings():
    """For random prices of splits."""
    rng = random.Random(1)
    for _ in range(150):
        view = random_view(rng, n_trees=1, depth=3, lam=Fraction(1))
        parts = coupled(view, False)
        cost = np.array([rng.randrange(4) for _ in parts.node], dtype=np.int64)
        values, keep = part(parts, 0, 1).price(cost, 0)
        split_cost = parts.split_cost.copy()
        np.add.at(split_cost, parts.node, cost)
        total = {
            s: sum(int(split_cost[h]) for h in s)
            + sum(
                int(parts.error[h])
                for h in range(view.n_nodes)
                if h not in s and (h == 0 or view.parent[h] in s)
            )
            for s in prunings(view, 0)
        }
        length, path = path_pruning(view.parent, view.left, view.right, parts.error, split_cost)
        assert values[0] == length == min(total.values())
        assert (
            total[frozenset(np.flatnonzero(keep).tolist())]
            == total[frozenset(np.flatnonzero(path).tolist())]
            == values[0]
        )


def test_the_smaller_of_two_equal_prunings_is_kept():
    """A split that gains nothing goes."""
    tree = np.array([-1, 0, 0]), np.array([1, -1, -1]), np.array([2, -1, -1])
    parts = coupled(_one_split(*tree, error=[4, 2, 2]))
    values, keep = part(parts, 0, 1).price(np.zeros(parts.n_links, dtype=np.int64), 3)
    assert values.tolist() == [4 * 2**3]
    assert not keep.any()


def test_the_figure_of_the_paper_by_hand():
    """One row, tree 1 of Figure 1 (node 1 tests feature 1, its right child feature 2) with errors
    3, 0, 1, 0, 0 and prices 2 and 1/2: the best value is 5/2.
    """
    one = np.zeros(5, dtype=np.int64)
    view = NodeGains(
        np.array([-1, 0, 0, 2, 2]),
        np.array([1, -1, 3, -1, -1]),
        np.array([2, -1, 4, -1, -1]),
        one,
        np.array([0, -1, 1, -1, -1]),
        np.array([3, 0, 1, 0, 0]),
        one,
        np.array([[3]], dtype=np.int32),
        np.array([0, 2]),
        np.array([0, 1, 2]),
        np.array([0, 1], dtype=np.int32),
        np.array([4, 1]),
        np.array([0, 1]),
        np.array([0, 0]),
        np.zeros((0, 2), dtype=np.int64),
        ("1", "2"),
        Fraction(1),
        Fraction(1, 2),
        Fraction(1),
    )
    assert brute_force(view) == Fraction(5, 2)
    for merge in (True, False):
        run, _ = solve(view, DantzigWolfe(merge=merge))
        assert run.closed
        assert view.to_value(run.value) == Fraction(5, 2)


def test_columns_come_in_rounds_until_bound_and_incumbent_meet(medium):
    """More than the first two rounds are needed here, and the paper's master and the merged one
    give the same.
    """
    merged, more = solve(medium)
    plain, as_printed = solve(medium, DantzigWolfe(merge=False))
    assert merged.closed
    assert plain.closed
    assert merged.value == plain.value
    assert more["model_size"]["rounds"] > 2
    assert more["model_size"]["columns"] > 2 * medium.n_trees
    assert more["model_size"]["master_rows"] < as_printed["model_size"]["master_rows"]


def test_the_minimum_cut_is_the_same(medium):
    """The closure graph of Picard (1976) built here, its maximum flow by SciPy."""
    rng = random.Random(8)
    views = [
        random_view(
            rng, n_trees=8, depth=4, rows=30, features=6, lam=Fraction(1, rng.randrange(2, 6))
        )
        for _ in range(6)
    ]
    for view in [medium, *views]:
        run, _ = solve(view, DantzigWolfe(merge=False))
        assert run.closed
        assert run.value == minimum_cut(view)


def minimum_cut(view) -> int:
    """The least objective of a view."""
    a, b, _ = view.step
    weight = np.concatenate(
        [a * view.gain - b * view.keep_cost, -b * view.price]
    )  # items: nodes, then purchases
    items, node = np.arange(len(weight)), np.repeat(view.first, np.diff(view.start))
    source, sink, infinite = len(weight), len(weight) + 1, int(np.abs(weight).sum()) + 1
    assert infinite < 2**31
    inner = view.splits[view.parent[view.splits] >= 0]
    tail = np.concatenate(
        [np.full(len(items), source), items, inner, node, view.n_nodes + view.above[:, 0]]
    )
    head = np.concatenate(
        [
            items,
            np.full(len(items), sink),
            view.parent[inner],
            view.n_nodes + view.need,
            view.n_nodes + view.above[:, 1],
        ]
    )
    capacity = np.concatenate(
        [
            np.maximum(weight, 0),
            np.maximum(-weight, 0),
            np.full(len(tail) - 2 * len(items), infinite),
        ]
    )
    graph = csr_matrix((capacity.astype(np.int32), (tail, head)), shape=(sink + 1, sink + 1))
    return (
        a * view.root_error
        - int(np.maximum(weight, 0).sum())
        + maximum_flow(graph, source, sink).flow_value
    )


def test_the_engine_min_cut_finds_the_same_value(forest):
    """Two engines, one problem."""
    assert (
        registry.method("min-cut").run(forest).value.exact
        == registry.method("dantzig-wolfe").run(forest).value.exact
    )
