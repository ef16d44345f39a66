"""The checks of tasks are tested: wrong tasks are rejected, and a definition is found where it stands."""

from dataclasses import replace
from fractions import Fraction

import pytest

import milp_trees as mt
from milp_trees.common.registering import plugins
from milp_trees.mip.registry import registry
from milp_trees.tasks.base import Value
from milp_trees.tasks.constraints import StatisticalParity
from milp_trees.testing import check_task
from milp_trees.testing.definitions import DEFINITIONS
from milp_trees.testing.task_data import random_datasets, target_datasets
from milp_trees.testing.task_options import options_of
from milp_trees.testing.view_checks import splits_cost_nothing


class ForgottenWeights(mt.tasks.WeightedError):
    """The weight of the last row counts as 1."""

    def row_losses(self, dataset):
        losses = super().row_losses(dataset).copy()
        losses[-1] = 1
        return losses


class LastClassIsFree(mt.Accuracy):
    """The last class is never wrong."""

    def costs(self, dataset):
        costs = super().costs(dataset)
        costs[:, -1] = 0
        return costs


class OwnActionOnly(registry.task("policy-dr")):
    """The correction has the wrong sign."""

    def action_values(self, dataset):
        return 2 * dataset.values - super().action_values(dataset)


class WrongSide(StatisticalParity):
    """The bound is one unit too wide."""

    name = "statistical-parity"

    def rows(self, dataset, actions):
        wide = super().rows(dataset, actions)
        return [replace(row, lower=row.lower - 3, upper=row.upper + 3) for row in wide]


class RoundedUp(registry.task("auc")):
    """Areas are given to three digits."""

    def value(self, routes, dataset):
        value = super().value(routes, dataset)
        return Value(round(value.number, 3), None, value.unit, value.sense)


class ViewWithoutPenalty(mt.Accuracy):
    """The view's leaves are free."""

    def cost_matrix(self, dataset, space):
        return replace(super().cost_matrix(dataset, space), leaf_cost=0)


class LooksAtTheFirstRow(mt.Accuracy):
    """The first row is always right."""

    def costs(self, dataset):
        costs = super().costs(dataset)
        costs[0] = 0
        return costs


class DescribesLess(mt.Accuracy):
    """The description leaves the penalty out."""

    def spec(self):
        return {k: v for k, v in super().spec().items() if k != "split_penalty"}


WRONG = [
    ForgottenWeights(),
    LastClassIsFree(),
    OwnActionOnly(),
    mt.Accuracy(constraints=(WrongSide("1/3", "class 1"),)),
    RoundedUp(),
    ViewWithoutPenalty(leaf_penalty="1/5"),
    LooksAtTheFirstRow(),
    DescribesLess(split_penalty="1/5"),
]


@pytest.mark.parametrize(
    "task",
    WRONG,
    ids=lambda task: type(task).__name__ if not task.spec().get("constraints") else "WrongSide",
)
def test_a_wrong_task_is_rejected(task):
    with pytest.raises(AssertionError, match=r"The task"):
        check_task(task, level="thorough")


class ConvexLoss(mt.tasks.SquaredError):
    """The leaf function has the wrong sign, so a split costs more than its leaf."""

    leaf = staticmethod(lambda sums: sums[1] * sums[1] / sums[0])


class PaidForRows(mt.tasks.Gini):
    """A leaf of few rows costs less than nothing."""

    leaf = staticmethod(lambda sums: mt.tasks.Gini.leaf(sums) - sums[0] / 8)


class OtherPrediction(mt.tasks.Poisson):
    """Leaves predict a little more than their mean."""

    def predictor(self, dataset):
        mean = super().predictor(dataset)
        return lambda sums: 1.01 * mean(sums)


class BoundTooHigh(mt.tasks.Survival):
    """The constants are said to be more than they are."""

    def parts(self, dataset):
        parts = super().parts(dataset)
        return parts._replace(total=parts.total * Fraction(11, 10))


class ForgottenConstants(mt.tasks.Gamma):
    """The view leaves out what the rows cost in every tree."""

    def parts(self, dataset):
        parts = super().parts(dataset)
        return parts._replace(constants=0 * parts.constants, total=Fraction(0))


WRONG_LOSSES = {
    ConvexLoss: "a split must never cost more than its leaf",
    OtherPrediction: "units, the value is",
    BoundTooHigh: "the bound is",
    ForgottenConstants: "less than nothing must not be",
}


@pytest.mark.parametrize("kind", WRONG_LOSSES, ids=lambda kind: kind.__name__)
def test_a_wrong_loss_is_rejected_for_what_is_wrong(kind):
    with pytest.raises(AssertionError, match=WRONG_LOSSES[kind]):
        check_task(kind)


@pytest.mark.parametrize(
    ("kind", "why"), [(ConvexLoss, "must never cost more"), (PaidForRows, "less than nothing")]
)
def test_a_leaf_function_is_refused_without_any_definition(kind, why):
    """Engines need both: a split costs no more than its leaf, and rows cost no less than nothing."""
    for name, data in target_datasets(2).items():
        if name.endswith("number]"):
            with pytest.raises(AssertionError, match=why):
                splits_cost_nothing(mt.Problem(data, kind(), mt.Trees(2)), name)


def test_a_task_without_a_definition_is_named():
    class Own(mt.Accuracy):
        name = "own"

    with pytest.raises(AssertionError, match="no definition of the task own"):
        check_task(Own())


def test_a_task_of_its_own_is_checked_against_the_definition_given():
    """The argument of plug-in authors; a definition that differs is noticed."""
    assert check_task(mt.Accuracy, definition=DEFINITIONS["accuracy"]).passed
    with pytest.raises(AssertionError, match="by definition"):
        check_task(mt.Accuracy, definition=DEFINITIONS["balanced-accuracy"])


def test_the_definition_of_a_plug_in_stands_in_its_file(monkeypatch):
    """An attribute of its class, which the suite finds, with options to try."""

    class Own(mt.Accuracy):
        name = "own"
        definition = staticmethod(DEFINITIONS["accuracy"])
        example_options = ({"leaf_penalty": "1/3"},)

    tasks = {**registry.classes("tasks"), "own": Own}
    monkeypatch.setitem(plugins._classes, "tasks", tasks)
    assert options_of("own") == [{}, {"leaf_penalty": "1/3"}]
    for options in options_of("own"):
        assert check_task(Own(**options)).passed
    monkeypatch.setattr(Own, "definition", staticmethod(DEFINITIONS["balanced-accuracy"]))
    with pytest.raises(AssertionError, match="by definition"):
        check_task(Own())


def test_a_task_that_refuses_all_data_is_named():
    only = {
        name: data.with_(values=None, actions=None, classes=data.classes)
        for name, data in random_datasets(2).items()
    }
    with pytest.raises(AssertionError, match="refused every dataset"):
        check_task(registry.task("action-costs"), only)


def test_the_rate_of_action_costs_does_not_depend_on_row_weights():
    """Row weights do not enter the costs, so the rate is per row."""
    data = mt.Dataset([[0], [1]], values=[[1, 2], [4, 0]], weights=[3, 1])
    tree = mt.Tree(mt.plugins.Leaf(0), (0, 1))
    assert (
        mt.Problem(data, mt.tasks.ActionCostMatrix(leaf_penalty=1), mt.Trees(1)).value(tree).number
        == 3.5
    )
