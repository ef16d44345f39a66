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
            wrong = measurement(held) or _no_classes(held)
            if wrong:
                out.append(RoleProblem(name, wrong, _ANOTHER, role))
    return out


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
