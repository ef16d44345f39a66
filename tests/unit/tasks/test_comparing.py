"""Values and bounds compared: exactly where both are exact, to a solver's tolerance otherwise."""

from fractions import Fraction

import pytest

import milp_trees as mt
from milp_trees.tasks.comparing import crosses, equal, floats_cross, meets, slack, solver_slack


@pytest.fixture(scope="module")
def scale():
    """The scale of errors, in which a row is a unit."""
    data = mt.Dataset([[0], [1]], y=[0, 1])
    return mt.Problem(data, mt.Accuracy(), mt.Trees(1)).scale


def test_exact_numbers_are_compared_exactly(scale):
    one, tiny = Fraction(1), Fraction(1, 10**12)
    assert slack(scale, one, one) == 0
    assert not crosses(one, one, scale)
    assert crosses(one + tiny, one, scale)
    assert meets(one, one, scale)
    assert not meets(one - tiny, one, scale)
    assert equal(one, one, scale)
    assert not equal(one, one + tiny, scale)


def test_the_slack_of_a_solver_grows_with_its_numbers_up_to_half_a_unit(scale):
    assert solver_slack(scale, 0) == solver_slack(scale, 1) == Fraction(1e-6)
    assert solver_slack(scale, 10**4, -(10**5)) == Fraction(1e-6) * 10**5
    assert solver_slack(scale, 10**9) == Fraction(1, 2)


def test_floats_of_a_table_cross_beyond_a_millionth_of_their_size():
    assert not floats_cross(1 + 9e-7, 1.0)
    assert floats_cross(1 + 2e-6, 1.0)
    assert not floats_cross(9e-7, 0.0)
    assert floats_cross(2e-6, 0.0)
    assert not floats_cross(1e6 + 0.9, 1e6)
    assert floats_cross(1e6 + 2, 1e6)
