"""Columns of a table with the value of every action, and the treatments that they belong to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import as_labels, check_no_gap, some
from milp_trees.data.names import spelled


def actions_of(columns: Sequence[str], treatments: Any, header: bool) -> tuple[Any, ...]:
    """Names of the actions that the value columns stand for.

    Columns that are called like the treatments, alone or within a name that is otherwise the same
    in all of them (`cost_a`, `cost_b`), are theirs. Otherwise they are those of the treatments in
    their order if there are as many, and without treatments they have the names of the columns, or
    positions if the table has no header.

    Parameters
    ----------
    columns : sequence of str
        Columns with the value or cost of every action.
    treatments : array of shape (n,) or None
        Observed treatments.
    header : bool
        Whether the names of columns come from the table; otherwise they are positions.

    Returns
    -------
    tuple
        An action for each column.

    Raises
    ------
    DataError
        Treatments and columns do not fit together, or a treatment is missing.
    """
    if treatments is None:
        return tuple(columns) if header else tuple(range(len(columns)))
    check_no_gap(treatments, "treatments")
    levels = np.unique(as_labels(treatments)).tolist()
    named = _of_treatments(columns, levels) if header else None
    if named is not None:
        return named
    if len(levels) == len(columns):
        return tuple(levels)
    if all(isinstance(t, int) and 0 <= t < len(columns) for t in levels):
        return tuple(range(len(columns)))
    given = ", ".join(map(str, levels))
    raise DataError(
        f"--values names {len(columns)} columns, but there are {len(levels)} treatments ({given}); name one column per treatment, in their order."
    )


def _of_treatments(columns: Sequence[str], levels: Sequence[Any]) -> tuple[Any, ...] | None:
    """The treatment of every column, if the names of the columns tell them; None if they do not."""
    of = {spelled(level): level for level in levels}
    for text in sorted(of, key=len, reverse=True):
        for at in range(len(columns[0]) - len(text) + 1):
            if not columns[0].startswith(text, at):
                continue
            before, after = columns[0][:at], columns[0][at + len(text) :]
            whose = {f"{before}{name}{after}": level for name, level in of.items()}
            if set(whose) == set(columns):
                return tuple(whose[c] for c in columns)
    if shared := [c for c in columns if c in of]:
        raise DataError(
            f"--values names the column {shared[0]!r}, which is a treatment, beside columns that are none ({some(c for c in columns if c not in of)}); name one column per treatment ({some(of)})."
        )
    return None
