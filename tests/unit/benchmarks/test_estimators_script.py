"""Ratios of `benchmarks/estimators.py`: which sets count, and which are named."""

import importlib
import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def script():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        yield importlib.import_module("estimators")
    finally:
        sys.path.remove(str(ROOT / "benchmarks"))


TABLE = pd.DataFrame(
    {
        "set": ["tiny", "slow", "fast"],
        "rows": 9,
        "tests": 2,
        "fit": [3.0, 8.0, 2.0],
        "solve": [2.0, 4.0, 2.0],
        "pystreed": [0.9, 4.0, 4.0],
    }
)


def test_sets_on_which_the_peer_takes_no_millisecond_have_no_ratio(script):
    over = script.ratios(TABLE)["over pystreed"]
    assert over.isna().tolist() == [True, False, False]
    assert over.dropna().tolist() == [2.0, 0.5]


def test_means_and_the_sets_above_the_limits_are_named(script):
    solve, peer = script.summary(TABLE)
    assert "mean 1.44 on 3 sets, above 1.5 on slow (2.00)." in solve
    assert "mean 1.00 on 2 sets, above 1 on slow (2.00)." in peer


def test_without_the_peer_only_solve_is_compared(script):
    (line,) = script.summary(TABLE.drop(columns="pystreed"))
    assert "`solve`" in line
