"""Small programs for the checks of solvers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.mip.linear.matrix import MatrixModel

INFINITY = float("inf")


def model(
    c: Any,
    A: Any,
    lower: Any,
    upper: Any,
    *,
    low: Any = None,
    up: Any = None,
    integer: Any = None,
    offset: float = 0.0,
    name: str = "test",
) -> MatrixModel:
    """min c·x + offset subject to lower <= A x <= upper, low <= x <= up.

    Parameters
    ----------
    c : array-like of shape (n,)
        Costs.
    A : array-like of shape (m, n)
        Coefficients.
    lower, upper : array-like of shape (m,)
        Sides of the rows, which may be infinite.
    low, up : array-like of shape (n,), optional
        Bounds of the variables, by default 0 and 1.
    integer : array-like of shape (n,), optional
        Which variables are integer, by default all.
    offset : float, default=0
        Constant of the objective.
    name : str
        Name of the model.

    Returns
    -------
    MatrixModel
    """
    n = len(c)
    low = np.zeros(n) if low is None else np.array(low, dtype=float)
    up = np.ones(n) if up is None else np.array(up, dtype=float)
    integer = np.ones(n, dtype=bool) if integer is None else np.array(integer, dtype=bool)
    A, lower, upper = (
        sparse.csr_matrix(np.atleast_2d(A).astype(float)),
        np.array(lower, dtype=float),
        np.array(upper, dtype=float),
    )
    return MatrixModel(name, np.array(c, dtype=float), offset, A, lower, upper, low, up, integer)


def set_cover(seed: int, n: int = 12, rows: int = 15) -> MatrixModel:
    """A random covering problem, small enough that all points can be tried.

    Parameters
    ----------
    seed : int
        Seed of the random numbers.
    n, rows : int, default=12, 15
        Number of variables, and of rows.

    Returns
    -------
    MatrixModel
    """
    rng = np.random.default_rng(seed)
    A = rng.random((rows, n)) < 0.25
    A[np.arange(rows), rng.integers(0, n, rows)] = True
    return model(rng.integers(1, 20, n), A, np.ones(rows), np.full(rows, INFINITY), offset=2.5)


def knapsacks(n: int = 150, rows: int = 20) -> MatrixModel:
    """Several knapsacks together: points are found quickly, but a proof takes hours."""
    rng = np.random.default_rng(0)
    A = rng.integers(10, 1000, (rows, n))
    c = -np.round(A.mean(axis=0) + rng.integers(0, 500, n))
    return model(c, A, np.full(rows, -INFINITY), np.round(A.sum(axis=1) / 2))


#: Value of a point of `knapsacks()`, found in a minute; a bound above it is wrong.
KNAPSACKS_VALUE = -65624.0


def assignment(n: int) -> MatrixModel:
    """A random assignment; its relaxation is integral."""
    A = np.vstack([np.kron(np.eye(n), np.ones(n)), np.kron(np.ones(n), np.eye(n))])
    c = np.random.default_rng(1).integers(1, 50, n * n)
    return model(c, A, np.ones(2 * n), np.ones(2 * n), offset=7)


def market_split(n: int = 50, rows: int = 6) -> MatrixModel:
    """Equations that hardly any point satisfies, so there is no incumbent for a long time."""
    rng = np.random.default_rng(0)
    A = rng.integers(0, 100, (rows, n))
    side = A.sum(axis=1) // 2
    return model(rng.integers(1, 9, n), A, side, side)


def least_value(m: MatrixModel) -> float:
    """The optimum of a binary program, found by trying all points."""
    points = np.array(list(itertools.product((0.0, 1.0), repeat=m.n_variables)))
    activity = points @ m.A.toarray().T
    feasible = ((activity >= m.row_lower) & (activity <= m.row_upper)).all(axis=1)
    return float((points @ m.c + m.offset)[feasible].min())


#: Infeasible programs on two binary variables.
CONTRADICTIONS: dict[str, dict[str, Any]] = {
    "range": {"A": [[1, 1]], "lower": [2], "upper": [1]},
    "range_of_general_integers": {"A": [[1, 1]], "lower": [7], "upper": [3], "up": [9, 9]},
    "bounds_of_a_variable": {
        "A": [[1, 1]],
        "lower": [0],
        "upper": [2],
        "low": [1, 0],
        "up": [0, 1],
    },
    "row_without_variables": {"A": [[0, 0]], "lower": [1], "upper": [2]},
    "two_rows": {"A": [[1, 1], [1, 1]], "lower": [2, -INFINITY], "upper": [INFINITY, 1]},
    "row_and_bounds": {"A": [[1, 1]], "lower": [3], "upper": [INFINITY]},
    "row_and_bounds_from_above": {"A": [[1, 1]], "lower": [-INFINITY], "upper": [-1]},
    "equation_and_integers": {"A": [[2, 2]], "lower": [1], "upper": [1]},
    "no_integers_between_sides": {"A": [[1, 1]], "lower": [0.2], "upper": [0.8]},
    "no_integer_between_bounds": {
        "A": [[1, 1]],
        "lower": [0],
        "upper": [2],
        "low": [0.2, 0],
        "up": [0.8, 1],
    },
}
