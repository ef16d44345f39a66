"""The compiled search of `dp`: switches, orders, ties, stops, and bounds that would be wrong."""

import subprocess
import sys
from dataclasses import fields, replace

import numpy as np
import pytest
from dp_bounds_cases import best
from dp_search_cases import INSTANCES, long_problem, solve
from random_views import random_view
from row_tests import each_row

import milp_trees as mt
from milp_trees.engines.dp.method import DynamicProgramme
from milp_trees.engines.dp.switches import ORDERS
from milp_trees.results.result import Status

SWITCHES = [f.name for f in fields(DynamicProgramme) if f.type == "bool"]


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
def test_random_switches_orders_ties_and_threads_agree(block, monkeypatch):
    from milp_trees.engines.dp import runs

    for seed in range(100 * block, 100 * block + 100):
        monkeypatch.setattr(runs, "TURN", 8e10 if seed % 2 else 0)
        rng = np.random.default_rng(10_000 + seed)
        on = {name: bool(rng.random() < 0.6) for name in SWITCHES}
        method = DynamicProgramme(
            order=str(rng.choice(ORDERS)), ties=str(rng.choice(["first", "fewest-leaves"])), **on
        )
        check(seed, method, threads=int(rng.integers(1, 3)))


@each_row("name", SWITCHES)
def test_each_switch_alone_agrees(name):
    for seed in range(500, 512):
        check(seed, DynamicProgramme(**{name: False}))
        check(seed, DynamicProgramme(**{other: other == name for other in SWITCHES}))


def test_the_cases_reach_every_way_to_count():
    """Groups of equal rows, rows one by one; number types; minima; no depth limit; no tree at all."""
    from milp_trees.engines.dp.arrays import UNLIMITED, prepare

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
    from milp_trees.engines.dp.arrays import prepare

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
    "free_bounds": ("sparse", "nodes", lambda with_it, without: without > with_it),
    "nested": ("thresholds", "calls", lambda with_it, without: without > with_it),
    "deepening": ("five levels", "calls", lambda with_it, without: without != with_it),
    "merge_rows": ("four levels", "rows", lambda with_it, without: without > with_it),
    "drop_tests": ("four levels", "tests", lambda with_it, without: without == with_it + 1),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_each_switch_changes_a_counter_and_not_the_optimum(name, monkeypatch):
    from milp_trees.engines.dp import runs

    if name in ("free_bounds", "deepening"):  # these problems take less than a turn
        monkeypatch.setattr(runs, "TURN", 0)
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


# -- looking ahead -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "penalty"), [(4, 0), (None, "1/50"), (3, "1/80")])
def test_looking_ahead_is_between_the_best_shallow_tree_and_the_optimum(depth, penalty):
    """By induction over the levels: the tree is never worse than the best tree of depth k, nor
    better than the best of all.
    """
    requested = long_problem(depth, penalty)
    optimum = DynamicProgramme().run(requested).objective
    for k in (1, 2, 3):
        result = DynamicProgramme(lookahead=k).run(requested)
        shallow = DynamicProgramme().run(
            replace(requested, space=mt.Trees(k if depth is None else min(k, depth)))
        )
        assert result.status is Status.FEASIBLE
        assert result.bound is None
        assert optimum <= result.objective <= shallow.objective
        assert depth is None or result.tree.depth <= depth
        if depth is not None and k >= depth:
            assert result.objective == optimum
    assert DynamicProgramme(lookahead=9).run(requested).status is Status.FEASIBLE


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
    requested = long_problem(3)
    assert "largest number of leaves" in DynamicProgramme(lookahead=1).unsupported(
        replace(requested, space=mt.Trees(3, max_leaf_nodes=3))
    )
    assert (
        DynamicProgramme(lookahead=1)
        .run(replace(requested, space=mt.Trees(3, min_samples_leaf=999)))
        .status
        is Status.INFEASIBLE
    )


# -- processes -----------------------------------------------------------------------------------------------


@pytest.mark.slow
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
