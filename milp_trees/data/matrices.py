"""Tables without names: arrays, sparse matrices and lists of rows, and their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.plurals import counted
from milp_trees.data.checks import some

if TYPE_CHECKING:
    import pandas as pd


def matrix(data: Any) -> Any:
    """An array of rows and columns, or a sparse matrix whose columns can be taken.

    A list of rows with numbers and texts becomes an array of objects: numpy would make texts of the
    numbers.
    """
    if hasattr(data, "tocsc"):
        return data.tocsc()
    if hasattr(data, "columns"):
        return data.to_numpy()
    if isinstance(data, (list, tuple)):
        data = _of_rows(data)
    array = data if isinstance(data, np.ma.MaskedArray) else np.asarray(data)
    if array.ndim != 2:
        raise DataError(
            f"A table must have two dimensions (rows × columns); this has {array.ndim}. Reshape it: X.reshape(-1, 1) for one column, X.reshape(1, -1) for one row."
        )
    return array


def _of_rows(rows: Sequence[Any]) -> Any:
    """A list of rows as an array; anything else as it is."""
    listed = [isinstance(row, (list, tuple, np.ndarray)) for row in rows]
    if not listed or not all(listed):
        return rows
    if len({len(row) for row in rows}) > 1:
        raise DataError("The rows of the table have different lengths; give one value per column.")
    array = np.asarray(rows)
    if array.dtype.kind in "biuf":
        return array
    out = np.empty((len(rows), len(rows[0])), dtype=object)
    out[:] = [list(row) for row in rows]
    return out


def column_at(array: Any, place: int) -> np.ndarray:
    """One column of a `matrix`; numbers in an array of objects become numbers."""
    if hasattr(array, "tocsc"):
        return np.asarray(array[:, [place]].toarray()).ravel()
    column = array[:, place]
    if column.dtype != object or isinstance(column, np.ma.MaskedArray):
        return column
    if any(isinstance(v, (str, bytes)) for v in column.tolist()):
        return column
    import pandas as pd

    column = pd.Series(column).infer_objects()
    if column.dtype == object and column.isna().any():
        column = column.where(column.notna(), np.nan).infer_objects()
    return np.asarray(column)


def frame_of(data: Any, names: Sequence[Any] | None = None) -> pd.DataFrame:
    """A DataFrame of an array or a list of rows, whose numbers and texts stay what they are.

    Parameters
    ----------
    data : array of shape (n, p), or list of rows
    names : sequence, optional
        Names of the columns; by default "0", "1", ….

    Returns
    -------
    DataFrame

    Raises
    ------
    DataError
        There are not two dimensions, or another number of columns than names; or an array of texts
        has a column of numbers, which may have been numbers before.
    """
    import pandas as pd

    array = matrix(data)
    named = [str(j) for j in range(array.shape[1])] if names is None else list(names)
    if len(named) != array.shape[1]:
        raise DataError(
            f"The array has {counted(array.shape[1], 'column')} where {len(named)} are expected: {some(named)}."
        )
    if array.dtype.kind not in "OUS":
        return pd.DataFrame(array, columns=named)
    columns = [column_at(array, j) for j in range(array.shape[1])]
    columns = [c.astype(str) if c.dtype.kind == "S" else c for c in columns]
    frame = pd.DataFrame(dict(enumerate(columns)), index=range(len(array))).set_axis(named, axis=1)
    for j, name in enumerate(named if array.dtype.kind != "O" else ()):
        if pd.to_numeric(frame.iloc[:, j], errors="coerce").notna().any():
            raise DataError(
                f"The array is one of texts, and its column {name} holds numbers as text; give a DataFrame, or an array of objects (dtype=object)."
            )
    return frame
