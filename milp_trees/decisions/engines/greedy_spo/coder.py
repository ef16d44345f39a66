"""From a table to coded columns, and from coded columns to a Dataset.

Codes allow thresholds to be chosen node by node.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.binarize import THRESHOLD_NOTES
from milp_trees.data.checks import check_finite, check_ordered, missing_in
from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.data.ranked import RankedTests, gaps
from milp_trees.data.rules import thresholds_at
from milp_trees.data.scales import measured
from milp_trees.data.table_columns import counts_as_equal
from milp_trees.decisions.engines.greedy_spo.columns import Columns


class _Thresholds(Sequence[BinaryFeature]):
    """Tests `name <= t`, made when they are asked for."""

    def __init__(self, name: str, values: np.ndarray, order: tuple[str, ...] = ()) -> None:
        self.name, self.values, self.order = name, values, order

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, k: Any) -> Any:
        at = float(self.values[k])
        value = self.order[int(at)] if self.order else at
        return BinaryFeature(self.name, "<=", value, order=self.order)


class Coder:
    """How the columns of a table become codes, learned from training rows.

    Parameters
    ----------
    table : mapping of column name to array of shape (n,)
        Numbers, or text (categories, which are tested for one value each: `color == red`).
    thresholds : {"values", "midpoints", "quantiles"}
        Midpoints lie halfway between neighbouring values. Otherwise a threshold is a value s of the
        column and the test is x < s, written as "at most the double before s": all values but the
        least, or of m values u the quantiles u[ceil(k (m - 1) / Q)], k = 1..Q-1, if m > Q.
    quantiles : int
        Q.
    orders : mapping of column name to tuple of str, optional
        The categories of columns of ordered categories, the lowest first; every one but the last
        that occurs is a threshold.
    """

    def __init__(
        self,
        table: Mapping[str, np.ndarray],
        thresholds: str = "values",
        quantiles: int = 0,
        orders: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        import pandas as pd

        self.orders = dict(orders or {})
        #: (feature, column, kind, thresholds or category) of every coded column.
        self.rules: list[tuple[int, str, str, Any]] = []
        #: What the thresholds may lose against all thresholds, as a sentence; empty if nothing.
        self.threshold_note = ""
        fewer = merged = False
        for j, (name, values) in enumerate(table.items()):
            _check_complete(name, values)
            if name in self.orders:
                places = np.unique(measured(values, (), self.orders[name]))
                if len(places) > 1:
                    self.rules.append((j, name, "<=", places[:-1]))
                continue
            if values.dtype.kind not in "biuf":
                found = sorted(set(values.astype(str).tolist()))
                self.rules += [
                    (j, name, "==", v) for v in (found[1:] if len(found) <= 2 else found)
                ]
                continue
            distinct = np.unique(values.astype(float))
            if set(distinct.tolist()) <= {0.0, 1.0}:
                self.rules.append((j, name, "is", None))
            elif len(distinct) > 1:
                cuts = _thresholds_of(distinct, thresholds, quantiles)
                self.rules.append((j, name, "<=", cuts))
                fewer |= len(cuts) < len(distinct) - 1
                merged |= counts_as_equal(pd.Series(values))
        self.threshold_note = "; ".join(
            THRESHOLD_NOTES[kind]
            for kind, true in (("quantiles", fewer), ("precision", merged))
            if true
        )

    def codes(self, table: Mapping[str, np.ndarray]) -> np.ndarray:
        """Codes of the rows of a table, int32 of shape (C, n)."""
        n = len(next(iter(table.values())))
        out = np.empty((len(self.rules), n), dtype=np.int32)
        for c, (_, name, kind, value) in enumerate(self.rules):
            _check_complete(name, table[name])
            if kind == "<=":
                order = self.orders.get(name, ())
                numbers = measured(table[name], (), order)
                (check_ordered if order else check_finite)(name, numbers)
                out[c] = np.searchsorted(value, numbers, side="left")
            else:
                out[c] = ~BinaryFeature(name, kind, value).evaluate(table[name])
        return out

    def columns(self, table: Mapping[str, np.ndarray]) -> Columns:
        """Coded columns of the rows of a table."""
        tests: tuple[Sequence[BinaryFeature], ...] = tuple(
            _Thresholds(name, value, self.orders.get(name, ()))
            if kind == "<="
            else (BinaryFeature(name, kind, value),)
            for _, name, kind, value in self.rules
        )
        return Columns(
            self.codes(table), np.array([j for j, *_ in self.rules], dtype=np.int64), tests
        )


def dataset_of(
    columns: Columns,
    keep: Mapping[BinaryFeature, tuple[int, int]] | None = None,
    table: Mapping[str, np.ndarray] | None = None,
    **fields: Any,
) -> Dataset:
    """A Dataset with all tests of coded columns, or with those in `keep`."""
    if keep is None:
        keep = {
            test: (c, k) for c, tests in enumerate(columns.tests) for k, test in enumerate(tests)
        }
    places = np.array(list(keep.values()), dtype=np.int64).reshape(-1, 2)
    gap = None if table is None else np.full((len(keep), 2), np.nan)
    if table is not None and gap is not None:
        tests = list(keep)
        for name in dict.fromkeys(t.column for t in tests if t.kind == "<=" and not t.order):
            where = [f for f, t in enumerate(tests) if t.kind == "<=" and t.column == name]
            gap[where] = gaps(np.asarray(table[name]), np.array([tests[f].value for f in where]))
    X: Any = RankedTests(
        np.ascontiguousarray(columns.codes.T), places[:, 0].copy(), places[:, 1].copy(), gap
    )
    if table is not None:
        fields.setdefault("table_columns", tuple(map(str, table)))
    return Dataset(
        X if len(keep) else np.zeros((columns.codes.shape[1], 0), dtype=np.uint8),
        tuple(keep),
        **fields,
    )


def _check_complete(name: str, values: np.ndarray) -> None:
    """Raise DataError if a value of a column is missing: codes have no place for it."""
    if (absent := missing_in(values)).any():
        raise DataError(
            f"The column {name!r} has a missing value in row {int(absent.argmax())}; drop those rows or fill them in (e.g. sklearn.impute.SimpleImputer)."
        )


def _thresholds_of(distinct: np.ndarray, kind: str, quantiles: int) -> np.ndarray:
    """Thresholds of a numeric column with at least two distinct values."""
    last = len(distinct) - 1
    if kind == "midpoints":
        return np.array(thresholds_at(distinct, np.arange(1, last + 1)))
    begins = np.arange(1, last + 1)
    if kind == "quantiles" and quantiles - 1 < last:
        begins = np.unique(-(-np.arange(1, quantiles) * last // quantiles))
    below: np.ndarray = np.nextafter(distinct[begins], -np.inf)
    return below
