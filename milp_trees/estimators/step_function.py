"""`StepFunction`: a survival or hazard function that a leaf predicts."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.common.errors import DataError


class StepFunction:
    """A function that keeps its value from each of some times to the next.

    Parameters
    ----------
    x : array of shape (m,)
        Times, increasing, the first of which is 0.
    y : array of shape (m,)
        Value from each of them on; after the last time it stays.

    Examples
    --------
    >>> survival = StepFunction([0, 3, 5], [1.0, 0.8, 0.5])
    >>> survival(3), survival([0, 2.9, 9]).tolist()
    (0.8, [1.0, 1.0, 0.5])
    """

    def __init__(self, x: Any, y: Any) -> None:
        self.x = np.asarray(x, dtype=float)
        self.y = np.asarray(y, dtype=float)

    def __call__(self, times: Any) -> Any:
        """The value at a time, or at each of several.

        Parameters
        ----------
        times : number or array
            At least 0.

        Returns
        -------
        float or array

        Raises
        ------
        DataError
            A time is negative or missing.
        """
        asked = np.asarray(times, dtype=float)
        if not (asked >= 0).all():
            raise DataError("A step function is asked at times of at least 0.")
        found = self.y[np.searchsorted(self.x, asked, side="right") - 1]
        return float(found) if asked.ndim == 0 else found

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, StepFunction)
        return same and np.array_equal(self.x, other.x) and np.array_equal(self.y, other.y)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((self.x.tobytes(), self.y.tobytes()))

    def to_json(self) -> dict[str, list[float]]:
        """Times and values as plain numbers, the parameters of an equal function."""
        return {"x": self.x.tolist(), "y": self.y.tolist()}

    def __repr__(self) -> str:
        return f"StepFunction({len(self.x)} steps, from {self.y[0]:g} to {self.y[-1]:g})"
