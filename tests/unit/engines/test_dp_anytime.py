"""The engine `dp` at any moment: ties, stopped runs, traces, limits."""

import time
from dataclasses import replace

import numpy as np
import pytest
from dp_search_cases import INSTANCES, long_problem, solve
from random_views import random_view
from row_tests import each_row

import milp_trees as mt
from milp_trees.engines.dp.method import DynamicProgramme
from milp_trees.engines.dp.switches import ORDERS
from milp_trees.engines.enumerate import enumerate_trees
from milp_trees.methods import watch
from milp_trees.results.result import Limit

# -- ties ----------------------------------------------------------------------------------------------------


def test_fewest_leaves_where_many_trees_are_optimal():
    """Few rows of few tests, no penalties: at depth four and five, and without limit, most problems
    have optimal trees of several sizes.
    """
    several = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (int(rng.integers(6, 16)), 5)).astype(np.uint8)
        y = rng.integers(0, 2, len(X))
        view = replace(
            random_view(
                rng, X=X, costs=np.column_stack([y, 1 - y]), split_costs=np.zeros(5, np.int64)
            ),
            leaf_cost=0,
        )
        depth = 4 + seed % 2
        achieved = enumerate_trees(view, depth, 1)
        Z = min(cost for cost, _ in achieved.values())
        sizes = {leaves for (leaves, _), (cost, _) in achieved.items() if cost == Z}
        several += len(sizes) > 1
        for limit in (depth, None) if depth == 5 else (depth,):
            for order in ORDERS:
                found = solve(
                    view, mt.Trees(limit), DynamicProgramme(order=order, ties="fewest-leaves")
                )
                assert (found.value, found.tree.n_leaves) == (Z, min(sizes)), (seed, limit, order)
    assert several > 30


@pytest.mark.parametrize("ties", ["first", "fewest-leaves"])
@pytest.mark.parametrize("instance", INSTANCES)
def test_one_thread_finds_the_same_tree_in_every_run(instance, ties):
    first, *others = (DynamicProgramme(ties=ties).run(INSTANCES[instance]()).tree for _ in range(3))
    assert all(other == first for other in others)


def endless_problem():
    return long_problem(None, "1/400", rows=400, tests=60)


def assert_honest(result, optimum):
    assert result.bound <= optimum + 1e-12
    assert result.objective >= optimum - 1e-12
    assert result.objective == result.problem.value(result.tree).number
    assert result.optimal == (result.limit is None)
    for before, after in zip(result.trace[:-1], result.trace[1:], strict=True):
        assert before.seconds <= after.seconds
        assert after.incumbent <= before.incumbent
        assert after.bound >= before.bound
    for point in result.trace:
        assert point.bound <= optimum + 1e-12 <= point.incumbent + 2e-12


@pytest.mark.slow
@each_row("order", ORDERS)
@each_row(("depth", "penalty"), [(5, 0), (None, "1/50"), (4, "1/80")])
def test_stopped_at_any_moment_the_bound_is_honest(depth, penalty, order):
    requested = long_problem(depth, penalty)
    whole = DynamicProgramme(order=order).run(requested)
    assert_honest(whole, whole.objective)
    assert whole.objective == DynamicProgramme().run(requested).objective
    for milliseconds in (0, 1, 2, 3, 5, 8, 12, 20, 40):
        for threads in (1, 2):
            result = DynamicProgramme(order=order).run(
                requested, mt.Limits(time=milliseconds / 1000, threads=threads)
            )
            assert result.limit in (None, Limit.TIME)
            assert_honest(result, whole.objective)


@pytest.mark.parametrize(
    "method",
    [
        DynamicProgramme(),
        DynamicProgramme(cache=False),
        DynamicProgramme(order="limited-discrepancy"),
    ],
)
def test_the_deadline_holds_while_trees_are_written_out(method):
    """An incumbent from the bounds of children has no solved sets behind it: its tree must not be
    searched for after the deadline.
    """
    began = time.perf_counter()
    result = method.run(endless_problem(), mt.Limits(time=0.3))
    assert time.perf_counter() - began < 3
    assert result.limit is Limit.TIME
    assert result.tree.n_leaves > 1


def test_the_bound_rises_in_the_trace_without_a_new_tree():
    rng = np.random.default_rng(1)
    requested = mt.Problem(
        mt.Dataset(rng.integers(0, 2, (400, 60)), y=rng.integers(0, 2, 400)),
        mt.Accuracy(),
        mt.Trees(5),
    )
    result = DynamicProgramme(order="best-first").run(requested, mt.Limits(time=20.0))
    assert any(
        after.incumbent == before.incumbent and after.bound > before.bound
        for before, after in zip(result.trace[:-1], result.trace[1:], strict=True)
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("depth", "penalty"), [(5, 0), (None, "1/50")])
def test_a_tiny_memory_limit_costs_time_only(depth, penalty, threads, monkeypatch):
    # The table gets half of the limit; the growth of the whole process is not looked at here,
    # because one megabyte is less than Python itself takes in a run on a busy machine.
    monkeypatch.setattr(watch, "MEMORY_POLL", 1e9)
    requested = long_problem(depth, penalty)
    whole = DynamicProgramme().run(requested)
    small = DynamicProgramme().run(requested, mt.Limits(memory_mb=1, threads=threads))
    assert small.optimal
    assert small.objective == whole.objective


def test_a_table_that_forgets_keeps_the_optimum(monkeypatch):
    """Room for 32 entries: sets are forgotten while they are needed, also when the tree is written
    out.
    """
    from milp_trees.engines.dp import runs, shared
    from milp_trees.engines.dp.contexts import Context
    from milp_trees.engines.dp.layouts import TABLE

    wanted = {name: DynamicProgramme().run(make()).objective for name, make in INSTANCES.items()}

    def tiny(entries):
        return Context(
            TABLE,
            room=2**62,
            used=np.zeros(1, dtype=np.int64),
            slots=np.zeros((32, 4), dtype=np.uint64),
        )

    monkeypatch.setattr(shared, "table_of", tiny)
    for turn in (runs.TURN, 0):  # one depth after the other, and all of them in turns
        monkeypatch.setattr(runs, "TURN", turn)
        for name, make in INSTANCES.items():
            found = DynamicProgramme().run(make())
            assert found.model_size["entries"] == 32
            assert found.optimal
            assert found.objective == wanted[name]
