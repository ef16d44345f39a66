"""The cost-matrix view: presolve keeps what every tree costs, and dropped tests come back."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import HealthCheck, given, settings

import milp_trees as mt
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing import problem
from milp_trees.testing.strategies import problems, trees

QUIET = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@QUIET
@given(st.data())
def test_presolve_never_makes_a_tree_dearer_and_keeps_its_actions(data):
    """With each switch on or off: side totals equal, objective equal (less only where a dropped
    test had a cheaper twin or was constant).
    """
    made = data.draw(problems())
    full = made.view(CostMatrix)
    tree = data.draw(trees(made.dataset, full.n_actions))
    for merge in (False, True):
        for drop in (False, True):
            view = made.presolved_view(merge, drop)
            assert view.side_totals(tree) == full.side_totals(tree)
            assert view.total_rows == full.total_rows
            if drop:
                assert view.objective(tree) <= full.objective(tree)
            else:
                assert view.objective(tree) == full.objective(tree)
            if not full.split_costs.any() and not full.leaf_cost:
                assert view.objective(tree) == full.objective(tree)


@QUIET
@given(st.data())
def test_a_canonical_tree_uses_kept_tests_and_sends_rows_to_the_same_actions(data):
    """Complements swap children, constant tests disappear."""
    made = data.draw(problems())
    full, view = made.view(CostMatrix), made.presolved_view()
    tree = data.draw(trees(made.dataset, full.n_actions))
    kept = view.canonical(tree)
    assert set(kept.splits) <= set(view.features)
    assert (kept.routes(made.dataset).action == tree.routes(made.dataset).action).all()
    assert kept.n_leaves <= tree.n_leaves


@QUIET
@given(st.data())
def test_merged_rows_stand_for_distinct_rows(data):
    """Rows of a merged view are distinct, `rows` points at one original, counts add up per row."""
    made = data.draw(problems())
    full, view = made.view(CostMatrix), made.presolved_view()
    assert len({tuple(x) for x in view.X.tolist()}) == view.n_rows
    of = [full.index[t] for t in view.features]
    assert (full.X[np.ix_(view.rows, of)] == view.X).all()
    assert (view.costs.sum(axis=0) == full.costs.sum(axis=0)).all()


def test_the_cheapest_of_equal_tests_is_kept():
    """A dear test with a cheap twin is replaced by it."""
    view = problem("feature_costs").presolved_view()
    assert [t.column for t in view.features] == ["rough", "dear", "cheap"]
    (position, flipped) = view.alias[mt.BinaryFeature("dearer")]
    assert (view.features[position].column, flipped) == ("cheap", False)


def test_complements_and_constants_are_dropped():
    """One of a complementary pair stays, and the alias says that it is flipped."""
    view = problem("complement_pair").presolved_view()
    assert view.n_features == 2
    assert view.alias[mt.BinaryFeature("1")] == (0, True)
    constant = problem("constant_tests").presolved_view()
    assert constant.alias[mt.BinaryFeature("0")] is False
    assert constant.alias[mt.BinaryFeature("1")] is True


def test_labels_are_offered_where_all_wrong_actions_cost_the_same():
    """Misclassification and every task with two actions; not a general cost matrix."""
    best, weight = problem("weights").view(CostMatrix).labels
    assert best.tolist() == [0, 0, 0, 1, 0]
    assert weight.tolist() == [1, 1, 2, 3, 1]
    assert problem("two_action_costs").view(CostMatrix).labels is not None
    assert problem("cost_matrix").view(CostMatrix).labels is None


def test_columns_group_thresholds_by_rising_value():
    """Numeric tests of one column are one group, others are groups of their own."""
    data = mt.Dataset(
        [[0, 1, 1], [1, 0, 1]],
        [mt.BinaryFeature("a", "<=", 3.0), mt.BinaryFeature("b"), mt.BinaryFeature("a", "<=", 1.0)],
        y=[0, 1],
    )
    view = mt.Problem(data, mt.Accuracy(), mt.Trees(1)).view(CostMatrix)
    assert view.columns == (("a", (2, 0)), ("b", (1,)))


def test_the_group_column_is_no_candidate_unless_the_space_says_so():
    """For every method alike, because the view decides."""
    made = problem("group_not_split")
    assert [t.column for t in made.view(CostMatrix).features] == ["skill"]
    allowed = mt.Problem(made.dataset, made.task, mt.Trees(2, split_on_group=True))
    assert [t.column for t in allowed.view(CostMatrix).features] == ["sex", "skill"]
