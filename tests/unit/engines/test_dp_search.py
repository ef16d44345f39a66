"""The compiled search of `dp`: switches, orders, ties, stops, and bounds that would be wrong."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import fields, replace
from itertools import combinations

import numpy as np
import pytest
from random_views import random_view

import milp_trees as mt
from milp_trees.engines.dp import ORDERS, DynamicProgramme, _Run
from milp_trees.engines.enumerate import enumerate_trees
from milp_trees.limits import Limits
from milp_trees.results.result import Limit, Status
from milp_trees.testing.problems import problem

SWITCHES = [f.name for f in fields(DynamicProgramme) if f.type == "bool"]


def solve(view, space, method=None, threads=1):
    """A run on a view, which need not come from a task."""
    method = method or DynamicProgramme()
    run = _Run(
        method,
        view.reduce(method.merge_rows, method.drop_tests),
        space,
        Limits(time=None, threads=threads),
        None,
        None,
    )
    run.prepare()
    run.compile()
    run.begin(time.perf_counter())
    run.go()
    return run


def best(view, depth, least=1):
    """(Z, fewest leaves of an optimal tree) by enumeration, None if there is no tree."""
    return min(
        ((cost, leaves) for (leaves, _), (cost, _) in enumerate_trees(view, depth, least).items()),
        default=None,
    )


def case(seed):
    """A random view, a space, and (Z, fewest leaves) by enumeration."""
    rng = np.random.default_rng(seed)
    K = int(rng.integers(2, 6))
    costs = rng.integers(-9, 9, (12, K)) if rng.random() < 0.3 else None
    X = (
        None
        if costs is None
        else rng.integers(0, 2, (12, int(rng.integers(1, 6)))).astype(np.uint8)
    )
    view = random_view(rng, X=X, costs=costs)
    depth, least = int(rng.integers(2, 6)), int(rng.choice([1, 1, 2, 3]))
    limit = None if rng.random() < 0.4 and view.n_features <= depth else depth
    if rng.random() < 0.25:  # the enumerator knows row counts only, so that masses take their place
        view = replace(
            view,
            row_weight=rng.integers(1, 5, view.n_rows),
            min_weight_leaf=int(rng.integers(2, 8)),
        )
        return (
            view,
            mt.Trees(limit, min_weight_leaf=1),
            best(replace(view, counts=view.row_weight), depth, view.min_weight_leaf),
        )
    return view, mt.Trees(limit, min_samples_leaf=least), best(view, depth, least)


def check(seed, method, threads=1):
    view, space, expected = case(seed)
    found = solve(view, space, method, threads)
    where = f"seed {seed}, {method.label}, {threads} threads, {space}"
    if expected is None:
        assert found.tree is None, where
        return
    assert found.value == found.bound == view.objective(found.tree) == expected[0], where
    assert space.max_depth is None or found.tree.depth <= space.max_depth, where
    sizes = np.bincount(
        found.tree.routes(view).leaf, weights=view.counts, minlength=found.tree.n_leaves
    )
    assert sizes.min() >= space.min_samples_leaf, where
    if method.ties == "fewest-leaves":
        assert found.tree.n_leaves == expected[1], where


# -- agreement with the enumerator ---------------------------------------------------------------------------


@pytest.mark.parametrize("block", range(4))
def test_random_switches_orders_ties_and_threads_agree(block):
    for seed in range(100 * block, 100 * block + 100):
        rng = np.random.default_rng(10_000 + seed)
        on = {name: bool(rng.random() < 0.6) for name in SWITCHES}
        method = DynamicProgramme(
            order=str(rng.choice(ORDERS)), ties=str(rng.choice(["first", "fewest-leaves"])), **on
        )
        check(seed, method, threads=int(rng.integers(1, 3)))


@pytest.mark.parametrize("name", SWITCHES)
def test_each_switch_alone_agrees(name):
    for seed in range(500, 512):
        check(seed, DynamicProgramme(**{name: False}))
        check(seed, DynamicProgramme(**{other: other == name for other in SWITCHES}))


def test_the_cases_reach_every_way_to_count():
    """Groups of equal rows, rows one by one; number types; minima; no depth limit; no tree at all."""
    from milp_trees.engines.dynamic.arrays import UNLIMITED, prepare

    seen = set()
    for seed in range(400):
        view, space, expected = case(seed)
        inst = prepare(view.reduce(), space)
        data = inst.data
        seen |= {
            inst.kind,
            "rows" if data.by_row else "groups",
            f"{data.n_masses} minima",
            f"{view.n_actions} actions",
        }
        seen |= {"unlimited"} if inst.depth == UNLIMITED else set()
        seen |= {"penalty"} if inst.penalised else set()
        seen |= {"infeasible"} if expected is None else set()
    assert seen >= {
        "i16",
        "i32",
        "i64",
        "rows",
        "groups",
        "0 minima",
        "1 minima",
        "2 actions",
        "5 actions",
        "unlimited",
        "penalty",
        "infeasible",
    }, seen


@pytest.mark.parametrize("way", ["rows", "planes"])
def test_many_rows_of_different_costs(way):
    """More rows than a vector register holds, nearly every one with costs of its own: summed one by
    one, or by powers of two.
    """
    from milp_trees.engines.dynamic.arrays import prepare

    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 8)).astype(np.uint8)
    y, weight = rng.integers(0, 2, 300), rng.integers(0, 256, 300)
    costs = (
        rng.integers(0, 10**6, (300, 3))
        if way == "rows"
        else np.column_stack([y, 1 - y]) * 1000 * weight[:, None]
    )
    view = random_view(rng, X=X, costs=costs, split_costs=np.zeros(8, dtype=np.int64))
    data = prepare(view, mt.Trees(3)).data
    assert data.by_row == (way == "rows")
    assert data.n_groups == (
        0 if way == "rows" else 24
    )  # eight bits: gains, losses, and what the first action loses
    for depth in (2, 3):
        found = solve(view, mt.Trees(depth), DynamicProgramme(merge_rows=False))
        assert found.value == view.objective(found.tree) == best(view, depth)[0]


# -- switches ------------------------------------------------------------------------------------------------


def planted(depth, seed=1, rows=120, tests=14, **task):
    """Two nested rules and ten per cent of noise; the last test is the complement of the first, and
    some rows are equal.
    """
    rng = np.random.default_rng(seed)
    X = (rng.random((rows, tests)) < rng.uniform(0.15, 0.5, tests)).astype(int)
    y = ((X[:, 0] & X[:, 1]) ^ (X[:, 2] | X[:, 3])) ^ (rng.random(rows) < 0.1)
    X[:, -1] = 1 - X[:, 0]
    return mt.Problem(mt.Dataset(X, y=y.astype(int)), mt.Accuracy(**task), mt.Trees(depth))


INSTANCES = {
    "four levels": lambda: planted(4),
    "five levels": lambda: planted(5),
    "sparse": lambda: planted(None, leaf_penalty="1/60"),
}

#: What a switch changes where: instance, counter, and how it is without the technique.
EFFECTS = {
    "cache": ("five levels", "hits", lambda with_it, without: without == 0 < with_it),
    "cache_two": ("four levels", "calls", lambda with_it, without: without > with_it),
    "similarity": ("four levels", "tests_skipped", lambda with_it, without: without == 0 < with_it),
    "per_test": ("four levels", "tests_skipped", lambda with_it, without: without == 0 < with_it),
    "sibling": ("sparse", "nodes", lambda with_it, without: without != with_it),
    "larger_first": ("five levels", "calls", lambda with_it, without: without > with_it),
    "gini": ("five levels", "calls", lambda with_it, without: without > with_it),
    "look_ahead": ("sparse", "nodes", lambda with_it, without: without > 5 * with_it),
    "smaller_counted": ("four levels", "rows_counted", lambda with_it, without: without > with_it),
    "merge_rows": ("four levels", "rows", lambda with_it, without: without > with_it),
    "drop_tests": ("four levels", "tests", lambda with_it, without: without == with_it + 1),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_each_switch_changes_a_counter_and_not_the_optimum(name):
    instance, counter, expected = EFFECTS[name]
    on = DynamicProgramme().run(INSTANCES[instance]())
    off = DynamicProgramme(**{name: False}).run(INSTANCES[instance]())
    assert on.optimal
    assert off.optimal
    assert on.objective == off.objective
    assert expected(on.model_size[counter], off.model_size[counter]), (
        on.model_size,
        off.model_size,
    )


def test_one_thread_counts_the_same_in_every_run():
    for make in INSTANCES.values():
        assert (
            DynamicProgramme().run(make()).model_size == DynamicProgramme().run(make()).model_size
        )


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
    from milp_trees.engines.dynamic import runs

    made = []

    def longer(inst, levels, *more, whole=runs.stack_of):
        stack = whole(inst, levels + 40, *more)
        made.append((levels, stack))
        return stack

    monkeypatch.setattr(runs, "stack_of", longer)
    for seed in range(20):
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


# -- anytime -------------------------------------------------------------------------------------------------


def long_problem(depth=5, penalty=0, rows=200, tests=24):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (rows, tests))
    y = (X[:, 0] ^ X[:, 1]) | (rng.random(rows) < 0.3)
    return mt.Problem(
        mt.Dataset(X, y=y.astype(int)), mt.Accuracy(leaf_penalty=penalty), mt.Trees(depth)
    )


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
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("depth", "penalty"), [(5, 0), (None, "1/50"), (4, "1/80")])
def test_stopped_at_any_moment_the_bound_is_honest(depth, penalty, order):
    asked = long_problem(depth, penalty)
    whole = DynamicProgramme(order=order).run(asked)
    assert_honest(whole, whole.objective)
    assert whole.objective == DynamicProgramme().run(asked).objective
    for milliseconds in (0, 1, 2, 3, 5, 8, 12, 20, 40):
        for threads in (1, 2):
            result = DynamicProgramme(order=order).run(
                asked, mt.Limits(time=milliseconds / 1000, threads=threads)
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
    asked = mt.Problem(
        mt.Dataset(rng.integers(0, 2, (400, 60)), y=rng.integers(0, 2, 400)),
        mt.Accuracy(),
        mt.Trees(5),
    )
    result = DynamicProgramme(order="best-first").run(asked, mt.Limits(time=20.0))
    assert any(
        after.incumbent == before.incumbent and after.bound > before.bound
        for before, after in zip(result.trace[:-1], result.trace[1:], strict=True)
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("depth", "penalty"), [(5, 0), (None, "1/50")])
def test_a_tiny_memory_limit_costs_time_only(depth, penalty, threads):
    asked = long_problem(depth, penalty)
    whole = DynamicProgramme().run(asked)
    small = DynamicProgramme().run(asked, mt.Limits(memory_mb=1, threads=threads))
    assert small.optimal
    assert small.objective == whole.objective


def test_a_table_that_forgets_keeps_the_optimum(monkeypatch):
    """Room for 32 entries: sets are forgotten while they are needed, also when the tree is written
    out.
    """
    from milp_trees.engines.dynamic import runs
    from milp_trees.engines.dynamic.contexts import Context
    from milp_trees.engines.dynamic.layouts import TABLE

    wanted = {name: DynamicProgramme().run(make()).objective for name, make in INSTANCES.items()}

    def tiny(entries):
        return Context(
            TABLE,
            room=2**62,
            used=np.zeros(1, dtype=np.int64),
            slots=np.zeros((32, 4), dtype=np.uint64),
        )

    monkeypatch.setattr(runs, "table_of", tiny)
    for name, make in INSTANCES.items():
        found = DynamicProgramme().run(make())
        assert found.model_size["entries"] == 32
        assert found.optimal
        assert found.objective == wanted[name]


def test_ctrl_c_ends_a_search_with_its_tree():
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    began = time.perf_counter()
    timer.start()
    result = DynamicProgramme().run(endless_problem(), mt.Limits(time=30))
    assert time.perf_counter() - began < 5
    assert (result.status, result.limit) == (Status.FEASIBLE, Limit.INTERRUPTED)
    assert result.bound <= result.objective


def test_progress_comes_from_the_thread_that_asked():
    seen = []
    DynamicProgramme().run(
        long_problem(),
        mt.Limits(threads=2),
        progress=lambda point: seen.append((threading.current_thread(), point)),
    )
    assert {thread for thread, _ in seen} == {threading.current_thread()}
    assert len(seen) > 2


def test_a_progress_callback_that_fails_ends_the_search():
    def fail(point):
        raise ValueError("no screen")

    before = set(threading.enumerate())
    with pytest.raises(ValueError, match="no screen"):
        DynamicProgramme().run(endless_problem(), mt.Limits(time=30), progress=fail)
    assert not [
        t for t in threading.enumerate() if t not in before and not isinstance(t, threading.Timer)
    ]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("depth", "penalty"), [(4, 0), (None, "1/50")])
def test_an_optimal_start_is_kept_and_proven(depth, penalty, order):
    asked = long_problem(depth, penalty)
    first = DynamicProgramme(order=order).run(asked)
    again = DynamicProgramme(order=order).run(asked, start=first.tree)
    assert again.optimal
    assert again.objective == again.bound == first.objective
    assert again.trace[0].incumbent == first.objective
    # A start that can be improved is.
    poor = DynamicProgramme().run(replace(asked, space=mt.Trees(1)))
    assert DynamicProgramme(order=order).run(asked, start=poor.tree).objective == first.objective


# -- looking ahead -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "penalty"), [(4, 0), (None, "1/50"), (3, "1/80")])
def test_looking_ahead_is_between_the_best_shallow_tree_and_the_optimum(depth, penalty):
    """By induction over the levels: the tree is never worse than the best tree of depth k, nor
    better than the best of all.
    """
    asked = long_problem(depth, penalty)
    optimum = DynamicProgramme().run(asked).objective
    for k in (1, 2, 3):
        result = DynamicProgramme(lookahead=k).run(asked)
        shallow = DynamicProgramme().run(
            replace(asked, space=mt.Trees(k if depth is None else min(k, depth)))
        )
        assert result.status is Status.FEASIBLE
        assert result.bound is None
        assert optimum <= result.objective <= shallow.objective
        assert depth is None or result.tree.depth <= depth
        if depth is not None and k >= depth:
            assert result.objective == optimum
    assert DynamicProgramme(lookahead=9).run(asked).status is Status.FEASIBLE


def test_looking_ahead_without_limit_and_penalty_fits_all_rows_that_differ():
    X = np.array([[a >> k & 1 for k in range(4)] for a in range(16)])
    dataset = mt.Dataset(X, y=(X[:, 0] & X[:, 1]) | (X[:, 2] & X[:, 3]))
    assert (
        DynamicProgramme(lookahead=2)
        .run(mt.Problem(dataset, mt.Accuracy(), mt.Trees(None)))
        .objective
        == 0
    )


def test_looking_ahead_refuses_what_it_cannot_keep_to_and_says_where_there_is_no_tree():
    asked = long_problem(3)
    assert "largest number of leaves" in DynamicProgramme(lookahead=1).unsupported(
        replace(asked, space=mt.Trees(3, max_leaf_nodes=3))
    )
    assert (
        DynamicProgramme(lookahead=1)
        .run(replace(asked, space=mt.Trees(3, min_samples_leaf=999)))
        .status
        is Status.INFEASIBLE
    )


# -- processes -----------------------------------------------------------------------------------------------


def test_a_second_process_reads_the_compiled_search():
    code = (
        "import numpy as np, milp_trees as mt\n"
        "X = np.array([[a >> k & 1 for k in range(6)] for a in range(64)])\n"
        "data = mt.Dataset(X, y=(X.sum(axis=1) > 3).astype(int))\n"
        "for depth in (5, None):\n"
        "    result = mt.solve(mt.Problem(data, mt.Accuracy(leaf_penalty='1/64'), mt.Trees(depth)), method='dp')\n"
        "    print(result.status.value, result.seconds < 5)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n")[:2] == ["optimal True"] * 2


def test_importing_the_package_does_not_load_numba():
    subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys, milp_trees; milp_trees.solve; assert 'numba' not in sys.modules",
        ],
        check=True,
    )


# -- public data ---------------------------------------------------------------------------------------------

#: Errors of the optimal trees of depth 4 and 5.
DEEP = {
    "anneal": (91, 70), "audiology": (1, 0), "breast-wisconsin": (7, 0), "compas": (2250, 2233), "hepatitis": (3, 0), "heart-cleveland": (25, 7),
    "lymph": (3, 0), "mushroom": (0, 0), "primary-tumor": (34, 26), "soybean": (14, 8), "tic-tac-toe": (137, 63), "vote": (5, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_published_optima_at_depth_four_and_five(data_folder, name):
    path = next((data_folder / "classification").glob(f"{name}.txt*"))
    table = np.loadtxt(path, dtype=np.int64)
    dataset = mt.Dataset(table[:, 1:], y=table[:, 0])
    for depth, errors in zip((4, 5), DEEP[name], strict=True):
        result = DynamicProgramme().run(
            mt.Problem(dataset, mt.Accuracy(), mt.Trees(depth)),
            mt.Limits(threads=1 + depth % 2),
        )
        assert result.optimal
        assert result.objective == result.bound == errors


@pytest.mark.parametrize(
    ("depth", "penalty", "value"),
    [(5, "1/200", 0.1330092), (6, "1/100", 0.1452315), (None, "1/100", 0.1452315)],
)
def test_sparse_optima_on_car(data_folder, depth, penalty, value):
    dataset = mt.load(data_folder / "gosdt" / "car.csv")
    result = DynamicProgramme().run(
        mt.Problem(dataset, mt.Accuracy(leaf_penalty=penalty), mt.Trees(depth))
    )
    assert result.optimal
    assert result.objective / dataset.n_rows == pytest.approx(
        value, abs=1e-7
    ) or result.objective == pytest.approx(value, abs=1e-7)
