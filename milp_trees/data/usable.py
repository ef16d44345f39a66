"""Which columns of a table can be features, and what is done with those of very many categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data import categories
from milp_trees.data.problems import Problem, TableProblems, identifiers
from milp_trees.data.read import Table
from milp_trees.data.role_problems import is_measured
from milp_trees.data.roles import Columns
from milp_trees.data.table_columns import kind_of

if TYPE_CHECKING:
    import pandas as pd


def usable(
    table: Table,
    given: Columns,
    features: Sequence[str],
    meaning: Mapping[str, Any],
    most: int | None,
) -> tuple[list[str], list[str], dict[str, Any]]:
    """The columns that can be features."""
    stored = given.stored.get("features")
    found = problems(table, given, features, most)
    taken = {
        c for names in meaning.values() for c in ([names] if isinstance(names, str) else names)
    }
    found += [p for p in table.problems if p.column in taken and p.column not in features]
    many = many_categories(table.frame, given, features, most)
    if stored is not None:  # what was used then is used now
        found = [p for p in found if p.column not in stored and p.column not in many]
    bad = {p.column: p.what for p in found}
    whole = [p for p in found if p.column in taken]
    if whole or (found and not given.reading.ignore_bad_columns and stored is None):
        raise TableProblems(str(table.source.get("path", "the table")), found)
    kept = [c for c in features if c not in bad]
    if not kept:
        raise TableProblems(str(table.source.get("path", "the table")), found)
    if not bad or not given.reading.ignore_bad_columns:
        return kept, many, {}
    return kept, [c for c in many if c not in bad], {"left_out": bad}


def problems(
    table: Table, given: Columns, features: Sequence[str], most: int | None
) -> list[Problem]:
    """All that keeps columns from being features, in the order of the columns."""
    frame = table.frame
    wanted = set(given.features)
    named = ("has the same name", "has no name")  # columns that may be meant
    repeated = {p.column for p in table.problems if p.what.startswith(named)} & wanted
    found = [p for p in table.problems if p.column in features and p.column not in repeated]
    spoken = {p.column for p in found}
    found += identifiers(frame, [c for c in features if c not in spoken], wanted)
    spoken |= {p.column for p in found}
    for name in features:
        if name not in spoken:
            found += _of_column(name, frame[name], most, given.reading.categories)
    order = {name: k for k, name in enumerate(features)}
    return sorted(found, key=lambda p: order[p.column])


def _of_column(name: str, column: pd.Series, most: int | None, how: str) -> list[Problem]:
    """The problem of one column, if it has one."""
    column = column.dropna()  # the binary features answer for missing values
    if column.empty:
        return []
    try:
        kind = kind_of(name, column)
    except DataError as error:
        what, _, remedy = (
            str(error).removeprefix(f"The column {name!r} ").rstrip(".").partition("; ")
        )
        return [Problem(name, what, remedy)]
    if kind == "numbers":
        numbers = column.to_numpy(dtype=float)
        if not np.isfinite(numbers).all():
            row = int(column.index[np.isfinite(numbers).argmin()])
            return [Problem(name, f"is infinite in row {row}", "replace the value, drop the row")]
    if kind != "text" or most is None or how != "refuse":
        return []
    found = column.astype(str).unique()
    if len(found) <= most:
        return []
    return [
        Problem(
            name,
            f"holds {len(found)} different texts (for example {min(found)!r}), and at most {most} become categories",
            f"raise --max-categories, or say --categories target (their share of each class, out of fold) or --categories hash ({most} groups)",
        )
    ]


def many_categories(
    frame: pd.DataFrame, given: Columns, features: Sequence[str], most: int | None
) -> list[str]:
    """The columns of text that have too many values and are to be replaced."""
    if given.stored:
        return [c for c in features if c in given.stored.get("categories", {})]
    if most is None or given.reading.categories == "refuse":
        return []
    texts = [c for c in features if frame[c].dtype.kind not in "biufM"]
    return [c for c in texts if kind_of(c, frame[c]) == "text" and frame[c].nunique() > most]


def regroup(
    frame: pd.DataFrame,
    features: list[str],
    many: Sequence[str],
    given: Columns,
    most: int,
    y: Any,
    train: np.ndarray,
) -> tuple[pd.DataFrame, list[str], dict[str, Any]]:
    """Replace columns of many categories by columns that trees can ask.

    Parameters
    ----------
    frame : DataFrame
    features : list of str
    many : sequence of str
        The columns that are replaced.
    given : Columns
        Its `reading` says by what they are replaced.
    most : int
        Number of groups of `hash`.
    y : array of shape (n,) or None
        Classes, for `target`.
    train : array of int
        Training rows.

    Returns
    -------
    frame : DataFrame
    features : list of str
    described : dict
        Nothing, or `categories`, the maps by which another table is changed alike, and `regrouped`,
        what may be lost by it.

    Raises
    ------
    DataError
        `target` is asked for, and the data have no target.
    """
    if not many:
        return frame, features, {}
    how = given.reading.categories
    if how == "target" and y is None:
        raise DataError(
            f"The values of {many[0]!r} cannot be grouped by a target, because the data have none; say categories='hash' (--categories hash)."
        )
    if how == "target" and is_measured(y, len(y)):
        raise DataError(
            f"The values of {many[0]!r} are grouped by shares of classes, and the target holds measured numbers; say categories='hash' (--categories hash)."
        )
    maps: dict[str, Any] = {}
    new: dict[str, Any] = {}
    for name in many:
        if how == "hash":
            before = given.stored.get("categories", {}).get(name)
            maps[name] = before or categories.groups(most)
        else:
            maps[name], values = categories.shares(frame[name], np.asarray(y), train)
            names = categories.columns_of(name, maps[name])
            new |= {n: values[:, j] for j, n in enumerate(names)}
    hashed = categories.made(frame, {n: m for n, m in maps.items() if "groups" in m})
    out = hashed.assign(**new)
    kept = [n for c in features for n in (categories.columns_of(c, maps[c]) if c in maps else [c])]
    return out, kept, {"categories": maps, "regrouped": categories.threshold_note(many, how)}
