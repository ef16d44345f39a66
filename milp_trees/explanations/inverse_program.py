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
from operator import sub
from typing import Any, NamedTuple

import numpy as np

#: Largest denominators of weights and multipliers that are tried, one after the other.
DENOMINATORS = (1, 2, 12, 60, 1000, 10**6)
#: Share by which rational weights may need more change than the solver's, and the bound less.
CLOSE = 1e-6
#: Smallest change of a weight that is none of the solver's tolerance.
TINY = 1e-8


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
    finest : int, default=10**6
        Largest common denominator of the changed weights.
    rows : list of (array of whole numbers of shape (n,), whole number)
        Coefficients and right-hand side of every row, multiplied by a common denominator.
    """

    before: tuple[Fraction, ...]
    finest: int = 10**6
    rows: list[tuple[np.ndarray, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        #: The present weights are `whole / unit`.
        self.unit = lcm(1, *{w.denominator for w in self.before})
        self.whole = np.array([int(w * self.unit) for w in self.before], dtype=object)
        #: What each row is above its right-hand side with the present weights.
        self.above: list[Fraction] = []

    def add(self, coefs: Sequence[Fraction], least: Fraction) -> None:
        """Add a row."""
        unit = lcm(least.denominator, *{c.denominator for c in coefs})
        whole = [int(c * unit) for c in coefs]
        right = int(least * unit)
        common = gcd(right, *whole) or 1
        row = np.array([c // common for c in whole], dtype=object)
        self.rows.append((row, right // common))
        self.above.append(Fraction(int(row @ self.whole), self.unit) - right // common)

    def solve(self) -> Change | None:
        """The least change for the rows so far; None if the programme was not solved."""
        unchanged = Change(self.before, Fraction(0), Fraction(0))
        if all(above >= 0 for above in self.above):
            return unchanged
        A, b = self._floats()
        before = np.array([float(w) for w in self.before])
        solution = self._solved(A, before, b)
        if solution.status == 2:
            return self._impossible(A, b)
        if solution.status != 0:
            return None
        bound = self._bound(-solution.ineqlin.marginals, solution.fun)
        weights = self._rational(solution)
        if weights is None:
            # Where the vertex has large denominators, a point beyond the rows is put on a grid; the
            # sum of all errors of rounding is less than the distance from the rows.
            moved = len(self._moved(solution))
            solution = self._solved(A, before, b + (moved + len(b)) / self.finest)
            weights = self._on_grid(solution)
        if weights is None:
            why = "the weights of the linear programme could not be made rational"
            return unchanged._replace(bound=bound, note=why)
        total = sum(map(abs, map(sub, weights, self.before)), Fraction(0))
        return Change(weights, total, bound)

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

    def _satisfy(self, near: dict[int, Fraction]) -> bool:
        """Whether the present weights, some of them replaced, satisfy every row."""
        changes = {j: w - self.before[j] for j, w in near.items()}
        return all(
            above + sum((int(row[j]) * change for j, change in changes.items()), Fraction(0)) >= 0
            for above, (row, _) in zip(self.above, self.rows, strict=True)
        )

    def _moved(self, solution: Any) -> dict[int, float]:
        """The weights that a solution changes, and their values there."""
        n = len(self.before)
        changes = solution.x[:n] - solution.x[n:]
        moved = np.flatnonzero(np.abs(changes) > TINY).tolist()
        return {j: float(self.before[j]) + float(changes[j]) for j in moved}

    def _rational(self, solution: Any) -> tuple[Fraction, ...] | None:
        """Rational weights near a vertex that satisfy every row, with hardly more change."""
        most = float(solution.fun) + CLOSE * max(1.0, float(solution.fun))
        moved = self._moved(solution)
        for largest in DENOMINATORS:
            near = {
                j: max(Fraction(w).limit_denominator(largest), Fraction(0))
                for j, w in moved.items()
            }
            change = sum((abs(w - self.before[j]) for j, w in near.items()), Fraction(0))
            small = lcm(1, *{w.denominator for w in near.values()}) <= self.finest
            if small and float(change) <= most and self._satisfy(near):
                return self._with(near)
        return None

    def _on_grid(self, solution: Any) -> tuple[Fraction, ...] | None:
        """The weights of a solution on the finest grid, if they satisfy every row."""
        if solution.status != 0:
            return None
        near = {
            j: Fraction(max(round(w * self.finest), 0), self.finest)
            for j, w in self._moved(solution).items()
        }
        return self._with(near) if self._satisfy(near) else None

    def _with(self, near: dict[int, Fraction]) -> tuple[Fraction, ...]:
        """The present weights, some of them replaced."""
        return tuple(near.get(j, w) for j, w in enumerate(self.before))

    def _bound(self, multipliers: Sequence[float], value: float) -> Fraction:
        """The best bound on the change that multipliers near those in doubles prove."""
        best = Fraction(0)
        for largest in (*DENOMINATORS, None):
            best = max(best, self._dual_value(self._near(multipliers, largest)))
            if float(best) >= value - CLOSE * max(1.0, value):
                break
        return best

    def _combined(self, multipliers: Sequence[Fraction]) -> tuple[np.ndarray, int, int]:
        """The sum of the rows times multipliers: coefficients, right-hand side, and their unit."""
        unit = lcm(1, *{y.denominator for y in multipliers})
        coefs: Any = np.zeros(len(self.before), dtype=object)
        right = 0
        for y, row in zip(multipliers, self.rows, strict=True):
            if y:
                coefs = coefs + int(y * unit) * row[0]
                right += int(y * unit) * row[1]
        return coefs, right, unit

    def _dual_value(self, multipliers: Sequence[Fraction]) -> Fraction:
        """Least of |w - before| + multipliers · (least - coefs · w) over all w >= 0."""
        coefs, right, unit = self._combined(multipliers)
        # No coefficient may be above 1, or a large weight would make the value as small as one likes.
        largest = max(unit, int(coefs.max(initial=0)))
        # Weights with a coefficient below -1 are best at 0, all others where they are.
        slopes = np.maximum(coefs, -largest)
        return Fraction(right, largest) - Fraction(int(slopes @ self.whole), largest * self.unit)

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
                coefs, right, _ = self._combined(near)
                proven = proven or (right > 0 and int(coefs.max(initial=0)) <= 0)
        note = "" if proven else "the solver says that no weights are enough, which was not proven"
        return Change(self.before, Fraction(0), Fraction(0), impossible=proven, note=note)


def _linprog(c: Any, A: Any, b: Any, bounds: Any) -> Any:
    from scipy.optimize import linprog

    return linprog(c, A_ub=A, b_ub=b, bounds=bounds, method="highs-ds")
