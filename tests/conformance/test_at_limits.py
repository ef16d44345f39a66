"""Limits bind exactly where their definitions say, on groups of one to a thousand rows; and faults
that act only there, or only in large groups, are found.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import milp_trees as mt
from milp_trees.mip.registry import registry
from milp_trees.models.space import Trees
from milp_trees.tasks import (
    attribute_costs,
    constraints,
    cost_sensitive,
    leaf_sums,
    node_constraints,
    structure,
)
from milp_trees.tasks.confusion import ConfusionRatio
from milp_trees.tasks.count_views import LeafCounts
from milp_trees.tasks.path_costs import PathCosts
from milp_trees.tasks.ratio import Precision
from milp_trees.tasks.ratio_view import Ratio
from milp_trees.tasks.views import SideRow
from milp_trees.testing import check_task
from milp_trees.testing.at_limits import CONSTRAINTS, check_at_limits
from milp_trees.testing.task_options import OPTIONS

NAMES = [*dict.fromkeys(c["name"] for c in CONSTRAINTS), "task-value", "precision", "partial-auc"]


@pytest.mark.parametrize("name", [*NAMES, "trees"])
def test_a_limit_binds_where_its_definition_says(name):
    assert check_at_limits(lambda one: one == name) > 20


# -- faults that act only at a limit, or only in large groups ---------------------------------------


def wider(rows, product):
    """Side rows of pairs of groups that are one unit too wide where the groups are large."""
    return [
        replace(row, lower=row.lower - 1, upper=row.upper + 1)
        if row.coefs.max(initial=0) * -row.coefs.min(initial=0) > product
        else row
        for row in rows
    ]


def too_wide_in_large_groups(patch):
    true = constraints.GroupRates.rows
    patch.setattr(constraints.GroupRates, "rows", lambda *a: wider(true(*a), 400))


def too_narrow_at_the_root(patch):
    """A row that is too wide there changes nothing: every node has its own rates."""
    true = node_constraints.ParityInSubtrees.rows
    patch.setattr(
        node_constraints.ParityInSubtrees,
        "rows",
        lambda *a: [replace(row, upper=row.upper - 1) for row in true(*a)],
    )


def the_fourth_group_is_not_compared(patch):
    true = constraints.GroupRates.pairs

    def pairs(self, dataset, positive):
        for label, a, b in true(self, dataset, positive):
            if "group 3/" not in label and "/group 3" not in label:
                yield label, a, b

    patch.setattr(constraints.GroupRates, "pairs", pairs)


def nodes_are_too_wide(patch):
    true = structure.NodeRates.slack
    patch.setattr(structure.NodeRates, "slack", lambda self, n: true(self, n) + (n > 400))


def nodes_are_compared_in_one_direction(patch):
    def hold(self, size, hits):
        ok = np.ones(size.shape[:-1], dtype=bool)
        for a, b in self.pairs():
            gap = size[..., b] * hits[..., a] - size[..., a] * hits[..., b]
            ok &= (gap if self.n_groups > 2 else abs(gap)) <= self.slack(
                size[..., a] * size[..., b]
            )
        return ok

    patch.setattr(structure.NodeRates, "hold", hold)


def recall_is_rounded_down(patch):
    def least(self, dataset):
        there = dataset.y == self.positive_index(dataset)
        weights = (dataset.row_weights * 4).astype(int)
        return math.floor(self.min_recall * int(weights[there].sum()))

    patch.setattr(Precision, "_least_found", least)


def a_capacity_counts_the_action_after(patch):
    true = constraints.Capacity.rows

    def rows(self, dataset, actions):
        (row,) = true(self, dataset, actions)
        return [
            replace(row, coefs=np.roll(row.coefs, 1, axis=1) if len(actions) > 2 else row.coefs)
        ]

    patch.setattr(constraints.Capacity, "rows", rows)


def negatives_of_three_classes_are_one_class(patch):
    true = constraints.ErrorRates.rows

    def rows(self, dataset, actions):
        return true(self, dataset.with_(y=np.minimum(dataset.y, 2)), actions)

    patch.setattr(constraints.ErrorRates, "rows", rows)


def a_view_divides_its_bounds_outwards(patch):
    def reduced(self):
        g = int(np.gcd.reduce(np.abs(self.coefs), axis=None)) or 1
        lower = None if self.lower is None else self.lower // g
        upper = None if self.upper is None else -(-self.upper // g)
        return SideRow(self.name, self.coefs // g, lower, upper)

    patch.setattr(SideRow, "reduced", reduced)


def merged_rows_count_at_most_three(patch):
    true = leaf_sums.with_merged_rows

    def merged(whole):
        view = true(whole)
        return replace(view, counts=np.minimum(view.counts, 3))

    patch.setattr(leaf_sums, "with_merged_rows", merged)


def the_lightest_leaf_is_forgotten(patch):
    true = Trees.violations
    patch.setattr(
        Trees,
        "violations",
        lambda self, tree, data: [
            message
            for message in true(self, tree, data)
            if "weight" not in message or tree.n_leaves < 4
        ],
    )


def areas_are_too_large_below_theta(patch):
    true = LeafCounts.units
    patch.setattr(LeafCounts, "units", lambda self, leaves: true(self, leaves) + (self.theta < 1))


AT_LIMITS = {
    too_wide_in_large_groups: "statistical-parity",
    too_narrow_at_the_root: "parity-in-subtrees",
    the_fourth_group_is_not_compared: "statistical-parity",
    nodes_are_too_wide: "parity-in-leaves",
    nodes_are_compared_in_one_direction: "parity-in-leaves",
    recall_is_rounded_down: "precision",
    a_capacity_counts_the_action_after: "capacity",
    negatives_of_three_classes_are_one_class: "error-rates",
    a_view_divides_its_bounds_outwards: "statistical-parity",
    merged_rows_count_at_most_three: "trees",
    the_lightest_leaf_is_forgotten: "trees",
    areas_are_too_large_below_theta: "partial-auc",
}


@pytest.mark.parametrize("fault", AT_LIMITS, ids=lambda fault: fault.__name__)
def test_a_fault_at_a_limit_is_found(monkeypatch, fault):
    fault(monkeypatch)
    with pytest.raises(AssertionError, match="The task"):
        check_at_limits(lambda one: one == AT_LIMITS[fault])


# -- faults in tasks without limits ------------------------------------------------------------------


def the_second_group_never_discounts(patch):
    true = attribute_costs.PaidAttributes.pay

    def pay(self, attribute):
        first = self.attributes[0].group
        self.groups &= {first}
        return true(self, attribute)

    patch.setattr(attribute_costs.PaidAttributes, "pay", pay)


def views_have_one_group(patch):
    true = cost_sensitive.CostSensitive.path_costs

    def path_costs(self, dataset, space):
        view = true(self, dataset, space)
        return replace(view, group=np.minimum(view.group, 0))

    patch.setattr(cost_sensitive.CostSensitive, "path_costs", path_costs)


def a_discount_is_for_the_first_group(patch):
    true = PathCosts.prices

    def prices(self, paid):
        return true(self, frozenset(a for a in paid if self.group[a] <= 0) | (paid & {0}))

    patch.setattr(PathCosts, "prices", prices)


def an_attribute_is_paid_twice(patch):
    patch.setattr(cost_sensitive.CostSensitive, "states", _states_without_contexts)


def _states_without_contexts(self, dataset, space, true=cost_sensitive.CostSensitive.states):
    return replace(true(self, dataset, space), transition=None)


def merged_weights_are_those_of_one_row(patch):
    made = PathCosts.reduced.func

    def reduced(self):
        view = made(self)
        return replace(view, weights=np.minimum(view.weights, self.weights.max()))

    patch.setattr(PathCosts, "reduced", property(reduced))


def every_step_of_a_ratio_has_free_leaves(patch):
    true = Ratio.matrix
    patch.setattr(Ratio, "matrix", lambda self, q, leaf_cost=Fraction(0): true(self, q))


def denominators_are_said_to_be_large(patch):
    true = Ratio.least_denominator
    patch.setattr(Ratio, "least_denominator", lambda self, q: 2 * true(self, q))


def false_negatives_count_half(patch):
    true = ConfusionRatio.counts
    patch.setattr(
        ConfusionRatio,
        "counts",
        lambda self, coefs, dataset: true(
            self, {k: v - (k == "FN" and v > 1) for k, v in coefs.items()}, dataset
        ),
    )


ON_TREES = {
    the_second_group_never_discounts: "cost-sensitive",
    views_have_one_group: "cost-sensitive",
    a_discount_is_for_the_first_group: "cost-sensitive",
    an_attribute_is_paid_twice: "cost-sensitive",
    merged_weights_are_those_of_one_row: "cost-sensitive",
    every_step_of_a_ratio_has_free_leaves: "f1",
    denominators_are_said_to_be_large: "f-beta",
    false_negatives_count_half: "count-ratio",
}


@pytest.mark.parametrize("fault", ON_TREES, ids=lambda fault: fault.__name__)
def test_a_fault_in_a_task_is_found(monkeypatch, fault):
    name = ON_TREES[fault]
    fault(monkeypatch)
    with pytest.raises(AssertionError, match="The task"):
        check_all(name)


def check_all(name):
    """A task with all its options against its definition."""
    for options in OPTIONS[name]:
        check_task(registry.task(name)(**options))


def test_prices_of_three_groups_are_tried():
    """Groups of several attributes each, so that every one of them can discount."""
    groups = [
        len({a["group"] for a in options["attributes"] if "group" in a})
        for options in OPTIONS["cost-sensitive"]
        if isinstance(options["attributes"], list)
    ]
    assert max(groups) == 3
    assert mt.tasks.CostSensitive(**OPTIONS["cost-sensitive"][0])
