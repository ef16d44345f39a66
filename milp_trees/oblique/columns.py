r"""Numeric columns of a dataset, scaled to [0,1] exactly, and the gap that a split leaves.

Column j has the values :math:`x_{ij}` with the least one :math:`m_j` and the width :math:`R_j`;
constant columns are left out. A split with weights w separates some rows *below* from others
*above* by the gap

.. math:: \frac{\min_{\text{above}}w^\top x_i-\max_{\text{below}}w^\top x_i}{\sum_j|w_j|R_j},

which is at most 1, and does not depend on the units of the columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from milp_trees.common.errors import NoView
from milp_trees.oblique.linear_test import LinearTest

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: The columns of a dataset are scaled once.
_scaled: WeakKeyDictionary[Dataset, NumericColumns] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class NumericColumns:
    """Numeric columns that are not constant.

    Parameters
    ----------
    names : tuple of str, length p
    values : float array of shape (n, p)
        Their values as they are.
    """

    names: tuple[str, ...]
    values: np.ndarray

    @cached_property
    def least(self) -> tuple[Fraction, ...]:
        """The least value of every column."""
        return tuple(Fraction(x) for x in self.values.min(axis=0, initial=math.inf).tolist())

    @cached_property
    def width(self) -> tuple[Fraction, ...]:
        """Largest minus least value of every column; above 0."""
        most = self.values.max(axis=0, initial=-math.inf).tolist()
        return tuple(Fraction(x) - low for x, low in zip(most, self.least, strict=True))

    @cached_property
    def steps(self) -> tuple[Fraction, ...]:
        """For every column the largest number of which all differences of values are multiples."""
        out = []
        for column, low in zip(self.values.T.tolist(), self.least, strict=True):
            apart = [Fraction(x) - low for x in set(column)]
            unit = math.lcm(*(d.denominator for d in apart))
            out.append(Fraction(math.gcd(*(int(d * unit) for d in apart)), unit))
        return tuple(out)

    @cached_property
    def whole(self) -> np.ndarray:
        """Values above the least one in steps, exact integers as objects; shape (n, p)."""
        out = np.empty(self.values.shape, dtype=object)
        for j, (low, step) in enumerate(zip(self.least, self.steps, strict=True)):
            known = {x: int((Fraction(x) - low) / step) for x in set(self.values[:, j].tolist())}
            out[:, j] = [known[x] for x in self.values[:, j].tolist()]
        return out

    @cached_property
    def extent(self) -> tuple[int, ...]:
        """The width of every column in steps."""
        return tuple(int(w / s) for w, s in zip(self.width, self.steps, strict=True))

    @cached_property
    def scaled(self) -> np.ndarray:
        """Values in [0,1] as doubles, shape (n, p)."""
        if not self.names:
            return np.zeros(self.values.shape)
        out: np.ndarray = (self.whole / np.array(self.extent, dtype=object)).astype(float)
        return out

    @cached_property
    def index(self) -> dict[str, int]:
        """Place of every column by its name."""
        return {name: j for j, name in enumerate(self.names)}

    def of(self, test: LinearTest, rows: Any = slice(None)) -> np.ndarray:
        """Values of the columns of a test on some rows."""
        return self.values[rows][:, [self.index[c] for c in test.columns]]

    def gap(self, test: LinearTest, below: np.ndarray, above: np.ndarray) -> Fraction:
        """The exact gap between rows below and rows above a split; see the module.

        Neither may be empty. It is negative if the weights do not separate them.
        """
        widths = [self.width[self.index[c]] for c in test.columns]
        size = sum(abs(w) * r for w, r in zip(test.weights, widths, strict=True))
        low, high = self._extreme(test, above, 1), self._extreme(test, below, -1)
        return Fraction(low + high) / Fraction(size)

    def _extreme(self, test: LinearTest, rows: np.ndarray, sign: int) -> Fraction:
        """The least of `sign` times the exact sums of rows."""
        values = self.of(test, rows)
        weights = np.array(test.weights, dtype=float)
        near = sign * (values @ weights)
        doubt = 2.0**-40 * float((np.abs(values) @ np.abs(weights)).max())
        found: Fraction = min(sign * test.sums(values[near <= near.min() + doubt]))
        return found


def numeric_columns(dataset: Dataset) -> NumericColumns:
    """The numeric columns of a dataset that splits may use.

    Raises
    ------
    NoView
        The dataset has no numeric columns.
    """
    if dataset not in _scaled:
        if dataset.numeric is None:
            raise NoView(
                "Oblique trees need numeric columns, which this dataset does not have; read the table with mt.load_numeric(…), or give Dataset(…, numeric=…, columns=…)."
            )
        numbers, part_of = dataset.numeric, dataset.source.get("feature_of", {})
        kept = [
            j
            for j, name in enumerate(dataset.columns or ())
            if len(numbers)
            and numbers[:, j].min() < numbers[:, j].max()
            and part_of.get(name, name) not in dataset.group_columns
        ]
        names = tuple((dataset.columns or ())[j] for j in kept)
        _scaled[dataset] = NumericColumns(names, np.ascontiguousarray(numbers[:, kept]))
    return _scaled[dataset]


def distinct_rows(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of all equal rows, in the order of the data, and the number of each row's."""
    if not values.shape[1]:
        return np.arange(min(1, len(values))), np.zeros(len(values), dtype=np.int64)
    _, first, group = np.unique(values, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[group.reshape(-1)]


def smallest_gap(dataset: Dataset) -> Fraction:
    r"""A gap that every linear split of rows of the dataset has at least.

    With it as `ObliqueTrees(…, gap=…)` no split is excluded. In steps of the columns all
    coordinates are integers, of at most :math:`r_j`. The widest gap of two sets of rows is taken
    where the weights are orthogonal to p - 1 differences of two rows of the same set, or axes, so
    they are minors of a matrix of integers of at most :math:`r_j`, and the sums of two rows differ
    by at least 1. Hadamard's bound of the minors gives
    :math:`1/\bigl(p\,(p-1)^{(p-1)/2}\prod_jr_j\bigr)`. For more than a few columns it is much too
    small for solvers.

    Parameters
    ----------
    dataset : Dataset
        With numeric columns.

    Returns
    -------
    Fraction
    """
    extent = numeric_columns(dataset).extent
    p = len(extent)
    if not p:
        return Fraction(1)
    hadamard = math.isqrt((p - 1) ** (p - 1) - 1) + 1 if p > 1 else 1
    return Fraction(1, p * hadamard * math.prod(extent))
