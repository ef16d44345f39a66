"""Engines and heuristics against the oracle: the same problems, the same demands as for formulations."""

import pytest

from milp_trees.registry import registry
from milp_trees.testing import brute_force, check_method, planted_problem
from milp_trees.testing.pairs import check_result
from milp_trees.testing.sets import get


@pytest.mark.parametrize("name", registry.classes("methods"))
def test_a_method_on_all_tiny_problems(name):
    """An exact method proves the oracle's value on every problem it takes; a heuristic is feasible and never better."""
    planted = {f"planted-{seed}": planted_problem(seed) for seed in range(4)}
    report = check_method(registry.method(name), planted=planted)
    assert len(report.passed) > len(report.skipped)
    assert all(report.skipped.values()), "a refusal says why"


def test_the_enumerator_is_the_oracle():
    """The registered enumerator takes every tiny problem, side constraints too, and equals the scoring of every tree."""
    report = check_method(registry.method("enumerate"))
    assert not report.skipped


@pytest.mark.parametrize("name", ["dp", "cart"])
@pytest.mark.parametrize("problem_name", ["equal_rows", "min_leaf", "weights"])
def test_a_method_takes_a_start(name, problem_name):
    """A start that is already optimal is not made worse."""
    problem = get(problem_name)
    start = brute_force(problem)[0].prune_empty(problem.dataset)
    result = check_result(registry.method(name), problem, start)
    assert result.problem is problem
