"""`dp-lists` against brute force over sets of rows, stopped runs, every length, and COMPAS."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.limits import Limit, Stopped
from milp_trees.lists.engines.dp_lists import search as searching
from milp_trees.lists.engines.dp_lists.switches import DpListsSwitches
from milp_trees.methods import unprepared
from milp_trees.problems.questions import BySize


def random_view(rng):
    """Costs of any sign and size, equal and complementary columns, counts, prices."""
    n, M, K = int(rng.integers(1, 13)), int(rng.integers(0, 7)), int(rng.integers(1, 5))
    X = rng.integers(0, 2, (n, M)).astype(np.uint8)
    if M >= 3 and rng.random() < 0.4:
        X[:, 0], X[:, 1] = 1 - X[:, 2], X[:, 2]
    labels = 1 - np.eye(K, dtype=np.int64)[rng.integers(0, K, n)]
    costs = (
        labels,
        labels * rng.integers(0, 6, n)[:, None],
        rng.integers(-6, 7, (n, K)),
        rng.integers(-(10**9), 10**9, (n, K)),
    )[rng.integers(0, 4)]
    scale, paid = max(1, int(np.abs(costs).max()) // 4), rng.random() < 0.8
    return mt.plugins.CostMatrix(
        X=X,
        features=tuple(mt.Antecedent((mt.BinaryFeature(f"x{j}"),)) for j in range(M)),
        costs=costs,
        actions=tuple(range(K)),
        counts=rng.integers(1, 4, n) if rng.random() < 0.4 else np.ones(n, dtype=np.int64),
        leaf_cost=int(rng.integers(0, 3)) * scale if rng.random() < 0.5 else 0,
        split_costs=(rng.integers(0, 4, M) * scale * paid).astype(np.int64),
        side=(),
        offset=Fraction(0),
        scale=Fraction(1),
        exact=True,
        rows=np.arange(n),
        complements=False,
    )


def brute_force(view, longest, least):
    """The best objective of all lists, by the recursion without any bound."""
    costs, every = view.costs.tolist(), frozenset(range(view.n_rows))
    held = [frozenset(np.flatnonzero(column).tolist()) for column in view.X.T]

    def leaf(rows):
        return view.leaf_cost + min(sum(costs[i][k] for i in rows) for k in range(view.n_actions))

    @cache
    def best(rows, left):
        out = leaf(rows)
        for j, column in enumerate(held):
            here = rows & column
            if left and here and sum(view.counts[i] for i in here) >= least:
                out = min(out, int(view.split_costs[j]) + leaf(here) + best(rows - here, left - 1))
        return out

    return best(every, min(99 if longest is None else longest, view.n_rows))


def random_search(rng, view, longest, least):
    switches = DpListsSwitches(
        tables=int(rng.integers(0, 4)),
        rows=int(rng.integers(1, 7)),
        share=int(rng.choice([0, 100, 10_000])),
        dive=int(rng.integers(1, 4)),
    )
    return searching.ListSearch(view, longest, least, switches, 10**8)


@pytest.mark.parametrize("seed", range(30))
def test_the_value_is_that_of_brute_force_and_the_bound_never_above(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    view = random_view(rng)
    longest = None if rng.random() < 0.4 else int(rng.integers(0, 6))
    least = int(rng.choice([1, 1, 2, 3]))
    monkeypatch.setattr(searching, "QUOTA", int(rng.choice([1, 50, 10**7])))
    monkeypatch.setattr(searching, "MOST_LAYERS", int(rng.choice([1, 2, 8])))
    monkeypatch.setattr(searching, "_ROOM", int(rng.choice([1, 100])))
    search = random_search(rng, view.reduce() if rng.random() < 0.6 else view, longest, least)
    want, calls, bounds = brute_force(view, longest, least), 0, []
    stop = int(rng.integers(0, 20)) if rng.random() < 0.4 else -1

    def between():
        nonlocal calls
        calls += 1
        bounds.append(search.bound)
        assert search.bound <= want <= search.value
        return Limit.TIME if calls == stop else None

    limit = search.run(between)
    assert bounds == sorted(bounds)
    assert limit or search.value == want == search.bound
    found = search.found
    assert view.objective(found) <= search.value
    assert longest is None or found.length <= longest
    sizes = np.bincount(found.routes(view).leaf, view.counts, found.n_leaves)[:-1]
    assert (sizes >= least).all()


@each_row("seed", range(40))
def test_tables_hold_the_optimum_of_all_subsets_of_their_rows(seed):
    rng = np.random.default_rng(seed)
    view, longest = random_view(rng), None if seed % 2 else int(rng.integers(1, 4))
    search = searching.ListSearch(view, longest, 1, DpListsSwitches(rows=4, share=10_000), 10**8)
    search.run(lambda: None)
    tables, layers = search.tables, len(search.problem.below)
    for c in range(tables.used):
        rows = search.rows[tables.row[c, : tables.size[c]]]
        for m in range(2 ** len(rows)):
            part = rows[[m >> q & 1 == 1 for q in range(len(rows))]]
            some = replace(
                view, X=view.X[part], costs=view.costs[part], counts=view.counts[part], rows=part
            )
            for layer in range(layers):
                left = None if layer and search.limit < 0 else layer
                paid = int(some.base.sum()) + view.leaf_cost
                assert tables.values[c, layer, m] == brute_force(some, left, 1) - paid


@each_row("seed", range(20))
def test_every_length_has_its_optimum(seed):
    rng = np.random.default_rng(seed)
    n, F = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    data = mt.Dataset(
        rng.integers(0, 2, (n, F)).astype(np.uint8), values=rng.integers(-9, 10, (n, 3))
    )
    task = mt.tasks.ActionCostMatrix(split_penalty=int(rng.integers(0, 3)))
    problem = mt.Problem(data, task, mt.RuleLists(max_length=4), BySize(6))
    result = mt.solve(problem, "dp-lists")
    view = problem.view(mt.plugins.CostMatrix)
    assert [p.leaves for p in result.curve.points] == [1, 2, 3, 4, 5, 6]
    for point in result.curve.points:
        want = view.to_value(brute_force(view, min(4, point.leaves - 1), 1))
        assert point.proven
        assert point.value.exact == want
        assert point.predictor.n_leaves <= point.leaves


def noise():
    """A problem that takes minutes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (1000, 40)).astype(np.uint8)
    data = mt.Dataset(X, y=rng.integers(0, 2, 1000))
    space = mt.RuleLists(mt.Antecedents(negations=True))
    return mt.Problem(data, mt.Accuracy(split_penalty="0.001"), space)


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        ({"time_limit": 0.5}, Limit.TIME),
        ({"node_limit": 20}, Limit.NODES),
        ({"memory_mb": 8, "time_limit": 20}, Limit.MEMORY),
    ],
)
def test_a_stopped_run_has_a_list_and_a_bound(limits, limit, monkeypatch):
    monkeypatch.setattr(searching, "QUOTA", 10**5)  # on a busy machine a call may take long
    result = mt.solve(noise(), "dp-lists", **limits)
    assert result.limit is limit
    assert result.status.value == "feasible"
    # On a busy machine a run may be stopped from outside, without its bound.
    assert (result.bound is None and limit is Limit.TIME) or 0 < result.bound < result.objective
    if limit is Limit.NODES:
        assert result.nodes <= 20


def test_a_stopped_path_is_not_measured_by_a_list_that_is_too_long():
    """A greedy list of more rules was compared with the bound of the last length: an error."""
    labels = np.arange(8) == np.arange(8)[:, None]
    rows = np.repeat(labels.astype(np.uint8), 4, axis=0)
    data = mt.Dataset(rows, y=np.repeat(np.arange(8), 4))
    problem = mt.Problem(data, mt.Accuracy(), mt.RuleLists(), BySize(3))
    result = mt.solve(problem, "dp-lists", node_limit=2)
    assert result.limit is Limit.NODES
    assert result.status.value == "feasible"
    assert result.bound == result.objective == 20
    assert result.predictor.n_leaves <= 3


def test_a_run_that_is_stopped_from_outside_keeps_its_list(monkeypatch):
    """The list of the default rule alone was returned."""

    def too_late(*given, **named):
        raise Stopped

    problem = noise()
    found = mt.solve(problem, "dp-lists", node_limit=20)
    monkeypatch.setattr("milp_trees.engines.kit.run.finish", too_late)
    monkeypatch.setattr(unprepared, "GROWING", 0.0)  # a greedy list is better here
    stopped = mt.solve(problem, "dp-lists", node_limit=20)
    assert stopped.status.value == "feasible"
    assert stopped.predictor == found.predictor


def test_a_limit_on_nodes_may_be_larger_than_a_machine_number():
    data = mt.Dataset(np.eye(3, dtype=np.uint8), y=[0, 1, 0])
    problem = mt.Problem(data, mt.Accuracy(), mt.RuleLists(max_length=1))
    assert mt.solve(problem, "dp-lists", node_limit=10**30).optimal


def test_a_history_has_equally_long_columns():
    result = mt.solve(noise(), "dp-lists", node_limit=20)
    frame = result.history_frame()
    assert len(frame)
    assert frame["bound"].is_monotonic_increasing
    assert frame["prefixes"].iloc[-1] == 20


@pytest.mark.parametrize(
    ("penalty", "value"),
    [
        ("0.015", 0.3779734936),
        ("0.01", 0.3679734936),
        ("0.0075", 0.3580936970),
        ("0.005", 0.3480936970),
    ],
)
def test_compas(data_folder, penalty, value):
    data = mt.load(str(data_folder / "rulelist/corels/compas_train.out"))
    problem = mt.Problem(data, mt.Accuracy(split_penalty=penalty), mt.RuleLists())
    result = mt.solve(problem, "dp-lists")
    assert result.status.value == "optimal"
    assert result.value.number == pytest.approx(value, abs=1e-10)
    bare = mt.solve(replace(problem, space=mt.RuleLists(max_length=1)), "dp-lists:tables=0")
    assert bare.status.value == "optimal"
    assert bare.bound >= result.bound
