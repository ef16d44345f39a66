"""Bounds of the exact search for decision trees: each is valid, and saves work."""

import numpy as np
import pytest
from dp_oracle_cases import Hidden, find, instance, listed, problems, rows_of
from row_tests import each_row

import milp_trees as mt
from milp_trees.decisions.engines.dp_oracle.instance import BASE, WORST, Pool
from milp_trees.decisions.engines.dp_oracle.intervals import Intervals
from milp_trees.decisions.engines.dp_oracle.two_splits import leaf_sets, split_cost
from milp_trees.decisions.listed import UnitSimplex

# -- bounds --------------------------------------------------------------------------------------------------

SEEDS = [*range(400, 412), 1021]


def halves(rng, n):
    """Two disjoint sets of rows, neither empty."""
    side = rng.integers(0, 3, n)
    side[:2] = 0, 1
    return np.flatnonzero(side == 0), np.flatnonzero(side == 1)


@each_row("seed", SEEDS)
def test_losses_are_superadditive_and_a_pool_bounds_them_from_above(seed):
    rng = np.random.default_rng(seed)
    inst = instance(problems(seed)[1])
    I, J = halves(rng, inst.n_rows)
    sums = np.array(
        [inst.sums[I].sum(axis=0), inst.sums[J].sum(axis=0), inst.sums[[*I, *J]].sum(axis=0)]
    )
    one, other, both = inst.losses(sums)
    assert both >= one + other - 1e-9
    assert min(one, other) >= 0
    pool = Pool(3)
    pool.add(inst.oracle.solve(rng.normal(size=(5, inst.dimension))).decisions)
    assert len(pool) <= 3
    low, high = pool.bounds(np.array([[sums[0, :-4], sums[2, :-4]]]))
    assert low[0, 0] >= one + sums[0, BASE] - 1e-9
    assert high[0, 0] >= other + sums[1, BASE] - 1e-9


@each_row("depth", [0, 1, 2, 3])
@each_row("seed", SEEDS)
def test_a_subset_loses_less_and_not_less_by_more_than_the_worst_regret(seed, depth):
    rng = np.random.default_rng(seed)
    inst = instance(problems(seed)[1])
    I, R = halves(rng, inst.n_rows)
    smaller, larger = find(inst, I, depth), find(inst, np.sort([*I, *R]), depth)
    assert larger.own >= smaller.any_size - 1e-7
    assert larger.own >= find(inst, I, depth, 0.7 * smaller.value).any_size - 1e-7
    assert smaller.own >= larger.any_size - inst.sums[R, WORST].sum() - 1e-7


@each_row("depth", [1, 2])
@each_row("seed", SEEDS)
def test_bounds_are_below_what_is_found_with_any_limit(seed, depth):
    inst = instance(problems(seed)[1])
    rows = np.arange(inst.n_rows)
    best = find(inst, rows, depth)
    sums = np.array([inst.sums[part].sum(axis=0) for part in leaf_sets(inst, rows, best.shape)])
    loss = inst.losses(sums).sum() + inst.leaf_cost * len(sums) + split_cost(inst, best.shape)
    assert best.value == pytest.approx(loss, abs=1e-9)
    assert best.own >= best.value - 1e-7
    for share in (0.3, 0.9, 1.1):
        other = find(inst, rows, depth, share * best.value)
        assert other.any_size <= other.own + 1e-12
        assert other.own <= best.value + 1e-9
        assert other.own >= min(best.value, share * best.value) - 1e-7


@each_row("seed", SEEDS)
def test_no_split_inside_an_interval_is_below_its_bound(seed):
    rng = np.random.default_rng(seed)
    inst = instance(
        mt.Problem(
            rows_of(rng, 3, 25, True, True, False),
            mt.decisions.Decision(decisions=Hidden(listed(rng, 3))),
            mt.Trees(1),
        )
    )
    for column in range(len(inst.first) - 1):
        code = inst.codes[:, column]
        size = int(inst.first[column + 1] - inst.first[column])
        low = inst.losses(np.array([inst.sums[code <= t].sum(axis=0) for t in range(-1, size + 1)]))
        high = inst.losses(np.array([inst.sums[code > t].sum(axis=0) for t in range(-1, size + 1)]))
        every = np.array([inst.sums[code <= t, WORST].sum() for t in range(-1, size + 1)])
        whole = Intervals(
            *(np.array([v]) for v in (0, column, -1, size)),
            np.zeros(1),
            low[-1:],
            low[-1:],
            np.zeros(1),
            every[-1:],
        )
        for middle in range(size):
            k = middle + 1
            halved = whole.halves(np.array([middle]), low[[k]], high[[k]], every[[k]])
            for part, bound in zip(
                (halved[[i]] for i in range(len(halved))), halved.bound(), strict=True
            ):
                inside = slice(int(part.lo[0]) + 2, int(part.hi[0]) + 1)
                assert bound <= (low + high)[inside].min() + 1e-9


def test_equal_rows_become_one_with_what_they_cannot_avoid():
    data = mt.Dataset([[0], [0], [1]], values=[[0, 1], [1, 0], [0, 5]], actions=["a", "b"])
    problem = mt.Problem(
        data, mt.decisions.Decision(decisions=Hidden(UnitSimplex(["a", "b"]))), mt.Trees(1)
    )
    inst = instance(problem)
    assert inst.n_rows == 2
    assert inst.constant == 1.0
    assert mt.solve(problem, "dp-oracle").objective == pytest.approx(1 / 3)
