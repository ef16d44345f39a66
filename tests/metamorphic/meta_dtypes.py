"""The same table in other types and containers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

#: Types of numbers, and of words, that hold the same values.
OF_NUMBERS = [
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float32", "float64", "longdouble", "float16", "object", "decimal"),
    *("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
    *("Float32", "Float64", "int8[pyarrow]", "uint16[pyarrow]", "int64[pyarrow]"),
    *("uint64[pyarrow]", "float[pyarrow]", "double[pyarrow]"),
]
OF_BITS = ["bool", "boolean", "bool[pyarrow]"]
OF_WORDS = ["object", "str", "string", "string[pyarrow]", "category", "large_string", "dictionary"]

#: Every type that a column can get; a table gets one of them wherever it fits.
TYPES = list(dict.fromkeys([*OF_NUMBERS, *OF_BITS, *OF_WORDS]))

_OF_ARROW = {
    "large_string": pa.large_string(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()),
}


def cast(column: pd.Series, name: str) -> pd.Series | None:
    """A column in another type, or None if that type does not hold its values."""
    words = not pd.api.types.is_numeric_dtype(column.dtype)
    gaps = column.isna()
    if words:
        if name not in OF_WORDS:
            return None
        if name == "object":
            return column.astype(object).where(~gaps, None)
        kind = pd.ArrowDtype(_OF_ARROW[name]) if name in _OF_ARROW else name
        return column.astype(kind)
    known = column[~gaps]
    if name in OF_BITS:
        if not known.isin([0, 1]).all() or (name == "bool" and gaps.any()):
            return None
        return column.astype("Int64").astype(name) if name != "bool" else column.astype(name)
    if name == "decimal":
        return (
            pd.Series([Decimal(repr(v)) for v in column.tolist()], column.index, dtype=object)
            if not gaps.any()
            else None
        )
    if name not in OF_NUMBERS:
        return None
    if name == "object":
        return column.astype(object)
    whole = "int" in name.lower()
    if whole and (known != np.floor(known)).any():
        return None
    if name.lower().startswith("uint") and (known < 0).any():
        return None
    plain = whole and name == name.lower() and "[" not in name
    if plain and gaps.any():
        return None
    if whole and gaps.any():
        return column.astype("Int64").astype(name)
    return column.astype(name)


def in_type(frame: pd.DataFrame, name: str) -> pd.DataFrame | None:
    """Every column that can have the type in that type; None if there is none."""
    found = {c: cast(frame[c], name) for c in frame}
    if all(column is None for column in found.values()):
        return None
    return pd.DataFrame({c: frame[c] if found[c] is None else found[c] for c in frame})


def shuffled_index(part: Any, order: np.ndarray) -> Any:
    """The same rows with other labels in the index."""
    return part.set_axis(order) if hasattr(part, "set_axis") else part


#: Containers of numbers, by name; each takes a float array.
CONTAINERS = {
    "array": lambda X: X,
    "list of lists": lambda X: X.tolist(),
    "columns of Fortran": np.asfortranarray,
    "every second row of an array": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every second column of an array": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "bytes of the other order": lambda X: X.astype(X.dtype.newbyteorder()),
    "array of objects": lambda X: X.astype(object),
    "array that cannot be written": lambda X: _frozen(X.copy()),
}


def _frozen(X: np.ndarray) -> np.ndarray:
    X.setflags(write=False)
    return X
