"""Columns of plain numbers as one matrix: the same features, ranks and cuts as a column at a time."""

import numpy as np
import pandas as pd
import pytest
from row_tests import each_row

import milp_trees as mt
from milp_trees.data import binarize
from milp_trees.data.feature_list import FeatureList, Places, feature_list
from milp_trees.data.number_table import number_table
from milp_trees.data.quantiles import quantile_cuts
from milp_trees.data.rules import thresholds_at

RULES = {"a": [0.5, 1.5, 7.0], "b": "0/1", "c": [], "d": [-2.5]}
TESTS = (
    *(mt.BinaryFeature("a", "<=", t) for t in RULES["a"]),
    mt.BinaryFeature("b"),
    mt.BinaryFeature("d", "<=", -2.5),
)


def test_features_made_on_demand_are_those_of_a_tuple():
    made = FeatureList(RULES)
    assert len(made) == 5
    assert [made[j] for j in range(5)] == list(TESTS) == [made[j] for j in range(-5, 0)]
    assert made == TESTS
    assert tuple(made) == TESTS
    assert made[1:4] == TESTS[1:4]
    with pytest.raises(IndexError):
        made[5]


def test_long_lists_make_single_features(monkeypatch):
    monkeypatch.setattr("milp_trees.data.feature_list.FEW", 0)
    made = FeatureList(RULES)
    assert [made[j] for j in range(5)] == list(TESTS)
    assert "whole" not in vars(made)


def test_places_are_found_by_column_and_threshold():
    places = Places(FeatureList(RULES))
    assert {t: places[t] for t in TESTS} == {t: j for j, t in enumerate(TESTS)}
    for other in (
        mt.BinaryFeature("a"),
        mt.BinaryFeature("a", "<=", 0.25),
        mt.BinaryFeature("a", "<=", 0.5, "yes"),
        mt.BinaryFeature("b", "<=", 0.5),
        mt.BinaryFeature("z"),
    ):
        assert other not in places


@each_row("rule", [[2.0, 1.0], ["2021-03-05"], {"categories": ["x"]}, [1, 2]])
def test_other_rules_are_no_list_on_demand(rule):
    assert feature_list({"a": rule}) is None


def test_a_column_whose_name_holds_a_sign_is_compared_by_name():
    table = {"a": [0.0, 1.0, 2.0], "a <= 0.5": [0, 1, 0]}
    with pytest.raises(mt.DataError, match="Two features are called"):
        binarize.Binarizer().dataset(pd.DataFrame(table), [0, 1, 1])


def test_a_matrix_is_prepared_as_a_column_at_a_time(monkeypatch):
    for seed in range(40):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(
            {
                "whole": rng.integers(-3, 4, 12),
                "real": np.round(rng.normal(size=12) * 10.0 ** rng.integers(-9, 9), 9),
                "bits": rng.integers(0, 2, 12),
                "same": np.full(12, rng.integers(0, 3)),
            }
        )
        kind, most = ["auto", "quantiles"][seed % 2], [200_000, 6][seed // 2 % 2]
        y = rng.integers(0, 2, 12)
        made = [binarize.Binarizer(kind=kind, n_bins=4, max_thresholds=most) for _ in range(2)]
        fast = made[0].dataset(frame, y)
        with monkeypatch.context() as slow:
            slow.setattr(binarize, "number_table", lambda *_: None)
            plain = made[1].dataset(frame, y)
        assert made[0].rules_ == made[1].rules_
        assert made[0].threshold_note_ == made[1].threshold_note_
        assert fast.sha256 == plain.sha256
        assert (fast.ranked.codes == plain.ranked.codes).all()
        assert np.array_equal(fast.ranked.gap, plain.ranked.gap, equal_nan=True)


@each_row("seed", range(5))
def test_thresholds_have_the_ten_digits_of_their_text(seed):
    rng = np.random.default_rng(seed)
    values = np.unique(rng.normal(size=300) * 10.0 ** rng.integers(-12, 12, 300))
    values = np.union1d(values, [0.0, 1e10, 999999999.95, 5e-324, np.nextafter(1, 2), 1.0])
    for low, high, found in zip(
        values, values[1:], thresholds_at(values, np.arange(1, len(values))), strict=False
    ):
        middle = low + (high - low) / 2
        short = float(f"{middle:.10g}")
        middle = short if low <= short < high else middle
        assert found == (middle if low <= middle < high else low)


@each_row("bins", [2, 3, 7, 50])
def test_quantiles_are_those_of_numpy(bins):
    numbers = np.random.default_rng(bins).integers(0, 30, 41).astype(float)
    values = np.unique(numbers)
    k = max(2, min(bins, len(numbers)))
    at = np.quantile(numbers, np.arange(1, k) / k, method="lower")
    assert quantile_cuts(numbers, values, bins).tolist() == sorted(
        set(np.searchsorted(values, at, side="right").tolist())
    )


@each_row(
    "X",
    [
        np.array([[1.0, np.nan]]),
        np.array([[np.inf]]),
        np.array([[2.0**53]]),
        np.array([["a"]]),
        pd.DataFrame({"a": ["x"]}),
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
    ],
)
def test_other_tables_are_prepared_a_column_at_a_time(X):
    assert number_table(X) is None
