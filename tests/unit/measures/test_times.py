"""Means of times, time-out modes, the virtual best, and performance profiles."""

import math

import numpy as np
import pandas as pd
import pytest
from measure_frames import frame, grid

from milp_trees.common.errors import DataError
from milp_trees.studies.measures import (
    environments,
    par,
    performance_profile,
    shifted_geometric_mean,
    virtual_best,
    with_virtual_best,
)
from milp_trees.studies.measures.instances import TIMEOUTS, common, lines, matrix, numbers, times
from milp_trees.studies.measures.integrals import best_values


def test_the_shifted_geometric_mean_by_hand():
    """√((1 + 1)(7 + 1)) − 1 = 3; without a shift √7."""
    assert shifted_geometric_mean([1, 7]) == pytest.approx(3.0)
    assert shifted_geometric_mean([1, 7], shift=0) == pytest.approx(math.sqrt(7))
    assert shifted_geometric_mean([0, 0, 26], shift=1) == pytest.approx(2.0)
    assert math.isnan(shifted_geometric_mean([]))


@pytest.mark.parametrize(("given", "shift"), [([-1.0], 1), ([math.nan], 1), ([1.0], -1)])
def test_times_that_are_none_are_refused(given, shift):
    with pytest.raises(DataError, match="at least 0"):
        shifted_geometric_mean(given, shift)


def test_par10_by_hand():
    assert par([2, 60, 4], [True, False, True], limit=60) == pytest.approx((2 + 600 + 4) / 3)
    assert par([60], [False], limit=60, factor=2) == 120


FOUR = {
    "a": {"p": 1.0, "q": 4.0, "r": None, "s": None},
    "b": {"p": 2.0, "q": 2.0, "r": 6.0, "s": None},
    "never": {"p": None, "q": None, "r": None, "s": None},
}


@pytest.mark.parametrize(
    ("mode", "a", "b"),
    [
        ("limit", [1, 4, 10, 10], [2, 2, 6, 10]),
        ("par10", [1, 4, 100, 100], [2, 2, 6, 100]),
        ("intersection", [1, 4], [2, 2]),
    ],
)
def test_runs_that_were_not_solved_count_by_the_mode(mode, a, b):
    """A line that solves nothing does not empty the intersection; it is named."""
    rows = lines(grid(FOUR))
    table = matrix(rows, times(rows, mode))
    assert table["a"].dropna().tolist() == a
    assert table["b"].dropna().tolist() == b
    assert common(rows)[1] == ["never"]


def test_another_mode_is_refused():
    with pytest.raises(DataError, match=", ".join(TIMEOUTS)):
        times(lines(grid(FOUR)), "median")


def test_without_a_limit_the_own_seconds_count():
    rows = grid({"a": {"p": None}}, limit=None).assign(seconds=3.0)
    assert times(rows, "par10").tolist() == [30.0]


def test_contradicted_and_unsupported_runs():
    """A contradicted proof is no solution; an unsupported run is no run."""
    rows = frame(
        {"name": "p", "variant": "a", "seconds": 1, "agrees": False, "time_limit": 9},
        {"name": "p", "variant": "b", "seconds": 1, "status": "unsupported"},
        {"name": "p", "variant": "c", "seconds": 5, "status": "infeasible", "agrees": True},
    )
    rows = lines(rows)
    assert rows["variant"].tolist() == ["a", "c"]
    assert times(rows).tolist() == [9.0, 5.0]


def test_the_virtual_best_takes_the_fastest_that_solved():
    best = virtual_best(grid(FOUR)).set_index("name")
    assert best["taken_from"].to_dict() == {"p": "a", "q": "b", "r": "b", "s": "a"}
    assert best["status"].to_dict()["s"] == "feasible"
    both = with_virtual_best(grid(FOUR))
    table = matrix(both, times(both))
    assert (table["virtual best"] == table.min(axis=1)).all()


def test_the_performance_profile_by_hand():
    """Fastest times 1, 2, 6, none: a is within the factors 1 and 2, b within 1, 1 and 2."""
    profile = performance_profile(grid(FOUR))
    assert profile.index.tolist() == [1.0, 2.0]
    assert profile["a"].tolist() == [0.25, 0.5]
    assert profile["b"].tolist() == [0.5, 0.75]
    assert profile["never"].tolist() == [0.0, 0.0]
    inside = performance_profile(grid(FOUR), "intersection")
    assert inside["a"].tolist() == [0.5, 1.0]


def test_profiles_are_those_of_a_plain_loop():
    """Against the definition, counted instance by instance, on random times."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        table = {
            f"m{k}": {f"p{i}": None if rng.random() < 0.3 else rng.integers(1, 9) for i in range(6)}
            for k in range(3)
        }
        profile = performance_profile(grid(table))
        for factor in profile.index:
            for line, row in table.items():
                within = 0
                for name, seconds in row.items():
                    known = [other[name] for other in table.values() if other[name] is not None]
                    within += seconds is not None and seconds <= factor * min(known) * (1 + 1e-12)
                assert profile.loc[factor, line] == pytest.approx(within / 6)


def test_runs_of_one_line_on_one_instance_become_lines():
    rows = pd.concat([grid(FOUR), grid({"a": {"p": 3.0}}, limit=60.0)], ignore_index=True)
    assert set(lines(rows)["variant"]) == {"a", "a (2)", "b", "never"}


def test_times_of_two_machines_are_never_averaged():
    rows = pd.concat([grid(FOUR, environment="e1"), grid(FOUR, environment="e2")])
    rows = rows.reset_index(drop=True)
    with pytest.raises(DataError, match="2 environments"):
        performance_profile(rows)
    apart = environments(rows)
    assert list(apart) == ["e1", "e2"]
    assert performance_profile(apart["e2"])["b"].tolist() == [0.5, 0.75]


def test_exact_values_beyond_floats_are_missing_in_measures():
    """Counts of large problems may be integers that no float holds."""
    rows = grid({"a": {"p": 1.0}, "b": {"p": 2.0}}).assign(objective=[10**400, 5])
    assert numbers(rows["objective"]).isna().tolist() == [True, False]
    assert best_values(rows).tolist() == [5.0, 5.0]


def test_an_empty_study_has_empty_measures():
    empty = grid({})
    assert performance_profile(empty).shape[1] == 0
    assert len(virtual_best(empty)) == 0


def test_a_study_that_no_method_supports_has_empty_measures():
    none = grid({"a": {"p": 1.0}, "b": {"p": 2.0}}, status="unsupported")
    assert performance_profile(none).shape[1] == 0
    assert len(virtual_best(none)) == 0
