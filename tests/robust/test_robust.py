"""Trees under shifted rows: tasks, evaluator, engine and formulations against all trees."""

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.models.tree import Tree
from milp_trees.robust.testing.problems import ROBUST_PROBLEMS, robust_problem, shifted_dataset
from milp_trees.testing import CHECKS
from milp_trees.testing.definitions import definitions
from milp_trees.testing.generate import any_tree
from milp_trees.testing.oracle import brute_force
from milp_trees.testing.task_data import rows_of, see

#: Problems whose trees are few enough for a plain run.
QUICK = [
    "boxes-touch-a-threshold",
    "boxes-binary",
    "boxes-no-shift",
    "budget-of-halves",
    "budget-empty-cells",
    "budget-leaf-limit",
    "budget-penalties",
]


@pytest.mark.parametrize("method", ["robust-fronts", "roct@highs", "robust-oct@highs"])
@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in ROBUST_PROBLEMS]
)
def test_a_method_has_the_value_of_the_best_of_all_trees(method, name):
    problem = robust_problem(name)
    if registry.method(method).unsupported(problem) is not None:
        assert method == "roct@highs"
        return
    result = mt.solve(problem, method)
    best = brute_force(problem)
    assert result.status.name == "OPTIMAL"
    assert result.value.exact == best[1].exact
    assert problem.value(result.predictor).exact == best[1].exact


def test_a_shift_that_touches_a_threshold_is_inside_below_and_not_above():
    """x <= 2 is answered yes by 3 with radius 1; x > 2 is not reached from 1."""
    data = shifted_dataset({"x": [1.0, 3.0]}, ["a", "b"], {"x": [2]})
    task = mt.robust.RobustBoxes(radius=1)
    view = mt.Problem(data, task, mt.Trees(1)).view(mt.robust.WorstCase)
    assert view.price.tolist() == [[0, 1], [0, 0]]


def test_two_thresholds_of_a_column_are_shifted_together():
    """From x = 5 both x <= 4 and x > 6 are near, but the leaf between needs one value for both."""
    data = shifted_dataset({"x": [5.0, 9.0, 1.0]}, ["a", "a", "a"], {"x": [4, 6]})
    view = mt.Problem(data, mt.robust.RobustBudget(budget=3), mt.Trees(2)).view(mt.robust.WorstCase)
    inside = view.narrowed(view.narrowed(view.everywhere, 0, False), 1, True)
    assert view.entry(inside).tolist() == [0, 3, 4]
    empty = view.narrowed(view.narrowed(view.everywhere, 0, True), 1, False)
    assert view.is_empty(empty)
    assert (view.entry(empty) == view.never).all()


def test_the_budget_goes_to_the_cheapest_rows():
    """To cross x <= 3 the rows pay 3, 2 and 1."""
    data = shifted_dataset({"x": [1.0, 2.0, 4.0]}, ["a", "a", "b"], {"x": [3]})
    tree = Tree(Branch(data.features[0], Leaf(1), Leaf(0)), ("a", "b"))
    values = [
        mt.Problem(data, mt.robust.RobustBudget(budget=b), mt.Trees(1)).value(tree).number
        for b in (0, 1, 2, 3, 5, 6)
    ]
    assert values == [0, 1, 1, 2, 2, 3]


@pytest.mark.parametrize("task", ["robust-boxes", "robust-budget"])
def test_a_task_has_the_value_of_its_definition_on_numbers_and_categories(task):
    """`check_task` draws columns of 0 and 1 only; here the trees of all problems are valued."""
    meaning = definitions()[task]
    rng = np.random.default_rng(0)
    compared = 0
    for name in ROBUST_PROBLEMS:
        problem = robust_problem(name)
        if problem.task.name != task or not problem.dataset.n_features:
            continue
        for _ in range(6):
            tree = any_tree(problem, rng)
            seen = see(tree, problem.dataset)
            expected = meaning(problem.task.spec(), rows_of(problem.dataset), seen)
            assert abs(problem.value(tree).number - expected) < 1e-9, (name, str(tree))
            compared += 1
    assert compared >= 60


@pytest.mark.parametrize("formulation", ["roct", "robust-oct"])
@pytest.mark.parametrize("name", ["boxes-touch-a-threshold", "boxes-binary", "boxes-random-1"])
def test_a_formulation_passes_the_checks(formulation, name):
    """Documented, sized, optimum and tree as all trees say, every tree encodable."""
    for check in CHECKS.values():
        check(registry.formulation(formulation), robust_problem(name))


def test_no_tests_leave_nothing_to_shift():
    result = mt.solve(robust_problem("budget-no-tests"), "robust-oct@highs")
    assert result.value.number == 1


def test_a_smallest_leaf_is_refused():
    data = shifted_dataset({"x": [1.0, 2.0]}, ["a", "b"])
    with pytest.raises(mt.errors.DataError, match="no smallest size"):
        mt.Problem(data, mt.robust.RobustBoxes(radius=1), mt.Trees(1, min_samples_leaf=2))
