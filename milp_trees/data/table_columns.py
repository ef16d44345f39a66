"""Columns of tables: a table as a DataFrame, its completeness, and the kind of each column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import check_finite, nested
from milp_trees.data.dates import microseconds
from milp_trees.data.matrices import frame_of
from milp_trees.data.names import as_pandas
from milp_trees.data.scales import measured, positions, spelled

if TYPE_CHECKING:
    import pandas as pd

#: A text column with more different numbers than `MANY_NUMBERS`, and with a share of other texts of
#: at most `SPOILT`, was probably meant to be numeric.
MANY_NUMBERS, SPOILT = 10, 0.1


def as_frame(X: Any, names: Sequence[str] | None = None) -> pd.DataFrame:
    """A DataFrame from a frame, a mapping of columns, or an array.

    Frames of polars and tables of pyarrow are converted.

    Parameters
    ----------
    X : DataFrame, mapping of columns, or array of shape (n, p)
    names : sequence of str, optional
        Names of the columns of an array, and of a frame whose columns are only numbered; by default
        "0", "1", ….

    Returns
    -------
    DataFrame

    Raises
    ------
    DataError
        As `frame_of` raises.
    """
    import pandas as pd

    X = as_pandas(X)
    if isinstance(X, pd.DataFrame):
        numbered = names is not None and list(X.columns) == list(range(len(names)))
        return _plain_columns(X.set_axis(list(names or ()), axis=1) if numbered else X)
    if isinstance(X, Mapping):
        return _plain_columns(pd.DataFrame(dict(X)))  # pandas takes other mappings for sequences
    return frame_of(X, names)


def _plain_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame, with numbers and times where other types stand for them."""
    strange = [j for j, dtype in enumerate(frame.dtypes) if _stands_for(dtype)]
    if strange:
        frame = frame.copy(deep=False)
        for j in strange:
            frame.isetitem(j, plain(frame.iloc[:, j]))
    return frame


def _stands_for(dtype: Any) -> str:
    """What a type stands for that is no plain one: "numbers" or "dates"; empty for others.

    Ordered categories that are numbers, or dates, in their usual order are these numbers.
    """
    import pandas as pd

    if isinstance(dtype, pd.CategoricalDtype):
        if not dtype.ordered or not dtype.categories.is_monotonic_increasing:
            return ""
        try:
            kind = kind_of("", pd.Series(dtype.categories))
        except DataError:
            return ""
        return kind if kind in ("numbers", "dates") else ""
    return "dates" if str(dtype) in ("date32[day][pyarrow]", "date64[ms][pyarrow]") else ""


def plain(column: pd.Series) -> pd.Series:
    """A column whose type stands for numbers or times as a column of these; others as they are."""
    import pandas as pd

    kind = _stands_for(column.dtype)
    if kind == "dates":
        return pd.Series(pd.to_datetime(column.astype(object)), index=column.index)
    if kind == "numbers":
        return column.astype(float if column.isna().any() else column.cat.categories.dtype)
    return column


def order_of(column: pd.Series) -> tuple[str, ...]:
    """The texts of ordered categories, the lowest first; empty for any other column."""
    import pandas as pd

    if not isinstance(column.dtype, pd.CategoricalDtype) or not column.dtype.ordered:
        return ()
    texts = tuple(spelled(column.dtype.categories.to_numpy()).tolist())
    return texts if len(set(texts)) == len(texts) and not _stands_for(column.dtype) else ()


def check_complete(frame: pd.DataFrame, fitted: bool = False) -> None:
    """Raise DataError at the first missing value; the message says what to do."""
    missing = frame.isna().to_numpy()
    if missing.any():
        row, col = np.argwhere(missing)[0].tolist()
        several = int(missing.sum())
        where = f"The column {str(frame.columns[col])!r} has a missing value in row {row}"
        if fitted:
            raise DataError(
                f"{where}, and it had none when the features were chosen; fill it in, drop the row, or fit again on rows with missing values."
            )
        raise DataError(
            f"{where} ({several} in the table); drop those rows, fill them in "
            "(e.g. sklearn.impute.SimpleImputer), or give 'unknown' as a category of its own."
        )


def kind_of(name: str, column: pd.Series) -> str:
    """The kind of a column: "bool", "numbers", "dates", "ordered" (categories) or "text"."""
    from pandas.api import types

    if types.is_bool_dtype(column):
        return "bool"
    if kind := _stands_for(column.dtype):
        return kind
    if order_of(column):
        return "ordered"
    # In a column of Python objects the types of the entries decide; a text that looks like a
    # number is still a text.
    held = types.infer_dtype(column, skipna=False) if column.dtype == object else str(column.dtype)
    if several := nested(column):
        raise DataError(
            f"The column {name!r} holds {several} in single rows; turn what they hold into columns of one value each."
        )
    if column.dtype.kind == "M" and "," not in held:  # times without a zone
        return "dates"
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


def present_in(column: pd.Series) -> pd.Series:
    """The values that are not missing; a complete column is not copied."""
    return column.dropna() if column.isna().any() else column


def as_numbers(column: pd.Series) -> pd.Series:
    """A column of numbers as doubles; dates stay, and ordered categories become their places."""
    if order_of(column):
        codes = column.cat.codes.astype(float)  # their places among all categories
        return codes.where(codes >= 0)
    column = plain(column)
    return column if column.dtype.kind == "M" else column.astype(float)


def different_values(name: str, column: pd.Series, yes_no: bool = True) -> np.ndarray | None:
    """The different values of a complete column in order, if it gets thresholds."""
    kind = kind_of(name, column)
    if kind not in ("numbers", "dates", "ordered"):
        return None
    numbers = as_numbers(column).to_numpy()
    if kind == "numbers":
        check_finite(name, numbers)
    if kind == "dates":  # finer ones are equal where they are compared
        numbers = microseconds(numbers)
    values: np.ndarray = np.unique(numbers)
    only = kind == "numbers" and len(values) < 3 and set(values.tolist()) <= {0.0, 1.0}
    return None if only and yes_no else values


def in_single_precision(
    name: str, column: pd.Series, rule: list[Any]
) -> tuple[np.ndarray, np.ndarray]:
    """A column and its thresholds as numbers that keep their order in single precision.

    Dates are counted by the thresholds before them.
    """
    numbers, thresholds = measured(column, rule), positions(rule)
    if column.dtype.kind == "M":
        order = np.searchsorted(np.sort(thresholds), numbers, side="left")
        return order.astype(float), np.searchsorted(np.sort(thresholds), thresholds) + 0.5
    if np.abs(numbers).max() > np.finfo(np.float32).max:
        raise DataError(
            f"The column {name!r} holds numbers beyond single precision, in which tree-guess compares; divide it, or take quantiles:N."
        )
    return numbers, thresholds


def counts_as_equal(column: pd.Series) -> bool:
    """Whether a column holds different whole numbers, or times, that are compared as equal."""
    if order_of(column):
        return False
    column = plain(column)
    if column.dtype.kind == "M":
        return column.nunique() > len(np.unique(microseconds(column.to_numpy())))
    numbers = column.astype(float)
    return bool((numbers.abs() >= 2.0**53).any()) and column.nunique() > numbers.nunique()


def categories_in(name: str, column: pd.Series, most: int) -> list[str]:
    """The texts of a complete column that become features: of two only the second."""
    found = sorted(set(spelled(column).tolist()))
    if len(found) > MANY_NUMBERS:
        refuse_spoilt_numbers(name, column)
    if len(found) > most:
        raise DataError(
            f"The column {name!r} holds {len(found)} different texts (for example {found[0]!r}); drop it if it names the rows, "
            f"turn it into numbers, or raise Binarizer(max_categories=…)."
        )
    return found[1:] if len(found) <= 2 else found


def refuse_spoilt_numbers(name: str, column: pd.Series) -> None:
    """Raise DataError if nearly all texts of a column are numbers.

    Such a column is numeric with a few typing errors; it is not a column of categories.
    """
    import pandas as pd

    texts = column.astype(str)
    rows = texts.value_counts(sort=False)
    numbers = pd.to_numeric(pd.Series(rows.index), errors="coerce")
    strange = numbers.isna().to_numpy()
    wrong = int(rows.to_numpy()[strange].sum())
    if 0 < wrong <= SPOILT * len(texts) and numbers.nunique() > MANY_NUMBERS:
        row = int(texts.isin(rows.index[strange]).to_numpy().argmax())
        raise DataError(
            f"The column {name!r} holds numbers but for {wrong} of {len(texts)} entries, such as {texts.iloc[row]!r} in row {row}; "
            "correct them, drop those rows, or leave the column out."
        )
