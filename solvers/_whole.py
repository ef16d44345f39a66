"""Integer programs with whole numbers: what solvers that compute in integers need of a model."""

from __future__ import annotations

import numpy as np

from milp_trees.mip.linear.matrix import MatrixModel

#: Number with which CP-SAT represents an infinite bound.
ENDLESS = 2**62


def whole_sides(model: MatrixModel) -> tuple[np.ndarray, np.ndarray]:
    """Sides of the rows rounded to integers, for rows with integer coefficients."""
    lower = np.where(np.isfinite(model.row_lower), np.ceil(model.row_lower - 1e-9), -ENDLESS)
    upper = np.where(np.isfinite(model.row_upper), np.floor(model.row_upper + 1e-9), ENDLESS)
    return lower.astype(np.int64), upper.astype(np.int64)


def finite_upper(model: MatrixModel) -> np.ndarray:
    """Upper bounds of the variables; missing ones are derived from rows or costs if possible.

    From a row: the largest value of a variable when all others in the row have their best values.
    From the costs: a variable that has a cost, and whose increase only helps to satisfy rows, need
    not be larger than the largest value that a row requires.
    """
    upper = model.upper.copy()
    A = model.A.tocoo()
    # Every row as rows of the form "activity <= side".
    row = np.concatenate([A.row, A.row + model.n_rows])
    column, value = np.concatenate([A.col, A.col]), np.concatenate([A.data, -A.data])
    side = np.concatenate([model.row_upper, -model.row_lower])
    used = np.isfinite(side[row]) & (value != 0)
    row, column, value = row[used], column[used], value[used]
    while np.isinf(upper).any():
        step = np.full(len(upper), np.inf)
        room, known = _others(row, column, value, len(side), model.lower, upper)
        limiting = known & (value > 0)
        np.minimum.at(
            step, column[limiting], np.floor((side[row] - room)[limiting] / value[limiting] + 1e-9)
        )
        need, known = _others(row, column, value, len(side), upper, model.lower)
        spoiled = np.zeros(len(upper), dtype=bool)
        spoiled[column[(value > 0) | ~known]] = True
        helper = (model.c > 0) & ~spoiled
        step[helper] = model.lower[helper]
        asking = helper[column]
        np.maximum.at(
            step, column[asking], np.ceil((side[row] - need)[asking] / value[asking] - 1e-9)
        )
        better = np.isinf(upper) & np.isfinite(step)
        if not better.any():
            break
        upper[better] = step[better]
    return upper


def _others(
    row: np.ndarray,
    column: np.ndarray,
    value: np.ndarray,
    n_rows: int,
    at_plus: np.ndarray,
    at_minus: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """For each entry, the activity of the others in its row, and whether it is finite.

    Variables with a positive coefficient are at `at_plus`, the others at `at_minus`.
    """
    part = value * np.where(value > 0, at_plus[column], at_minus[column])
    endless = np.isinf(part)
    part = np.where(endless, 0.0, part)
    n_endless = np.bincount(row, endless, n_rows)[row] - endless
    return np.bincount(row, part, n_rows)[row] - part, n_endless == 0


def not_whole(name: str, model: MatrixModel) -> str | None:
    """The reason why a model cannot be stated in integers, or None."""
    for numbers, what in ((model.c, "costs"), (model.A.data, "coefficients")):
        if np.any(numbers != np.rint(numbers)):
            return f"{name} takes whole numbers only and {model.name} has fractional {what}; highs, cbc and scip take them."
    if not (np.isfinite(model.lower).all() and np.isfinite(model.upper).all()):
        return f"{name} takes bounded variables only and {model.name} has unbounded ones; highs, cbc and scip take them."
    sides = np.concatenate([model.row_lower, model.row_upper])
    everything = np.concatenate(
        [model.c, model.A.data, model.lower, model.upper, sides[np.isfinite(sides)]]
    )
    largest = float(np.abs(everything).max(initial=0.0))
    if largest > 1e15:
        return f"{name} computes with 64-bit integers and {model.name} has a number of size {largest:g}."
    return None
