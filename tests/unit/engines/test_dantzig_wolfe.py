"""Column generation and subgradients over prunings of single trees: against brute force, a shortest
path, and each other.
"""

import itertools
import os
import random
import signal
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import maximum_flow

import milp_trees as mt
from milp_trees.by_name import registry
from milp_trees.engines.dantzig_wolfe import DantzigWolfe
from milp_trees.engines.decomposition import places
from milp_trees.engines.decomposition.coupling import coupled
from milp_trees.engines.decomposition.master import Master
from milp_trees.engines.decomposition.places import Cluster, Threads
from milp_trees.engines.decomposition.pricing import part, path_pruning
from milp_trees.engines.decomposition.run import Run, place_for
from milp_trees.engines.subgradient import Subgradient
from milp_trees.errors import DataError, SolverFailure, SolverUnavailable, Unsupported
from milp_trees.limits import Limits
from milp_trees.methods import watch
from milp_trees.results.result import Limit
from milp_trees.tasks.pruning_view import NodeGains

LAMS = (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(1), Fraction(5, 3))


def random_view(rng: random.Random, n_trees=3, depth=2, rows=3, features=3, lam=None) -> NodeGains:
    """Random trees, rows and prices: per row or once for all rows, groups above features, free and
    repeated tests, single leaves, negative gains.
    """
    parent, left, right, member, unit, error = [], [], [], [], [], []

    def grow(t, up, levels):
        h = len(parent)
        parent.append(up), left.append(-1), right.append(-1), member.append(t), unit.append(-1)
        error.append(rng.randrange(2 + levels * 3 * rows))  # splits tend to gain something
        if levels and rng.random() < 0.9:
            unit[h] = rng.randrange(-1 if rng.random() < 0.3 else 0, features)
            left[h] = grow(t, h, levels - 1)
            right[h] = grow(t, h, levels - 1)
        return h

    roots = [grow(t, -1, depth) for t in range(n_trees)]
    M = len(parent)
    leaf = np.zeros((rows, n_trees), dtype=np.int32)
    reach = [set() for _ in range(M)]
    for i, t in itertools.product(range(rows), range(n_trees)):
        h = roots[t]
        reach[h].add(i)
        while left[h] >= 0:
            h = rng.choice([left[h], right[h]])
            reach[h].add(i)
        leaf[i, t] = h
    once = [rng.random() < 0.2 for _ in range(features)]
    bought, price, above = {}, [], []

    def purchase(k, i):
        key = k, -1 if k < features and once[k] else i
        if key not in bought:
            bought[key] = len(price)
            price.append(rng.randrange(7))
            if grouped and k == 0:
                above.append([bought[key], purchase(features, key[1])])
        return bought[key]

    grouped = rng.random() < 0.5
    first, start, need = [], [0], []
    for h in range(M):
        up = parent[h]
        while up >= 0 and unit[up] != unit[h]:
            up = parent[up]
        if unit[h] >= 0 and up < 0:
            first.append(h)
            need += sorted({purchase(unit[h], i) for i in reach[h]})
            start.append(len(need))
    splits = np.array(left) >= 0
    whole = [np.array(a, dtype=np.int64) for a in (parent, left, right, member, unit)]
    return NodeGains(
        *whole,
        np.array(error),
        np.where(splits, [rng.randrange(2) for _ in range(M)], 0),
        leaf,
        np.array(first, dtype=np.int64),
        np.array(start),
        np.array(need, dtype=np.int32),
        np.array(price, dtype=np.int64),
        np.array([k for k, _ in bought], dtype=np.int64),
        np.array([i for _, i in bought], dtype=np.int64),
        np.array(above, dtype=np.int64).reshape(-1, 2),
        tuple(map(str, range(features + 1))),
        Fraction(1, rng.randrange(1, 5)),
        Fraction(1, rows),
        rng.choice(LAMS) if lam is None else lam,
        cost_offset=Fraction(rng.randrange(3)),
    )


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


def solve(view, method=None, limits=None, start=None):
    """A run of an engine on a view, and what it reports."""
    method, limits = method or DantzigWolfe(), limits or Limits()
    parts = coupled(view, method.merge)
    run = Run(view, parts, place_for(parts, method.jobs, method.cluster), limits)
    try:
        return run, method.solve(run, limits)
    finally:
        run.place.close()


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("seed", range(8))
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
        run = Run(view, parts, Threads(parts), Limits())
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


def _one_split(parent, left, right, error, price=0, **more):
    need = np.zeros(1, dtype=np.int32)
    return NodeGains(
        parent,
        left,
        right,
        np.zeros(3, dtype=np.int64),
        np.array([0, -1, -1]),
        np.array(error, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
        np.ones((1, 1), dtype=np.int32),
        np.zeros(1, dtype=np.int64),
        np.array([0, 1]),
        need,
        np.array([price]),
        np.zeros(1, dtype=np.int64),
        np.zeros(1, dtype=np.int64),
        np.zeros((0, 2), dtype=np.int64),
        ("a",),
        Fraction(1),
        Fraction(1),
        Fraction(1),
        **more,
    )


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


@pytest.fixture(scope="module")
def forest():
    """A problem: twelve trees of scikit-learn on 150 rows, prices 1 to 3."""
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    X, y = make_classification(150, 12, n_informative=5, flip_y=0.1, random_state=0)
    ensemble = mt.read_ensemble(RandomForestClassifier(12, random_state=0).fit(X, y))
    dataset = mt.Dataset(np.zeros((150, 0)), y=y, numeric=X, columns=ensemble.columns)
    costs = mt.tasks.FeatureCosts({name: 1 + k % 3 for k, name in enumerate(ensemble.columns)})
    return mt.Problem(dataset, mt.tasks.PrunedError("0.01", costs), mt.PrunedEnsembles(ensemble))


@pytest.fixture(scope="module")
def medium(forest):
    """Its view."""
    return forest.view(NodeGains)


def test_columns_come_in_rounds_until_bound_and_incumbent_meet(medium):
    """More than the first two rounds are needed here, and the paper's master and the merged one
    give the same.
    """
    merged, more = solve(medium)
    plain, as_printed = solve(medium, DantzigWolfe(merge=False))
    assert merged.closed
    assert plain.closed
    assert merged.value == plain.value
    assert more["sizes"]["rounds"] > 2
    assert more["sizes"]["columns"] > 2 * medium.n_trees
    assert more["sizes"]["master_rows"] < as_printed["sizes"]["master_rows"]


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


def test_a_problem_is_solved_with_its_proof_and_its_rounds(forest):
    """From the registry to the Result: value, bound, trace, sizes; what is reported on the way is
    the trace.
    """
    seen = []
    result = registry.method("dantzig-wolfe").run(forest, progress=seen.append)
    assert result.optimal
    assert result.value.exact == result.certificate.bound_exact
    assert result.certificate.proved_by == "dantzig-wolfe"
    assert 1 <= len(result.trace) == len(seen) <= result.model_size["rounds"]
    assert result.model_size["columns"] > 24
    assert result.versions["highs"]
    heuristic = registry.method("subgradient").run(forest)
    assert heuristic.bound <= result.objective <= heuristic.objective


def test_a_start_is_an_incumbent_and_a_column(forest):
    """With no time left it is the answer; otherwise the optimum is the same."""
    best = registry.method("dantzig-wolfe").run(forest)
    stopped = registry.method("dantzig-wolfe").run(
        forest, mt.Limits(time=0.0), start=best.predictor
    )
    assert stopped.objective == best.objective
    assert not stopped.optimal
    assert stopped.limit is Limit.TIME
    again = registry.method("dantzig-wolfe").run(forest, start=best.predictor)
    assert again.objective == best.objective
    assert again.trace[0].incumbent == pytest.approx(best.objective)


@pytest.mark.parametrize("name", ["dantzig-wolfe", "subgradient"])
def test_what_they_cannot_do_is_said(forest, name):
    """A budget, and a master that is too large."""
    budgeted = mt.Problem(forest.dataset, mt.tasks.PrunedError("0.01", max_cost=1), forest.space)
    with pytest.raises(Unsupported, match=f"{name} takes no budget"):
        registry.method(name).run(budgeted)
    if name == "dantzig-wolfe":
        with pytest.raises(Unsupported, match="where at most 10 are built; raise --max-nonzeros"):
            registry.method(name).run(forest, mt.Limits(nonzeros=10))


def test_threads_change_nothing(medium):
    """Same rounds, columns, pruning and bounds with two jobs."""
    one, sizes_one = solve(medium)
    two, sizes_two = solve(medium, DantzigWolfe(jobs=2))
    assert sizes_one["sizes"] == sizes_two["sizes"]
    assert (one.keep == two.keep).all()
    assert [p[1:] for p in one.trace] == [p[1:] for p in two.trace]


def test_the_subgradient_stops_short_of_the_optimum_and_says_so(medium):
    """Fifty steps leave a gap here; more steps leave less."""
    best, _ = solve(medium)
    few, more = solve(medium, Subgradient())
    many, _ = solve(medium, Subgradient(steps=1000))
    assert few.rounds == 50
    assert few.bound <= best.value <= few.value
    assert not few.closed
    assert many.value - many.bound < few.value - few.bound


def test_at_its_time_limit_a_run_has_a_pruning_and_a_bound(medium):
    """With no time at all: nothing is kept, and free features are the bound."""
    best, _ = solve(medium)
    for method in (DantzigWolfe(), Subgradient(steps=100_000)):
        run, more = solve(medium, method, Limits(time=0.0))
        assert more["limit"] is Limit.TIME
        assert run.bound <= best.value <= run.value
    run, more = solve(medium, Subgradient(steps=10_000_000), Limits(time=0.3))
    assert more["limit"] is Limit.TIME
    assert run.rounds > 1
    assert run.bound <= best.value <= run.value


def test_at_its_memory_limit_a_run_has_a_pruning_and_a_bound(medium, monkeypatch):
    """The process seems to grow by a gigabyte at every look: before and after the master is built,
    and in every round.
    """
    sizes = itertools.count(0, 2**30)
    monkeypatch.setattr(watch, "_resident", lambda: next(sizes))
    monkeypatch.setattr(watch, "MEMORY_POLL", 0.0)
    run, more = solve(medium, limits=Limits(memory_mb=4500))
    assert more["limit"] is Limit.MEMORY
    assert run.rounds == 2
    assert run.bound < run.value


def test_a_master_that_would_not_fit_is_not_begun(medium, monkeypatch):
    """What it would take is known before it is built."""
    monkeypatch.setattr("milp_trees.engines.dantzig_wolfe.BYTES", 2**30)
    run, more = solve(medium, limits=Limits(memory_mb=2500))
    assert more["limit"] is Limit.MEMORY
    assert run.rounds == 0
    assert more["sizes"]["columns"] == 0


def test_ctrl_c_keeps_what_is_known(medium):
    """The interrupt comes from the progress callback, after the second round."""
    parts = coupled(medium)

    def interrupt(point):
        if run.rounds == 2:
            raise KeyboardInterrupt

    run = Run(medium, parts, Threads(parts), Limits(), interrupt)
    more = DantzigWolfe().solve(run, Limits())
    assert more["limit"] is Limit.INTERRUPTED
    assert run.rounds == 2
    assert run.bound <= run.value < medium.Z(np.zeros(medium.n_nodes, dtype=bool))


def test_ctrl_c_within_the_master_stops_highs(medium):
    """A signal while HiGHS runs, which here waits until it is told to stop."""
    master = Master(coupled(medium, False))
    trees, running, told = np.arange(medium.n_trees), threading.Event(), threading.Event()
    for keep in (np.zeros(medium.n_nodes, dtype=bool), medium.is_split):
        master.add(trees, keep)

    def wait(event):
        running.set()
        for _ in range(200):
            if master._stop:
                told.set()
                break
            time.sleep(0.05)

    def interrupt():
        if running.wait(10):
            os.kill(os.getpid(), signal.SIGINT)

    master.h.cbSimplexInterrupt.subscribe(wait)
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        master.solve(None)
    assert told.wait(10)  # at its next iteration: the run does not wait for it
    assert master._done.wait(10)


def test_sums_that_would_not_fit_are_refused_beforehand():
    """And very large ones that do are still proved, or not called optimal."""
    tree = np.array([-1, 0, 0]), np.array([1, -1, -1]), np.array([2, -1, -1])
    with pytest.raises(Unsupported, match="round prices, weights or lam to fewer digits"):
        coupled(_one_split(*tree, error=[2**60, 0, 0], price=2**59))
    view = _one_split(*tree, error=[2**50, 3, 5], price=2**49)
    run, more = solve(view)
    assert run.value == 2**49 + 8
    assert run.closed or "more digits than HiGHS tells apart" in more["message"]


def test_options_are_part_of_the_name():
    """As they are written on the command line, an address too."""
    method = registry.method("dantzig-wolfe:jobs=2,merge=off,cluster=tcp://127.0.0.1:8786")
    assert (method.jobs, method.merge, method.cluster) == (2, False, "tcp://127.0.0.1:8786")
    assert method.label == "dantzig-wolfe:jobs=2,merge=off,cluster=tcp://127.0.0.1:8786"
    assert registry.method("subgradient:steps=7").label == "subgradient:steps=7"
    with pytest.raises(DataError, match=r"jobs is a number of threads of at least 1; got 0\."):
        DantzigWolfe(jobs=0)


# -- on a cluster ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """Two workers, each a process, on the loopback interface."""
    distributed = pytest.importorskip(
        "distributed", reason="dask and distributed are not installed"
    )
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=":0",
        worker_dashboard_address=":0",
        silence_logs=50,
    ) as started:
        yield started


def test_two_workers_price_as_one_process_does(cluster, medium):
    """By address and by client; the trees are on both workers, and a client that was given stays
    open.
    """
    distributed = pytest.importorskip("distributed")
    here, sizes = solve(medium)
    by_address = solve(medium, DantzigWolfe(cluster=cluster.scheduler_address))
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        for there, more in (by_address, solve(medium, DantzigWolfe(cluster=client))):
            assert more["sizes"] == sizes["sizes"]
            assert (there.keep == here.keep).all()
            assert [p[1:] for p in there.trace] == [p[1:] for p in here.trace]
        place = Cluster(coupled(medium), client)
        assert len(place.parts) == 2
        assert (
            len({worker for workers in client.who_has(place._there).values() for worker in workers})
            == 2
        )
        place.close()
        assert client.status == "running"
    assert "client" in DantzigWolfe(cluster=client).label


def test_a_worker_that_dies_is_named(medium):
    """The trees it held are lost; no answer is made up, and nothing waits for ever."""
    distributed = pytest.importorskip(
        "distributed", reason="dask and distributed are not installed"
    )
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=":0",
        silence_logs=50,
    ) as one:
        parts = coupled(medium)
        place = Cluster(parts, one.scheduler_address)
        killed = one.workers[0].process.process.pid

        def kill(point):
            if run.rounds == 2:
                os.kill(killed, signal.SIGKILL)

        run = Run(medium, parts, place, Limits(time=30.0), kill)
        with pytest.raises(SolverFailure, match="The Dask cluster lost the trees"):
            DantzigWolfe().solve(run, Limits())
        place.close()


def test_a_cluster_that_is_not_there_is_named(monkeypatch):
    """Nobody at the address, a name that is no address, a cluster without workers."""
    distributed = pytest.importorskip(
        "distributed", reason="dask and distributed are not installed"
    )
    monkeypatch.setattr(places, "ANSWERS_WITHIN", 1)
    view = random_view(random.Random(0))
    with pytest.raises(
        SolverUnavailable, match=r"No Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"
    ):
        solve(view, DantzigWolfe(cluster="tcp://127.0.0.1:9"))
    empty = distributed.LocalCluster(
        n_workers=0, host="127.0.0.1", dashboard_address=":0", silence_logs=50
    )
    with empty, pytest.raises(SolverUnavailable, match="has no workers"):
        solve(view, DantzigWolfe(cluster=empty.scheduler_address))


def test_without_distributed_one_sentence_says_what_to_install(monkeypatch):
    """The extra is named."""
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(
        SolverUnavailable, match=r"not installed; pip install 'milp-trees\[cluster\]'\."
    ):
        solve(random_view(random.Random(0)), DantzigWolfe(cluster="tcp://127.0.0.1:9"))
