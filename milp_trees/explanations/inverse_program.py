"""The linear programme of the least change of weights, with rational weights and bounds.

HiGHS solves it in doubles. Its point is made rational and the rows are checked on it in whole
numbers; its multipliers are made rational too, and whatever they are, weak duality makes a bound of
them. Where both meet, the change is the least in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any, NamedTuple

import numpy as np

#: Largest denominators of weights and multipliers that are tried, one after the other.
DENOMINATORS = (1, 2, 12, 60, 1000, 10**6)
#: Share by which rational weights may need more change than the solver's, and the bound less.
CLOSE = 1e-6
#: Smallest change of a weight that is none of the solver's tolerance.
TINY = 1e-8
#: Share by which rows are exceeded where their vertex has denominators that are too large.
MARGIN = 1e-7


class Change(NamedTuple):
    """Weights that satisfy all rows so far, and a bound on the change of all that do.

    `impossible` says that there are none, which is proven. `note` says why there is no answer.
    """

    weights: tuple[Fraction, ...]
    total: Fraction
    bound: Fraction
    impossible: bool = False
    note: str = ""


@dataclass(eq=False)
class InverseProgram:
    """Find w >= 0 with the least sum of |w - before| and `coefs · w >= least` for each row.

    Parameters
    ----------
    before : tuple of Fraction, length n
        The present weights.
    rows : list of (array of whole numbers of shape (n,), whole number)
        Coefficients and right-hand side of every row, multiplied by a common denominator.
    """

    before: tuple[Fraction, ...]
    rows: list[tuple[np.ndarray, int]] = field(default_factory=list)

    def add(self, coefs: Sequence[Fraction], least: Fraction) -> None:
        """Add a row."""
        unit = lcm(least.denominator, *{c.denominator for c in coefs})
        whole = [int(c * unit) for c in coefs]
        right = int(least * unit)
        common = gcd(right, *whole) or 1
        self.rows.append((np.array([c // common for c in whole], dtype=object), right // common))

    def solve(self) -> Change | None:
        """The least change for the rows so far; None if the programme was not solved."""
        unchanged = Change(self.before, Fraction(0), Fraction(0))
        if all(self._holds(self.before, row) for row in self.rows):
            return unchanged
        A, b = self._floats()
        before = np.array([float(w) for w in self.before])
        solution = self._solved(A, before, b)
        if solution.status == 2:
            return self._impossible(A, b)
        if solution.status != 0:
            return None
        bound = self._bound(-solution.ineqlin.marginals, solution.fun)
        weights = self._rational(before, solution, DENOMINATORS)
        if weights is None:
            # Where the vertex has large denominators, a point beyond the rows is made rational.
            further = b + MARGIN * np.maximum(1.0, np.abs(b - A @ before))
            solution = self._solved(A, before, further)
            weights = self._rational(before, solution, DENOMINATORS[-2:])
        if weights is None:
            why = "the weights of the linear programme could not be made rational"
            return unchanged._replace(bound=bound, note=why)
        return Change(weights, self._change(weights), bound)

    def _solved(self, A: np.ndarray, before: np.ndarray, b: np.ndarray) -> Any:
        """HiGHS's solution: what is added to each weight, then what is taken away."""
        n = len(before)
        bounds = [*[(0.0, None)] * n, *[(0.0, w) for w in before.tolist()]]
        return _linprog(np.ones(2 * n), np.hstack([-A, A]), A @ before - b, bounds)

    def _floats(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows in doubles, each divided by its largest coefficient."""
        size = [max(1, *map(abs, coefs)) if len(coefs) else 1 for coefs, _ in self.rows]
        A = np.array([[c / s for c in row[0]] for row, s in zip(self.rows, size, strict=True)])
        return A, np.array([row[1] / s for row, s in zip(self.rows, size, strict=True)])

    def _near(self, scaled: Sequence[float], largest: int | None) -> list[Fraction]:
        """Rational multipliers of the rows near those of the rows in doubles.

        `largest` is the largest denominator; None takes the doubles themselves.
        """
        near = []
        for y, (coefs, _) in zip(scaled, self.rows, strict=True):
            exact = Fraction(max(float(y), 0.0))
            size = max(1, *map(abs, coefs)) if len(coefs) else 1
            near.append((exact if largest is None else exact.limit_denominator(largest)) / size)
        return near

    def _holds(self, weights: Sequence[Fraction], row: tuple[np.ndarray, int]) -> bool:
        unit = lcm(1, *{w.denominator for w in weights})
        whole = [int(w * unit) for w in weights]
        return bool(sum(c * w for c, w in zip(row[0], whole, strict=True)) >= row[1] * unit)

    def _change(self, weights: Sequence[Fraction]) -> Fraction:
        return sum((abs(w - o) for w, o in zip(weights, self.before, strict=True)), Fraction(0))

    def _rational(
        self, before: np.ndarray, solution: Any, denominators: Sequence[int]
    ) -> tuple[Fraction, ...] | None:
        """Rational weights near a point that satisfy every row, with hardly more change."""
        if solution.status != 0:
            return None
        n, change = len(before), float(solution.fun)
        weights = before + solution.x[:n] - solution.x[n:]
        for largest in denominators:
            near = tuple(
                max(Fraction(w).limit_denominator(largest), Fraction(0))
                if abs(w - float(o)) > TINY
                else o
                for w, o in zip(weights.tolist(), self.before, strict=True)
            )
            if float(self._change(near)) > change + CLOSE * max(1.0, change):
                continue
            if all(self._holds(near, row) for row in self.rows):
                return near
        return None

    def _bound(self, multipliers: Sequence[float], value: float) -> Fraction:
        """The best bound on the change that multipliers near those in doubles prove."""
        best = Fraction(0)
        for largest in (*DENOMINATORS, None):
            best = max(best, self._dual_value(self._near(multipliers, largest)))
            if float(best) >= value - CLOSE * max(1.0, value):
                break
        return best

    def _combined(self, multipliers: Sequence[Fraction]) -> tuple[list[Fraction], Fraction]:
        """Coefficients and right-hand side of the sum of the rows times multipliers."""
        unit = lcm(1, *{y.denominator for y in multipliers})
        coefs: Any = np.zeros(len(self.before), dtype=object)
        right = 0
        for y, row in zip(multipliers, self.rows, strict=True):
            if y:
                coefs = coefs + int(y * unit) * row[0]
                right += int(y * unit) * row[1]
        return [Fraction(int(c), unit) for c in coefs], Fraction(right, unit)

    def _dual_value(self, multipliers: Sequence[Fraction]) -> Fraction:
        """Least of |w - before| + multipliers · (least - coefs · w) over all w >= 0."""
        coefs, right = self._combined(multipliers)
        largest = max([Fraction(1), *coefs])
        total = right / largest
        for c, before in zip(coefs, self.before, strict=True):
            slope = c / largest
            total += before if slope < -1 else -slope * before
        return total

    def _impossible(self, A: np.ndarray, b: np.ndarray) -> Change:
        """That no weights satisfy the rows, if multipliers prove it in whole numbers."""
        n = A.shape[1]
        cost = np.append(np.zeros(n), 1.0)
        solution = _linprog(
            cost, np.hstack([-A, -np.ones((len(A), 1))]), -b, [(0.0, None)] * (n + 1)
        )
        proven = False
        if solution.status == 0:
            for largest in DENOMINATORS:
                near = self._near(-solution.ineqlin.marginals, largest)
                coefs, right = self._combined(near)
                proven = proven or (right > 0 and max(coefs, default=Fraction(0)) <= 0)
        note = "" if proven else "the solver says that no weights are enough, which was not proven"
        return Change(self.before, Fraction(0), Fraction(0), impossible=proven, note=note)


def _linprog(c: Any, A: Any, b: Any, bounds: Any) -> Any:
    from scipy.optimize import linprog

    return linprog(c, A_ub=A, b_ub=b, bounds=bounds, method="highs-ds")
