"""Aggregates of runs in groups."""

import math

import pandas as pd
import pytest
from measure_frames import grid, traces

from milp_trees.common.errors import DataError
from milp_trees.studies.measures.summary import MEASURES, summary

RUNS = grid(
    {"a": {"p": 1.0, "q": 7.0}, "b": {"p": 3.0, "q": None}, "never": {"p": None}},
    limit=31.0,
).assign(objective=[4, 4, 4, 8, 5], bound=[4, 4, 4, 6, None], root_bound=[2, 4, 1, None, None])


def test_measures_by_hand():
    found = summary(RUNS, traces(), measures=list(MEASURES)).set_index("variant")
    a, b, never = found.loc["a"], found.loc["b"], found.loc["never"]
    assert (a["runs"], a["solved"], a["fastest"]) == (2, 2, 2)
    assert (b["runs"], b["solved"], b["fastest"]) == (2, 1, 0)
    assert a["sgm"] == pytest.approx(3)
    assert b["sgm"] == pytest.approx(math.sqrt(4 * 32) - 1)
    assert (a["mean"], a["median"], b["par10"]) == (4, 4, (3 + 310) / 2)
    assert b["gap"] == pytest.approx(100 * (0 + (8 - 6) / 8) / 2)
    assert never["gap"] == 100
    assert b["value"] == pytest.approx(100 * (0 + 0.5) / 2)
    assert never["value"] == pytest.approx(20)
    assert a["root"] == pytest.approx(100 * (0.5 + 0) / 2)
    assert math.isnan(never["root"])
    assert never["primal"] == pytest.approx(31 * 0.0 + 31.0)  # found at its end, at the limit
    assert found["claimed"].tolist() == [2, 2, 1]


def test_groups_are_those_of_any_columns():
    found = summary(RUNS, traces(), ["name"], ["runs", "solved"])
    assert found.to_dict("list") == {"name": ["p", "q"], "runs": [3, 2], "solved": [2, 1]}


def test_intersection_is_asked_of_the_whole_frame():
    """Only p was solved by every line that solved anything."""
    found = summary(RUNS, traces(), measures=["sgm"], timeouts="intersection")
    assert found["sgm"].tolist()[:2] == pytest.approx([1, 3])
    assert math.isnan(found["sgm"][2])


def test_environments_are_put_apart():
    other = RUNS.assign(environment="e2", seconds=9.0)
    both = pd.concat([RUNS.assign(environment="e1"), other], ignore_index=True)
    found = summary(both, traces(), measures=["runs", "sgm"])
    assert found["environment"].tolist() == ["e1"] * 3 + ["e2"] * 3
    assert found["sgm"][0] == pytest.approx(3)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"measures": ["speed"]}, "no measure 'speed'"),
        ({"by": ["nothing"]}, "no column 'nothing'"),
        ({"timeouts": "never"}, "time-out mode"),
    ],
)
def test_wrong_names_are_refused(given, said):
    with pytest.raises(DataError, match=said):
        summary(RUNS, traces(), **given)
