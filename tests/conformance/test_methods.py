"""The contract of methods without a solver: every registered engine and heuristic against the oracle."""

import pytest

from milp_trees.decisions.testing.problems import decision_problems
from milp_trees.lists.space import RuleLists
from milp_trees.mip.registry import registry
from milp_trees.models.space import space_classes
from milp_trees.oblique.testing import oblique_problems
from milp_trees.pruning.testing.checks import default_pruning_problems
from milp_trees.robust.testing.problems import robust_problems
from milp_trees.testing import check_method, planted_problem
from milp_trees.testing.sets import default_problems, tiny_problems

#: The largest effort of methods that list all trees; they take minutes where others take seconds.
LISTING = 5
#: The largest effort of methods that a plain run checks: the others are judged by these.
JUDGING = 10


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if cls.verification_rank <= JUDGING else pytest.mark.slow)
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
        **(tiny_problems() if method.verification_rank <= LISTING else default_problems()),
        **decision_problems(),
        **default_pruning_problems(),
        **oblique_problems(),
        **robust_problems(),
    }
    check_method(method, problems, planted)
