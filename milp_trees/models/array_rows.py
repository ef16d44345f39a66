"""Rows for a predictor that no binarizer has seen: tables by name, arrays by place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.plurals import counted
from milp_trees.data.checks import as_array, binary_matrix, check_columns, some
from milp_trees.data.feature import BinaryFeature
from milp_trees.data.matrices import column_at, matrix
from milp_trees.data.names import as_pandas, spelled


@dataclass(frozen=True)
class Places:
    """The columns of the arrays that a model takes, in their order.

    Parameters
    ----------
    count : int
        Number of columns of an array.
    of : mapping
        The place of every column by its name; or of every binary feature, if the data were given
        as their answers.
    answers : bool
        Whether the columns of an array are answers of binary features, 0 or 1.
    """

    count: int
    of: Mapping[Any, int]
    answers: bool = False

    @classmethod
    def in_data(cls, dataset: Any, tests: Iterable[BinaryFeature]) -> Places | None:
        """The places of the columns that a dataset was made from, if it tells them."""
        columns = dataset.table_columns
        if columns is None:
            columns = dataset.source.get("binarizer", {}).get("columns")
        if columns is not None:
            return cls(len(columns), {str(name): j for j, name in enumerate(columns)})
        if getattr(dataset, "left_out", False):
            return None
        requested = set(tests)
        of = {test: j for j, test in enumerate(dataset.features) if test in requested}
        return cls(len(dataset.features), of, answers=True)


class AnsweredRows:
    """Answers of binary features by their places, as a predictor takes them.

    Parameters
    ----------
    X : array of shape (n, F), values 0/1
    index : mapping of BinaryFeature to its column of X
    """

    def __init__(self, X: np.ndarray, index: Mapping[BinaryFeature, int]) -> None:
        self.X, self.index = X, index

    @property
    def n_rows(self) -> int:
        return len(self.X)

    def outcome(self, test: int, rows: Any = slice(None)) -> np.ndarray:
        """Values 0/1 of one feature on the given rows."""
        return np.asarray(self.X[rows, test])


class RawRows(AnsweredRows):
    """Values of a predictor's features on raw columns (`values`)."""

    def __init__(self, tests: Iterable[BinaryFeature], table: Any, who: str = "tree") -> None:
        used, table = list(dict.fromkeys(tests)), as_pandas(table)
        names = list(table.columns) if hasattr(table, "columns") else list(table)
        column_of = {str(n): n for n in names}
        columns = []
        self.values = {}
        check_columns((test.column for test in used), names, who)
        for test in used:
            self.values[test.column] = as_array(table[column_of[test.column]])
            columns.append(_outcome(test, self.values[test.column]))
        if not names and not hasattr(table, "columns"):
            raise DataError("The table has no columns, so its rows cannot be counted; give one.")
        n = len(table) if hasattr(table, "columns") else len(next(iter(table.values())))
        X = np.array(columns, dtype=np.uint8).T if columns else np.zeros((n, 0), dtype=np.uint8)
        super().__init__(X, {t: j for j, t in enumerate(used)})


def rows_of(model: Any, data: Any) -> Any:
    """The rows of a table or array for a predictor; a Dataset, or a view of one, as it is.

    Parameters
    ----------
    model : Tree or RuleList
        With its `features`, its `noun`, and the `places` of columns if it knows them.
    data : Dataset, DataFrame, mapping of columns, or array of shape (n, p)
        The columns of an array, and of a DataFrame without names, are taken by their places.

    Raises
    ------
    DataError
        A column is missing, or an array has the wrong number of columns or no known order.
    """
    data = as_pandas(data)
    # A 0/1 matrix that is stored as ranks would be made by asking for `X`.
    if (
        hasattr(data, "index")
        and (hasattr(data, "outcome") or hasattr(data, "X"))
        and not hasattr(data, "iloc")
    ):
        return data
    if isinstance(data, Mapping) or (hasattr(data, "columns") and not _unnamed(model, data)):
        return RawRows(model.features, data, model.noun)
    return _by_place(model, data)


def _unnamed(model: Any, frame: Any) -> bool:
    """Whether the columns of a frame are only numbered, and the model asks for none of these."""
    names = [spelled(name) for name in frame.columns]
    numbered = names == [str(j) for j in range(len(names))]
    return numbered and not {t.column for t in model.features} <= set(names)


def _by_place(model: Any, data: Any) -> AnsweredRows:
    array, noun = matrix(data), model.noun
    places: Places | None = model.places
    if places is not None and array.shape[1] != places.count:
        what = "one column per binary feature" if places.answers else "the columns of the data"
        raise DataError(
            f"The array has {counted(array.shape[1], 'column')}, and the {noun} was made for arrays with {places.count}: {what}, in their order."
        )
    if places is not None and places.answers:
        if not hasattr(array, "tocsc"):
            return AnsweredRows(binary_matrix(array), places.of)
        kept = dict(zip(places.of, range(len(places.of)), strict=True))
        return AnsweredRows(binary_matrix(array[:, list(places.of.values())].toarray()), kept)
    requested = list(dict.fromkeys(t.column for t in model.features))
    of = {str(j): j for j in range(array.shape[1])} if places is None else places.of
    lacking = [name for name in requested if name not in of]
    if lacking and places is None and not all(name.isdecimal() for name in requested):
        raise DataError(
            f"The {noun} tests the columns {some(map(repr, requested))}, and it does not know their places in an array; give a DataFrame, or a mapping from names to columns."
        )
    if lacking:
        raise DataError(
            f"The {noun} tests the column {lacking[0]!r}, and the array has {counted(array.shape[1], 'column')}; give the columns of the data, in their order."
        )
    columns = {name: column_at(array, of[name]) for name in requested}
    if not columns:
        return AnsweredRows(np.zeros((array.shape[0], 0), dtype=np.uint8), {})
    return RawRows(model.features, columns, noun)


def columns_of(model: Any, data: Any) -> Any:
    """A table as it is; the columns of an array by the names that the model gives to places."""
    if isinstance(data, Mapping) or hasattr(data, "columns"):
        return data
    array = matrix(data)
    places: Places | None = model.places
    names = [str(j) for j in range(array.shape[1])]
    for key, place in {} if places is None else places.of.items():
        if place < len(names):
            names[place] = key if isinstance(key, str) else key.column
    return {name: column_at(array, j) for j, name in enumerate(names)}


def _outcome(test: BinaryFeature, values: np.ndarray) -> np.ndarray:
    """The answers of a test on a column, which must be of the kind of the test."""
    try:
        return test.evaluate(values)
    except DataError:
        raise
    except (TypeError, ValueError):
        raise DataError(
            f"The test {test.name!r} needs {test.needs} in the column {test.column!r}; it holds something else."
        ) from None
