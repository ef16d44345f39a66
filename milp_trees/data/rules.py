"""Rules of a binarizer: how each column becomes binary features, and the features' values.

A rule is "0/1" for a column that is taken as it is, a list of thresholds (numbers, or ISO texts for a
column of dates), {"order": [...], "thresholds": [...]} for ordered categories, {"categories":
[...]}, {"sets": [[...], ...]} for sets of categories, or {"tests": [[kind, value, missing], ...]} for a column that had missing values (with
"order", if it has one).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data import dates
from milp_trees.data.checks import check_finite, check_ordered, missing_in
from milp_trees.data.feature import BinaryFeature
from milp_trees.data.feature_list import FeatureList, feature_list
from milp_trees.data.ranked import RankedTests, gaps
from milp_trees.data.scales import measured, positions
from milp_trees.data.table_columns import different_values, order_of, present_in

if TYPE_CHECKING:
    import pandas as pd

Rule = Any


#: Powers of ten that are doubles.
_TENS = 10.0 ** np.arange(23)


def thresholds_at(values: np.ndarray, cuts: np.ndarray) -> list[float]:
    """Halfway between `values[k-1]` and `values[k]`, for every cut k with values on both sides.

    It is rounded to ten digits where that leaves it between the two.
    """
    cuts = cuts[(cuts > 0) & (cuts < len(values))]
    low, high = values[cuts - 1].astype(float), values[cuts].astype(float)
    with np.errstate(over="ignore"):
        middle = low + (high - low) / 2
    short = _ten_digits(middle)
    middle = np.where((low <= short) & (short < high), short, middle)
    # Between neighbouring doubles there is none, and the lower one is the threshold.
    halfway: list[float] = np.where((low <= middle) & (middle < high), middle, low).tolist()
    return halfway


def _ten_digits(numbers: np.ndarray) -> np.ndarray:
    """Each number rounded to ten significant digits, as the double nearest to these digits."""
    with np.errstate(all="ignore"):
        places = 9 - np.floor(np.log10(np.abs(numbers)))
        usable = (places >= 0) & (places < len(_TENS))  # neither 0 nor infinite
        power = _TENS[np.where(usable, places, 0).astype(np.intp)]
        scaled = numbers * power  # off by less than a millionth
        digits = np.rint(scaled)
        usable &= (np.abs(digits) >= 1e9) & (np.abs(digits) < 1e10)
        usable &= np.abs(np.abs(scaled - digits) - 0.5) > 1e-5  # no tie, which only a text decides
    rounded: np.ndarray = digits / power
    for k in np.flatnonzero(~usable).tolist():
        rounded[k] = float(f"{numbers[k]:.10g}")
    return rounded


def between_values(column: pd.Series, values: np.ndarray, cuts: np.ndarray) -> Rule:
    """The rule of the thresholds between different values of a column."""
    if order := order_of(column):
        below = values[[k - 1 for k in cuts.tolist() if 0 < k < len(values)]].astype(int)
        return {"order": list(order), "thresholds": [order[k] for k in below.tolist()]}
    dated = values.dtype.kind == "M"
    return dates.thresholds_at(values, cuts) if dated else thresholds_at(values, cuts)


def features_of(rules: Mapping[str, Rule]) -> Sequence[BinaryFeature]:
    """The features that rules make, a tuple or what is equal to it."""
    plain = feature_list(rules)
    if plain is not None:
        return plain
    tests: list[BinaryFeature] = []
    for column, rule in rules.items():
        if rule == "0/1":
            tests.append(BinaryFeature(column))
        elif isinstance(rule, list):
            tests += [
                BinaryFeature(column, "<=", t if isinstance(t, str) else float(t)) for t in rule
            ]
        elif "tests" in rule:
            order = tuple(rule.get("order", ()))
            tests += [
                BinaryFeature(column, kind, value, missing, order if kind == "<=" else ())
                for kind, value, missing in rule["tests"]
            ]
        elif "order" in rule:
            order = tuple(rule["order"])
            tests += [BinaryFeature(column, "<=", t, order=order) for t in rule["thresholds"]]
        elif "sets" in rule:
            tests += [BinaryFeature(column, "in", c) for c in rule["sets"]]
        else:
            tests += [BinaryFeature(column, "==", c) for c in rule["categories"]]
    return tuple(tests)


def rules_of(tests: Iterable[BinaryFeature]) -> dict[str, Rule]:
    """The rules of which `features_of` makes these features again."""
    by_column: dict[str, list[BinaryFeature]] = {}
    for test in tests:
        by_column.setdefault(test.column, []).append(test)
    return {column: _rule_of(group) for column, group in by_column.items()}


def _rule_of(tests: list[BinaryFeature]) -> Rule:
    """The rule of the features of one column."""
    order = _order(tests)
    if any(t.missing or t.kind == "missing" for t in tests) or len({t.kind for t in tests}) > 1:
        return {"tests": [_stored(t) for t in tests], **order}
    if tests[0].kind == "is":
        return "0/1"
    values = [_value(t) for t in tests]
    if order:
        return {**order, "thresholds": values}
    if tests[0].kind == "in":
        return {"sets": values}
    return values if tests[0].kind == "<=" else {"categories": values}


def _value(test: BinaryFeature) -> Any:
    """The value of a feature as plain data."""
    return list(test.value) if test.kind == "in" else test.value


def _stored(test: BinaryFeature) -> list[Any]:
    """Kind, value and answer for missing values as plain data."""
    return [test.kind, _value(test), test.missing]


def _order(tests: Iterable[BinaryFeature]) -> dict[str, list[str]]:
    """The order of the categories of a column as a part of its rule; empty if it has none."""
    order = next((t.order for t in tests if t.order), ())
    return {"order": list(order)} if order else {}


def n_features(rule: Rule) -> int:
    """Number of features that a rule makes."""
    if isinstance(rule, dict):
        kinds = ("tests", "thresholds", "sets", "categories")
        return len(next((rule[kind] for kind in kinds if rule.get(kind)), ()))
    return 1 if rule == "0/1" else len(rule)


def n_thresholds(tests: Iterable[BinaryFeature]) -> int:
    """Number of thresholds that features ask for, whatever they answer for missing values."""
    if isinstance(tests, FeatureList):
        return tests.n_thresholds
    return len({(t.column, t.value) for t in tests if t.kind == "<="})


def separates(rules: Mapping[str, Rule], table: pd.DataFrame) -> bool:
    """Whether the thresholds are those between any two neighbouring values of a table."""
    names = {str(c): c for c in table.columns}
    for c, rule in rules.items():
        present = present_in(table[names[c]])
        values = different_values(c, present) if len(present) else None
        requested = [t for t in features_of({c: rule}) if t.kind == "<="]
        cuts = (
            np.unique(positions([t.value for t in requested], requested[0].order))
            if requested
            else ()
        )
        if len(cuts) != (0 if values is None else len(values) - 1):
            return False
        if values is not None and len(cuts):
            numbers = dates.seconds(values) if values.dtype.kind == "M" else values
            codes = np.searchsorted(cuts, numbers, side="left")
            if (codes != np.arange(len(values))).any():
                return False
    return True


def with_missing(rule: Rule, present: pd.Series) -> Rule:
    """The rule of a column that has missing values, from the rule of its values that are present.

    Every feature exists with both answers for missing values, and whether the value is missing is
    a feature too. Features that divide the rows in the same way, such as `ill` and `ill is not
    missing` in a column that is never 0, appear once.
    """
    if not len(present):
        return []  # missing on every row, which tells nothing
    tests = features_of({"": rule})
    if rule == "0/1" and present.nunique() < 2:
        tests = ()
    variants = [[t.kind, _value(t), answer] for t in tests for answer in ("no", "yes")]
    order = _order(tests)
    return {"tests": [*variants, ["missing", None, None]], **order}


def reduced(rule: Rule, kept: list[BinaryFeature]) -> Rule:
    """A rule that makes only some of its features."""
    if isinstance(rule, dict) and "tests" in rule:
        return {**rule, "tests": [_stored(t) for t in kept]}
    values = [_value(t) for t in kept]
    if isinstance(rule, dict) and "sets" in rule:
        return {"sets": values}
    if isinstance(rule, dict) and "order" in rule:
        return {**rule, "thresholds": values}
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
                f"The column {t.column!r} must hold {t.needs}, as it did when the binarizer was fitted; it holds something else."
            ) from None
    return out


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
            if all(t.kind == "<=" and t.missing is None for t in tests):
                requested, order = [t.value for t in tests], tests[0].order
                at, numbers = positions(requested, order), measured(values, requested, order)
                cuts = np.sort(at)
                (check_ordered if order else check_finite)(name, numbers)
                codes.append(_small(np.searchsorted(cuts, numbers, side="left"), len(cuts)))
                column += [len(codes) - 1] * len(tests)
                cut += np.searchsorted(cuts, at, side="left").tolist()
                gap.append(gaps(numbers, at))
            elif any(t.kind == "<=" for t in tests):
                low, high, cuts_of, gaps_of = _ranks_with_missing(name, tests, values)
                codes += [_small(low, len(tests)), _small(high, len(tests))]
                column += [len(codes) - (2 if t.missing == "no" else 1) for t in tests]
                cut += cuts_of
                gap.append(gaps_of)
            else:
                place, values = _different(frame[names[name]], values)
                for t in tests:
                    no = (~np.asarray(t.evaluate(values), dtype=bool)).astype(np.int8)
                    codes.append(no if place is None else no[place])
                    column.append(len(codes) - 1)
                    cut.append(0)
                    gap.append(np.full((1, 2), np.nan))
        except DataError:
            raise
        except (TypeError, ValueError):
            raise DataError(
                f"The column {name!r} must hold {'dates' if any(t.dated for t in tests) else 'numbers'}, as it did when the binarizer was fitted; it holds something else."
            ) from None
    stacked = _stacked(codes) if codes else np.zeros((len(frame), 0), dtype=np.int8)
    return RankedTests(
        stacked,
        np.array(column, dtype=np.int64),
        np.array(cut, dtype=np.int64),
        np.vstack(gap),
    )


def _different(column: pd.Series, values: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
    """Of a column of texts without gaps the place of each row's text, and the different texts."""
    import pandas as pd

    if not isinstance(column.dtype, pd.StringDtype) or column.isna().any():
        return None, values
    place, found = pd.factorize(column)
    return place, np.asarray(found, dtype=object)


def _small(codes: np.ndarray, most: int) -> np.ndarray:
    """Codes from 0 to `most` in one or two bytes where twice as many fit."""
    return codes.astype(np.int8 if most < 64 else np.int16 if most < 2**14 else np.int32)


def _stacked(codes: list[np.ndarray]) -> np.ndarray:
    """Columns of codes side by side in the smallest common type, row by row; `codes` is emptied."""
    out = np.empty((len(codes[0]), len(codes)), dtype=np.result_type(*codes))
    for j in range(len(codes) - 1, -1, -1):
        out[:, j] = codes.pop()
    return out


def _ranks_with_missing(
    name: str, tests: Sequence[BinaryFeature], values: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[int], np.ndarray]:
    """Codes of a column with missing values, once with them last and once with them first.

    Thresholds that answer no where the value is missing are cuts of the first order; those that
    answer yes, and the question whether the value is missing, are cuts of the second.

    Returns
    -------
    last, first : int array of shape (n,)
    cuts : list of int
        The cut of every test in its order.
    gap : float array of shape (F, 2)
        See `RankedTests`.
    """
    absent = missing_in(values)
    requested = [t for t in tests if t.kind == "<="]
    thresholds, order = [t.value for t in requested], requested[0].order
    at = positions(thresholds, order)
    numbers = measured(values[~absent], thresholds, order) if not absent.all() else np.zeros(0)
    (check_ordered if order else check_finite)(name, numbers, np.flatnonzero(~absent))
    distinct = np.unique(at)
    ranks = np.searchsorted(distinct, numbers, side="left")
    last, first = np.full(len(values), len(distinct)), np.zeros(len(values), dtype=np.int64)
    last[~absent], first[~absent] = ranks, ranks + 1
    place = dict(zip(requested, np.searchsorted(distinct, at).tolist(), strict=True))
    cuts = [place[t] + (t.missing == "yes") if t in place else 0 for t in tests]
    gap = np.full((len(tests), 2), np.nan)
    gap[[t in place for t in tests]] = gaps(numbers, at)
    return last, first, cuts, gap
