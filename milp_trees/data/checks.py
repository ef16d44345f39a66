"""Checks of the arrays that a Dataset is made of: each gives the array, or raises one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError

#: What numpy and pandas make of a missing value that is turned into text.
_SPELT_GAPS = ("nan", "NaT", "<NA>")


def check_finite(column: str, numbers: np.ndarray, rows: np.ndarray | None = None) -> None:
    """Raise DataError if a column has a missing or infinite value.

    Parameters
    ----------
    column : str
        Its name.
    numbers : float array of shape (n,)
    rows : int array of shape (n,), optional
        The numbers of its rows in the table, if it is a part of the column.

    Raises
    ------
    DataError
        A number is NaN or infinite.
    """
    if not np.isfinite(numbers).all():
        at = int(np.isfinite(numbers).argmin())
        what = "has a missing value" if np.isnan(numbers[at]) else "is infinite"
        row = at if rows is None else int(rows[at])
        raise DataError(f"The column {column!r} {what} in row {row}; replace it or drop the row.")


def check_ordered(column: str, places: np.ndarray, rows: np.ndarray | None = None) -> None:
    """Raise DataError if a value of a column of ordered categories has no place in the order.

    Parameters
    ----------
    column, rows
        As for `check_finite`.
    places : float array of shape (n,)
        The places of the values; NaN for none.

    Raises
    ------
    DataError
        A place is NaN.
    """
    if np.isnan(places).any():
        at = int(np.isnan(places).argmax())
        row = at if rows is None else int(rows[at])
        raise DataError(
            f"The column {column!r} holds a category in row {row} that is not in the order of its categories; replace it, or fit again with an order that has it."
        )


def as_array(values: Any) -> np.ndarray:
    """A column as an array; texts in a list stay beside missing values, which NumPy would spell."""
    if isinstance(values, (list, tuple)):
        texts = sum(isinstance(v, str) for v in values)
        if 0 < texts < len(values):
            out = np.empty(len(values), dtype=object)
            out[:] = values
            return out
    return np.asarray(values)


def missing_in(values: Any) -> np.ndarray:
    """Which values of a column are missing: NaN, None, NaT, `pandas.NA` and masked entries.

    Returns
    -------
    bool array of shape (n,)
    """
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values) | missing_in(values.data)
    array = as_array(values)
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind in "mM":
        return np.asarray(np.isnat(array))
    if array.dtype.kind != "O":
        return np.zeros(array.shape, dtype=bool)
    import pandas as pd

    return np.asarray(pd.isna(array))


def frozen_copy(array: np.ndarray) -> np.ndarray:
    """A copy that cannot be changed."""
    array = np.array(array, copy=True)
    array.setflags(write=False)
    return array


def codes_below(codes: np.ndarray, most: int) -> bool:
    """Whether an array holds nothing but whole numbers from 0 to below `most`."""
    if codes.dtype.kind in "iu":
        return not len(codes) or (codes.min() >= 0 and codes.max() < most)
    return bool(np.isin(codes, range(most)).all())


def binary_matrix(X: Any) -> np.ndarray:
    """A matrix of 0 and 1 as uint8; raises DataError for anything else."""
    X = np.asarray(X)
    if X.ndim != 2:
        raise DataError(
            f"X must have two dimensions (rows × features); it has {X.ndim}. Reshape it, e.g. X.reshape(-1, 1)."
        )
    if X.shape[0] == 0:
        raise DataError("X has no rows; at least one is needed.")
    if X.dtype == bool or (X.dtype.kind in "iu" and X.size and X.min() >= 0 and X.max() <= 1):
        return X.astype(np.uint8)
    try:
        numbers = X.astype(float)
    except (TypeError, ValueError):
        raise DataError(
            "X must hold 0/1 features; this one holds text. Binarize it first: mt.Binarizer().fit_transform(frame)."
        ) from None
    if np.isnan(numbers).any():
        row, col = np.argwhere(np.isnan(numbers))[0]
        raise DataError(
            f"X has a missing value at row {row}, column {col}; impute or drop it first (e.g. sklearn.impute.SimpleImputer)."
        )
    strange = (numbers != 0) & (numbers != 1)
    if strange.any():
        row, col = np.argwhere(strange)[0]
        raise DataError(
            f"X must hold 0/1 features; row {row}, column {col} is {numbers[row, col]:g}. Binarize it first: mt.Binarizer().fit_transform(frame)."
        )
    return numbers.astype(np.uint8)


def checked_labels(values: Any, name: str, n: int) -> np.ndarray:
    """Labels of one kind, one per row.

    Parameters
    ----------
    values : array-like of shape (n,)
        Labels of any type; labels of several types become text.
    name : str
        Name of the array in messages.
    n : int
        Number of rows.

    Returns
    -------
    array of shape (n,)

    Raises
    ------
    DataError
        The shape is another one, or a label is missing.
    """
    array = as_labels(values)
    if array.shape != (n,):
        raise DataError(
            f"{name} must have one entry per row, shape ({n},); it has shape {array.shape}."
        )
    check_no_gap(array, name)
    if array.dtype != object:
        return array
    kinds = {type(v) for v in array.tolist()}
    if len(kinds) == 1 and kinds != {str}:
        return np.array(array.tolist())
    texts = np.array([str(v) for v in array.tolist()])
    if len(kinds) > 1 and len(set(texts.tolist())) < len(set(array.tolist())):
        twice = next(
            t for t in texts.tolist() if len({v for v in array.tolist() if str(v) == t}) > 1
        )
        raise DataError(
            f"{name} holds {twice!r} both as text and as another type, which would become one; give all entries one type."
        )
    return texts


def as_labels(values: Any) -> np.ndarray:
    """Labels as an array in which a missing one is still missing.

    numpy makes the text `nan` of a missing entry in a list of texts, and a masked array forgets its
    mask.
    """
    if isinstance(values, np.ma.MaskedArray):
        entries = np.array(values.data, dtype=object)
        entries[np.ma.getmaskarray(values)] = None
        return entries
    array = np.asarray(values)
    if array.dtype.kind in "US" and not isinstance(values, np.ndarray):
        array = np.array(values, dtype=object)
    return array


def nested(values: Any) -> str:
    """What single entries of a column hold if they are several values: "lists" or "mappings".

    Parameters
    ----------
    values : array or Series of shape (n,)

    Returns
    -------
    str
        Empty if every entry is one value.
    """
    kind = str(getattr(values, "dtype", ""))
    if kind.startswith(("list<", "large_list<", "fixed_size_list<")):
        return "lists"
    if kind.startswith(("struct<", "map<")):
        return "mappings"
    if kind != "object":
        return ""
    kinds = set(map(type, np.asarray(values).ravel().tolist()))
    if any(issubclass(t, Mapping) for t in kinds):
        return "mappings"
    return (
        "lists"
        if any(issubclass(t, (list, tuple, set, frozenset, np.ndarray)) for t in kinds)
        else ""
    )


def check_no_gap(values: Any, name: str) -> None:
    """Raise DataError at the first missing label, also one that was turned into text before.

    Parameters
    ----------
    values : array-like of shape (n,) or (n, k)
        Labels of any type.
    name : str
        Name of the array in messages.
    """
    array = as_labels(values)
    if several := nested(array):
        raise DataError(f"{name} holds {several} in single rows; give one label per row.")
    missing = missing_in(array)
    if not missing.any() and array.dtype.kind in "OU":
        spelt = np.isin(array, _SPELT_GAPS) if array.dtype.kind == "U" else _spelt_gaps(array)
        if spelt.any():
            at = tuple(np.argwhere(spelt)[0].tolist())
            raise DataError(
                f"{name} has the text {str(array[at])!r} at row {at[0]}, which a missing value becomes as text; drop those rows, or name this label otherwise."
            )
    if missing.any():
        row = int(np.argwhere(missing)[0, 0])
        raise DataError(
            f"{name} has a missing value at row {row}; drop those rows or impute them first."
        )


def _spelt_gaps(array: np.ndarray) -> np.ndarray:
    """Which entries of an array of objects are the text of a missing value."""
    found = np.array(
        [isinstance(v, str) and v in _SPELT_GAPS for v in array.ravel().tolist()], dtype=bool
    )
    return found.reshape(array.shape)


def checked_counts(values: Any, n: int) -> np.ndarray:
    """Numbers of original rows, one per row, as int64.

    Raises
    ------
    DataError
        The shape is another one, an entry is no whole number of at least 1, or the sum is not
        below 2^53.
    """
    given = np.asarray(values)
    if given.shape != (n,):
        raise DataError(f"counts must have shape ({n},); it has {given.shape}.")
    if given.dtype.kind not in "iu" or (given < 1).any() or given.sum(dtype=float) >= 2.0**53:
        raise DataError(
            "counts are numbers of original rows: whole numbers of at least 1 with a sum below 2^53; rows without a count are left out."
        )
    return given.astype(np.int64)


def checked_floats(
    values: Any, name: str, shape: tuple[int, ...], keep_whole: bool = False
) -> np.ndarray:
    """Finite numbers of a given shape.

    Parameters
    ----------
    values : array-like
        The numbers.
    name : str
        Name of the array in messages.
    shape : tuple of int
        The shape that it must have.
    keep_whole : bool, default=False
        Keep whole numbers that a float would round as 64-bit integers; otherwise they are refused.

    Returns
    -------
    float array
        Or an int64 array, if whole numbers are kept.

    Raises
    ------
    DataError
        The shape is another one, or an entry is missing, infinite or not a number, or a whole
        number that is too large to be kept as it is.
    """
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise DataError(
            f"{name} must be numbers of ordinary size; turn texts into numbers first, and leave out rows without one."
        ) from None
    if array.shape != shape:
        raise DataError(f"{name} must have shape {shape}; it has {array.shape}.")
    if not np.isfinite(array).all():
        raise DataError(
            f"{name} has a missing or infinite entry at {tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])}; impute or drop that row."
        )
    return _whole(values, array, name, keep_whole)


def _whole(given: Any, array: np.ndarray, name: str, keep: bool) -> np.ndarray:
    """The floats, or the whole numbers that were given if floats would have rounded them."""
    if np.abs(array).max(initial=0.0) < 2.0**53:
        return array
    exact = np.asarray(given)
    if exact.dtype.kind == "f":
        return array
    whole = [v if isinstance(v, int) else None for v in exact.ravel().tolist()]
    if all(v is None or v == int(f) for v, f in zip(whole, array.ravel().tolist(), strict=True)):
        return array
    if keep and None not in whole and all(abs(v) < 2**63 for v in whole if v is not None):
        return np.array(whole, dtype=np.int64).reshape(array.shape)
    raise DataError(
        f"{name} holds whole numbers above {'2^63' if keep else '2^53'}, which cannot be kept"
        " exactly; divide them by a common factor, or give them as floats, which are rounded."
    )


def some(names: Any, limit: int = 12) -> str:
    """The first names of a list, for a sentence."""
    shown = [str(n) for n in names]
    return ", ".join(shown[:limit]) + (
        f" and {len(shown) - limit} more" if len(shown) > limit else ""
    )


def check_columns(asked: Iterable[str], names: Iterable[Any], who: str) -> None:
    """Raise DataError if a table lacks columns; the sentence names all of them."""
    there = [str(n) for n in names]
    lacking = [c for c in dict.fromkeys(map(str, asked)) if c not in set(there)]
    if not lacking:
        return
    folded = {n.strip().casefold(): n for n in reversed(there)}
    like = {c: folded[c.strip().casefold()] for c in lacking if c.strip().casefold() in folded}
    hint = "".join(f", {theirs!r} to {ours!r}" for ours, theirs in list(like.items())[:1])
    several = "s" if len(lacking) > 1 else ""
    unnamed = any(c.isdecimal() for c in lacking)
    places = "; without names they are called 0, 1, 2, … by their places" if unnamed else ""
    raise DataError(
        f"The {who} tests the column{several} {some(map(repr, lacking))}, which the table does not have; its columns are {some(there)}. "
        f"Rename columns as they were called in training{hint}{places}."
    )
