"""`class_weight` of classifiers as exact rationals."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.common import exact
from milp_trees.common.errors import DataError
from milp_trees.data.names import entries_by_name, spelled


def exact_class_weight(
    given: Any, labels: tuple[Any, ...], codes: np.ndarray, weights: np.ndarray | None
) -> dict[Any, Fraction] | None:
    """The weight of every class.

    Parameters
    ----------
    given : mapping or Series of label to number, "balanced", or None
        A class that a mapping does not name has the weight 1. "balanced" gives every class the same
        total weight: of K classes with rows, one with the share s of the weighted rows gets
        1 / (K s), and a class without rows 1.
    labels : tuple
        The K classes.
    codes : int array of shape (n,)
        Class of every row as its place in `labels`.
    weights : float array of shape (n,), optional
        Weights of the rows; 1 each by default.

    Returns
    -------
    dict of label to Fraction, or None
        A decimal number counts as it is written: 0.1 is one tenth.

    Raises
    ------
    DataError
        It is something else, a weight is negative, all weights are zero, or a mapping names a class
        that y lacks while it leaves out one that y has.
    """
    if given is None:
        return None
    if isinstance(given, str) and given == "balanced":
        rows = np.ones(len(codes)) if weights is None else weights
        whole, _, _ = exact.integers(rows)
        counts = [int(whole[codes == k].sum()) for k in range(len(labels))]
        present = sum(n > 0 for n in counts)
        return {
            c: Fraction(sum(counts), present * n) if n else Fraction(1)
            for c, n in zip(labels, counts, strict=True)
        }
    known = {spelled(c): c for c in labels}
    named = entries_by_name(given, "class_weight")
    if not isinstance(named, Mapping):
        raise DataError(
            f'class_weight must be a mapping such as {{"ill": 5}}, "balanced" or None; got {given!r}.'
        )
    stated = {
        known.get(k, k): exact.fraction(v, f"the weight of class {k!r}") for k, v in named.items()
    }
    # A part of the rows (a fold) may lack a class; a name beside a class without one is a mistake.
    strange = [k for k in stated if k not in labels]
    without = [c for c in labels if c not in stated]
    if strange and without:
        raise DataError(
            f"class_weight names {strange[0]!r}, which is no class of y; its classes are {', '.join(map(str, labels))}."
        )
    if any(v < 0 for v in stated.values()):
        raise DataError("Class weights must not be negative; give 0 or more.")
    found = {c: stated.get(c, Fraction(1)) for c in labels}
    if not any(found.values()):
        raise DataError("The weight of every class is 0; at least one class must count.")
    return found
