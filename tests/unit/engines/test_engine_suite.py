"""What every engine must do, on a small problem that it takes: keep a start, report an honest
trace, read the labels of its options, and end with what it has at Ctrl-C.

Limits are tested in `test_engine_limits`, signals and memory in `test_engine_signals`, the user's
function in `test_callbacks`, contradictions in `tests/conformance/test_infeasible`.
"""

import threading
from dataclasses import replace
from functools import cache
from itertools import chain, pairwise

import pytest
from engine_limits_cases import LONG, method_of
from identity_cases import alternatives

from milp_trees.common.limits import Limits
from milp_trees.common.registering import labels
from milp_trees.decisions.testing.problems import decision_problems
from milp_trees.lists.testing.problems import list_problems
from milp_trees.mip.registry import registry
from milp_trees.oblique.testing import oblique_problems
from milp_trees.problems.questions import BySize, NearBest
from milp_trees.pruning.testing.checks import default_pruning_problems
from milp_trees.results.result import Limit, Status
from milp_trees.robust.testing.problems import robust_problems
from milp_trees.testing.sets import tiny_problems

METHODS = list(registry.classes("methods"))
#: Cases whose data alone take long to make, that report nothing while they search, or that are
#: interrupted by a signal in `test_engine_signals`.
ELSEWHERE = (
    *("cart", "cart-spo", "dp, wide", "greedy", "greedy-spo", "dantzig-wolfe", "min-cut"),
    "enumerate",
    "robust-fronts",
)


@cache
def small_problem(name):
    """A problem of the suite that the method takes, with a question that it answers."""
    method = registry.method(name)
    kinds = (
        tiny_problems,
        list_problems,
        default_pruning_problems,
        decision_problems,
        oblique_problems,
        robust_problems,
    )
    for question in (None, BySize(4), NearBest(slack=1)):
        for problem in chain.from_iterable(kind().values() for kind in kinds):
            requested = problem if question is None else replace(problem, question=question)
            if problem.dataset.n_rows > 3 and method.unsupported(requested) is None:
                return requested
    raise AssertionError(f"{name} takes no problem of the suite")


@cache
def answer(name):
    return registry.method(name).run(small_problem(name))


@pytest.mark.parametrize("name", METHODS)
def test_a_start_is_kept_unless_something_better_is_found(name):
    problem, method, first = small_problem(name), registry.method(name), answer(name)
    simple = problem.space.simplest(problem.task.actions(problem.dataset))
    for start in (first.predictor, *[one for one in simple if not problem.violations(one)][:1]):
        again = method.run(problem, start=start)
        assert not problem.value(start).better_than(again.value)
        if method.exact:
            assert (again.value, again.status) == (first.value, Status.OPTIMAL)


@pytest.mark.parametrize("name", METHODS)
def test_a_trace_only_gets_better_and_comes_from_the_thread_that_asked(name):
    problem, seen = small_problem(name), []
    sign = -1 if problem.task.sense == "max" else 1

    def progress(point):
        assert threading.current_thread() is threading.main_thread()
        seen.append(point)

    result = registry.method(name).run(problem, Limits(threads=2), progress=progress)
    for trace in (seen, result.trace):
        for before, after in pairwise(trace):
            assert before.seconds <= after.seconds
            for known, better in (("incumbent", -sign), ("bound", sign)):
                was, now = getattr(before, known), getattr(after, known)
                assert was is None or better * (now - was) >= 0, (known, was, now)
        if result.optimal:
            for point in trace:
                assert point.bound is None or sign * (result.objective - point.bound) >= -1e-9
                assert (
                    point.incumbent is None or sign * (point.incumbent - result.objective) >= -1e-9
                )


@pytest.mark.parametrize("name", METHODS)
def test_every_option_gives_the_same_optimum_and_keeps_a_start(name):
    """Each alternative of each option alone."""
    problem, first = small_problem(name), answer(name)
    for option in labels.declared(registry.classes("methods")[name]):
        for label in alternatives("methods", name, option):
            method = registry.method(label)
            if method.unsupported(problem) is not None or "cluster" in option:
                continue
            for start in (None, first.predictor):
                result = method.run(problem, start=start)
                assert start is None or not problem.value(start).better_than(result.value), label
                if method.exact:
                    assert (result.optimal, result.value) == (True, first.value), label


@pytest.mark.parametrize("name", METHODS)
def test_ctrl_c_at_the_first_report_leaves_a_result(name):
    """Wherever an engine reports first: before, in or after what watches its limits."""
    problem, reports = small_problem(name), []

    def interrupt(point):
        reports.append(point)
        if len(reports) == 1:
            raise KeyboardInterrupt

    result = registry.method(name).run(problem, Limits(), progress=interrupt)
    assert result.predictor is not None
    assert not problem.violations(result.predictor)
    assert result.optimal or result.limit is Limit.INTERRUPTED or not reports


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in LONG if not case.startswith(ELSEWHERE)])
def test_ctrl_c_in_the_function_of_the_user_ends_a_run_with_what_it_has(case):
    """With the first incumbent."""
    seen = []

    def interrupt(point):
        if point.incumbent is not None:
            seen.append(point)
        if len(seen) == 1:
            raise KeyboardInterrupt

    problem = LONG[case]()
    try:
        result = method_of(case).run(problem, Limits(time=60), progress=interrupt)
    except KeyboardInterrupt:
        pytest.fail("the interrupt reaches the user, and what was found is lost")
    assert result.limit is Limit.INTERRUPTED, repr(result)
    assert result.status is Status.FEASIBLE
    assert not problem.violations(result.predictor)


@pytest.mark.parametrize("name", METHODS)
def test_leaves_that_are_larger_than_the_data_are_infeasible(name):
    problem, method = small_problem(name), registry.method(name)
    if not hasattr(problem.space, "min_samples_leaf") or name == "robust-fronts":
        pytest.skip("a space without a smallest leaf")
    requested = replace(problem, space=replace(problem.space, min_samples_leaf=10**6))
    if why := method.unsupported(requested):
        pytest.skip(why)
    result = method.run(requested)
    assert (result.status, result.predictor) == (Status.INFEASIBLE, None), result.message
