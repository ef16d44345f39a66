"""The gap of every row of a comparison to the best bound that any of its methods proves."""

import pytest
from row_tests import each_row

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


@each_row(
    ("rows", "agree"),
    [
        ([row(10**8, 10**8), row(10**8 + 1, 10**8 + 1)], [None, False]),
        ([row(10**8 + 1, 10**8 + 1, "max"), row(10**8, 10**8, "max")], [None, False]),
        ([row(0.25, 0.2), row(0.5, 0.3)], [None, False]),
        ([row(0.25, 0.25 + 1e-9), row(0.5, 0.2)], [None, None]),
    ],
)
def test_a_value_better_than_a_bound_is_a_contradiction_and_no_gap(rows, agree):
    found = with_gaps_to_best(rows)
    assert [r.get("agrees") for r in found] == agree
    assert (found[0]["gap_to_best"] is None) == (False in agree)
