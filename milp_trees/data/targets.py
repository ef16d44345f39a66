"""What a model is to predict: classes, a measured number, several numbers, or survival.

Classes are `Dataset.y`. A number with so many values that they cannot be classes, several numbers,
and time and event of survival data are `Dataset.targets`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.role_problems import RoleProblem, is_measured, measurement

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.dataset import Dataset
    from milp_trees.data.roles import Columns

#: Names of the targets of survival data.
SURVIVAL = ("time", "event")


def measured_target(dataset: Dataset) -> int:
    """Number of different values of a target of measured numbers; 0 for classes.

    They are told apart by `milp_trees.data.role_problems.is_measured`. Rows that were left out for scores count as rows, so that a split does not change the answer.
    """
    if dataset.target_names is not None:
        return 0 if dataset.left_out or dataset.targets is None else len(np.unique(dataset.targets))
    classes = dataset.classes or ()
    kinds = {type(c) for c in classes}
    if not kinds <= {int, float}:
        return 0
    share = (dataset.source.get("split") or {}).get("test_size") or 0.0
    rows = round(dataset.total_rows / (1 - share))
    return len(classes) if is_measured(np.array(classes), rows) else 0


def target_fields(
    frame: pd.DataFrame, meaning: Mapping[str, Any], given: Columns
) -> dict[str, Any]:
    """The fields of a Dataset that hold what is predicted, where that is no column of classes.

    Parameters
    ----------
    frame : DataFrame
        The table.
    meaning : mapping
        The columns of fields: `y`, or `targets` for several.
    given : Columns

    Returns
    -------
    dict
        `targets` and `target_names`, and `y` as None if it is a measurement; empty for classes.

    Raises
    ------
    DataError
        A column of numbers holds something else, an event is neither 0 nor 1, or a time is
        negative.
    """
    if "targets" in meaning:
        names = meaning["targets"]
        if len(set(names)) < len(names):
            twice = next(c for c in names if names.count(c) > 1)
            raise DataError(f"The column {twice!r} is named twice among the targets; name it once.")
        if given.time:
            columns = [_times(names[0], frame[names[0]]), _events(names[1], frame[names[1]])]
            return {"targets": np.column_stack(columns), "target_names": SURVIVAL}
        columns = [_numbers(c, frame[c], "--targets") for c in names]
        return {"targets": _together(columns), "target_names": names}
    if "y" not in meaning:
        return {}
    held = frame[meaning["y"]].to_numpy()
    if held.dtype.kind == "f" and np.isinf(held).any():
        row = int(np.isinf(held).argmax())
        raise DataError(
            f"The column {meaning['y']!r} (--target) is infinite in row {row}; drop that row."
        )
    if held.dtype.kind != "f" or not measurement(held[~np.isnan(held)]):
        return {}
    target = _numbers(meaning["y"], frame[meaning["y"]], "--target")
    return {"y": None, "targets": target[:, None], "target_names": (meaning["y"],)}


def problems_of_targets(
    frame: pd.DataFrame, meaning: Mapping[str, Any], given: Columns
) -> list[RoleProblem]:
    """What keeps columns from being several targets, or time and event; only the first of it."""
    try:
        target_fields(frame, meaning, given)
    except DataError as error:
        name = next(c for c in meaning["targets"] if f"{c!r}" in str(error))
        role = "target"
        if given.time:
            role = "time" if name == meaning["targets"][0] else "event"
        start = f"The column {name!r}"
        what, _, remedy = str(error).removeprefix(start).rstrip(".").partition("; ")
        what = what.strip().removeprefix(f"(--{role})").strip()
        return [RoleProblem(name, what, remedy, role)]
    return []


def check_classes(y: Any, name: Any) -> None:
    """Raise DataError if a target that must be classes is a measurement."""
    if y is None or np.asarray(y).dtype.kind != "f":
        return
    if wrong := measurement(y[~np.isnan(y)]):
        raise DataError(f"The target {name!r} {wrong}. Name another column with --target.")


def _together(columns: list[np.ndarray]) -> np.ndarray:
    """Columns as one table; whole numbers stay exact beside each other."""
    if all(c.dtype.kind in "iu" for c in columns):
        return np.column_stack(columns)
    return np.column_stack([c.astype(float) for c in columns])


def _numbers(name: str, column: pd.Series, role: str) -> np.ndarray:
    """A column of finite numbers, whole ones as integers."""
    _refuse_gaps(name, column, role)
    values = column.to_numpy()
    if values.dtype.kind == "b":
        values = values.astype(np.int64)
    if values.dtype.kind not in "iuf":
        try:
            values = values.astype(float)
        except (TypeError, ValueError):
            strange = next(v for v in column.tolist() if not _reads(v))
            raise DataError(
                f"The column {name!r} ({role}) must hold numbers, and it holds {strange!r}; name another column, or correct it."
            ) from None
    if not np.isfinite(values.astype(float)).all():
        row = int(np.isfinite(values.astype(float)).argmin())
        raise DataError(f"The column {name!r} ({role}) is infinite in row {row}; drop that row.")
    return values


def _reads(value: Any) -> bool:
    """Whether a value is a number, or the text of one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, str)


def _times(name: str, column: pd.Series) -> np.ndarray:
    """The times of survival data, which are not negative."""
    values = _numbers(name, column, "--time").astype(float)
    if (values < 0).any():
        row = int((values < 0).argmax())
        raise DataError(
            f"The column {name!r} (--time) must hold times from 0 on, and row {row} holds {values[row]:g}; count from an earlier day, or check which column is the time."
        )
    return values


def _events(name: str, column: pd.Series) -> np.ndarray:
    """The events of survival data as 0 and 1."""
    _refuse_gaps(name, column, "--event")
    known = {0: 0, 1: 1, "0": 0, "1": 1, "false": 0, "true": 1}
    held = [known.get(v.lower() if isinstance(v, str) else v) for v in column.tolist()]
    if None in held:
        strange = column.tolist()[held.index(None)]
        raise DataError(
            f"The column {name!r} (--event) must hold 1 where the event was seen and 0 where the row is censored (or True and False), and it holds {strange!r}; name another column, or write it so."
        )
    return np.array(held, dtype=float)


def _refuse_gaps(name: str, column: pd.Series, role: str) -> None:
    absent = column.isna().to_numpy()
    if absent.any():
        several = f" ({int(absent.sum())} in the table)" if absent.sum() > 1 else ""
        raise DataError(
            f"The column {name!r} ({role}) has a missing value in row {int(absent.argmax())}{several}; drop every row without it."
        )
