"""BinOCT: codes of thresholds, the paper's form, and leaves that count."""

from dataclasses import replace

import numpy as np
import pytest
from milp_trees.formulations._bin_oct_leaves import gains
from milp_trees.formulations._columns import Column, halves, n_bits, read_threshold, write_threshold
from row_tests import each_row

import milp_trees as mt
from milp_trees import Tree, Trees
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.models.nodes import Leaf
from milp_trees.testing import check_formulation, problem, random_cost_problem
from milp_trees.testing.solve import minimise


def column(m):
    """A column with m thresholds and one row of every rank."""
    return Column("x", tuple(range(m)), np.arange(m + 1), True)


def optimum(asked):
    formulation = mt.registry.formulation("bin-oct")
    m = formulation.build(asked)
    matrix = compile_model(m)
    point = minimise(matrix)
    matrix.load(matrix.rounded(point.x))
    return formulation.decode(m).prune_empty(asked.presolved_view()), round(point.objective)


@each_row("m", range(1, 18))
def test_every_threshold_has_a_code_that_reads_back(m):
    codes = [write_threshold(m, p) for p in range(m)]
    assert [read_threshold(m, bits) for bits in codes] == list(range(m))
    assert max(map(len, codes)) == n_bits([column(m)]) == int(np.ceil(np.log2(m)))
    spare = [bits + [1] * (5 - len(bits)) for bits in codes]
    assert [read_threshold(m, bits) for bits in spare] == list(range(m)), (
        "bits that a threshold does not need are free"
    )


@each_row("m", range(1, 12))
def test_codes_bind_exactly_the_rows_of_each_side(m):
    """With the code of threshold p, rows above it may not go left and rows below it not right, and
    no others are bound.
    """
    up, low = halves([column(m)])
    for p in range(m):
        bits = write_threshold(m, p) + [0] * 5
        not_left = {m} | {i for h in up if all(bits[a] for a in h.bits) for i in h.rows}
        not_right = {0} | {i for h in low if not any(bits[a] for a in h.bits) for i in h.rows}
        assert not_left == set(range(p + 1, m + 1))
        assert not_right == set(range(p + 1))


def test_misclassification_has_the_form_of_the_paper():
    """A row gives 1 to its own class and nothing else; binary columns have the paper's size."""
    rng = np.random.default_rng(0)
    data = mt.Dataset(rng.integers(0, 2, (20, 5)), y=rng.integers(0, 3, 20))
    requested = mt.Problem(data, mt.Accuracy(), Trees(2))
    view = requested.presolved_view(merge_rows=False)
    gain, constant = gains(view)
    assert (gain == (data.y[:, None] == np.arange(3))).all()
    assert constant == 0
    n, F, K, B, T = 20, view.n_features, 3, 3, 4
    sizes = mt.registry.formulation("bin-oct", merge_rows=False).model_size(view, requested.space)
    assert (sizes.variables, sizes.binaries, sizes.rows) == (
        B * F + n * T + 2 * T * K,
        B * F + T * K,
        B * (1 + F) + n + T * (1 + K),
    )
    assert sizes.nonzeros == F * (n * 2 * 2 + 2 * B) + n * T + T * (n + 3 * K)


def test_any_cost_is_a_constant_and_the_gains_given_away():
    view = problem("cost_matrix").presolved_view()
    gain, constant = gains(view)
    given_away = gain.sum(axis=1, keepdims=True) - gain
    rest = view.costs - given_away
    assert (rest == rest[:, :1]).all()
    assert rest[:, 0].sum() == constant


def test_a_single_leaf_can_be_had_where_leaves_cost():
    requested = mt.Problem(
        mt.Dataset([[0], [1], [1]], y=[0, 1, 1]), mt.Accuracy(leaf_penalty="1/2"), Trees(2)
    )
    tree, value = optimum(requested)
    assert tree.n_leaves == 1
    assert requested.presolved_view().objective(tree) == value


def test_a_single_leaf_can_be_had_where_no_split_holds_enough_rows():
    requested = mt.Problem(
        mt.Dataset([[0], [1], [1]], y=[0, 1, 1]), mt.Accuracy(), Trees(1, min_samples_leaf=2)
    )
    tree, value = optimum(requested)
    assert (tree.n_leaves, value) == (1, 1)


@pytest.mark.parametrize(
    "name",
    ["leaf_penalty", "split_penalty", "min_leaf", "max_leaves", "adjacent_thresholds", "no_tests"],
)
def test_conformance_where_leaves_count_and_where_they_do_not(name):
    check_formulation(mt.registry.formulation("bin-oct"), {name: problem(name)}, metamorphic=False)


def test_conformance_on_random_costs_and_thresholds():
    problems = {f"random-{s}": random_cost_problem(s, numeric=True, n_features=4) for s in range(3)}
    check_formulation(mt.registry.formulation("bin-oct"), problems, metamorphic=False)


def test_below_an_early_leaf_all_leaves_predict_its_action():
    requested = problem("xor")
    formulation = mt.registry.formulation("bin-oct")
    m = formulation.build(requested)
    formulation.encode(Tree(Leaf(1), requested.presolved_view().actions), m)
    matrix = compile_model(m)
    assert matrix.violation(matrix.values()) == 0
    assert [m.P[t, 1].value for t in m.leaves] == [1, 1, 1, 1]


def test_columns_have_prices_and_their_thresholds_have_not():
    view = problem("adjacent_thresholds").presolved_view()
    assert len(view.columns[0][1]) > 1
    priced = replace(view, split_costs=np.arange(view.n_features))
    formulation = mt.registry.formulation("bin-oct")
    assert "prices splits by column" in formulation.unsupported_view(priced, Trees(2))
    rng = np.random.default_rng(0)
    data = mt.Dataset(rng.integers(0, 2, (12, 3)), y=rng.integers(0, 2, 12))
    names = [feature.column for feature in data.features]
    for prices in ({}, {names[0]: "1/30", names[2]: "1/7"}):
        task = mt.Accuracy(leaf_penalty="1/50", feature_costs=prices)
        requested = mt.Problem(data, task, Trees(2))
        assert len(set(requested.presolved_view().split_costs.tolist())) == 1 + len(prices)
        tree, value = optimum(requested)
        best = mt.solve(requested, method="enumerate").predictor
        view = requested.presolved_view()
        assert view.objective(tree) == value == view.objective(best)
