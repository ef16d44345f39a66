"""What keeps a column from having the role that it is given: target, weights, group and others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data.checks import nested
from milp_trees.data.problems import FEW_ROWS, Problem

if TYPE_CHECKING:
    import pandas as pd

#: More different numbers than this, not all whole, are a measurement and no classes.
MOST_CLASSES = 50
#: As many different whole numbers may be classes; more are measured if there are more of them than
#: the square root of the number of rows.
FEW_NUMBERS = 20
#: What the user can do about a target that has no classes.
_ANOTHER = "name another column with --target"


@dataclass(frozen=True)
class RoleProblem(Problem):
    """Why a column cannot have its role; to leave it out is no remedy.

    Parameters
    ----------
    column, what, remedy : str
        As for `Problem`.
    role : str
        The role.
    """

    role: str = "target"

    def __str__(self) -> str:
        return f"The column {self.column!r} ({self.role}) {self.what}; {self.remedy}."


def role_problems(frame: pd.DataFrame, roles: Mapping[str, str]) -> list[Problem]:
    """All that keeps columns from their roles."""
    out: list[Problem] = []
    for name, role in roles.items():
        column = frame[name]
        absent = column.isna().to_numpy()
        if absent.all():
            out.append(RoleProblem(name, "has no value at all", f"name another {role}", role))
            continue
        if several := nested(column):
            out.append(
                RoleProblem(name, f"holds {several} in single rows", f"name another {role}", role)
            )
            continue
        if absent.any():
            first = f"row {int(absent.argmax())}"
            where = first if absent.sum() == 1 else f"{absent.sum()} rows, the first is {first}"
            out.append(
                RoleProblem(name, f"is missing in {where}", "drop every row without it", role)
            )
        if role == "target":
            held = column[~absent]
            values = held.to_numpy()
            numbers = values.dtype.kind in "iuf" and is_measured(values, len(column))
            wrong = "" if numbers else measurement(held) or _no_classes(held)
            if wrong:
                out.append(RoleProblem(name, wrong, _ANOTHER, role))
    return out


def is_measured(values: Any, rows: int) -> bool:
    """Whether the different values of a target are measured numbers, and no classes.

    They are if some of them have fractions and there are three of them at least, or if they are
    whole numbers, more than `FEW_NUMBERS` and more than the square root of the number of rows.
    Texts and truth values never are.

    Parameters
    ----------
    values : array-like
        The values, each at least once, without gaps.
    rows : int
        Number of rows.

    Returns
    -------
    bool
    """
    array = np.asarray(values)
    if array.dtype.kind == "O":
        held = array.tolist()
        if not all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in held):
            return False
        array = np.asarray(held, dtype=float)
    if array.dtype.kind not in "iuf":
        return False
    found = np.unique(array)
    if array.dtype.kind == "f" and (found != np.rint(found)).any():
        return len(found) > 2
    return len(found) > FEW_NUMBERS and len(found) ** 2 > rows


def measurement(held: Any) -> str:
    """Why values without gaps are a measurement and no classes; empty if they may be classes."""
    values = np.asarray(held)
    if values.dtype.kind != "f":
        return ""
    values = np.unique(values)
    if len(values) <= MOST_CLASSES or (values == np.rint(values)).all():
        return ""
    return f"holds {len(values)} different numbers, and a class is expected"


def _no_classes(held: pd.Series) -> str:
    """Why values without gaps are no classes to learn; empty if they are."""
    distinct = held.nunique()
    if distinct == 1:
        return f"holds one value only ({held.iloc[0]!s}), and there must be two classes at least"
    if distinct == len(held) >= FEW_ROWS:
        return "has another value in every row, so that no class has two rows"
    return ""
