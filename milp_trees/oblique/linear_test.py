"""`LinearTest`: the question whether a weighted sum of numeric columns is below a bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError

#: A sum of doubles may be wrong by this share of the sum of its absolute parts.
ROUNDING = 2.0**-45


@dataclass(frozen=True)
class LinearTest:
    """The question `sum of weight * column < bound`, in exact rationals.

    Parameters
    ----------
    columns : sequence of str
        Names of numeric columns, each once.
    weights : sequence of Fraction, int or str
        Weight of every column, none of them 0.
    bound : Fraction, int or str
        The answer is yes below it.

    Examples
    --------
    >>> test = LinearTest(("age", "income"), (2, "-1/2"), 7)
    >>> test.name, test.negation
    ('2 age - 0.5 income < 7', '2 age - 0.5 income >= 7')
    >>> test.answers(np.array([[3.0, 0.0], [4.0, 2.0]]))
    array([ True, False])
    """

    __test__ = False  # pytest must not collect this class as tests

    columns: tuple[str, ...]
    weights: tuple[Fraction, ...]
    bound: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        object.__setattr__(self, "weights", tuple(map(Fraction, self.weights)))
        object.__setattr__(self, "bound", Fraction(self.bound))
        same = len(self.columns) == len(self.weights) and len(set(self.columns)) == len(
            self.columns
        )
        if not self.columns or not same or not all(self.weights):
            raise DataError(
                f"A linear test needs one weight other than 0 for each of its different columns; got {self.columns!r} and {tuple(map(str, self.weights))!r}."
            )

    @property
    def column(self) -> str:
        """The names of its columns in one text."""
        return ", ".join(self.columns)

    @property
    def features(self) -> tuple[LinearTest, ...]:
        """The questions that it asks: itself."""
        return (self,)

    @property
    def name(self) -> str:
        """The question as text, with the exact weights: `2 age - 0.5 income < 7`."""
        return f"{self._sum()} < {written(self.bound)}"

    @property
    def negation(self) -> str:
        """The question with the answer no as text."""
        return f"{self._sum()} >= {written(self.bound)}"

    @property
    def edges(self) -> tuple[str, str]:
        """The conditions of the answers no and yes in pictures, beside the weighted sum."""
        bound = f"{float(self.bound):.6g}"
        return f">= {bound}", f"< {bound}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The weighted sum in pictures, with a line per column."""
        return tuple(self._terms())

    def _sum(self) -> str:
        return " ".join(self._terms())

    def _terms(self) -> list[str]:
        parts: list[str] = []
        for column, weight in zip(self.columns, self.weights, strict=True):
            size = "" if abs(weight) == 1 else f"{written(abs(weight))} "
            sign = ("- " if weight < 0 else "+ ") if parts else ("-" if weight < 0 else "")
            parts.append(f"{sign}{size}{column}")
        return parts

    # -- values ------------------------------------------------------------------------------------

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The exact weighted sums of rows, as an object array of Fractions; shape (n,).

        Parameters
        ----------
        values : float array of shape (n, c)
            Its columns, in their order.
        """
        out = [
            sum((w * Fraction(x) for w, x in zip(self.weights, row, strict=True)), Fraction(0))
            for row in np.asarray(values, dtype=float).tolist()
        ]
        return np.array(out, dtype=object)

    def answers(self, values: np.ndarray) -> np.ndarray:
        """Exact answers for rows; bool array of shape (n,).

        Sums are taken in doubles, and again in rationals where those may be on the wrong side.

        Parameters
        ----------
        values : float array of shape (n, c)
            Its columns, in their order.
        """
        values = np.asarray(values, dtype=float)
        weights, bound = np.array(self.weights, dtype=float), float(self.bound)
        below = values @ weights - bound
        doubt = np.abs(values) @ np.abs(weights) + abs(bound)
        out: np.ndarray = below < 0
        near = np.flatnonzero(~(np.abs(below) > ROUNDING * doubt))
        out[near] = [bool(total < self.bound) for total in self.sums(values[near])]
        return out

    # -- exchange ----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Columns, weights and bound as texts."""
        return {
            "columns": list(self.columns),
            "weights": list(map(str, self.weights)),
            "bound": str(self.bound),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LinearTest:
        """The test that `to_json` described.

        Raises
        ------
        KeyError, TypeError, ValueError, DataError
            The dict is no such description.
        """
        columns: Sequence[str] = data["columns"]
        if isinstance(columns, str) or not all(isinstance(c, str) for c in columns):
            raise ValueError("its columns are no list of names")
        return cls(tuple(columns), tuple(map(Fraction, data["weights"])), Fraction(data["bound"]))


def written(number: Fraction) -> str:
    """An exact rational: a decimal of at most 12 digits after the point, or else a fraction."""
    for digits in range(13):
        whole = number * 10**digits
        if whole.denominator == 1:
            text = str(abs(whole.numerator)).zfill(digits + 1)
            sign = "-" if number < 0 else ""
            return sign + (f"{text[:-digits]}.{text[-digits:]}" if digits else text)
    return str(number)
