"""The view `States`: its plain evaluation, its presolve, and what it refuses."""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.dataset import BinaryFeature
from milp_trees.plugins import Front, SeparableTask, States
from milp_trees.problems.questions import Best
from milp_trees.tasks import bounded, combine
from milp_trees.testing.generate import random_tree


def errors_in_leaf(sums, action, context, tables):
    return (sums[0] - sums[1 + action],)


def price(sums, test, context, tables):
    paid = (context[0] >> test) & 1
    return ((1 - paid) * sums[0] * tables[0][test],)


def pay(context, test, side, tables):
    return (context[0] | (1 << test),)


@dataclass(frozen=True)
class Errors(SeparableTask):
    """Misclassified rows, and a price per row for every test that is made for the first time."""

    name: ClassVar[str] = "errors-by-parts"
    title: ClassVar[str] = "errors"
    unit: ClassVar[str] = "errors"  # type: ignore[assignment]
    sense: ClassVar[str] = "min"  # type: ignore[assignment]

    prices: tuple[int, ...] = ()

    def actions(self, dataset):
        return dataset.classes

    def states(self, dataset, space):
        stats = dataset.y[:, None] == np.arange(len(dataset.classes))
        parts = {"names": ("errors",), "leaf": errors_in_leaf, "nonnegative": True}
        if self.prices:
            parts |= {"split": price, "transition": pay}
            columns = States.candidates(dataset, space)
            parts["tables"] = (np.array(self.prices, dtype=np.int64)[columns],)
        return States.of(dataset, space, stats, dataset.classes, **parts)


@each_row("seed", range(5))
def test_the_parts_give_the_value_of_the_definition(seed):
    """Also for features that are tested twice on a path, which are paid once."""
    rng = np.random.default_rng(seed)
    data = mt.Dataset(rng.integers(0, 2, (25, 3)), y=rng.integers(0, 3, 25), classes=(0, 1, 2))
    problem = mt.Problem(data, Errors((2, 0, 5)), mt.Trees(3))
    tree = random_tree(mt.Problem(data, mt.Accuracy(), mt.Trees(3)), rng)
    routes = tree.routes(data)
    errors = int((routes.action != data.y).sum())
    assert routes.root == tree.root
    assert Errors().value(routes, data).exact == errors
    paid = sum(
        int((routes.leaf == leaf).sum()) * sum((2, 0, 5)[data.features.index(t)] for t in set(path))
        for leaf, path in enumerate(routes.paths)
    )
    assert problem.value(tree).exact == Fraction(errors + paid)
    assert problem.coordinates(tree) == (problem.value(tree),)


def test_presolve_keeps_values_and_drops_tests_only_if_they_are_alike():
    X = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 1], [1, 1, 0, 1]])
    data = mt.Dataset(X, y=[0, 1, 1, 1], classes=(0, 1))
    whole = Errors().states(data, None)
    small = whole.reduce()
    assert small.X.tolist() == [[0], [1]]
    assert small.sums.tolist() == [[2, 1, 1], [2, 0, 2]]
    assert Errors((1, 2, 3, 4)).states(data, None).reduce().n_features == 4


def test_statistics_that_do_not_fit_are_refused():
    data = mt.Dataset([[0], [1]], y=[0, 1], classes=(0, 1))
    parts = {"names": ("a",), "leaf": errors_in_leaf}
    with pytest.raises(mt.DataError, match="64 bits"):
        States.of(data, None, [[2**60], [2**60]], (0, 1), **parts)
    with pytest.raises(mt.DataError, match="row per row"):
        States.of(data, None, [[1]], (0, 1), **parts)
    with pytest.raises(mt.DataError, match="added"):
        States.of(data, None, [[1], [1]], (0, 1), combine=max, nonnegative=True, **parts)


def test_a_tree_with_a_forbidden_part_violates_the_task():
    @dataclass(frozen=True)
    class AtMostOne(Errors):
        def states(self, dataset, space):
            from dataclasses import replace

            view = super().states(dataset, space)
            return replace(view, feasible=lambda value, sums, context, tables: value[0] <= 1)

    data = mt.Dataset([[0], [0], [1], [1]], y=[0, 0, 1, 1], classes=(0, 1))
    problem = mt.Problem(data, AtMostOne(), mt.Trees(1))
    leaf = mt.Tree(mt.plugins.Leaf(0), (0, 1))
    assert "violates" in problem.violations(leaf)[0]
    assert problem.value(leaf).exact == 2


def test_coordinates_and_limits_of_products_are_natural_numbers():
    """Costs are searched in whole units, here halves or twos; answers and limits do not show it."""
    data = mt.Dataset([[0], [0], [0], [1], [1], [1]], [BinaryFeature("a")], y=[0, 1, 1, 0, 0, 1])
    matrix = [[0, 2], [4, 0]]
    free = mt.tasks.MisclassificationCosts(matrix=matrix)
    paid = mt.tasks.CostSensitive(matrix=matrix, attributes={"a": "0.25"})

    def best(task, question):
        return mt.solve(mt.Problem(data, combine(mt.Accuracy(), task), mt.Trees(1), question))

    for task, front in ((free, [(2, 6)]), (paid, [(2, Fraction(15, 2)), (3, 6)])):
        points = [tuple(v.exact for v in s.coordinates) for s in best(task, Front()).solutions]
        assert points == front
    for limit, errors in (("7.5", 2), ("7.4", 3), (6, 3), ("5.9", None)):
        found = best(bounded(paid, limit), Best())
        assert (found.value.exact if found.optimal else None) == errors, limit
