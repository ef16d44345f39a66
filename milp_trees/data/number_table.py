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
    """

    def __init__(self, names: Sequence[str], matrix: np.ndarray) -> None:
        self.names = list(names)
        self.matrix = matrix
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
        return NumberTable(self.names, self.matrix[rows])

    @cached_property
    def yes_no(self) -> np.ndarray:
        """Which columns hold no number but 0 and 1; bool array of shape (p,)."""
        if self.matrix.dtype == bool:
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


def number_table(X: Any) -> NumberTable | None:
    """A table as a `NumberTable`; None if a column is no plain number or has a gap.

    Parameters
    ----------
    X : NumberTable, array of shape (n, p) or DataFrame
    """
    if isinstance(X, NumberTable):
        return X
    if isinstance(X, np.ndarray):
        return _of_matrix([str(j) for j in range(X.shape[1])], X) if X.ndim == 2 else None
    if not hasattr(X, "dtypes") or not hasattr(X, "columns"):
        return None
    names = [str(name) for name in X.columns]
    kinds = {getattr(t, "kind", "") if isinstance(t, np.dtype) else "" for t in X.dtypes}
    if not kinds <= set(PLAIN) or len(set(names)) < len(names):
        return None
    return _of_matrix(names, X.to_numpy() if len(kinds) == 1 else X.to_numpy(dtype=float))


def numbers_under(names: Sequence[str], X: np.ndarray) -> NumberTable | None:
    """A matrix as a `NumberTable` with the names of its columns, or None; see `number_table`."""
    return _of_matrix([str(name) for name in names], X)


def _of_matrix(names: list[str], X: np.ndarray) -> NumberTable | None:
    if X.dtype.kind not in PLAIN or X.dtype.itemsize > 8 or not len(X):
        return None
    if X.dtype.kind != "b" and X.size:
        low, high = X.min(), X.max()  # NaN if there is a gap
        if not (-(2.0**53) < low and high < 2.0**53):
            return None
    return NumberTable(names, X)


def ranked_numbers(rules: Mapping[str, Any], table: NumberTable) -> RankedTests | None:
    """Values of the features of rules as ranks, as `rules.ranked_features` makes them.

    Parameters
    ----------
    rules : mapping of column name to rule
        "0/1", or a list of thresholds.
    table : NumberTable

    Returns
    -------
    RankedTests or None
        None if a rule is another one, or the table does not answer it.
    """
    codes: list[np.ndarray] = []
    asked = [name for name, rule in rules.items() if rule != []]
    if not all(name in table.place for name in asked):
        return None
    plain = [name for name in asked if rules[name] == "0/1"]
    places = np.array([table.place[name] for name in asked], dtype=np.int64)
    if len(plain) == len(asked):
        if not table.yes_no[places].all():
            return None
        chosen = table.matrix if len(asked) == len(table) else table.matrix[:, places]
        stacked = np.equal(chosen, 0).view(np.int8)
        F = len(asked)
        return RankedTests(
            np.ascontiguousarray(stacked),
            np.arange(F, dtype=np.int64),
            np.zeros(F, dtype=np.int64),
            np.full((F, 2), np.nan),
        )
    sizes, cuts, gaps = [], [], []
    for name in asked:
        rule = rules[name]
        if rule == "0/1":
            if not table.yes_no[table.place[name]]:
                return None
            codes.append((table[name] == 0).view(np.int8))
            sizes.append(1)
            cuts.append(np.zeros(1, dtype=np.int64))
            gaps.append(np.full((1, 2), np.nan))
            continue
        if not isinstance(rule, list) or isinstance(rule[0], str):
            return None
        at = np.array(rule, dtype=float)
        ordered = np.sort(at)
        values = table.different(name)
        held = np.concatenate([[-np.inf], values, [np.inf]])
        above = np.searchsorted(held, at, side="right")
        code = np.searchsorted(ordered, table[name].astype(float), side="left")
        small = np.int8 if len(at) < 64 else np.int16 if len(at) < 2**14 else np.int32
        codes.append(code.astype(small))
        sizes.append(len(at))
        cuts.append(np.searchsorted(ordered, at, side="left"))
        gaps.append(np.column_stack([held[above - 1], held[above]]))
    out = np.empty((table.n_rows, len(codes)), dtype=np.result_type(*codes))
    for j, code in enumerate(codes):
        out[:, j] = code
    return RankedTests(
        out, np.repeat(np.arange(len(asked)), sizes), np.concatenate(cuts), np.vstack(gaps)
    )
