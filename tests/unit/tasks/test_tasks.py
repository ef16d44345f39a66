"""Tasks: the scorer, computed here by hand, and the integer view agree on every tree."""

from fractions import Fraction
from functools import partial

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError, NoView
from milp_trees.tasks.stored import from_spec
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing.strategies import problems, trees

X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
SPLIT = mt.Tree(
    mt.plugins.Branch(mt.BinaryFeature("0"), mt.plugins.Leaf(0), mt.plugins.Leaf(1)), (0, 1)
)


def score(task, data, tree=SPLIT):
    return task.value(tree.routes(data), data)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_the_view_scores_every_tree_as_the_task_does(data):
    """value == to_value(objective) for every task, penalty, feature cost and tree, exactly where
    the view says it is exact.
    """
    problem = data.draw(problems())
    view = problem.view(CostMatrix)
    tree = data.draw(trees(problem.dataset, view.n_actions))
    value, Z = problem.value(tree), view.objective(tree)
    if view.exact:
        assert value.exact == view.to_value(Z)
    assert value.number == pytest.approx(
        float(view.to_value(Z)), abs=1e-6 + float(abs(view.scale)) * view.tolerance
    )
    assert view.from_value(view.to_value(Z)) == Z


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_maximised_task_orders_trees_as_its_integers_do(data):
    """Of two trees, the one with the smaller integer objective has the better value."""
    problem = data.draw(problems(constrained=False))
    view = problem.view(CostMatrix)
    a, b = (data.draw(trees(problem.dataset, view.n_actions)) for _ in range(2))
    if view.objective(a) < view.objective(b) - view.tolerance:
        assert problem.value(a).better_than(problem.value(b))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_a_task_is_read_back_from_its_description(data):
    """from_spec(task.spec()) scores every tree the same, and its description is the same."""
    problem = data.draw(problems())
    again = from_spec(problem.task.spec())
    tree = data.draw(trees(problem.dataset, problem.view(CostMatrix).n_actions))
    assert again.spec() == problem.task.spec()
    assert score(again, problem.dataset, tree) == problem.value(tree)


def test_accuracy_counts_errors_and_ignores_weights():
    """Misclassified rows, each once."""
    data = mt.Dataset(X, y=[0, 1, 1, 1], weights=[9, 9, 9, 9])
    assert score(mt.Accuracy(), data) == mt.plugins.Value(1.0, Fraction(1), "errors", "min")


def test_weighted_error_multiplies_row_and_class_weights():
    """w_i times the weight of the row's class."""
    data = mt.Dataset(X, y=[0, 1, 0, 1], weights=[1, 0.5, 3, 1])
    assert score(mt.tasks.WeightedError(class_weight={0: "1/3"}), data).exact == Fraction(1, 2) + 1


def test_balanced_accuracy_is_the_mean_of_the_classes_shares():
    """Classes of different sizes weigh the same; it is maximised."""
    data = mt.Dataset(X, y=[0, 0, 0, 1])
    value = score(mt.tasks.BalancedAccuracy(), data)
    assert value == mt.plugins.Value(
        float(Fraction(5, 6)), Fraction(5, 6), "balanced accuracy", "max"
    )


def test_balanced_accuracy_ignores_classes_without_rows():
    """A class that no row has neither helps nor harms."""
    data = mt.Dataset(X, y=[0, 0, 2, 2], classes=("a", "b", "c"))
    assert (
        score(
            mt.tasks.BalancedAccuracy(),
            data,
            mt.Tree(
                mt.plugins.Branch(mt.BinaryFeature("0"), mt.plugins.Leaf(0), mt.plugins.Leaf(2)),
                ("a", "b", "c"),
            ),
        ).exact
        == 1
    )


def test_a_cost_matrix_reads_true_class_by_prediction():
    """Row = true class, column = prediction, rewards allowed."""
    data = mt.Dataset(X, y=[0, 1, 1, 0])
    assert (
        score(mt.tasks.MisclassificationCosts(matrix=[[-1, 10], [3, 0]]), data).exact
        == -1 + 3 + 0 + 10
    )


def policy_data(**more):
    return mt.Dataset(
        X,
        treatments=[0, 1, 1, 0],
        outcomes=[2, -4, 3, 1],
        propensities=[0.5, 0.25, 0.5, 0.2],
        **more,
    )


def test_inverse_propensity_by_hand():
    """Rows that were treated as the tree would, divided by their propensity: rows 0 and 2 here."""
    assert score(mt.tasks.InversePropensity(), policy_data()).exact == Fraction(2 * 2 + 3 * 2, 4)


def test_direct_method_and_doubly_robust_by_hand():
    """Predicted outcomes, and their correction where the treatment was observed."""
    nu = [[1, 2], [3, 4], [5, 6], [7, 8]]
    data = policy_data(values=nu)
    assert score(mt.tasks.DirectMethod(), data).exact == Fraction(1 + 3 + 6 + 8, 4)
    assert score(mt.tasks.DoublyRobust(), data).exact == Fraction(
        1 + 3 + 6 + 8 + 2 * (2 - 1) + 2 * (3 - 6), 4
    )


def test_penalties_are_on_the_scale_of_a_rate():
    """rate + leaves * leaf_penalty + splits * split_penalty + feature costs."""
    data = mt.Dataset(X, y=[0, 1, 1, 1])
    task = mt.Accuracy(leaf_penalty=0.01, split_penalty="1/50", feature_costs={"0": 0.1})
    assert score(task, data) == mt.plugins.Value(
        0.39,
        Fraction(1, 4) + 2 * Fraction(1, 100) + Fraction(1, 50) + Fraction(1, 10),
        "rate",
        "min",
    )


def test_a_measured_cost_is_marked_inexact():
    """Floats without a short form are rounded to a grid, and the view says so."""
    data = mt.Dataset(X, values=np.sqrt(np.arange(1.0, 9.0)).reshape(4, 2))
    problem = mt.Problem(data, mt.tasks.DirectMethod(), mt.Trees(1))
    view = problem.view(CostMatrix)
    assert not view.exact
    assert problem.value(SPLIT).exact is None
    assert problem.value(SPLIT).number == pytest.approx(
        float(view.to_value(view.objective(SPLIT))), abs=1e-7
    )


@pytest.mark.parametrize(
    "task, words",
    [
        (mt.tasks.WeightedError, "one class only"),
        (mt.tasks.ActionValues, "needs `values`"),
        (mt.tasks.InversePropensity, "needs `treatments`"),
    ],
)
def test_a_task_says_what_data_it_needs(task, words):
    """The sentence names the field that is missing."""
    data = mt.Dataset(X, y=["a"] * 4)
    with pytest.raises(DataError, match=words):
        task().costs(data)


@each_row(
    "make, words",
    [
        (lambda: mt.Accuracy(leaf_penalty=-1), "leaf_penalty must not be negative"),
        (lambda: mt.Accuracy(leaf_penalty="a lot"), "leaf_penalty must be a number"),
        (lambda: mt.Accuracy(feature_costs="x"), "feature_costs must be a mapping"),
        (lambda: mt.Accuracy(feature_costs={"0": -0.1}), "Feature costs"),
        (lambda: mt.tasks.MisclassificationCosts(), "needs matrix="),
        (lambda: mt.tasks.StatisticalParity(5), "between 0 and 1"),
    ],
)
def test_a_wrong_parameter_is_refused_when_it_is_given(make, words):
    """Not later, in the middle of a solve."""
    with pytest.raises(DataError, match=words):
        make()


@each_row(
    "task, words",
    [
        (mt.tasks.WeightedError(class_weight={"z": 2}), "it has 'z'"),
        (mt.Accuracy(feature_costs={"z": 2}), "'z', which is not a column"),
        (
            mt.Accuracy(constraints=(mt.tasks.Capacity("z", at_most=1),)),
            "'z' is not an action",
        ),
        (mt.Accuracy(constraints=(mt.tasks.StatisticalParity(),)), "needs `groups`"),
        (mt.tasks.MisclassificationCosts(matrix=[[0]]), r"needs? \(2, 2\)"),
    ],
)
def test_a_parameter_that_does_not_fit_the_data_is_named(task, words):
    """Unknown classes, columns, actions and shapes."""
    with pytest.raises(DataError, match=words):
        mt.Problem(mt.Dataset(X, y=[0, 1, 1, 0]), task, mt.Trees(1)).view(CostMatrix)


@pytest.mark.parametrize(
    "task",
    [mt.tasks.WeightedError, partial(mt.tasks.MisclassificationCosts, matrix=[[0, 1], [1, 0]])],
    ids=["weighted", "cost-matrix"],
)
def test_a_total_weight_of_zero_is_refused_where_a_rate_is_asked_for(task):
    """Penalties are on the scale of a rate, and there is none. Costs of actions are not weighed, so
    theirs is per row.
    """
    data = mt.Dataset(X, y=[0, 1, 1, 0], values=np.ones((4, 2)), weights=np.zeros(4))
    assert mt.Problem(data, task(), mt.Trees(1)).view(CostMatrix).exact
    with pytest.raises(DataError, match="total weight, which is zero"):
        mt.Problem(data, task(leaf_penalty=0.1), mt.Trees(1)).view(CostMatrix)
    assert (
        mt.Problem(data, mt.tasks.ActionCostMatrix(leaf_penalty=0.1), mt.Trees(1))
        .view(CostMatrix)
        .exact
    )


def test_an_unknown_view_is_refused_with_what_there_is():
    """NoView lists the views that the task offers."""

    class LeafCounts:
        pass

    with pytest.raises(NoView, match=r"LeafCounts view \(it offers: CostMatrix\)"):
        mt.Accuracy().view(LeafCounts, mt.Dataset(X, y=[0, 1, 1, 0]), mt.Trees(1))


def test_costs_of_kinds_of_rows_are_those_of_the_rows():
    """A subclass that changes the costs alone is not asked for its table."""
    data = mt.Dataset([[0], [1], [1]], y=[0, 1, 2], weights=[1, 2, 0.5])
    matrix = [[0, "1/3", 2], [1, 0, 5], [4, 3, 0]]
    for task in (
        mt.Accuracy(),
        mt.tasks.BalancedAccuracy(),
        mt.tasks.MisclassificationCosts(matrix=matrix),
    ):
        table, kind = task.cost_table(data)
        assert (table[kind] == task.costs(data)).all()

    class Doubled(mt.Accuracy):
        def costs(self, dataset):
            return 2 * super().costs(dataset)

    tree = mt.Tree(mt.plugins.Leaf(0), (0, 1, 2))
    assert mt.Problem(data, Doubled(), mt.Trees(0)).value(tree).number == 4
