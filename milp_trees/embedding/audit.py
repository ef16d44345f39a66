"""`Audit`: whether a model predicts what its block says, at the point where a solver ended."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from milp_trees.embedding.inputs import Input
from milp_trees.embedding.moving import moved_inside
from milp_trees.embedding.reading import DAY

#: Largest relative difference of two numbers that are the same sum in another order.
SAME = 1e-9


@dataclass(frozen=True)
class Audit:
    """The prediction of a model at the solution of a model that holds its block.

    Parameters
    ----------
    row : dict of str to value
        The columns that the model asks, after a move if there was one.
    predicted : label, float or tuple
        What the model predicts for the row.
    output : label, float or tuple
        What the block says.
    equal : bool
        Whether both are equal; numbers up to the rounding of sums.
    moved : bool
        Whether the inputs were moved.
    distance : float
        Largest change of an input by a move.
    message : str
        What was done, or why nothing could be done; empty if nothing was needed.
    """

    row: dict[str, Any]
    predicted: Any
    output: Any
    equal: bool
    moved: bool = False
    distance: float = 0.0
    message: str = ""

    def __bool__(self) -> bool:
        return self.equal


def audited(block: Any, move: bool) -> Audit:
    """The audit of a block at the current solution of its model."""
    output, row = block.predicted(), block.row()
    found = prediction(block, row)
    if same(found, output):
        return Audit(row, found, output, True)
    if not move:
        return Audit(
            row,
            found,
            output,
            False,
            message="The model predicts something else at this point, which was not to be moved.",
        )
    distance, message = moved_inside(block)
    row = block.row()
    found = prediction(block, row)
    return Audit(row, found, output, same(found, output), distance > 0, distance, message)


def same(a: Any, b: Any) -> bool:
    """Whether two predictions are equal; numbers up to the rounding of sums."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=SAME, abs_tol=SAME)
    return bool(a == b)


def prediction(block: Any, row: dict[str, Any]) -> Any:
    """What the model itself predicts for a row."""
    forest, inputs = block._trees.forest, block._trees.inputs
    model = forest.model
    if not forest.columns:  # a tree or a rule list
        table = {column: one_row(inputs[column], value) for column, value in row.items()}
        if not table:
            table = {"": np.zeros(1)}
        found = model.predict(table)[0]
    else:
        values = np.array([[float(row.get(c, 0.0)) for c in forest.columns]])
        found = model.predict(as_fitted(model, values))[0]
    if isinstance(found, (np.ndarray, tuple, list)):
        return tuple(float(v) for v in found)
    plain = found.item() if hasattr(found, "item") else found
    return float(plain) if not forest.output.actions else plain


def as_fitted(model: Any, values: np.ndarray) -> Any:
    """Rows as an estimator was given them: a DataFrame if it knows names of columns."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return values
    import pandas as pd

    return pd.DataFrame(values, columns=list(names))


def one_row(one: Input, value: Any) -> np.ndarray:
    """A value of a column as an array of one row, as `predict` takes it."""
    if value is None:
        return np.array([None], dtype=object)
    if one.cells.holds == "date":
        return np.array([round(value * DAY * 1e6)], dtype="datetime64[us]")
    if isinstance(value, str):
        return np.array([value], dtype=object)
    return np.array([value])
