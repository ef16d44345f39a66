"""The gap of every row of a comparison to the best bound that any of its methods proves."""

import pytest

from milp_trees.studies.rows import with_gaps_to_best


def row(objective, bound, sense="min", status="feasible"):
    return {"objective": objective, "bound": bound, "sense": sense, "status": status, "gap": None}


def gaps(rows, reference=None):
    return [r["gap_to_best"] for r in with_gaps_to_best(rows, reference)]


def test_the_best_bound_is_the_largest_of_values_that_are_minimised():
    assert gaps([row(20, None), row(12, 8), row(16, 10)]) == pytest.approx([0.5, 1 / 6, 0.375])


def test_the_best_bound_is_the_smallest_of_values_that_are_maximised():
    assert gaps([row(8, None, "max"), row(9, 12, "max"), row(4, 10, "max")]) == pytest.approx(
        [0.25, 1 / 9, 1.5]
    )


def test_the_bound_of_the_reference_counts_and_that_of_a_failed_run_does_not():
    assert gaps([row(20, None)], row(18, 15)) == [0.25]
    assert gaps([row(20, 10), row(None, 19, status="error")]) == [0.5, None]


def test_without_a_bound_or_a_value_there_is_no_gap():
    assert gaps([row(20, None), row(None, None)]) == [None, None]
    assert gaps([row(0, None), row(0, 0)]) == [0, 0]
    assert gaps([row(0, -1)]) == [None]  # relative to 0 it would be infinite
