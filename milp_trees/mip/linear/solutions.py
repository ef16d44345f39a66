"""Solution files in MIPLIB's format: the objective, then a line per column that is not zero."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.writing import write_whole
from milp_trees.mip.linear.files import FileModel
from milp_trees.mip.linear.lp import spelled

#: The beginning of the first line.
OBJECTIVE = "=obj= "


def write_solution(file: FileModel, point: np.ndarray, path: Path) -> None:
    """Write a point of a model file.

    Parameters
    ----------
    file : FileModel
    point : array of shape (number of columns of the file,)
    path : Path
    """
    lines = [OBJECTIVE + spelled(file.model.objective(point))]
    lines += [
        f"{name} {spelled(value)}"
        for name, value in zip(file.columns, point.tolist(), strict=True)
        if value
    ]
    write_whole(path, "\n".join(lines) + "\n")


def read_solution(path: Path, columns: Sequence[str]) -> tuple[float, np.ndarray]:
    """The stated objective and the point of a solution file.

    Parameters
    ----------
    path : Path
    columns : sequence of str
        Names of the columns of the model; a column that is not in the file is zero.

    Returns
    -------
    float, array of shape (number of columns,)

    Raises
    ------
    DataError
        A line is not understood, or names a column that the model does not have or that came
        before.
    """
    place = {name: j for j, name in enumerate(columns)}
    first, *lines = path.read_text(encoding="utf-8", errors="replace").splitlines() or [""]
    if not first.startswith(OBJECTIVE):
        raise DataError(
            f"{path.name} must begin with '{OBJECTIVE}NUMBER'; its line 1 is {first!r}."
        )
    stated = number_at(first.removeprefix(OBJECTIVE), path, 1)
    point, seen = np.zeros(len(place)), set()
    for i, line in enumerate(lines, 2):
        name, _, text = line.strip().partition(" ")
        if name not in place:
            raise DataError(f"{path.name}, line {i}: the model has no column {name!r}.")
        if name in seen:
            raise DataError(f"{path.name}, line {i}: {name!r} has a value already.")
        seen.add(name)
        point[place[name]] = number_at(text, path, i)
    return stated, point


def number_at(text: str, path: Path, line: int) -> float:
    """The finite number in a line of a solution file."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{path.name}, line {line}: {text.strip()!r} is no number.")
    return value
