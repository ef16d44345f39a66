"""`progress`: the user's function is called regularly, stops every method, and may fail."""

import threading
import time
from itertools import chain

import numpy as np
import psutil
import pytest
from engine_limits_cases import LONG, method_of, noise, roads

import milp_trees as mt
from milp_trees.common.limits import Limit, Limits
from milp_trees.decisions.testing.problems import decision_problems
from milp_trees.lists.testing.problems import list_problems
from milp_trees.methods import callback as calling
from milp_trees.methods import method as method_module
from milp_trees.methods.callback import BEAT, SILENT, current_callback
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.watch import Watch
from milp_trees.mip.registry import registry
from milp_trees.mip.solver import availability_of
from milp_trees.oblique.testing import oblique_problems
from milp_trees.problems.questions import NearBest
from milp_trees.pruning.testing.checks import default_pruning_problems
from milp_trees.results.result import Status
from milp_trees.robust.testing.problems import robust_problems
from milp_trees.testing.sets import tiny_problems

#: Cases whose data alone take long to make, or that are large.
HEAVY = ("cart", "cart-spo", "dp, wide", "greedy", "greedy-spo", "dantzig-wolfe", "min-cut")
#: Cases that would end too soon on a fast machine are larger here.
LARGER = LONG | {
    "dp, wide": lambda: mt.Problem(noise(20_000, 1000), mt.Accuracy(), mt.Trees(3)),
    "greedy-spo": lambda: roads(40_000, 12),
}
#: In seconds, many times what any of these runs takes after it was stopped.
AT_ONCE = 20.0


def heavy(case):
    return pytest.param(case, marks=pytest.mark.slow) if case.startswith(HEAVY) else case


@pytest.mark.parametrize("case", [heavy(case) for case in LONG])
def test_true_stops_every_method_with_what_it_has(case, monkeypatch):
    """The cases of `test_engine_limits` are one for every registered method at least."""
    monkeypatch.setattr(method_module, "GRACE", AT_ONCE)  # on a loaded machine reading takes long
    monkeypatch.setattr(calling, "BEAT", 0.02)  # greedy methods end soon on a fast machine
    method, problem = method_of(case), LARGER[case]()
    method.warm_up()
    points, began = [], time.perf_counter()
    result = method.run(problem, Limits(time=300), progress=lambda p: points.append(p) or True)
    assert len(points) == 1, "a function that has said stop is not called again"
    assert time.perf_counter() - began < AT_ONCE
    assert result.limit is Limit.CALLBACK, repr(result)
    assert result.status is Status.FEASIBLE
    assert not problem.violations(result.predictor)
    first = points[0]
    if first.incumbent is not None:
        better = max if problem.task.sense == "max" else min
        assert better(result.objective, first.incumbent) == pytest.approx(result.objective)


def taken_by(method):
    """A small problem that a formulation takes and does not solve before it has a model."""
    kinds = (
        tiny_problems,
        list_problems,
        default_pruning_problems,
        decision_problems,
        oblique_problems,
        robust_problems,
    )
    for problem in chain.from_iterable(kind().values() for kind in kinds):
        if method.unsupported(problem) is None and problem.dataset.n_rows > 3:
            return problem
    raise AssertionError(f"{method.name} takes no problem")


@pytest.mark.parametrize("name", registry.classes("formulations"))
def test_true_stops_every_formulation(name):
    method = registry.method(f"{name}@highs")
    problem = taken_by(method)
    result = method.run(problem, Limits(time=300), progress=lambda point: True)
    assert result.limit is Limit.CALLBACK, repr(result)
    assert result.status in (Status.FEASIBLE, Status.NO_SOLUTION), repr(result)


@pytest.mark.parametrize(
    "name",
    [
        name if name == "highs" else pytest.param(name, marks=pytest.mark.slow)
        for name, cls in registry.classes("solvers").items()
        if availability_of(cls()).found
    ],
)
def test_true_stops_every_solver_while_it_runs(name):
    """The clock of the user's function counts from the first call, when the model is built."""
    problem = mt.Problem(noise(120, 14), mt.Accuracy(), mt.Trees(4))
    calls = []

    def stop(point):
        calls.append(time.perf_counter())
        return calls[-1] - calls[0] > 2 * BEAT

    result = mt.solve(problem, f"flow-oct@{name}", time_limit=300, start="cart", progress=stop)
    assert result.limit is Limit.CALLBACK
    assert result.status is Status.FEASIBLE
    assert result.bound <= result.objective
    assert result.times.get("solve", 0.0) < AT_ONCE  # a slow machine may be stopped before it


def test_true_stops_a_list_of_sizes_a_front_and_a_set_of_models():
    problem = mt.Problem(noise(300, 40), mt.Accuracy(), mt.Trees(5))
    path = mt.size_path(problem, max_leaves=12, method="dp", progress=lambda point: True)
    assert path.limit is Limit.CALLBACK
    assert len(path.points) < 12
    assert mt.size_path(problem, max_leaves=12, progress=lambda p: True).limit is Limit.CALLBACK
    small = mt.Problem(noise(60, 12), mt.Accuracy(), mt.Trees(4))
    assert (
        mt.gap_of(path.at_leaves(2).predictor, problem, progress=lambda p: True).result.limit
        is Limit.CALLBACK
    )
    requested = mt.Problem(small.dataset, small.task, small.space, NearBest(slack=9))
    points = []

    def stop(point):
        points.append(point)
        return point.incumbent is not None

    result = mt.solve(requested, progress=stop)
    assert points[-1].incumbent == points[-1].bound
    assert result.limit is Limit.CALLBACK
    assert result.bound == points[-1].bound, "the optimum that was known by then"
    with pytest.raises(mt.errors.NothingFound, match="stopped before there was a set of trees"):
        mt.near_best(problem, slack=9, progress=lambda point: True)


# -- regular calls -----------------------------------------------------------------------------------


class Quiet(Method):
    """Searches without any news until it is stopped, or for a very long time."""

    name = "quiet"

    def search(self, problem, limits, start, progress):
        clock, watch = Clock(), Watch(limits)

        def work():
            while True:
                time.sleep(0.001)
                watch.check()

        _, limit = watch.until(work)
        tree = problem.space.simplest(problem.task.actions(problem.dataset))[0]
        return finish(
            problem,
            self.name,
            tree,
            bound=None,
            claims_optimal=False,
            proved_by=None,
            clock=clock,
            limit=limit,
        )


class Deaf(Quiet):
    """Asks no watch."""

    def search(self, problem, limits, start, progress):
        while True:
            pass


@pytest.mark.parametrize(("method", "own"), [(Quiet(), True), (Deaf(), False)])
def test_the_function_is_called_regularly_where_nothing_is_new(method, own, monkeypatch):
    """Also by a method that asks no watch, and without a time limit."""
    monkeypatch.setattr(method_module, "LARGE", 0)
    monkeypatch.setattr(method_module, "GRACE", 0.05)
    points, threads = [], set()

    def stop(point):
        points.append(point)
        threads.add(threading.current_thread() is threading.main_thread())
        return len(points) == 4

    problem = mt.Problem(noise(30, 3), mt.Accuracy(), mt.Trees(2))
    result = method.run(problem, Limits(time=None), progress=stop)
    assert result.limit is Limit.CALLBACK
    assert result.status is Status.FEASIBLE
    assert threads == {own}
    assert {point[1:] for point in points} == {(None, None)}
    between = np.diff([point.seconds for point in points])
    assert between.min() >= (BEAT if own else SILENT) - 0.01, "at most so often"
    assert result.seconds < AT_ONCE


def test_a_beat_repeats_what_is_known_with_a_later_time():
    problem = mt.Problem(noise(1000, 80), mt.Accuracy(), mt.Trees(6))
    points = []

    def stop(point):
        points.append(point)
        return len(points) > 2 and points[-1][1:] == points[-2][1:]

    mt.solve(problem, "dp", time_limit=300, progress=stop)
    seconds = [point.seconds for point in points]
    assert seconds == sorted(seconds)
    assert points[-1].incumbent is not None


# -- what the function answers, and what it raises ----------------------------------------------------


@pytest.mark.parametrize("answer", [None, False, 1, "yes", [1], np.bool_(False)])
def test_only_true_stops(answer):
    problem = mt.Problem(noise(40, 6), mt.Accuracy(), mt.Trees(2))
    assert mt.solve(problem, "dp", progress=lambda point: answer).optimal


def test_true_of_numpy_stops():
    problem = mt.Problem(noise(1000, 80), mt.Accuracy(), mt.Trees(6))
    found = mt.solve(problem, "dp", progress=lambda point: np.float64(2) > 1)
    assert found.limit is Limit.CALLBACK


class Mine(Exception):
    pass


def fail(point):
    raise Mine("no screen")


@pytest.mark.parametrize(
    "method", ["dp", "flow-oct@highs", "state-flow@highs", "lagrangian", Quiet(), Deaf()]
)
@pytest.mark.parametrize("start", [None, "dp"])
def test_what_it_raises_reaches_the_user_and_nothing_runs_on(method, start, monkeypatch):
    if isinstance(method, Deaf):
        monkeypatch.setattr(method_module, "LARGE", 0)
        monkeypatch.setattr(method_module, "GRACE", 0.05)
    problem = mt.Problem(noise(80, 10), mt.Accuracy(), mt.Trees(3))
    before = set(threading.enumerate())
    with pytest.raises(Mine, match="no screen"):
        mt.solve(problem, method, time_limit=300, start=start, reference="auto", progress=fail)
    assert current_callback() is None
    assert busy() == []
    left = [t for t in threading.enumerate() if t not in before]
    assert isinstance(method, Deaf) or not [t for t in left if not isinstance(t, threading.Timer)]


def busy():
    """Solver processes that go on using the processor; one that is being ended may take a moment."""
    for _ in range(30):
        before = {child.pid: seconds(child) for child in psutil.Process().children(recursive=True)}
        time.sleep(0.2)
        children = psutil.Process().children(recursive=True)
        found = [c for c in children if seconds(c) - before.get(c.pid, 0.0) > 0.05]
        if not found:
            break
    return found


def seconds(process):
    try:
        return sum(process.cpu_times()[:2])
    except psutil.Error:  # it has just ended
        return 0.0


def test_a_run_inside_the_function_is_a_run_of_its_own():
    problem = mt.Problem(noise(60, 6), mt.Accuracy(), mt.Trees(2))
    inside = []

    def again(point):
        if not inside:
            inside.append(mt.solve(problem, "enumerate"))
        return True

    outer = mt.solve(mt.Problem(noise(1000, 80), mt.Accuracy(), mt.Trees(6)), progress=again)
    assert inside[0].optimal
    assert outer.limit is Limit.CALLBACK


def test_the_start_and_the_reference_hear_it_too():
    problem = mt.Problem(noise(1000, 80), mt.Accuracy(), mt.Trees(6))
    found = mt.solve(
        problem, "cart", start="dp", reference="dp", time_limit=300, progress=lambda p: True
    )
    assert found.seconds < AT_ONCE
    assert found.limit is Limit.CALLBACK
    assert found.agrees is None


def test_true_ends_a_comparison_with_the_rows_so_far():
    problem = mt.Problem(noise(1000, 80), mt.Accuracy(), mt.Trees(6))
    moments = []

    def stop(moment):
        moments.append(moment)
        return moment.method == "dp" and moment.point is not None

    study = mt.compare(
        problem,
        ["cart", "dp", "dp:order=best-first"],
        time_limit=300,
        start=None,
        reference=None,
        progress=stop,
    )
    assert study.interrupted
    assert [row["method"] for row in study.rows] == ["cart", "dp"]
    assert study.rows[1]["limit"] == "callback"
    assert moments[-1].result.limit is Limit.CALLBACK
    with pytest.raises(Mine):
        mt.compare(problem, ["dp"], time_limit=300, reference="dp", progress=fail)


def test_after_the_run_the_function_is_not_called(monkeypatch):
    monkeypatch.setattr(calling, "BEAT", 0.0)
    monkeypatch.setattr(calling, "SILENT", 0.0)
    calls = []
    mt.solve(mt.Problem(noise(60, 6), mt.Accuracy(), mt.Trees(2)), "dp", progress=calls.append)
    number = len(calls)
    time.sleep(0.1)
    assert len(calls) == number
