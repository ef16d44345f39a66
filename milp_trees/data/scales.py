"""Values of columns as they are compared: texts of categories, and places on a scale.

A scale is that of numbers, of times, or of ordered categories. One value has one text, whatever type
its column has: a category 1 is `1` in a column of whole numbers, and in one that a missing value
has made a column of floats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np

from milp_trees.data import dates

_INTERVAL = re.compile(r"([\[(])([^,\[\]()]+), ([^,\[\]()]+)([\])])")


def are_texts(values: np.ndarray) -> bool:
    """Whether all values of an array, none of which is missing, are texts."""
    if values.dtype.kind != "O":
        return values.dtype.kind in "US"
    from pandas.api import types

    return bool(types.infer_dtype(values, skipna=False) == "string")


def spelled(values: Any) -> np.ndarray:
    """The texts of categories, none of which is missing; shape (n,)."""
    array = np.asarray(values)
    if array.dtype.kind in "biu" or are_texts(array):
        return array.astype(str)
    held = array if array.dtype.kind in "fO" else array.astype(object)
    if array.dtype.kind == "M":
        held = array.astype("datetime64[us]")
    return np.array([_text(v) for v in held], dtype=str)


def _text(value: Any) -> str:
    """The text of one category."""
    if isinstance(value, (float, np.floating, Decimal)):
        if math.isfinite(value) and value == int(value):
            return str(int(value))
        return format(value.normalize(), "f") if isinstance(value, Decimal) else str(value)
    if isinstance(value, (date, np.datetime64)):
        if getattr(value, "tzinfo", None) is not None or getattr(value, "nanosecond", False):
            return str(value)
        time: Any = value
        return dates.text(np.datetime64(time, "us"), True)
    if hasattr(value, "closed_left"):
        low, high = "[" if value.closed_left else "(", "]" if value.closed_right else ")"
        return f"{low}{_text(value.left)}, {_text(value.right)}{high}"
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _again(text: str) -> str:
    """The text of the category that Python writes in this way; the same for other texts."""
    if match := _INTERVAL.fullmatch(text):
        return f"{match[1]}{_again(match[2])}, {_again(match[3])}{match[4]}"
    try:
        if str(float(text)) == text:
            return _text(float(text))
        if re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?", text):
            return dates.text(np.datetime64(text, "us"), True)
    except ValueError:
        pass
    return text


def equal(values: np.ndarray, category: str) -> np.ndarray:
    """Which values, none of which is missing, are a category; bool array of shape (n,)."""
    if are_texts(values):
        return np.asarray(values.astype(str) == category)
    texts, again = spelled(values), _again(category)
    same = texts == category
    if again != category:
        words = [isinstance(v, str) for v in values.tolist()]
        same |= (texts == again) & ~np.array(words, dtype=bool)
    return np.asarray(same)


def spelled_alike(values: np.ndarray, categories: Sequence[str]) -> np.ndarray:
    """Which values, none of which is missing, are one of several categories; shape (n,)."""
    if are_texts(values):
        return np.isin(values.astype(str), categories)
    out = np.zeros(len(values), dtype=bool)
    for category in categories:
        out |= equal(values, category)
    return out


def positions(thresholds: Sequence[Any], order: Sequence[str] = ()) -> np.ndarray:
    """Thresholds as numbers that can be compared with `measured`.

    ISO texts become seconds, and ordered categories their places in the order.
    """
    if order:
        place = {text: float(k) for k, text in enumerate(order)}
        return np.array([place[t] for t in thresholds])
    if any(isinstance(t, str) for t in thresholds):
        return dates.seconds(np.array(list(thresholds), dtype="datetime64[us]"))
    try:
        return np.array(thresholds, dtype=float)
    except OverflowError:  # an integer beyond all floats
        return np.array([_as_float(t) for t in thresholds])


def _as_float(number: Any) -> float:
    """The number as a float; infinity if it is larger than all of them."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def measured(values: Any, thresholds: Sequence[Any], order: Sequence[str] = ()) -> np.ndarray:
    """The values of a column as numbers, for comparison with `positions(thresholds, order)`.

    Parameters
    ----------
    values : array-like of shape (n,)
        None of them is missing.
    thresholds : sequence
        Numbers, or ISO texts for times.
    order : sequence of str, optional
        The texts of ordered categories, the lowest first.

    Returns
    -------
    float array of shape (n,)
        NaN for a value that is not in the order.

    Raises
    ------
    TypeError, ValueError
        The values are times and the thresholds are not, or the other way round.
    """
    array = np.asarray(values)
    if order:
        place = {text: float(k) for k, text in enumerate(order)}
        different, rows = np.unique(spelled(array), return_inverse=True)
        at = [place.get(t, place.get(_again(t), np.nan)) for t in different.tolist()]
        return np.array(at, dtype=float)[rows.ravel()] if len(array) else np.zeros(0)
    dated = any(isinstance(t, str) for t in thresholds)
    if dated and array.dtype.kind == "O":
        array = _times(array)
    if dated != (array.dtype.kind == "M") and len(thresholds):
        raise TypeError("times are compared with times only")
    return dates.seconds(array) if array.dtype.kind == "M" else array.astype(float)


def _times(array: np.ndarray) -> np.ndarray:
    """Python's dates and times without a zone as an array of times; another array as it is."""
    held = array.tolist()
    plain = all(isinstance(v, date) and getattr(v, "tzinfo", None) is None for v in held)
    if not plain:
        return array
    whole = [v if isinstance(v, datetime) else datetime(v.year, v.month, v.day) for v in held]
    return np.array(whole, dtype="datetime64[us]")
