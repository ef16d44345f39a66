"""Rules of a binarizer: how each column becomes binary features, and the features' values.

A rule is "0/1" for a column that is taken as it is, a list of thresholds (numbers, or ISO texts for a
column of dates), or {"categories": [...]}.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data.checks import check_finite
from milp_trees.data.dataset import BinaryFeature
from milp_trees.data.dates import measured, positions
from milp_trees.data.ranked import RankedTests, gaps
from milp_trees.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

Rule = Any


def thresholds_at(values: np.ndarray, cuts: np.ndarray) -> list[float]:
    """Halfway between `values[k-1]` and `values[k]`, for every cut k with values on both sides."""
    out = []
    for k in cuts.tolist():
        if 0 < k < len(values):
            low, high = float(values[k - 1]), float(values[k])
            middle = low + (high - low) / 2
            short = float(f"{middle:.10g}")
            middle = short if low <= short < high else middle
            # Between neighbouring doubles there is none, and the lower one is the threshold.
            out.append(middle if low <= middle < high else low)
    return out


def features_of(rules: Mapping[str, Rule]) -> tuple[BinaryFeature, ...]:
    tests: list[BinaryFeature] = []
    for column, rule in rules.items():
        if rule == "0/1":
            tests.append(BinaryFeature(column))
        elif isinstance(rule, list):
            tests += [
                BinaryFeature(column, "<=", t if isinstance(t, str) else float(t)) for t in rule
            ]
        else:
            tests += [BinaryFeature(column, "==", c) for c in rule["categories"]]
    return tuple(tests)


def reduced(rule: Rule, kept: list[BinaryFeature]) -> Rule:
    """A rule that makes only some of its features."""
    values = [t.value for t in kept]
    return (
        (rule if kept else [])
        if rule == "0/1"
        else values
        if isinstance(rule, list)
        else {"categories": values}
    )


def outcomes(tests: Any, frame: pd.DataFrame) -> np.ndarray:
    names = {str(c): c for c in frame.columns}
    arrays = {c: frame[names[c]].to_numpy() for c in dict.fromkeys(t.column for t in tests)}
    out = np.zeros((len(frame), len(tests)), dtype=np.uint8)
    for j, t in enumerate(tests):
        try:
            out[:, j] = t.evaluate(arrays[t.column])
        except DataError:
            raise
        except (TypeError, ValueError):
            raise DataError(
                f"The column {t.column!r} must hold {_held([t])}, as it did when the binarizer was fitted; it holds something else."
            ) from None
    return out


def _held(tests: Any) -> str:
    """What a column holds that is asked these features, in a word."""
    return "dates" if any(t.kind == "<=" and isinstance(t.value, str) for t in tests) else "numbers"


def ranked_features(rules: Mapping[str, Rule], frame: pd.DataFrame) -> RankedTests:
    """Values of all features as ranks.

    The code of a row is the number of thresholds of a column below its value; every other feature
    has a 0/1 column of its own.
    """
    names = {str(c): c for c in frame.columns}
    codes: list[np.ndarray] = []
    column: list[int] = []
    cut: list[int] = []
    gap: list[np.ndarray] = [np.empty((0, 2))]
    for name, rule in rules.items():
        tests = features_of({name: rule})
        if not tests:
            continue
        values = frame[names[name]].to_numpy()
        try:
            if isinstance(rule, list):
                at, numbers = positions(rule), measured(values, rule)
                cuts = np.sort(at)
                check_finite(name, numbers)
                codes.append(np.searchsorted(cuts, numbers, side="left"))
                column += [len(codes) - 1] * len(rule)
                cut += np.searchsorted(cuts, at, side="left").tolist()
                gap.append(gaps(numbers, at))
            else:
                for t in tests:
                    codes.append(1 - t.evaluate(values).astype(np.int32))
                    column.append(len(codes) - 1)
                    cut.append(0)
                    gap.append(np.full((1, 2), np.nan))
        except DataError:
            raise
        except (TypeError, ValueError):
            raise DataError(
                f"The column {name!r} must hold {_held(tests)}, as it did when the binarizer was fitted; it holds something else."
            ) from None
    stacked = (
        np.array(codes, dtype=np.int32).T if codes else np.zeros((len(frame), 0), dtype=np.int32)
    )
    return RankedTests(
        np.ascontiguousarray(stacked),
        np.array(column, dtype=np.int64),
        np.array(cut, dtype=np.int64),
        np.vstack(gap),
    )
