"""Coded columns: candidate tests as cuts of integer codes, for a view's tests or for a table whose thresholds are chosen node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data.dataset import Test
from milp_trees.errors import DataError

if TYPE_CHECKING:
    from milp_trees.tasks.decision_view import LeafOracle


@dataclass(frozen=True, eq=False)
class Columns:
    """Test (c, k) is true on row i iff `codes[c, i] <= k`.

    Parameters
    ----------
    codes : int32 array of shape (C, n)
    feature : int64 array of shape (C,)
        Original column of each coded column: features, not codes, are drawn at random by forests.
    tests : tuple of C sequences of Test
        `tests[c][k]` is the test of that cut.
    """

    codes: np.ndarray
    feature: np.ndarray
    tests: tuple[Sequence[Test], ...]

    @property
    def n_features(self) -> int:
        return int(self.feature.max(initial=-1)) + 1

    def order(self) -> np.ndarray:
        """Rows in the order of every column, int32 of shape (C, n); equal codes in the order of rows."""
        return np.argsort(self.codes, axis=1, kind="stable").astype(np.int32)


def columns_of(view: LeafOracle) -> Columns:
    """The candidate tests of a view: thresholds of one column together, every other test as a column of two codes."""
    ranked = view.ranked
    if ranked is None:
        codes, groups = (1 - view.X.T).astype(np.int32), [np.array([f]) for f in range(view.n_tests)]
    else:
        groups = [np.flatnonzero(ranked.column == c) for c in range(ranked.codes.shape[1])]
        groups = sorted((g[np.argsort(ranked.cut[g], kind="stable")] for g in groups if len(g)), key=lambda g: int(g.min()))
        # A code counts the cuts below it that may be used, so that cut number k is "at most k".
        recoded = [np.searchsorted(ranked.cut[g], ranked.codes[:, ranked.column[g[0]]], side="left") for g in groups]
        codes = np.array(recoded, dtype=np.int32).reshape(len(groups), view.n_rows)
    names = {name: j for j, name in enumerate(dict.fromkeys(view.tests[int(g[0])].column for g in groups))}
    feature = np.array([names[view.tests[int(g[0])].column] for g in groups], dtype=np.int64)
    return Columns(np.ascontiguousarray(codes), feature, tuple(tuple(view.tests[int(f)] for f in g) for g in groups))


class _Thresholds(Sequence[Test]):
    """Tests `name <= t`, made when they are asked for."""

    def __init__(self, name: str, values: np.ndarray) -> None:
        self.name, self.values = name, values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, k: Any) -> Any:
        return Test(self.name, "<=", float(self.values[k]))


class Coder:
    """How the columns of a table become codes, learned from training rows.

    Parameters
    ----------
    table : mapping of column name to array of shape (n,)
    categorical : collection of str
        Columns that are tested for single values (`color == red`). Columns of text always are.
    midpoints : bool
        Thresholds halfway between neighbouring values; otherwise a threshold is a value s of the column and the test is x < s, written as "at most
        the double before s".
    """

    def __init__(self, table: Mapping[str, np.ndarray], categorical: Any = (), midpoints: bool = False) -> None:
        #: (feature, column, kind, thresholds or category) of every coded column.
        self.rules: list[tuple[int, str, str, Any]] = []
        for j, (name, given) in enumerate(table.items()):
            values = np.asarray(given)
            if name in categorical or values.dtype.kind not in "biuf":
                found = sorted(set(values.astype(str).tolist()))
                self.rules += [(j, name, "==", v) for v in (found[1:] if len(found) <= 2 else found)]
                continue
            distinct = np.unique(values.astype(float))
            if not np.isfinite(distinct).all():
                raise DataError(f"The column {name!r} has a missing or infinite value; fill it in or drop the row.")
            if set(distinct.tolist()) <= {0.0, 1.0}:
                self.rules.append((j, name, "is", None))
            elif len(distinct) > 1:
                middle = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2
                below = np.nextafter(distinct[1:], -np.inf)
                self.rules.append((j, name, "<=", np.minimum(middle, below) if midpoints else below))

    def codes(self, table: Mapping[str, np.ndarray]) -> np.ndarray:
        """Codes of the rows of a table, int32 of shape (C, n)."""
        n = len(next(iter(table.values())))
        out = np.empty((len(self.rules), n), dtype=np.int32)
        for c, (_, name, kind, value) in enumerate(self.rules):
            if kind == "<=":
                out[c] = np.searchsorted(value, np.asarray(table[name], dtype=float), side="left")
            else:
                out[c] = ~Test(name, kind, value).evaluate(table[name])
        return out

    def columns(self, table: Mapping[str, np.ndarray]) -> Columns:
        """Coded columns of the rows of a table."""
        tests: tuple[Sequence[Test], ...] = tuple(
            _Thresholds(name, value) if kind == "<=" else (Test(name, kind, value),) for _, name, kind, value in self.rules
        )
        return Columns(self.codes(table), np.array([j for j, *_ in self.rules], dtype=np.int64), tests)
