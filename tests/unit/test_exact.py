"""Exact integers: what a person wrote stays exact, what was measured is rounded and says so."""

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from row_tests import each_row

from milp_trees.common.errors import DataError
from milp_trees.common.exact import GRID, WHOLE, common_unit, fraction, integers, rescale

short = st.one_of(
    st.integers(-(10**4), 10**4).map(Fraction),
    st.decimals(-100, 100, places=3).map(lambda d: Fraction(str(d))),
    st.fractions(-1000, 1000, max_denominator=60),
)


@each_row(
    "given, meant",
    [
        (0.005, "1/200"),
        (0.1, "1/10"),
        ("1/3", "1/3"),
        (7, "7"),
        (np.float64(2.5), "5/2"),
        (np.int64(3), "3"),
        ("0.01", "1/100"),
    ],
)
def test_a_number_is_the_rational_that_was_meant(given, meant):
    """Not the nearest double."""
    assert fraction(given) == Fraction(meant)


@each_row("given", ["many", "1/0", float("nan"), float("inf")])
def test_what_is_no_number_is_refused_by_name(given):
    """The parameter's name is in the sentence."""
    with pytest.raises(DataError, match="penalty must be"):
        fraction(given, "penalty")


@settings(max_examples=60, deadline=None)
@given(st.lists(short, min_size=1, max_size=12))
def test_rationals_become_integers_without_loss(numbers):
    """scale * whole is every number, exactly, and the integers have no common divisor."""
    array = np.empty(len(numbers), dtype=object)
    array[:] = numbers
    whole, scale, exact = integers(array)
    if exact:
        assert [scale * int(v) for v in whole] == numbers
        assert np.gcd.reduce(whole) in (0, 1)
    else:
        assert np.abs(
            np.array([float(scale) * v for v in whole]) - np.array(numbers, dtype=float)
        ).max() <= float(scale)


def test_decimals_and_counts_are_exact():
    """A float matrix of short decimals."""
    whole, scale, exact = integers(np.array([[0.25, 0.5], [1.0, 0.0]]))
    assert (whole.tolist(), scale, exact) == ([[1, 2], [4, 0]], Fraction(1, 4), True)


def test_measured_floats_are_rounded_to_a_stated_grid():
    """The error of every entry is half a step, and a step is a GRID-th of the range or less."""
    costs = np.sqrt(np.arange(1.0, 13.0)).reshape(6, 2)
    whole, step, exact = integers(costs)
    assert not exact
    assert np.abs(whole * float(step) - costs).max() <= float(step) / 2
    assert float(step) <= 2 * costs.max() * 6 / GRID
    assert whole.dtype == np.int64


def test_all_zero_costs_are_exact():
    """Nothing to scale by."""
    whole, _, exact = integers(np.zeros((3, 2)))
    assert exact
    assert not whole.any()


@settings(max_examples=60, deadline=None)
@given(st.lists(short, max_size=6))
def test_the_common_unit_divides_every_number(numbers):
    """And it is the largest that does."""
    unit = common_unit(numbers)
    multiples = [x / unit for x in numbers]
    assert all(m.denominator == 1 for m in multiples)
    if any(numbers):
        assert np.gcd.reduce([int(m) for m in multiples]) == 1


def test_penalties_without_a_reasonable_unit_are_refused_with_the_remedy():
    """A unit so small that sums overflow is no unit."""
    with pytest.raises(DataError, match="round the penalties"):
        rescale(np.full(1000, 10**10), Fraction(1), Fraction(1, 10**6), [], Fraction(1, 10**6))


def test_whole_numbers_are_exact_as_far_as_64_bits_carry():
    """At the edge they are kept; beyond it a sentence says what to do, and nothing is rounded."""
    edge = np.array([[WHOLE // 2, 1], [3, -(WHOLE // 2)]])
    for costs in (edge, edge.astype(object)):
        whole, scale, exact = integers(costs)
        assert exact
        assert (whole * int(scale)).tolist() == edge.tolist()
        with pytest.raises(DataError, match="divide them by a common factor"):
            integers(costs * 2 + 1)
    # Floats are exact as far as they hold whole numbers, however their shortest texts read.
    assert integers(np.array([2.0**52 + 1, 3.0]))[2]
    for number in (2.0**53, 2.0**54 + 4, 2.0**57, 2.0**57 + 32):
        whole, scale, exact = integers(np.array([number, 1.0]))
        assert (exact, int(whole[0]) * scale) == (True, int(number))
    assert not integers(np.array([2.0**60 + 2**10, 3.0]))[2]


@pytest.mark.parametrize("place", [0, 70, 199])
def test_one_measured_cost_makes_all_inexact_wherever_it_stands(place):
    costs = np.arange(200) / 4
    assert integers(costs)[2]
    costs[place] = np.pi
    whole, step, is_exact = integers(costs)
    assert not is_exact
    assert np.abs(whole * float(step) - costs).max() <= float(step) / 2


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(short, short), min_size=1, max_size=4), st.data())
def test_a_table_of_kinds_of_rows_says_the_same_as_all_rows(table, data):
    """Kinds without rows have no influence on unit and exactness."""
    kind = np.array(data.draw(st.lists(st.integers(0, len(table) - 1), min_size=1, max_size=6)))
    for array in (np.array(table, dtype=object), np.array([[int(a), int(b)] for a, b in table])):
        whole, scale, exact = integers(array, kind)
        of_rows = integers(array[kind])
        assert (whole[kind] == of_rows[0]).all()
        assert (scale, exact) == of_rows[1:]
