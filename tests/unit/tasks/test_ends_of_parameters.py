"""Parameters at the ends of their ranges are taken, and refused just beyond them."""

from fractions import Fraction

import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.common.errors import DataError
from milp_trees.tasks.constraints import CONSTRAINTS, GroupRates
from milp_trees.tasks.conventions import CONVENTIONS, from_convention
from milp_trees.tasks.grouping import by_column
from milp_trees.tasks.ratio import LARGEST_BETA, FBeta, Precision
from milp_trees.tasks.views import CostMatrix

BIT = Fraction(1, 10**6)
SHARES = [kind for kind in CONSTRAINTS.values() if issubclass(kind, GroupRates)]
#: How a task is made from its parameter, values that are taken, and values that are refused.
ENDS = {
    "theta": (mt.tasks.PartialAUC, [BIT, 1], [0, -BIT, 1 + BIT, Fraction(3, 2)]),
    "beta": (FBeta, [BIT, LARGEST_BETA], [0, -BIT, LARGEST_BETA + BIT]),
    "min_recall": (Precision, [0, 1], [-BIT, 1 + BIT]),
    **{
        f"leaf_penalty of {kind.name}": (lambda leaf_penalty, k=kind: k(leaf_penalty=leaf_penalty),
                                         [0, BIT, 10**6], [-BIT])
        for kind in (mt.Accuracy, mt.tasks.F1, mt.tasks.AUC, mt.tasks.Matthews)
    },
    "split_penalty": (mt.Accuracy, [0, BIT], [-BIT]),
    **{
        f"max_disparity of {kind.name}": (kind, [0, 1], [-BIT, 1 + BIT])
        for kind in (*SHARES, mt.tasks.ParityInSubtrees, mt.tasks.ParityInLeaves)
    },
    "max_false_positive_rate": (mt.tasks.ErrorRates, [0, 1], [-BIT, 1 + BIT]),
    "max_false_negative_rate": (mt.tasks.ErrorRates, [0, 1], [-BIT, 1 + BIT]),
    "at_least of captured-share": (mt.tasks.CapturedShare, [0, 1], [-BIT, 1 + BIT]),
    "max_depth": (mt.Trees, [0, 10**6, None], [-1]),
    "max_leaf_nodes": (lambda max_leaf_nodes: mt.Trees(2, max_leaf_nodes), [1, None], [0]),
    "min_samples_leaf": (lambda n: mt.Trees(2, min_samples_leaf=n), [1], [0]),
    "min_weight_leaf": (lambda w: mt.Trees(2, min_weight_leaf=w), [0, BIT], [-BIT]),
    "min_samples_treatment": (lambda n: mt.Trees(2, min_samples_treatment=n), [0], [-1]),
    "max_length": (lambda n: mt.RuleLists(max_length=n), [0, None], [-1]),
    "min_samples_rule": (lambda n: mt.RuleLists(min_samples_rule=n), [1], [0]),
}  # fmt: skip


@each_row("name", ENDS)
def test_a_parameter_ends_where_it_says(name):
    make, taken, refused = ENDS[name]
    option = name.partition(" ")[0]

    def made(value):
        return make(**{option: value}) if isinstance(make, type) else make(value)

    for value in taken:
        made(value)
    for value in refused:
        with pytest.raises(DataError):
            made(value)


@each_row("name", CONVENTIONS)
def test_a_parameter_of_another_convention_is_not_negative(name):
    given = {"n": 10, "baseline": 3}
    assert from_convention(name, 0, **given) == 0
    with pytest.raises(DataError):
        from_convention(name, -BIT, **given)


def test_thresholds_of_a_column_are_in_order_around_zero():
    """The threshold 0 is a number like others."""
    tests = [mt.BinaryFeature("x", "<=", t) for t in (0.5, -0.5, -2.0, 0.0)]
    assert by_column([*tests, mt.BinaryFeature("z")]) == (("x", (2, 1, 3, 0)), ("z", (4,)))


def test_a_rule_that_costs_one_unit_limits_the_length_of_lists():
    """Beside costs of ten thousands."""
    data = mt.Dataset([[0], [1]], values=[[20_000, 0], [0, 1]])
    for penalty, bounded in (("1/2", True), (0, False)):
        task = mt.tasks.ActionCostMatrix(split_penalty=penalty)
        space = mt.RuleLists()
        view = mt.Problem(data, task, space).view(CostMatrix)
        assert (space.unbounded(view) is None) == bounded
