"""Tables with columns of text, given as a DataFrame, an array or a list of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from milp_trees.errors import DataError
from milp_trees.models.array_rows import column_at, matrix


def has_text(X: Any) -> bool:
    """Whether X is a DataFrame with a column that is neither numeric nor Boolean."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return False
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return not all(is_numeric_dtype(t) or is_bool_dtype(t) for t in X.dtypes)


def with_text_columns(X: Any) -> Any:
    """An array or a list of rows that holds texts as a DataFrame; everything else as it is.

    Raises
    ------
    DataError
        An array of texts has a column of numbers, which may have been numbers before.
    """
    if hasattr(X, "columns") or isinstance(X, Mapping) or hasattr(X, "tocsc"):
        return X
    kind = getattr(getattr(X, "dtype", None), "kind", "O")
    if kind not in "OUSTV" or np.ndim(X) != 2:
        return X
    array = matrix(X)
    if kind == "O" and not any(isinstance(v, str) for row in array.tolist() for v in row):
        return X
    import pandas as pd

    columns = {j: column_at(array, j) for j in range(array.shape[1])}
    frame = pd.DataFrame(
        {j: c.astype(str) if c.dtype.kind == "S" else c for j, c in columns.items()}
    )
    for name in frame if kind != "O" else ():
        if pd.to_numeric(frame[name], errors="coerce").notna().any():
            raise DataError(
                f"X is an array of text, and its column {name} holds numbers as text; give a DataFrame, or X as an array of objects (dtype=object)."
            )
    return frame
