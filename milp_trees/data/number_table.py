"""`NumberTable`: columns of plain numbers without gaps as one matrix.

What a binarizer asks of such columns, such as which are 0/1 or which values they hold, is asked of
the whole matrix; tables of other columns are asked a column at a time (`table_columns`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from milp_trees.data.ranked import RankedTests

#: Types that a double holds exactly, but for integers of 2^53 and more.
PLAIN = ("b", "i", "u", "f")


class NumberTable(Mapping[str, np.ndarray]):
    """Columns of finite numbers below 2^53 by name; a column is an array of shape (n,).

    Parameters
    ----------
    names : sequence of str
        All different.
    matrix : array of shape (n, p)
        See `number_table`, which checks it.
    only_yes_no : bool, default=False
        Whether it is known to hold nothing but 0 and 1.
    """

    def __init__(self, names: Sequence[str], matrix: np.ndarray, only_yes_no: bool = False) -> None:
        self.names = list(names)
        self.matrix = matrix
        self.only_yes_no = only_yes_no
        self.place = {name: j for j, name in enumerate(self.names)}

    def __getitem__(self, name: str) -> np.ndarray:
        column: np.ndarray = self.matrix[:, self.place[name]]
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def n_rows(self) -> int:
        return int(self.matrix.shape[0])

    def take(self, rows: Any) -> NumberTable:
        """The table of some rows (indices or mask)."""
        return NumberTable(self.names, self.matrix[rows], self.only_yes_no)

    @cached_property
    def yes_no(self) -> np.ndarray:
        """Which columns hold no number but 0 and 1; bool array of shape (p,)."""
        if self.matrix.dtype == bool or self.only_yes_no:
            return np.ones(len(self), dtype=bool)
        held: np.ndarray = ((self.matrix == 0) | (self.matrix == 1)).all(axis=0)
        return held

    @cached_property
    def _different(self) -> dict[str, np.ndarray]:
        return {}

    def different(self, name: str) -> np.ndarray:
        """The different numbers of a column in order, float array."""
        if name not in self._different:
            self._different[name] = np.unique(self[name].astype(float))
        return self._different[name]


def number_table(X: Any, names: Sequence[str] | None = None) -> NumberTable | None:
    """A table as a `NumberTable`; None if a column is no plain number or has a gap.

    Parameters
    ----------
    X : NumberTable, array of shape (n, p) or DataFrame
    names : sequence of str, optional
        Names of the columns of an array, and of a frame whose columns are only numbered; by default
        "0", "1", ….

    Returns
    -------
    NumberTable or None
    """
    if isinstance(X, NumberTable):
        return X
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or (names is not None and len(names) != X.shape[1]):
            return None
        return numbers_under(range(X.shape[1]) if names is None else names, X)
    if not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return None
    called = list(X.columns)
    if names is not None and called == list(range(len(names))):
        called = list(names)
    kinds = {getattr(t, "kind", "") if isinstance(t, np.dtype) else "" for t in X.dtypes}
    if not kinds <= set(PLAIN) or len(set(map(str, called))) < len(called):
        return None
    return numbers_under(called, X.to_numpy() if len(kinds) == 1 else X.to_numpy(dtype=float))


def numbers_under(names: Sequence[Any], X: np.ndarray) -> NumberTable | None:
    """A matrix as a `NumberTable` with the names of its columns, or None; see `number_table`."""
    if X.dtype.kind not in PLAIN or X.dtype.itemsize > 8 or not len(X):
        return None
    bits = False
    if X.dtype.kind != "b" and X.size:
        low, high = float(X.min()), float(X.max())  # NaN if there is a gap
        if not (low > -(2.0**53) and high < 2.0**53):
            return None
        bits = X.dtype.kind in "iu" and low >= 0 and high <= 1
    return NumberTable([str(name) for name in names], X, bits)


def thresholded(table: NumberTable, whole: NumberTable | None) -> dict[str, np.ndarray]:
    """The different values in order of the columns that get thresholds, by name.

    Columns of 0 and 1 get none, unless the whole table, of which the rows are a part, holds other
    numbers in them.
    """
    plain = table.yes_no.tolist()
    if whole is not None:
        elsewhere = [name not in whole.place or whole.yes_no[whole.place[name]] for name in table]
        plain = [a and b for a, b in zip(plain, elsewhere, strict=True)]
    requested = [name for name, yes_no in zip(table, plain, strict=True) if not yes_no]
    return {name: table.different(name) for name in requested}


def ranked_numbers(rules: Mapping[str, Any], table: NumberTable) -> RankedTests | None:
    """Values of the features of rules as ranks, as `rules.ranked_features` makes them."""
    requested = [name for name, rule in rules.items() if rule != []]
    if not all(_answers(table, name, rules[name]) for name in requested):
        return None
    F = len(requested)
    if all(rules[name] == "0/1" for name in requested):
        places = [table.place[name] for name in requested]
        chosen = table.matrix if places == list(range(len(table))) else table.matrix[:, places]
        codes = np.ascontiguousarray(np.equal(chosen, 0).view(np.int8))
        return RankedTests(codes, np.arange(F), np.zeros(F, np.int64), np.full((F, 2), np.nan))
    columns = [_ranks(table, name, rules[name]) for name in requested]
    stacked = np.empty((table.n_rows, F), dtype=np.result_type(*(c for c, _, _ in columns)))
    for j, (codes, _, _) in enumerate(columns):
        stacked[:, j] = codes
    cuts = [cuts for _, cuts, _ in columns]
    column = np.repeat(np.arange(F), [len(c) for c in cuts])
    return RankedTests(
        stacked, column, np.concatenate(cuts), np.vstack([gaps for _, _, gaps in columns])
    )


def _answers(table: NumberTable, name: str, rule: Any) -> bool:
    """Whether a column of the table answers the features of a rule."""
    if name not in table.place:
        return False
    if rule == "0/1":
        return bool(table.yes_no[table.place[name]])
    return isinstance(rule, list) and not isinstance(rule[0], str)


def _ranks(table: NumberTable, name: str, rule: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Codes, cuts and gaps of the features of one column; see `RankedTests`."""
    if rule == "0/1":
        return (table[name] == 0).view(np.int8), np.zeros(1, np.int64), np.full((1, 2), np.nan)
    at = np.array(rule, dtype=float)
    ordered = np.sort(at)
    held = np.concatenate([[-np.inf], table.different(name), [np.inf]])
    above = np.searchsorted(held, at, side="right")
    small = np.int8 if len(at) < 64 else np.int16 if len(at) < 2**14 else np.int32
    codes = np.searchsorted(ordered, table[name].astype(float), side="left").astype(small)
    cuts = np.searchsorted(ordered, at, side="left")
    return codes, cuts, np.column_stack([held[above - 1], held[above]])
