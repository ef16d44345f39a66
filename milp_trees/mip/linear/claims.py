"""What a library says about a linear program, compared with its own point.

Solver libraries make mistakes: a point that is not the one whose objective they report, a point
that breaks rows, a bound beyond a feasible point, an optimum with a gap. Every value, bound and
point of a library passes through this module before it is used; callers differ only in what they
do about a contradiction.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from scipy import sparse

#: Largest difference between two statements of one number, relative to the sizes of its terms.
AGREES = 1e-6


class Rows(Protocol):
    """What a point must keep: `row_lower <= A x <= row_upper`, bounds, and integers."""

    @property
    def A(self) -> sparse.csr_matrix:
        """Coefficients of the rows."""

    @property
    def row_lower(self) -> np.ndarray:
        """Lower sides of the rows."""

    @property
    def row_upper(self) -> np.ndarray:
        """Upper sides of the rows."""

    @property
    def lower(self) -> np.ndarray:
        """Lower bounds of the columns."""

    @property
    def upper(self) -> np.ndarray:
        """Upper bounds of the columns."""

    @property
    def integer(self) -> np.ndarray:
        """Which columns are integer."""


def violation(program: Rows, x: np.ndarray) -> float:
    """Largest violation of a row, a bound or integrality at a point.

    It is infinite if the point has another length or holds something that is no number.
    """
    if x.shape != program.lower.shape or not np.isfinite(x).all():
        return math.inf
    activity = program.A @ x
    parts = [
        program.row_lower - activity,
        activity - program.row_upper,
        program.lower - x,
        x - program.upper,
        np.abs(x - np.rint(x)) * program.integer,
    ]
    return max((float(p.max()) for p in parts if len(p)), default=0.0)


def misstatement(
    cost: np.ndarray,
    x: np.ndarray,
    offset: float = 0.0,
    *,
    objective: float | None = None,
    bound: float | None = None,
    gap: float | None = None,
    tolerance: float = AGREES,
) -> str | None:
    """How a library's numbers contradict its own point, in words; None if they do not.

    Parameters
    ----------
    cost : float array of shape (v,)
    x : float array of shape (v,)
        The library's point, as it is.
    offset : float, default=0
        Constant of the objective.
    objective : float, optional
        The objective that the library reports.
    bound : float, optional
        The lower bound that it reports.
    gap : float, optional
        How far the bound may be below the objective, if the library calls the point optimal.
    tolerance : float, default=1e-6
        Relative to the sum of the sizes of all terms, and at least to 1.

    Returns
    -------
    str or None
        It ends a sentence that begins with the name of the library.
    """
    terms = cost * x
    value = float(terms.sum()) + offset
    slack = tolerance * max(1.0, float(np.abs(terms).sum()) + abs(offset))
    if not math.isfinite(value):
        return "returns a point that is not finite"
    if objective is not None and not abs(objective - value) <= slack:
        return f"reports the objective {objective:.9g}, but its point has {value:.9g}"
    if bound is not None and not bound <= value + slack:
        return f"reports the bound {bound:.9g}, but its point has {value:.9g}"
    if gap is not None and bound is not None and not value - bound <= gap + slack:
        return f"calls a point of {value:.9g} optimal, but its bound is {bound:.9g}"
    return None


def dual_value(program: Rows, cost: np.ndarray, y: np.ndarray, offset: float = 0.0) -> float:
    """The bound that row multipliers prove for a linear program, whatever their origin.

    It is the minimum of the Lagrangian over the box of the columns, where reduced costs below 1e-9
    count as 0.

    Parameters
    ----------
    program : Rows
    cost : float array of shape (v,)
    y : float array of shape (m,)
        A multiplier per row.
    offset : float, default=0
        Constant of the objective.

    Returns
    -------
    float
        Minus infinity if they prove nothing.
    """
    if len(y) != len(program.row_lower):
        return -math.inf
    y = np.where(
        ((y > 0) & np.isinf(program.row_lower)) | ((y < 0) & np.isinf(program.row_upper)), 0.0, y
    )
    d = cost - program.A.T @ y
    d[np.abs(d) < 1e-9] = 0.0
    with np.errstate(invalid="ignore"):
        rows = np.where(y > 0, y * program.row_lower, np.where(y < 0, y * program.row_upper, 0.0))
        columns = np.where(d > 0, d * program.lower, np.where(d < 0, d * program.upper, 0.0))
    return float(rows.sum() + columns.sum()) + offset
