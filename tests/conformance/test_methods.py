"""Engines and heuristics against the oracle: the same problems, the same demands as for
formulations.
"""

import pytest

from milp_trees.decisions.testing.problems import decision_problems
from milp_trees.lists.space import RuleLists
from milp_trees.mip.registry import registry
from milp_trees.models.space import space_classes
from milp_trees.pruning.testing.checks import default_pruning_problems
from milp_trees.tasks.path_costs import PathCosts
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing import brute_force, check_method, planted_problem
from milp_trees.testing.pairs import check_result
from milp_trees.testing.sets import default_problems, get, tiny_problems

#: Methods that list all trees and take minutes where others take seconds.
FOR_TINY_PROBLEMS = ("enumerate",)
#: Methods of which the others and the formulations are judged; a plain run checks only these here.
EVERY_TIME = ("dp", "enumerate", "enumerate-counts", "enumerate-prunings", "min-cut")


@pytest.mark.parametrize(
    "name",
    [
        name if name in EVERY_TIME else pytest.param(name, marks=pytest.mark.slow)
        for name, cls in registry.classes("methods").items()
        if space_classes(cls.space) != (RuleLists,)  # those of rule lists: `test_lists.py`
    ],
)
def test_a_method_on_all_tiny_problems(name):
    """An exact method proves the oracle's value on every problem it takes; a heuristic is feasible
    and never better.
    """
    planted = {f"planted-{seed}": planted_problem(seed) for seed in range(4)}
    method = registry.method(name)
    problems = {
        **(tiny_problems() if name in FOR_TINY_PROBLEMS else default_problems()),
        **decision_problems(),
        **default_pruning_problems(),
    }
    report = check_method(method, problems, planted)
    taken = method.needs if isinstance(method.needs, tuple) else (method.needs,)
    own = [n for n, p in problems.items() if any(p.task.offers(kind) for kind in taken)]
    assert 2 * len({n for _, n in report.passed if n in own}) > len(own), (
        "it takes most problems whose tasks offer its view"
    )
    assert all(report.skipped.values()), "a refusal says why"


def test_the_enumerator_is_the_oracle():
    """The enumerators take every tiny problem, side constraints too, and equal the scoring of every
    tree; but not constraints on the tree itself, nor prices that depend on the path.
    """
    problems = tiny_problems()
    sums, counts = (
        check_method(registry.method(name), problems) for name in ("enumerate", "enumerate-counts")
    )
    for name in set(sums.skipped) & set(counts.skipped):
        task = problems[name].task
        assert task.offers(PathCosts) or problems[name].view(CostMatrix).structure, name


@pytest.mark.parametrize("name", ["dp", "cart"])
@pytest.mark.parametrize("problem_name", ["equal_rows", "min_leaf", "weights"])
def test_a_method_takes_a_start(name, problem_name):
    """A start that is already optimal is not made worse."""
    problem = get(problem_name)
    start = brute_force(problem)[0].prune_empty(problem.dataset)
    result = check_result(registry.method(name), problem, start)
    assert result.problem is problem
