"""Tables with columns of text, given as a DataFrame, an array or a list of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from milp_trees.data.matrices import frame_of, matrix


def has_text(X: Any) -> bool:
    """Whether X is a DataFrame with a column that is neither numeric nor Boolean."""
    if not hasattr(X, "columns") or not hasattr(X, "dtypes"):
        return False
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return not all(is_numeric_dtype(t) or is_bool_dtype(t) for t in X.dtypes)


def with_text_columns(X: Any) -> Any:
    """An array or a list of rows that holds texts as a DataFrame; everything else as it is."""
    if hasattr(X, "columns") or isinstance(X, Mapping) or hasattr(X, "tocsc"):
        return X
    # Other objects may only be what numpy makes an array of.
    held = X if isinstance(X, (np.ndarray, list, tuple)) else np.asarray(X)
    kind = getattr(getattr(held, "dtype", None), "kind", "O")
    if kind not in "OUSTV" or np.ndim(held) != 2:
        return X
    array = matrix(held)
    if kind == "O" and not any(isinstance(v, str) for row in array.tolist() for v in row):
        return X
    return frame_of(array, range(array.shape[1]))
