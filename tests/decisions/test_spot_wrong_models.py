"""Wrong variants of the program for decisions are caught."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from spot_cases import SOME, SPOT, OneDecision

from milp_trees.decisions.testing.problems import (
    decision_problem,
)
from milp_trees.testing import check_formulation
from milp_trees.testing.between import check_between_trees
from milp_trees.testing.checks import CHECKS

# -- wrong models are caught ----------------------------------------------------------------------------------------


class SmallM(SPOT):
    """M1 is half of what it must be."""

    def _costs(self, view):
        costs = super()._costs(view)
        return costs._replace(most=costs.most / 2)


class NoGain(SPOT):
    """M2 is 0: negative costs are not paid out."""

    def _costs(self, view):
        costs = super()._costs(view)
        return costs._replace(gain=0 * costs.gain)


class ThresholdOffByOne(SPOT):
    """The neighbouring threshold is encoded."""

    def encode(self, tree, m):
        super().encode(tree, m)
        for v in m.branch:
            m.b[v].set_value(max(0.0, m.b[v].value - 0.3), skip_validation=True)


class WeightOneUnitShort(SPOT):
    """A leaf may lack one unit of weight."""

    def declare(self, m, view, space):
        super().declare(
            m,
            view,
            replace(space, min_weight_leaf=space.min_weight_leaf - Fraction(1, 10))
            if space.min_weight_leaf
            else space,
        )


class ThirdColumnIsFree(SPOT):
    """Tests of the third column cost nothing."""

    def declare(self, m, view, space):
        free = {f for _, tests in view.columns[2:3] for f in tests}
        prices = np.array(
            [0.0 if f in free else c for f, c in enumerate(view.split_costs.tolist())]
        )
        super().declare(m, replace(view, split_costs=prices), space)


class OpenThirdLevel(SPOT):
    """On the third level rows go right whatever their value."""

    def declare(self, m, view, space):
        super().declare(m, view, space)
        for (_, _, v), row in m.right.items() if len(m.right_arcs) else ():
            if v >= 4:
                row.deactivate()


class NoSeventhThreshold(SPOT):
    """A threshold from the seventh on is read as the sixth."""

    def decode(self, m):
        for v in m.branch:
            j = max(m.columns, key=lambda j: m.a[j, v].value, default=None)
            if j is not None and m.a[j, v].value > 0.5 and len(m.view.columns[j][1]) > 6:
                m.b[v].set_value(
                    min(m.b[v].value, 6 / len(m.view.columns[j][1])), skip_validation=True
                )
        return super().decode(m)


@pytest.mark.slow
@pytest.mark.parametrize(
    "cls",
    [WeightOneUnitShort, ThirdColumnIsFree, OpenThirdLevel, NoSeventhThreshold],
    ids=lambda c: c.__name__,
)
def test_a_fault_that_only_wide_problems_show_is_rejected(cls):
    names = (
        "weight-one-unit-short",
        "priced-columns",
        "three-levels",
        "three-levels-large-leaves",
        "seven-thresholds",
    )
    with pytest.raises(AssertionError, match="spot"):
        check_formulation(
            cls(),
            {name: decision_problem(name) for name in names},
            {**CHECKS, "between": check_between_trees},
            metamorphic=False,
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["seven-thresholds", "three-levels", "priced-columns", "weight-one-unit-short"]
)
def test_what_lies_between_two_trees_is_worth_a_tree(name):
    check_between_trees(SPOT(), decision_problem(name))


@pytest.mark.parametrize(
    "cls", [SmallM, NoGain, OneDecision, ThresholdOffByOne], ids=lambda c: c.__name__
)
def test_a_wrong_program_is_rejected(cls):
    few = {name: decision_problem(name) for name in SOME}
    checks = {
        claim: CHECKS[claim]
        for claim in ("optimum_equals_oracle", "decoded_value", "every_tree_can_be_encoded")
    }
    with pytest.raises(AssertionError, match="spot"):
        check_formulation(cls(), few, checks, metamorphic=False)
