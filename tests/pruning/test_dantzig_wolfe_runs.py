"""Runs of column generation and of the subgradient: starts, threads, limits, Ctrl-C, names."""

import itertools
import os
import signal
import threading
import time

import numpy as np
import pytest
from dantzig_wolfe_cases import _one_split
from dantzig_wolfe_forests import solve

import milp_trees as mt
from milp_trees.common.errors import DataError, Unsupported
from milp_trees.common.limits import Limits
from milp_trees.methods import watch
from milp_trees.mip.registry import registry
from milp_trees.pruning.engines.dantzig_wolfe.coupling import coupled
from milp_trees.pruning.engines.dantzig_wolfe.master import Master
from milp_trees.pruning.engines.dantzig_wolfe.method import DantzigWolfe
from milp_trees.pruning.engines.dantzig_wolfe.places import Threads
from milp_trees.pruning.engines.dantzig_wolfe.run import PricingRun
from milp_trees.pruning.engines.subgradient import Subgradient
from milp_trees.results.result import Limit


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
    budgeted = mt.Problem(forest.dataset, mt.pruning.PrunedError("0.01", max_cost=1), forest.space)
    with pytest.raises(Unsupported, match=f"{name} takes no budget"):
        registry.method(name).run(budgeted)
    if name == "dantzig-wolfe":
        with pytest.raises(Unsupported, match="where at most 10 are built; raise max_nonzeros="):
            registry.method(name).run(forest, mt.Limits(nonzeros=10))


def test_threads_change_nothing(medium):
    """Same rounds, columns, pruning and bounds with two jobs."""
    one, sizes_one = solve(medium)
    two, sizes_two = solve(medium, DantzigWolfe(jobs=2))
    assert sizes_one["model_size"] == sizes_two["model_size"]
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
    run, more = solve(medium, Subgradient(steps=10_000_000), Limits(time=0.1))
    assert more["limit"] is Limit.TIME or run.closed  # a quick machine is done by then
    assert run.rounds >= 1
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
    monkeypatch.setattr("milp_trees.pruning.engines.dantzig_wolfe.method.BYTES", 2**30)
    run, more = solve(medium, limits=Limits(memory_mb=2500))
    assert more["limit"] is Limit.MEMORY
    assert run.rounds == 0
    assert more["model_size"]["columns"] == 0


def test_ctrl_c_keeps_what_is_known(medium):
    """The interrupt comes from the progress callback, after the second round."""
    parts = coupled(medium)

    def interrupt(point):
        if run.rounds == 2:
            raise KeyboardInterrupt

    run = PricingRun(medium, parts, Threads(parts), Limits(), interrupt)
    more = DantzigWolfe().solve(run, Limits())
    assert more["limit"] is Limit.INTERRUPTED
    assert run.rounds == 2
    assert run.bound <= run.value < medium.Z(np.zeros(medium.n_nodes, dtype=bool))


def test_ctrl_c_within_the_master_stops_highs(medium):
    """A signal while HiGHS runs, which here waits until it is told to stop."""
    master = Master(coupled(medium, False))
    trees, running, stated = np.arange(medium.n_trees), threading.Event(), threading.Event()
    for keep in (np.zeros(medium.n_nodes, dtype=bool), medium.is_split):
        master.add(trees, keep)

    def wait(event):
        running.set()
        for _ in range(200):
            if master._stop:
                stated.set()
                break
            time.sleep(0.05)

    def interrupt():
        if running.wait(10):
            os.kill(os.getpid(), signal.SIGINT)

    master.h.cbSimplexInterrupt.subscribe(wait)
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt):
        master.solve(None)
    assert stated.wait(10)  # at its next iteration: the run does not wait for it
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
