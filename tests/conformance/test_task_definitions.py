"""The contract of tasks: every registered one against its definition, with options and side constraints of
every kind.
"""

import pytest

from milp_trees.mip.registry import registry
from milp_trees.pruning.testing.checks import default_pruning_problems
from milp_trees.pruning.testing.pruned_error_checks import check_pruned_error
from milp_trees.pruning.view import NodeGains
from milp_trees.testing import check_task
from milp_trees.testing.definitions import definitions
from milp_trees.testing.found_by_mutation import found_targets
from milp_trees.testing.task_options import options, options_of

#: Registered tasks; prunings have definitions of their own.
TASKS = [n for n, cls in registry.classes("tasks").items() if NodeGains not in cls.view_makers]


def test_every_registered_task_has_a_definition():
    """In its own file, or among those of the package, which are all used."""
    undefined = {name for name in TASKS if registry.task(name).definition is None}
    assert undefined <= set(definitions()) == set(options()) <= set(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_what_its_definition_says(name):
    """Value, side constraints, views, exactness, description, order of rows, weights: on random
    trees.
    """
    for given in options_of(name):
        check_task(registry.task(name)(**given))


@pytest.mark.parametrize("name", [n for n in TASKS if registry.task(n).predicts_numbers])
def test_a_task_of_numbers_is_what_its_definition_says_on_many_rows(name):
    """Seventy rows in six groups: some faults begin at the sixtieth row or the fifth group."""
    for given in options_of(name):
        check_task(registry.task(name)(**given), found_targets())


@pytest.mark.slow
@pytest.mark.parametrize("name", default_pruning_problems())
def test_a_pruned_error_is_what_its_definition_says(name):
    """Error, prices by feature, row and group, things bought once, nodes and leaves; and the
    budget.
    """
    check_pruned_error(default_pruning_problems()[name])
