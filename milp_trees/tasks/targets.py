"""Numeric targets as exact integers: decimals by their digits, measured doubles by their bits."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.common.errors import DataError

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: Most decimal digits after the point that are recognised.
DIGITS = 12
#: Largest integers that doubles hold exactly.
WHOLE = 2**53
#: Largest loss that is shown as a double.
LARGEST = 2**1020


@dataclass(frozen=True, eq=False)
class Numbers:
    """Columns of numbers as `unit * whole`, exactly.

    Parameters
    ----------
    whole : int64 or object array of shape (n, K)
        Integers; objects where they need more than 53 bits.
    unit : Fraction
    """

    whole: np.ndarray
    unit: Fraction

    @property
    def is_short(self) -> bool:
        return self.whole.dtype != object


def whole_numbers(given: np.ndarray) -> Numbers:
    """Finite doubles or integers as integers times a unit.

    Numbers with up to `DIGITS` decimals are what their digits say, so 0.1 is 1/10; others are the
    binary fractions that the doubles are.
    """
    given = np.asarray(given)
    if given.dtype.kind in "iub":
        largest = int(np.abs(given.astype(object)).max(initial=0))
        return Numbers(given.astype(np.int64 if largest < WHOLE else object), Fraction(1))
    values = given.astype(float)
    size = float(np.abs(values).max(initial=0.0))
    for digits in range(DIGITS + 1):
        power = 10.0**digits
        if size * power >= WHOLE:
            break
        near = np.rint(values * power)
        if np.array_equal(near / power, values):
            return Numbers(near.astype(np.int64), Fraction(1, 10**digits))
    mantissa, exponent = np.frexp(values)
    lowest = int(exponent[values != 0].min()) - 53 if (values != 0).any() else 0
    whole = np.empty(values.shape, dtype=object)
    shifts = (exponent.astype(np.int64) - 53 - lowest).ravel().tolist()
    digits53 = np.ldexp(mantissa, 53).astype(np.int64).ravel().tolist()
    whole.ravel()[:] = [m << s if m else 0 for m, s in zip(digits53, shifts, strict=True)]
    return Numbers(whole, Fraction(2) ** lowest)


_targets: WeakKeyDictionary[Dataset, Numbers] = WeakKeyDictionary()
_weights: WeakKeyDictionary[Dataset, Numbers] = WeakKeyDictionary()


def weight_numbers(dataset: Dataset) -> Numbers:
    """The weights of original rows as integers times a unit, not all of them 0.

    Raises
    ------
    DataError
        All weights are 0.
    """
    known = _weights.get(dataset)
    if known is None:
        given = dataset.row_weights if dataset.weights is not None else np.ones(dataset.n_rows, int)
        known = _weights[dataset] = whole_numbers(given)
    if not (known.whole > 0).any():
        raise DataError("All row weights are 0; give at least one row a positive weight.")
    return known


def numeric_targets(dataset: Dataset, name: str) -> Numbers:
    """The targets of a dataset as numbers, shape (n, K): `targets`, or `y` as one column.

    Raises
    ------
    DataError
        There is no target, or it is no number.
    """
    known = _targets.get(dataset)
    if known is None:
        known = _targets[dataset] = _read(dataset, name)
    return known


def _read(dataset: Dataset, name: str) -> Numbers:
    given: Any = getattr(dataset, "targets", None)
    if given is not None:
        return whole_numbers(np.asarray(given).reshape(len(given), -1))
    y = dataset.require("y", f"The task {name}")
    classes = dataset.classes or ()
    if not set(map(type, classes)) <= {int, float}:
        strange = next(c for c in classes if type(c) not in (int, float))
        amount = isinstance(strange, str) and any(c.isdigit() for c in strange)
        remedy = " Named with --targets, a column of amounts is read as numbers." if amount else ""
        raise DataError(
            f"The task {name} predicts numbers, and the target holds {strange!r}; check which column is the target.{remedy}"
        )
    if not np.isfinite(np.array(classes, dtype=float)).all():
        raise DataError(f"The task {name} predicts numbers, and one of the target is infinite.")
    found = whole_numbers(np.array(classes))
    return Numbers(found.whole[y][:, None], found.unit)
