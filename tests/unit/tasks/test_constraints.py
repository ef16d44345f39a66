"""Side constraints: the integer rows say exactly what the definition by rates says."""

from fractions import Fraction
from itertools import combinations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError, UnknownName
from milp_trees.tasks.constraints import CONSTRAINTS, Capacity, constraint, constraint_of_label
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing.strategies import datasets, rates

#: Which rows each notion compares, from its definition.
COMPARED = {
    "statistical-parity": lambda d, y: [np.ones(d.n_rows, dtype=bool)],
    "conditional-statistical-parity": lambda d, y: [
        d.factor == level for level in np.unique(d.factor)
    ],
    "equal-opportunity": lambda d, y: [y == 1],
    "predictive-equality": lambda d, y: [y != 1],
    "equalised-odds": lambda d, y: [y == 1, y != 1],
}


def fair_by_rates(name, data, predicted, delta):
    """The largest difference of favourable rates between two groups, group by group, in fractions."""
    for rows in COMPARED[name](data, data.y):
        shares = []
        for g in np.unique(data.groups):
            here = rows & (data.groups == g)
            if here.any():
                shares.append(Fraction(int((predicted[here] == 1).sum()), int(here.sum())))
        if any(abs(a - b) > delta for a, b in combinations(shares, 2)):
            return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARED)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_group_constraints_equal_their_definition(name, data):
    """For any actions, any number of groups and any disparity, the integer rows hold iff the rates
    do.
    """
    dataset = data.draw(datasets())
    delta = data.draw(rates)
    actions = tuple(range(len(dataset.actions)))
    predicted = np.array(
        data.draw(
            st.lists(st.sampled_from(actions), min_size=dataset.n_rows, max_size=dataset.n_rows)
        )
    )
    notion = constraint(name, max_disparity=delta, favourable=1)
    assert (not notion.violations(predicted, dataset, actions)) == fair_by_rates(
        name, dataset, predicted, notion.max_disparity
    )


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_rows_divided_by_their_common_divisor_say_the_same(data):
    """Reduction of a side row changes neither what holds nor what does not."""
    dataset = data.draw(datasets())
    actions = tuple(range(len(dataset.actions)))
    predicted = np.array(
        data.draw(
            st.lists(st.sampled_from(actions), min_size=dataset.n_rows, max_size=dataset.n_rows)
        )
    )
    for row in mt.tasks.StatisticalParity(data.draw(rates), 1).rows(dataset, actions):
        short, at = row.reduced(), (np.arange(dataset.n_rows), predicted)
        assert row.holds(int(row.coefs[at].sum())) == short.holds(int(short.coefs[at].sum()))


def test_one_percent_of_float_noise_does_not_change_a_bound():
    """0.1 * 30 is 3 rows, not 2: the disparity is a fraction, not the nearest double."""
    data = mt.Dataset(np.zeros((13, 1)), y=[0, 1] * 6 + [1], groups=["a"] * 3 + ["b"] * 10)
    (row,) = mt.tasks.StatisticalParity(0.1, 1).rows(data, (0, 1))
    assert (row.lower, row.upper) == (-3, 3)


def test_every_pair_of_four_groups_has_a_row():
    """Six pairs, each with coefficients n_b and -n_a."""
    data = mt.Dataset(np.zeros((8, 1)), y=[0, 1] * 4, groups=list("aaabbcdd"))
    rows = mt.tasks.StatisticalParity(0, 1).rows(data, (0, 1))
    assert [r.name for r in rows] == [
        f"statistical-parity {a}/{b}" for a, b in combinations("abcd", 2)
    ]
    assert rows[0].coefs[:, 1].tolist() == [2, 2, 2, -3, -3, 0, 0, 0]


def test_the_favourable_action_is_the_last_class_unless_it_is_named():
    """Named by its label, of any type."""
    data = mt.Dataset(np.zeros((4, 1)), y=["yes", "no", "no", "yes"], groups=[0, 0, 1, 1])
    last, first = (
        mt.tasks.StatisticalParity(0, f).rows(data, ("no", "yes"))[0].coefs for f in (None, "no")
    )
    assert last[:, 1].any()
    assert not last[:, 0].any()
    assert first[:, 0].any()


def test_capacity_bounds_the_number_of_rows():
    """From above and from below, and the sentence says the number."""
    data, treat = (
        mt.Dataset(np.zeros((3, 1)), y=[0, 1, 1]),
        mt.tasks.Capacity(1, at_most=2, at_least=1),
    )
    assert not treat.violations(np.array([1, 1, 0]), data, (0, 1))
    assert treat.violations(np.array([1, 1, 1]), data, (0, 1)) == [
        r"capacity of 1: 3 is outside [1, 2]."
    ]
    assert treat.violations(np.array([0, 0, 0]), data, (0, 1))


def test_side_totals_survive_merging_of_rows():
    """The view's left-hand sides are the constraint's."""
    data = mt.Dataset([[0], [0], [1], [1]], y=[0, 1, 1, 0], groups=["a", "b", "a", "b"])
    problem = mt.Problem(
        data,
        mt.Accuracy(
            constraints=(mt.tasks.StatisticalParity(0, 1), mt.tasks.Capacity(1, at_most=2))
        ),
        mt.Trees(1),
    )
    tree = mt.Tree(
        mt.plugins.Branch(mt.BinaryFeature("0"), mt.plugins.Leaf(0), mt.plugins.Leaf(1)), (0, 1)
    )
    assert (
        problem.view(CostMatrix).side_totals(tree)
        == problem.presolved_view().side_totals(tree)
        == [0, 2]
    )


#: Parameters of the constraints that have no `max_disparity`.
PARAMETERS = {
    "capacity": {"action": "x", "at_most": 1},
    "error-rates": {"max_false_positive_rate": "1/7"},
    "feature-budget": {"at_most": 2},
    "not-together": {"first": "a", "second": "b"},
    "task-value": {"task": mt.Accuracy(), "at_most": 3},
    "monotone": {"column": "a", "direction": "decreasing"},
    "requires": {"feature": "a", "needs": "b"},
    "captured-share": {"at_least": "2/3", "black_box": "forest"},
    "mean-prediction-parity": {"max_difference": "1/7"},
}


@each_row("name", CONSTRAINTS)
def test_a_constraint_is_found_by_its_name(name):
    """As the command line and stored results spell it."""
    made = constraint(name, **PARAMETERS.get(name, {"max_disparity": "1/7"}))
    assert type(made).name == name
    (read,) = mt.tasks.from_spec(mt.Accuracy(constraints=(made,)).spec()).constraints
    assert read == made


def test_an_unknown_constraint_or_missing_column_is_named():
    """With the list of what there is."""
    with pytest.raises(UnknownName, match="statistical-parity"):
        constraint("fairness")
    with pytest.raises(DataError, match="needs `factor`"):
        mt.tasks.ConditionalStatisticalParity().rows(mt.Dataset([[0]], y=[0], groups=[1]), (0, 1))


def test_limits_of_a_capacity_may_be_given_by_its_label():
    """As on the command line: `--constraint capacity:action=1,at_least=2`."""
    assert constraint_of_label("capacity:action=1,at_least=2") == Capacity("1", at_least=2)
