"""Columns of tables: as a DataFrame, complete, and what they hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

#: A text column with more different numbers than this, and at most this share of other texts, was
#: meant to be numeric.
MANY_NUMBERS, SPOILT = 10, 0.1


def as_frame(X: Any) -> pd.DataFrame:
    """A DataFrame from a frame, a mapping of columns, or an array (columns named "0", "1", …)."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        return X
    if isinstance(X, Mapping):
        return pd.DataFrame(X)
    array = np.asarray(X)
    if array.ndim != 2:
        raise DataError(
            f"A table must have two dimensions (rows × columns); this has {array.ndim}. Reshape it, e.g. X.reshape(-1, 1)."
        )
    return pd.DataFrame(array, columns=[str(j) for j in range(array.shape[1])]).infer_objects()


def check_complete(frame: pd.DataFrame) -> None:
    """Refuse missing values, naming the first and the remedy."""
    missing = frame.isna().to_numpy()
    if missing.any():
        row, col = np.argwhere(missing)[0].tolist()
        several = int(missing.sum())
        raise DataError(
            f"The column {str(frame.columns[col])!r} has a missing value in row {row} ({several} in the table); drop those rows, fill them in "
            "(e.g. sklearn.impute.SimpleImputer), or give 'unknown' as a category of its own."
        )


def kind_of(name: str, column: pd.Series) -> str:
    """What a column holds: "bool", "numbers" or "text".

    Raises
    ------
    DataError
        It holds dates, times or complex numbers, which have to be turned into numbers first.
    """
    from pandas.api import types

    if types.is_bool_dtype(column):
        return "bool"
    # The entries of a column of Python objects say what it is; a text is text whatever it looks
    # like.
    held = types.infer_dtype(column, skipna=False) if column.dtype == object else str(column.dtype)
    if held.startswith(("datetime", "timedelta", "date", "time", "period", "interval", "complex")):
        raise DataError(
            f"The column {name!r} holds values of the type {held}; turn them into numbers first, such as days since the first of them."
        )
    if held == "boolean":
        return "bool"
    numbers = types.is_numeric_dtype(column) or held in (
        "integer",
        "floating",
        "mixed-integer-float",
        "decimal",
    )
    return "numbers" if numbers else "text"


def counts_as_equal(column: pd.Series) -> bool:
    """Whether a column holds whole numbers that differ but are one as doubles."""
    numbers = column.astype(float)
    return bool((numbers.abs() >= 2.0**53).any()) and column.nunique() > numbers.nunique()


def refuse_spoilt_numbers(name: str, column: pd.Series) -> None:
    """A column of texts that are numbers but for a few is a column of numbers with a slip in it,
    not one of categories.
    """
    import pandas as pd

    texts = column.astype(str)
    numbers = pd.to_numeric(texts, errors="coerce")
    wrong = numbers.isna().to_numpy()
    if 0 < wrong.sum() <= SPOILT * len(texts) and numbers.nunique() > MANY_NUMBERS:
        row = int(wrong.argmax())
        raise DataError(
            f"The column {name!r} holds numbers but for {int(wrong.sum())} of {len(texts)} entries, such as {texts.iloc[row]!r} in row {row}; "
            "correct them, drop those rows, or leave the column out."
        )
