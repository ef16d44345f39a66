"""The checks of rule lists are tested: wrong models and methods are rejected, right ones of another
author pass, and no constraint can be deleted unnoticed.
"""

from fractions import Fraction

import pytest
import wrong_lists as wrong

from milp_trees.lists.testing import default_list_problems
from milp_trees.lists.testing.exhaustive import all_rule_lists, best_list, n_lists
from milp_trees.lists.testing.problems import list_problems
from milp_trees.mip.registry import registry
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing import (
    CHECKS,
    check_formulation,
    check_method,
    deletable_constraints,
)

#: Checks of values: wrong models must be caught by them.
VALUE_CHECKS = (
    "optimum_equals_oracle",
    "decoded_value",
    "every_tree_can_be_encoded",
    "relaxation_is_a_bound",
)


@pytest.mark.parametrize("cls", wrong.REJECTED, ids=lambda cls: cls.__name__)
def test_a_wrong_model_of_lists_is_rejected(cls):
    checks = {name: CHECKS[name] for name in VALUE_CHECKS}
    with pytest.raises(AssertionError, match="position"):
        check_formulation(cls(), default_list_problems(), checks, metamorphic=False)


@pytest.mark.parametrize("cls", wrong.WRONG_METHODS, ids=lambda cls: cls.__name__)
def test_a_wrong_method_for_lists_is_rejected(cls):
    """By the problems that a method for lists gets when none are named."""
    with pytest.raises(AssertionError, match="another author's"):
        check_method(cls())


def test_a_right_method_of_another_author_passes():
    report = check_method(wrong.Other())
    assert len(report.passed) > 40
    assert {name.partition("-")[0] for _, name in report.passed} == {"list"}


def test_no_constraint_of_the_states_can_be_deleted_unnoticed_on_lists():
    """Also those which are redundant for trees."""
    found = deletable_constraints(registry.formulation("state-flow"), default_list_problems())
    assert set(found) == {"balance", "side", "uses", "used", "feature_use", "node_rates"}
    assert not [name for name, noticed in found.items() if noticed is None]


def test_the_recursion_is_the_best_of_all_scores():
    """The oracle for many lists equals the one that scores each list by the task."""
    compared = 0
    for name, problem in default_list_problems().items():
        if not problem.task.offers(CostMatrix) or problem.view(CostMatrix).structure:
            continue
        if n_lists(problem) > 700:
            continue
        scores = [
            problem.value(one).exact
            for one in all_rule_lists(problem)
            if not problem.violations(one)
        ]
        fast = best_list(problem)
        better = min if problem.task.sense == "min" else max
        assert (fast and problem.value(fast).exact) == better(scores, default=None), name
        compared += 1
    assert compared > 40


def test_the_oracle_by_hand():
    """Problems small enough to do in one's head: errors, as a rate where rules cost something."""
    by_hand = {
        "default_alone": Fraction(1, 4),
        "length_0": 1,
        "order_matters": 0,
        "complement_first": Fraction(1, 25),
        "one_class": 0,
    }
    for name, expected in by_hand.items():
        problem = list_problems()[name]
        if name == "default_alone":
            assert best_list(problem).length == 0
        assert problem.value(best_list(problem)).exact == expected, name
