"""The JSON form of results, without NaN and infinity."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

#: Version of the layout of `Result.to_json`.
SCHEMA = 1


def json_safe(value: Any) -> Any:
    """Plain Python without NumPy types; NaN and infinity become null, fractions "p/q"."""
    if isinstance(value, Mapping):
        return {str(k): json_safe(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [json_safe(v) for v in value]
    if isinstance(value, np.ndarray):
        return json_safe(value.tolist())
    if isinstance(value, np.generic):
        return json_safe(value.item())
    if isinstance(value, Fraction):
        return ratio_text(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


def ratio_text(value: Fraction | None) -> str | None:
    return None if value is None else f"{value.numerator}/{value.denominator}"


def plain_number(number: float | None, exact: Fraction | None) -> float | int | None:
    """The number to write; an exact integer has no decimal point."""
    if number is None or (exact is not None and exact.denominator == 1):
        return None if exact is None else int(exact)
    return number


def relative_gap(value: float | None, bound: float | None) -> float | None:
    """|value − bound| / |value| with 0/0 = 0; infinite if only the value is 0."""
    if value is None or bound is None or not math.isfinite(bound):
        return None
    if value == bound:
        return 0.0
    return abs(value - bound) / abs(value) if value else math.inf


def number(value: Any) -> bool:
    """Whether a value is a finite number; an integer must fit into a float."""
    return (
        isinstance(value, (int, float))
        and not isinstance(value, bool)
        and abs(value) < 1e300
        and math.isfinite(value)
    )
