"""What keeps columns of a table from being used: all of it in one error, with a remedy for each."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import nested

if TYPE_CHECKING:
    import pandas as pd

#: Fewer rows than this do not tell an identifier from a short list of different values, and fewer
#: than this do not tell the numbers of rows from a measurement.
FEW_ROWS, FEW_COUNTED = 20, 50
#: Names that columns of identifiers have, alone or as their last word.
_NAMES = re.compile(
    r"(?:^|[\W_])(?:id|ids|idx|index|key|uuid|guid|nr|no|row|rowid|rownames|rownumber|unnamed: \d+)$"
    r"|[a-z](?:ID|Id|Nr|No)$|^column \d+$",
)


@dataclass(frozen=True)
class Problem:
    """Why a column cannot be used as it is, and what to do about it.

    Parameters
    ----------
    column : str
    what : str
        What is wrong, as the rest of a sentence that begins with the column.
    remedy : str
        What the user can do, beside leaving the column out.
    """

    column: str
    what: str
    remedy: str = ""

    def __str__(self) -> str:
        remedy = f"{self.remedy}, or " if self.remedy else ""
        return f"The column {self.column!r} {self.what}; {remedy}leave it out with --drop {_quoted(self.column)}."


class TableProblems(DataError):
    """Columns of a table cannot be used as they are; one line for each says what to do.

    Parameters
    ----------
    name : str
        The table.
    problems : sequence of Problem
    """

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        self.name, self.problems = name, tuple(problems)
        lines = [str(problem) for problem in problems]
        if len(lines) > 1:
            head = f"{len({p.column for p in problems})} columns of {name} cannot be used as they are (--ignore-bad-columns leaves them out)."
            lines = [head, *(f"  {line}" for line in lines)]
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[Any, ...]:
        return TableProblems, (self.name, self.problems)


def identifiers(
    frame: pd.DataFrame, columns: Iterable[str], wanted: Collection[str]
) -> list[Problem]:
    """Columns that name the rows: a tree on them says nothing about other rows.

    Such a column has another value in every row. It holds texts, or whole numbers that count the
    rows from 0 or 1, or whole numbers under a name such as `customer_id`.
    """
    out = []
    for name in columns:
        if len(frame) >= FEW_ROWS and name not in wanted:
            why = _names_rows(str(name), frame[name])
            if why:
                out.append(
                    Problem(
                        str(name),
                        f"looks like an identifier: {why}",
                        f"name it with --features {_quoted('*,' + str(name))} if it is meant",
                    )
                )
    return out


def _names_rows(name: str, column: pd.Series) -> str:
    """Why a column is an identifier; empty if it is none."""
    from pandas.api import types

    if types.is_integer_dtype(column) and not types.is_bool_dtype(column):
        values = column.to_numpy()
        if counts_up(column) and values[0] in (0, 1) and len(values) >= FEW_COUNTED:
            return f"it counts the rows from {values[0]}"
        if _NAMES.search(name) and len(np.unique(values)) == len(values):
            return "it has this name and another whole number in every row"
    elif (column.dtype == object and not nested(column)) or types.is_string_dtype(column):
        held = column.dropna()
        if len(held) >= FEW_ROWS and held.head(FEW_ROWS).is_unique and held.is_unique:
            which = "every row" if len(held) == len(column) else "every row that has one"
            return f"it has another text in {which}, such as {str(held.iloc[0])!r}"
    return ""


def counts_up(column: pd.Series) -> bool:
    """Whether a column holds whole numbers, each one more than that of the row before."""
    if column.dtype.kind not in "iu" or len(column) < FEW_ROWS:
        return False
    values = column.to_numpy()
    return bool(values[1] == values[0] + 1 and (values[1:] == values[:-1] + 1).all())


def _quoted(text: str) -> str:
    """A text as a shell takes it."""
    return text if re.fullmatch(r"[\w.,-]+", text) else "'" + text.replace("'", "'\\''") + "'"
