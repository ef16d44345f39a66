"""Errors of the literature on decision-tree MIPs, each shown on a small problem beside the form
that is right.
"""

from itertools import pairwise

import numpy as np
import pytest
from milp_trees.formulations._columns import numeric_columns
from milp_trees.formulations.oct import OCT, LeftBranch

import milp_trees as mt
from milp_trees import Tree, Trees
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.models.nodes import Leaf
from milp_trees.testing import brute_force, problem
from milp_trees.testing.problems import numeric_dataset
from milp_trees.testing.solve import minimise


class PrintedOCT(OCT):
    """OCT with the left branch as printed in 2017: wrong, and kept here only."""

    def left_branch(self, columns):
        steps = np.array([1 / c.m for c in columns])
        return LeftBranch(shift=steps, unsplit=0, offset=0, big_m=1 + float(steps.max()))


def optimum_of(model):
    matrix = compile_model(model)
    point = minimise(matrix)
    matrix.load(matrix.rounded(point.x))
    return point.objective


# -- Bertsimas and Dunn 2017: the left branch ----------------------------------------------------------------------


def test_printed_oct_sends_rows_freely_at_nodes_that_do_not_split():
    """Equal rows with different labels: the printed model claims no error and no split, every
    repair the true value.
    """
    requested = problem("free_routing")  # errors / n + splits / 20
    view = requested.presolved_view(merge_rows=False)
    true = view.from_value(brute_force(requested)[1].exact)
    assert true > 0
    m = PrintedOCT(merge_rows=False).build(requested)
    assert optimum_of(m) == pytest.approx(0)
    assert sum(m.d[v].value for v in m.branch) == 0
    assert len({t for t in m.leaves if any(m.z[i, t].value > 0.5 for i in m.rows)}) > 1, (
        "rows of one node are in different leaves"
    )
    for repair in OCT.repairs:
        assert optimum_of(OCT(repair=repair, merge_rows=False).build(requested)) == pytest.approx(
            float(true)
        ), repair


@pytest.mark.parametrize("depth", [1, 2])
def test_printed_oct_claims_less_than_any_tree_has(depth):
    """Labels that no tree separates."""
    data = numeric_dataset({"x": [1, 1, 2, 2, 3, 3]}, y=[0, 1, 0, 1, 1, 0])
    requested = mt.Problem(data, mt.Accuracy(), Trees(depth))
    assert optimum_of(PrintedOCT(merge_rows=False).build(requested)) == pytest.approx(0)
    assert brute_force(requested)[1].number == 3


# -- starts from CART ----------------------------------------------------------------------------------------------


def test_cart_midpoints_are_infeasible_thresholds_of_oct():
    """Between neighbouring values the midpoint leaves less than epsilon on the left; the upper
    value is feasible.
    """
    data = numeric_dataset({"x": [1, 2, 3, 4]}, y=[0, 0, 1, 1])
    requested = mt.Problem(data, mt.Accuracy(), Trees(1))
    formulation = mt.registry.formulation("oct")
    view = requested.presolved_view()
    (column,) = numeric_columns(view)
    m = formulation.build(requested)
    matrix = compile_model(m)
    values = np.unique(column.ranks / column.m)
    for test, (low, high) in zip(column.tests, pairwise(values), strict=True):
        formulation.encode(
            Tree(mt.plugins.Branch(view.features[test], Leaf(1), Leaf(0)), view.actions), m
        )
        assert m.b[1].value == pytest.approx(high)
        assert matrix.violation(matrix.values()) < 1e-9
        m.b[1].set_value((low + high) / 2)
        assert matrix.violation(matrix.values()) == pytest.approx((high - low) / 2)


def test_cart_trees_are_feasible_starts_once_their_thresholds_are_observed_values():
    """A scikit-learn tree, encoded: feasible, with the tree's own value."""
    from sklearn.tree import DecisionTreeClassifier

    x, y = np.array([0.0, 0.01, 0.02, 1.0, 1.0, 5.0]), np.array([0, 1, 0, 1, 1, 0])
    requested = mt.Problem(numeric_dataset({"x": x.tolist()}, y=y), mt.Accuracy(), Trees(2))
    view = requested.presolved_view()
    cart = DecisionTreeClassifier(max_depth=2, random_state=0).fit(x[:, None], y).tree_

    def node(v):
        if cart.children_left[v] < 0:
            return Leaf(int(cart.value[v].ravel().argmax()))
        below = x[x <= cart.threshold[v]].max()
        test = next(t for t in sorted(view.features, key=lambda t: t.value) if t.value > below)
        return mt.plugins.Branch(test, node(cart.children_right[v]), node(cart.children_left[v]))

    tree = Tree(node(0), view.actions)
    for repair in OCT.repairs:
        formulation = mt.registry.formulation("oct", repair=repair)
        m = formulation.build(requested)
        formulation.encode(tree, m)
        matrix = compile_model(m)
        assert matrix.violation(matrix.values()) < 1e-9, repair
        assert matrix.objective(matrix.values()) == view.objective(tree)


# -- Verwer and Zhang 2019 -----------------------------------------------------------------------------------------


def test_binoct_column_without_thresholds_would_free_the_rows():
    """XOR at depth 1: with a column that appears in no threshold row the optimum is 0 errors;
    forbidden, it is the true one.
    """
    requested = mt.Problem(
        mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], y=[0, 1, 1, 0]), mt.Accuracy(), Trees(1)
    )
    m = mt.registry.formulation("bin-oct").build(requested)
    matrix = compile_model(m)
    free = [j for j, x in enumerate(matrix.columns) if x.name == "f[1,0]"]
    speaks = np.asarray((matrix.A[:, free] != 0).sum(axis=1)).ravel() > 0
    matrix.row_upper[speaks & (np.array(matrix.row_labels) == "outer")] = np.inf
    assert minimise(matrix).objective == pytest.approx(0)
    matrix.upper[free] = 0
    assert (
        minimise(matrix).objective
        == pytest.approx(brute_force(requested)[1].number)
        == pytest.approx(2)
    )


@pytest.mark.parametrize("name", ["bin-oct", "oct"])
def test_constant_columns_are_no_columns(name):
    """A constant column has no test, so no model has a variable for it."""
    requested = problem("column_without_thresholds")
    m = mt.registry.formulation(name, drop_tests=False).build(requested)
    assert [c.name for c in numeric_columns(m.view)] == ["x"]
    assert optimum_of(m) == pytest.approx(brute_force(requested)[1].number)


def test_binoct_needs_all_thresholds():
    """Thresholds only between neighbours of different classes, as in the authors' code, lose the
    optimal tree of six rows.
    """
    points, y = [(5, 3), (0, 2), (1, 4), (2, 0), (4, 1), (3, 5)], [0, 0, 1, 0, 1, 0]
    data = numeric_dataset({"x": [p[0] for p in points], "y": [p[1] for p in points]}, y=y)
    label = [dict(zip([p[j] for p in points], y, strict=True)) for j in range(2)]
    kept = [
        f
        for f, t in enumerate(data.features)
        if label["xy".index(t.column)][int(t.value)]
        != label["xy".index(t.column)][int(t.value) + 1]
    ]
    assert len(kept) == len(data.features) - 2
    fewer = mt.Dataset(data.X[:, kept], [data.features[f] for f in kept], y=y)
    values = [
        optimum_of(mt.registry.formulation("bin-oct").build(mt.Problem(d, mt.Accuracy(), Trees(2))))
        for d in (data, fewer)
    ]
    assert values == pytest.approx([0, 1])


# -- flow with one sink per action ---------------------------------------------------------------------------------


def test_fractional_labels_randomise_in_multi_sink_flow_with_side_constraints():
    """Rates may differ by 1/2. Trees give all rows one class (2 errors); with w continuous one leaf
    predicts half of each (1 error).
    """
    data = mt.Dataset([[0], [0], [1], [1]], y=[0, 0, 1, 1], groups=["a", "a", "b", "b"])
    requested = mt.Problem(
        data, mt.Accuracy(constraints=(mt.tasks.StatisticalParity("1/2", 1),)), Trees(1)
    )
    m = mt.registry.formulation("flow-oct", merge_rows=False).build(requested)
    assert all(m.w[v, k].is_binary() for v in m.nodes for k in m.actions)
    matrix = compile_model(m)
    honest = minimise(matrix).objective
    true = requested.presolved_view().from_value(brute_force(requested)[1].exact)
    assert honest == pytest.approx(float(true)) == pytest.approx(2)
    labels = {id(m.w[v, k]) for v in m.nodes for k in m.actions}
    matrix.integer = matrix.integer & np.array([id(x) not in labels for x in matrix.columns])
    point = minimise(matrix)
    assert point.objective == pytest.approx(1)
    shares = [x for x, column in zip(point.x, matrix.columns, strict=True) if id(column) in labels]
    assert any(0.01 < share < 0.99 for share in shares)


def test_without_side_constraints_continuous_labels_lose_nothing():
    requested = problem("cost_matrix")
    m = mt.registry.formulation("flow-oct").build(requested)
    assert not m.w[1, 0].is_binary()
    assert optimum_of(m) == pytest.approx(
        float(requested.presolved_view().from_value(brute_force(requested)[1].exact))
    )
