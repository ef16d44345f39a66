"""The rules of a binarizer for a table in an engine: the same as if the rows were in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.binarize import KINDS as BINARIZERS
from milp_trees.data.binarize import THRESHOLD_NOTES
from milp_trees.data.duckdb_table import BOOL, KINDS, TEXT, WHOLE, DuckTable, Extent
from milp_trees.data.feature import YES_NO
from milp_trees.data.parameters import OF_BINARIZERS, check_parameters
from milp_trees.data.rules import Rule, features_of, n_thresholds, thresholds_at

if TYPE_CHECKING:
    from milp_trees.data.binarize import Binarizer


def check_columns(
    table: DuckTable, features: Sequence[str], labels: Sequence[str], numbers: Collection[str]
) -> dict[str, Extent]:
    """The extents of usable columns: by their type, without missing or infinite values."""
    names = list(dict.fromkeys([*features, *labels]))
    for name in names:
        kind = table.columns[name]
        if kind not in KINDS:
            raise DataError(
                f"The column {name!r} holds values of the type {kind}; turn them into numbers or texts with a query, or drop the column."
            )
        if name in numbers and kind == TEXT:
            raise DataError(f"The column {name!r} must hold numbers; it holds texts.")
    extents = table.extents(names)
    for name, extent in extents.items():
        if extent.missing:
            raise DataError(
                f"The column {name!r} has {extent.missing} missing values; leave out those rows or fill them in with a query (--query)."
            )
        if extent.infinite and (name in features or name in numbers):
            raise DataError(
                f"The column {name!r} has {extent.infinite} infinite values; leave out those rows with a query (--query)."
            )
        if table.columns[name] == WHOLE and max(-extent.low, extent.high) >= 2.0**53:
            raise DataError(
                f"The column {name!r} holds whole numbers beyond 2^53, which doubles do not tell apart; drop it, or make smaller numbers of it with a query."
            )
    return extents


def check_given(rules: Mapping[str, Rule], table: DuckTable, extents: Mapping[str, Extent]) -> None:
    """Refuse rules of a given binarizer that the columns do not fit."""
    for name, rule in rules.items():
        if rule == "0/1" and not _is_binary(table, name, extents[name]):
            raise DataError(f"The column {name!r} holds other values than 0 and 1, and {YES_NO}")
        if isinstance(rule, dict) and "categories" not in rule:
            raise DataError(
                f"The column {name!r} had missing values, ordered categories or sets of categories when the binarizer was fitted, which rows in an engine are not asked; fit it on a sample without them."
            )
        if isinstance(rule, list) and table.columns[name] == TEXT:
            raise DataError(
                f"The column {name!r} must hold numbers, as it did when the binarizer was fitted; it holds text."
            )


def _is_binary(table: DuckTable, name: str, extent: Extent) -> bool:
    """Whether a column of numbers holds nothing but 0 and 1."""
    if table.columns[name] == TEXT or extent.low < 0 or extent.high > 1:
        return False
    whole = table.columns[name] in (BOOL, WHOLE)
    return whole or set(table.distinct(name, 2) or (2,)) <= {0.0, 1.0}


def fit_there(
    binarizer: Binarizer,
    table: DuckTable,
    features: Sequence[str],
    extents: Mapping[str, Extent],
) -> None:
    """Fit a binarizer on columns of a table in an engine."""
    if binarizer.kind not in BINARIZERS:
        raise DataError(
            f"There is no binarizer {binarizer.kind!r}; known are {', '.join(BINARIZERS)}."
        )
    if binarizer.kind in ("buckets", "tree-guess"):
        raise DataError(
            f"The binarizer {binarizer.kind} needs the rows in memory; take auto, midpoints or quantiles:N, or give a Binarizer that was fitted on a sample."
        )
    check_parameters(binarizer, OF_BINARIZERS)
    if binarizer.category_sets:
        raise DataError(
            "Sets of categories are made of tables in memory, and these rows are read by an engine; leave category_sets out, or load the table."
        )
    fewer = False
    rules: dict[str, Rule] = {}
    for name in features:
        if _is_binary(table, name, extents[name]):
            rules[name] = "0/1"
            continue
        rules[name], complete = _rule(binarizer, table, name)
        fewer |= not complete
    binarizer.rules_, binarizer.n_features_in_ = rules, len(rules)
    binarizer.threshold_note_ = THRESHOLD_NOTES["quantiles"] if fewer else ""
    if not fewer:
        binarizer.n_thresholds_ = n_thresholds(features_of(rules))


def _rule(binarizer: Binarizer, table: DuckTable, name: str) -> tuple[Rule, bool]:
    """The rule of a column, and whether it has all thresholds that the column could have."""
    if table.columns[name] == TEXT:
        return {"categories": _categories(binarizer, table, name)}, True
    most = MOST_OPEN if binarizer.kind == "auto" else MOST_MIDPOINTS
    values: Any = None if binarizer.kind == "quantiles" else table.distinct(name, most)
    if binarizer.kind == "midpoints" and values is None:
        raise DataError(
            f"The column {name!r} has more than {MOST_MIDPOINTS} different values, too many for midpoints; take quantiles:N."
        )
    if values is not None:
        return thresholds_at(np.array(values), np.arange(1, len(values))), True
    n = table.n_rows()
    bins = max(2, min(binarizer.n_bins, n))
    # numpy.quantile(…, method="lower") takes the value at this position.
    ranks = np.floor(np.arange(1, bins) / bins * (n - 1)).astype(np.int64)
    pairs = sorted(set(table.ranked(name, ranks.tolist())))
    rule = [t for pair in pairs if pair[1] < np.inf for t in thresholds_at(np.array(pair), _ONE)]
    return rule, table.distinct(name, len(rule) + 1) is not None


def _categories(binarizer: Binarizer, table: DuckTable, name: str) -> list[str]:
    found = table.distinct(name, binarizer.max_categories)
    if found is None:
        raise DataError(
            f"The column {name!r} holds more than {binarizer.max_categories} different texts; drop it if it names the rows, or raise Binarizer(max_categories=…)."
        )
    return found[1:] if len(found) <= 2 else found


_ONE = np.array([1])
#: Largest number of different values of a column that gets all midpoints with "auto".
MOST_OPEN = 1000
#: The same with "midpoints".
MOST_MIDPOINTS = 10_000
