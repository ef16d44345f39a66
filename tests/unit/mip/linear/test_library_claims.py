"""What a library says about a linear program is compared with its own point."""

import numpy as np
from row_tests import each_row
from scipy import sparse

from milp_trees.mip.linear.claims import dual_value, misstatement, violation
from milp_trees.mip.linear.matrix import MatrixModel


def two_columns(**other):
    """min -x - y with x + y <= 1.5, both in [0, 1], x integer."""
    parts = {
        "name": "two",
        "c": np.array([-1.0, -1.0]),
        "offset": 0.0,
        "A": sparse.csr_matrix([[1.0, 1.0]]),
        "row_lower": np.array([-np.inf]),
        "row_upper": np.array([1.5]),
        "lower": np.zeros(2),
        "upper": np.ones(2),
        "integer": np.array([True, False]),
    }
    return MatrixModel(**{**parts, **other})


@each_row(
    ("point", "broken"),
    [
        ([1.0, 0.5], 0.0),
        ([1.0, 1.0], 0.5),  # the row
        ([1.0, -0.25], 0.25),  # a bound
        ([0.75, 0.5], 0.25),  # integrality
        ([np.nan, 0.5], np.inf),
        ([1.0, np.inf], np.inf),
        ([1.0], np.inf),
    ],
)
def test_the_violation_of_a_point_is_the_largest_one(point, broken):
    assert violation(two_columns(), np.array(point)) == broken


@each_row(
    ("claims", "said"),
    [
        ({"objective": -1.5, "bound": -1.5, "gap": 0.0}, None),
        ({"objective": -2.0}, "reports the objective -2, but its point has -1.5"),
        ({"objective": np.nan}, "reports the objective nan"),
        ({"bound": -1.4}, "reports the bound -1.4, but its point has -1.5"),
        ({"bound": -2.0, "gap": 0.25}, "calls a point of -1.5 optimal, but its bound is -2"),
        ({"bound": -2.0, "gap": 0.5}, None),
        ({"bound": -2.0}, None),
    ],
)
def test_numbers_that_contradict_a_point_are_named(claims, said):
    found = misstatement(two_columns().c, np.array([1.0, 0.5]), **claims)
    assert found is None if said is None else found.startswith(said)


def test_a_constant_of_the_objective_counts():
    c, x = two_columns().c, np.array([1.0, 0.5])
    assert misstatement(c, x, 10.0, objective=8.5) is None
    assert misstatement(c, x, 10.0, objective=-1.5) is not None


def test_row_multipliers_prove_what_the_lagrangian_allows_and_no_more():
    model = two_columns()
    assert dual_value(model, model.c, np.array([-1.0])) == -1.5
    assert dual_value(model, model.c, np.array([-1.0]), 4.0) == 2.5
    assert dual_value(model, model.c, np.array([0.0])) == -2.0
    # of the sign that belongs to a side that the row does not have, it proves nothing
    assert dual_value(model, model.c, np.array([5.0])) == -2.0
    assert dual_value(model, model.c, np.zeros(2)) == -np.inf
