"""OCT: columns from tests, the constraints on a toy, repairs, decoding and encoding."""

from dataclasses import replace

import numpy as np
import pytest
from milp_trees.formulations import oct as module
from milp_trees.formulations._columns import numeric_columns

import milp_trees as mt
from milp_trees import Tree, Trees
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.models.nodes import Branch, Leaf
from milp_trees.testing import check_formulation, problem, random_cost_problem
from milp_trees.testing.problems import numeric_dataset

REPAIRS = ("eps-min", "scalar", "d-shift", "z-le-d", "spo")


def toy(depth=1, **task):
    """One numeric column with values 1, 3, 9 (thresholds 2 and 6) and one 0/1 column."""
    data = numeric_dataset({"x": [1, 3, 9, 9]}, y=[0, 1, 1, 0])
    X = np.column_stack([data.X, [0, 1, 0, 1]])
    return mt.Problem(
        mt.Dataset(X, [*data.features, mt.BinaryFeature("on")], y=data.y),
        mt.Accuracy(**task),
        Trees(depth),
    )


def solved(formulation, asked):
    """Model with the values of an optimum, and the optimum in integer units."""
    from milp_trees.testing.solve import minimise

    m = formulation.build(asked)
    matrix = compile_model(m)
    point = minimise(matrix)
    matrix.load(matrix.rounded(point.x))
    return m, point.objective


def test_columns_are_ranks_among_their_thresholds():
    x, on = numeric_columns(toy().presolved_view(merge_rows=False))
    assert (x.name, x.ranks.tolist(), x.m, x.true_left) == ("x", [0, 1, 2, 2], 2, True)
    assert (on.name, on.ranks.tolist(), on.m, on.true_left) == ("on", [0, 1, 0, 1], 1, False)


def test_ranks_count_thresholds_whatever_their_order_and_spacing():
    tests = [mt.BinaryFeature("x", "<=", 6.0), mt.BinaryFeature("x", "<=", 2.0)]
    data = mt.Dataset([[1, 1], [1, 0], [0, 0]], tests, y=[0, 1, 1])
    (column,) = numeric_columns(mt.Problem(data, mt.Accuracy(), Trees(1)).presolved_view())
    assert column.tests == (1, 0)
    assert sorted(column.ranks.tolist()) == [0, 1, 2]


def test_tests_that_are_not_nested_are_refused():
    data = mt.Dataset(
        [[1, 0], [0, 1]],
        [mt.BinaryFeature("x", "<=", 1.0), mt.BinaryFeature("x", "<=", 2.0)],
        y=[0, 1],
    )
    with pytest.raises(mt.DataError, match="not nested"):
        mt.registry.formulation("oct", drop_tests=False).build(
            mt.Problem(data, mt.Accuracy(), Trees(1))
        )


def test_constraint_13_and_14_on_a_toy():
    """Row of rank 1 of 2, on; steps 1/2 and 1: (13) 1/2 a_x + 3/2 a_on + 1/2 <= b + 2 (1 - z), (14)
    1/2 a_x + a_on >= b - (1 - z).
    """
    m = mt.registry.formulation("oct", merge_rows=False).build(toy())
    matrix = compile_model(m)
    at = {v.name: j for j, v in enumerate(matrix.columns)}

    def row(label, leaf):
        z = at[f"z[1,{leaf}]"]
        return next(
            i for i, name in enumerate(matrix.row_labels) if name == label and matrix.A[i, z]
        )

    names = ["a[0,1]", "a[1,1]", "b[1]"]
    left, right = row("left", 2), row("right", 3)
    side = 1 if np.isfinite(matrix.row_upper[left]) else -1
    assert [side * matrix.A[left, at[n]] for n in [*names, "z[1,2]"]] == [0.5, 1.5, -1, 2]
    assert (matrix.row_upper if side == 1 else -matrix.row_lower)[left] == 1.5
    side = 1 if np.isfinite(matrix.row_lower[right]) else -1
    assert [side * matrix.A[right, at[n]] for n in [*names, "z[1,3]"]] == [0.5, 1, -1, -1]
    assert (matrix.row_lower if side == 1 else -matrix.row_upper)[right] == -1


@pytest.mark.slow
@pytest.mark.parametrize("repair", REPAIRS)
def test_every_repair_passes_the_conformance_checks(repair):
    names = ("free_routing", "uneven_gaps", "adjacent_thresholds", "min_leaf", "feature_costs")
    problems = {name: problem(name) for name in names} | {
        f"random-{s}": random_cost_problem(s, numeric=True) for s in range(2)
    }
    check_formulation(mt.registry.formulation("oct", repair=repair), problems, metamorphic=False)


def test_an_unknown_repair_names_those_there_are():
    with pytest.raises(mt.errors.UnknownName, match="no repair 'epsilon'; choose one of eps-min"):
        mt.registry.formulation("oct", repair="epsilon")


@pytest.mark.parametrize("repair", REPAIRS)
def test_rows_of_an_early_leaf_pass_on_to_one_side(repair):
    """To the rightmost leaf below, in the SPO repair to the leftmost."""
    requested = toy(depth=2)
    formulation = mt.registry.formulation("oct", repair=repair)
    m = formulation.build(requested)
    formulation.encode(Tree(Leaf(1), requested.presolved_view().actions), m)
    holding = [t for t in m.leaves if m.l[t].value == 1]
    assert holding == ([4] if repair == "spo" else [7])
    assert compile_model(m).violation(compile_model(m).values()) == 0


@pytest.mark.parametrize("name", ["oct", "oct-binary"])
def test_tests_and_children_survive_encoding_and_decoding(name):
    """`x <= 2` true and `on` true come back on the same sides, with their own thresholds."""
    requested = toy(depth=2)
    view = requested.presolved_view()
    by_name = {t.name: t for t in view.features}
    tree = Tree(
        Branch(by_name["x <= 2"], Branch(by_name["on"], Leaf(1), Leaf(0)), Leaf(0)), view.actions
    )
    formulation = mt.registry.formulation(name)
    m = formulation.build(requested)
    formulation.encode(tree, m)
    matrix = compile_model(m)
    assert matrix.violation(matrix.values()) < 1e-9
    assert formulation.decode(m).prune_empty(view).to_json() == tree.to_json()


def test_the_decoded_tree_has_the_claimed_value():
    formulation = mt.registry.formulation("oct")
    for seed in range(4):
        requested = random_cost_problem(seed, numeric=True, n_rows=8, n_features=5, depth=2)
        m, value = solved(formulation, requested)
        assert requested.presolved_view().objective(formulation.decode(m)) == round(value), (
            f"seed {seed}"
        )


def test_big_m_of_an_action_is_what_it_costs_on_all_rows():
    requested = problem("cost_matrix")
    m = mt.registry.formulation("oct").build(requested)
    assert [m.most[k] for k in m.actions] == requested.presolved_view().regret.sum(axis=0).tolist()


def test_sizes_are_those_of_the_paper_without_its_constraint_21():
    """Variables |B|(p+2) + n|T| + |T|(2+K), rows n|T|(D+1) + n + |T|(2+K) + 3|B| - 1."""
    requested = random_cost_problem(0, numeric=True, n_rows=9, n_features=5, n_actions=3, depth=3)
    view = requested.presolved_view()
    n, p, K, B, T, D = view.n_rows, len(view.columns), 3, 7, 8, 3
    sizes = mt.registry.formulation("oct").model_size(view, requested.space)
    assert sizes.variables == B * (p + 2) + n * T + T * (2 + K)
    assert sizes.binaries == sizes.variables - B - T
    assert sizes.rows == n * T * (D + 1) + n + T * (2 + K) + 3 * B - 1


def test_tests_of_one_column_must_cost_the_same():
    requested = toy()
    view = replace(requested.presolved_view(), split_costs=np.array([1, 2, 0]))
    assert "prices splits by column" in mt.registry.formulation("oct").unsupported_view(
        view, requested.space
    )
    assert mt.registry.formulation("oct-binary").unsupported_view(view, requested.space) is None


def test_more_thresholds_than_tolerances_can_tell_apart_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_THRESHOLDS", 1)
    assert "cannot tell 2 thresholds of 'x' apart" in mt.registry.formulation("oct").unsupported(
        toy()
    )
