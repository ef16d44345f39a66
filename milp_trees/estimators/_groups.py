"""The groups of rows: sensitive features, given apart from X or as columns of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from milp_trees.common.errors import DataError
from milp_trees.data.checks import as_labels, check_no_gap, some
from milp_trees.data.names import columns_and_names

#: What a text has that is written with quotation marks in the name of a group of several columns.
_QUOTED = ("'", '"', ",", "\\")


def check_groups(
    given: Any, X: Any, what: str = "groups"
) -> tuple[np.ndarray | None, tuple[str, ...] | None]:
    """The group of every row, and the columns of X that decide it.

    Parameters
    ----------
    given : array of shape (n,) or (n, k), Series, DataFrame, name of a column of X, or None
        Of several columns every combination is a group.
    X : mapping of column name to array of shape (n,), or DataFrame
        The features, among which the columns may be.
    what : str, default="groups"
        The argument, for errors.

    Returns
    -------
    groups : array of shape (n,) or None
    columns : tuple of str or None
        The columns of X from which the groups follow.

    Raises
    ------
    DataError
        A value is missing, two columns have the same name, or X has no such column.
    """
    if given is None:
        return None, None
    if isinstance(given, str):
        if given not in X:
            raise DataError(
                f"{what} names the column {given!r}, which X does not have; its columns are {some(X)}."
            )
        given = pd.Series(as_labels(X[given]), name=given)
    check_no_gap(given, what)
    if hasattr(given, "columns"):
        table, _ = columns_and_names(given, None, what, "columns")
        columns = [table.iloc[:, j] for j in range(table.shape[1])]
    else:
        array = as_labels(given)
        if array.ndim not in (1, 2):
            raise DataError(
                f"{what} must have one value per row, or one per row and column; it has shape {array.shape}."
            )
        columns = [given] if array.ndim == 1 else list(array.T)
    own = tuple(str(c.name) for c in columns if _is_column(c, X))
    labels = [as_labels(c) for c in columns]
    return labels[0] if len(labels) == 1 else combined(labels), own or None


def combined(columns: list[np.ndarray]) -> np.ndarray:
    """The combination of the labels of several columns in every row, as text.

    Different combinations have different texts: a text with a comma or a quotation mark is quoted.
    """
    texts = [np.array(list(map(_written, column.tolist())), dtype=object) for column in columns]
    return np.array([", ".join(row) for row in zip(*texts, strict=True)])


def _written(value: Any) -> str:
    """A label as text, quoted if it could be taken for several."""
    text = str(value)
    return repr(text) if any(sign in text for sign in _QUOTED) else text


def _is_column(given: Any, X: Any) -> bool:
    """Whether a Series has the name and the values of a column of X."""
    name = str(getattr(given, "name", None))
    if not hasattr(given, "name") or name not in list(map(str, X)) or given.name is None:
        return False
    own = np.asarray(X[name] if name in X else X[given.name])
    return own.shape == (len(given),) and bool((own == np.asarray(given)).all())
