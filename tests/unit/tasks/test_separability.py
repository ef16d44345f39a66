"""What `check_separable` catches, what it lets pass, and new tasks from others."""

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.plugins import CostMatrix, Front, SeparableTask, States
from milp_trees.tasks import ActionCostMatrix, StatisticalParity
from milp_trees.tasks.products import bounded, combine
from milp_trees.testing import check_separable
from milp_trees.testing.task_data import random_datasets, some_trees


def errors_and_disparity(sums, action, context, tables):
    """Errors, then n_b · (rows of a given the favourable action) − n_a · (rows of b given it)."""
    return (sums[0] - sums[1 + action], sums[3] * action)


def errors(sums, action, context, tables):
    return (sums[0] - sums[1 + action],)


def shares(sums, action, context, tables):
    """Both thresholds of group fairness: they only grow."""
    return (sums[3] if action == 1 else sums[4], sums[4] if action == 1 else sums[3])


def fewer_errors(a, b):
    return a[0] < b[0]


def within(value, sums, context, tables):
    return abs(value[1]) <= tables[0][0]


def not_above(value, sums, context, tables):
    return value[0] <= tables[0][0] and value[1] <= tables[0][0]


def statistics(dataset):
    """Rows of each class, the coefficient of a row in the disparity, and its share of either group."""
    a = dataset.groups == dataset.groups[0]
    n_a, n_b = int(a.sum()), int((~a).sum())
    coefficient = np.where(a, n_b, -n_a)
    more = np.column_stack([np.where(a, n_b, 0), np.where(a, 0, n_a)])
    return np.column_stack([dataset.y == 0, dataset.y == 1, coefficient]), more, n_a * n_b


@dataclass(frozen=True)
class Errors(SeparableTask):
    name: ClassVar[str] = "errors-by-parts"
    unit: ClassVar[str] = "errors"  # type: ignore[assignment]
    sense: ClassVar[str] = "min"  # type: ignore[assignment]

    def actions(self, dataset):
        return tuple(dataset.classes)

    def states(self, dataset, space):
        if len(dataset.classes) != 2:
            raise mt.DataError("two classes only")
        stats = statistics(dataset)[0]
        return States.of(
            dataset, space, stats, self.actions(dataset), names=("errors",), leaf=errors
        )


@dataclass(frozen=True)
class ParityEverywhere(Errors):
    """Parity in every subtree: it looks like a constraint of the framework, and is none."""

    def states(self, dataset, space):
        _, _, whole = statistics(dataset)
        return replace(
            super().states(dataset, space),
            names=("errors", "disparity"),
            leaf=errors_and_disparity,
            better=fewer_errors,
            feasible=within,
            total=True,
            tables=(np.array([whole // 10]),),
        )


@dataclass(frozen=True)
class ParityThresholds(Errors):
    """The same limit as two numbers that only grow, compared in every number."""

    delta: int = 10

    def states(self, dataset, space):
        stats, more, whole = statistics(dataset)
        return replace(
            super().states(dataset, space),
            stats=np.column_stack([stats[:, :2], more]),
            names=("share of a", "share of b"),
            leaf=shares,
            feasible=not_above,
            tables=(np.array([whole + whole * self.delta // 100]),),
        )


def test_parity_in_every_subtree_is_caught():
    with pytest.raises(AssertionError, match=r"anti-monotone|order does not know"):
        check_separable(ParityEverywhere())


@each_row(
    ("change", "said"),
    [
        ({"combine": lambda a, b: (a[0] - b[0],)}, "preserve the order"),
        ({"better": lambda a, b: a[0] <= b[0] + 1}, "each better"),
        ({"units": lambda v: -v[0]}, r"more units|which means"),
        ({"leaf": lambda s, k, c, t: (s[0] - s[1 + k] - 3,), "nonnegative": True}, "nonnegative"),
        ({"leaf": lambda s, k, c, t, seen=[0]: (seen.append(0) or len(seen),)}, "asked again"),
        ({"leaf": lambda s, k, c, t: s[0] - s[1 + k]}, "tuple of 1"),
        ({"feasible": lambda v, s, c, t: v[0] != 3}, r"anti-monotone|order does not know"),
    ],
)
def test_each_broken_promise_is_caught(change, said):
    class Broken(Errors):
        def states(self, dataset, space):
            return replace(super().states(dataset, space), **change)

    with pytest.raises(AssertionError, match=said):
        check_separable(Broken())


def test_a_value_of_its_own_judges_the_parts():
    class Off(Errors):
        def value(self, routes, dataset):
            return replace(
                super().value(routes, dataset), exact=super().value(routes, dataset).exact + 1
            )

    with pytest.raises(AssertionError, match="its parts give"):
        check_separable(Off())


def registered():
    """Tasks with the view `States`, and sums of action costs, whose parts follow from their costs."""
    for name, cls in registry.classes("tasks").items():
        if cls.view_makers.keys() & {States, CostMatrix} and cls.command is None:
            yield name


@each_row("name", list(registered()))
def test_registered_tasks_are_separable(name):
    cls = registry.classes("tasks")[name]
    takes_matrix = "matrix" in {f.name for f in fields(cls)}
    more = {"matrix": [[0, 2, 1], [3, 0, 1], [1, 1, 0]]} if takes_matrix else {}
    check_separable(cls(**more), trials=10)


def test_products_and_limits_of_separable_tasks_are_separable():
    for task in (combine(Errors(), ParityThresholds()), bounded(Errors(), 4)):
        check_separable(task, trials=12)
    check_separable(combine(mt.Accuracy(), ParityThresholds(5)), trials=12)


@each_row("seed", range(4))
def test_fairness_as_a_product_is_that_of_the_side_rows(seed):
    """Errors and both thresholds give the optimum under statistical parity."""
    rng = np.random.default_rng(seed)
    X, groups = rng.integers(0, 2, (24, 3)), rng.integers(0, 2, 24)
    data = mt.Dataset(X, y=rng.integers(0, 2, 24), classes=(0, 1), groups=groups)
    task = combine(mt.Accuracy(), ParityThresholds(10))
    fair = mt.Accuracy(constraints=(StatisticalParity("0.1"),))
    found = mt.solve(mt.Problem(data, task, mt.Trees(2)), "separable:compiled=off")
    expected = mt.solve(mt.Problem(data, fair, mt.Trees(2)), "side-fronts")
    assert found.value == expected.value
    front = mt.solve(mt.Problem(data, task, mt.Trees(2), Front()), "separable:compiled=off")
    assert front.complete
    assert front.value == found.value


def test_what_cannot_be_combined_is_said():
    data = mt.Dataset([[0], [1]], y=[0, 1], classes=(0, 1), values=[[1, 2, 3], [1, 2, 3]])
    problem = mt.Problem(data, combine(mt.Accuracy(), ActionCostMatrix()), mt.Trees(1))
    with pytest.raises(mt.DataError, match="different actions"):
        problem.view(States)
    with pytest.raises(mt.DataError, match="limit or None for each"):
        mt.Problem(data, bounded(mt.Accuracy(), 1, 2), mt.Trees(1)).view(States)


def test_negative_costs_are_no_lower_bounds():
    """A penalty per leaf above every cost does not make leaves of many rows nonnegative."""
    data = mt.Dataset([[0], [1]] * 6, values=[[-1, 0], [0, -1]] * 6)
    task = ActionCostMatrix(leaf_penalty="1/6")
    problem = mt.Problem(data, bounded(task, None), mt.Trees(1))
    assert not problem.view(States).nonnegative
    found = registry.method("separable").run(problem)
    best = registry.method("dp").run(mt.Problem(data, task, mt.Trees(1)))
    assert found.value.exact == best.value.exact < 0


def test_coordinates_of_a_product_are_the_values_of_its_parts():
    """Also where one is maximised."""
    data = random_datasets(2)["random_datasets(2)[0]"]
    first, second = mt.Accuracy(), mt.tasks.DirectMethod()
    for task in (combine(first, second), combine(second, first)):
        problem = mt.Problem(data, task, mt.Trees(2))
        for tree in some_trees(problem, 4):
            routes = tree.routes(data)
            found = task.coordinates(routes, data)
            parts = [part.value(routes, data) for part in (task.first, task.second)]
            assert [round(x.number, 9) for x in found] == [round(x.number, 9) for x in parts]
            assert [x.sense for x in found] == [x.sense for x in parts]
