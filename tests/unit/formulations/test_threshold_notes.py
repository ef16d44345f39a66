"""What thresholds lose: bucketization, and the label that goes with the data into every result (Lin
et al. 2020, figure 1 and Theorem 3.1).
"""

import json

import numpy as np
import pandas as pd
import pytest

import milp_trees as mt
from milp_trees.results.tables import summary
from milp_trees.testing import problem
from milp_trees.verification import verify


def errors(data: mt.Dataset, depth: int) -> int:
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(depth)), "dp-sorted")
    assert result.optimal
    return int(result.value.number)


def test_figure_1_on_generated_data():
    """93.5 % with all midpoints, 92.2 % with buckets; one level does not tell them apart."""
    all_of_them, buckets = mt.load("hidden-cut"), mt.load("hidden-cut:binarizer=buckets")
    assert all_of_them.n_rows == 77
    assert buckets.n_features < all_of_them.n_features
    assert (errors(all_of_them, 2), errors(buckets, 2)) == (5, 6)
    assert round(100 * 72 / 77, 1) == 93.5
    assert errors(all_of_them, 1) == errors(buckets, 1)
    generic = mt.solve(mt.Problem(all_of_them, mt.Accuracy(), mt.Trees(2)), "dp")
    assert generic.value.number == 5


@pytest.mark.parametrize("seed", [3, 7, 8, 9])
def test_the_effect_is_no_accident_of_a_seed(seed):
    assert errors(mt.load(f"hidden-cut:seed={seed}"), 2) < errors(
        mt.load(f"hidden-cut:seed={seed},binarizer=buckets"), 2
    )


def test_six_rows_are_enough():
    requested = problem("bucketization_loses")
    assert mt.solve(requested, "dp-sorted").value.number == 0
    frame = pd.DataFrame({"a": [5, 0, 1, 2, 4, 3], "b": [3, 2, 4, 0, 1, 5]}, dtype=float)
    data = mt.Binarizer(kind="buckets").dataset(frame, [0, 0, 1, 0, 1, 0])
    assert errors(data, 2) == 1
    assert "Theorem 3.1" in data.threshold_note


def test_which_thresholds_buckets_drop():
    """Only those between values whose rows are all of one class; a value with two classes keeps
    both its neighbours.
    """
    frame = pd.DataFrame({"x": [1, 2, 3, 3, 4, 5, 6]}, dtype=float)
    binarizer = mt.Binarizer(kind="buckets").fit(frame, ["n", "n", "n", "y", "y", "y", "n"])
    assert [t.value for t in binarizer.features] == [2.5, 3.5, 5.5]


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("quantiles:3", "quantiles"),
        ("buckets", "bucketized"),
        ("tree-guess:3", "guessed"),
    ],
)
def test_the_label_is_in_every_report(kind, word):
    data = mt.load("wine", binarizer=kind, features=["alcohol", "hue"])
    assert word in data.threshold_note
    result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(2)), start=None)
    assert word in result.threshold_note
    stored = json.loads(json.dumps(result.to_json()))
    assert word in stored["problem"]["data"]["threshold_note"]
    assert word in dict(summary(stored))["tests"]
    assert word in result._repr_html_()
    assert f"over {data.source['thresholds']['used']} of 202 thresholds" in repr(result)
    assert word in data.subset(np.arange(20)).threshold_note
    again = mt.Binarizer.from_json(stored["problem"]["data"]["binarizer"])
    assert word in again.threshold_note_
    assert verify(stored)


def test_nothing_is_said_where_nothing_is_lost():
    """All midpoints, which the default takes, too."""
    frame = pd.DataFrame({"age": [20, 30, 40, 50.0], "smoker": ["no", "yes", "no", "no"]})
    for kind in ("midpoints", "auto"):
        data = mt.Binarizer(kind=kind).dataset(frame, [0, 1, 1, 0])
        assert data.threshold_note == ""
        result = mt.solve(mt.Problem(data, mt.Accuracy(), mt.Trees(1)))
        assert dict(summary(result.to_json()))["tests"] == "over all 3 thresholds"
        assert "; over all 3 thresholds" in repr(result)


def test_buckets_need_a_target():
    with pytest.raises(mt.DataError, match="buckets learns its thresholds from a target"):
        mt.Binarizer(kind="buckets").fit(pd.DataFrame({"x": [1.0, 2.0, 3.0]}))
