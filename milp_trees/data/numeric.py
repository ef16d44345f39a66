"""`load_numeric`: a Dataset whose numeric columns are kept as they are.

Ensembles need it, because they have thresholds of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.builtin import BUILTIN
from milp_trees.data.checks import check_columns, check_finite
from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.data.generate import GENERATORS
from milp_trees.data.load import (
    _parts,
    _split,
    check_any_weight,
    meanings,
    read_named,
)
from milp_trees.data.problems import Problem
from milp_trees.data.read import frame_table, is_frame
from milp_trees.data.roles import Columns
from milp_trees.data.scales import spelled
from milp_trees.data.table_columns import as_frame, check_complete, kind_of, plain
from milp_trees.data.targets import check_classes
from milp_trees.data.teachers import check_teachers
from milp_trees.data.usable import regroup, usable

if TYPE_CHECKING:
    import pandas as pd

#: Most different values of a text column if nothing else is stated.
MOST_LEVELS = 100


def load_numeric(
    name: str | Path | pd.DataFrame,
    *,
    test_size: float | None = None,
    seed: int = 0,
    regression: bool = False,
    **columns: Any,
) -> Dataset:
    """A Dataset with numeric columns from a file, a built-in name or a table in memory.

    Columns of categories, ordered ones too, become one 0/1 column per value (`color == red`). `dataset.source["feature_of"]`
    gives the feature that each of these columns is part of, in the form that
    `mt.read_ensemble(model, features=…)` expects.

    Parameters
    ----------
    name : str, Path, DataFrame or array
        A file, the name of a built-in data set (`breast-cancer`, `iris`, …), or a table. The
        columns of an array are called `"0"`, `"1"`, ….
    test_size : float, optional
        Share of rows to leave out; `load_numeric_split` returns these rows too.
    seed : int, default=0
        Seed of the split.
    regression : bool, default=False
        Whether the target is a number to predict; otherwise it is a class.
    **columns
        `target="y"`, `weights=`, `features=`, `drop=`, and how the table is read, as for `mt.load`.

    Returns
    -------
    Dataset
        All rows, or the training rows; `numeric` has shape (n, d), and `X` has no columns.

    Examples
    --------
    >>> import milp_trees as mt
    >>> mt.load_numeric("iris")
    Dataset(150 rows × 0 features, 4 numeric columns, 3 classes)
    """
    return load_numeric_split(
        name, test_size=test_size, seed=seed, regression=regression, **columns
    )[0]


def load_numeric_split(
    name: str | Path | pd.DataFrame,
    *,
    test_size: float | None = None,
    seed: int = 0,
    regression: bool = False,
    **columns: Any,
) -> tuple[Dataset, Dataset | None]:
    """Training and test rows with numeric columns, from a file or a built-in name."""
    if isinstance(name, (np.ndarray, list)):
        name = as_frame(name)
    named = isinstance(name, (str, Path))
    if named and str(name).partition(":")[0] in GENERATORS and not Path(name).exists():
        raise DataError(
            f"{name} is made of binary features and has no numeric columns; name a table, or one of {', '.join(BUILTIN)}."
        )
    return load_numeric_columns(name, Columns.of(columns), regression, test_size, seed)


def load_numeric_columns(
    name: str | Path | pd.DataFrame,
    given: Columns,
    regression: bool = False,
    test_size: float | None = None,
    seed: int = 0,
) -> tuple[Dataset, Dataset | None]:
    """Like `load_numeric_split`, for columns that are stated already."""
    table = (frame_table if is_frame(name) else read_named)(
        name,
        given.target,
        labels=[given.group] if given.group else [],
        numeric_target=regression,
        label=given.label,
        reading=given.reading,
    )
    check_teachers(given, "is for policies, and a table for an ensemble has none; leave it out")
    if given.reading.category_sets:
        raise DataError(
            "category_sets is for tables of binary features, and an ensemble gets a column of 0 and 1 per category; leave it out."
        )
    meaning, features = meanings(table, given)
    frame = table.frame
    dated = [
        Problem(
            c, "holds dates, which ensembles cannot split on", "make a number of it, such as days"
        )
        for c in features
        if plain(frame[c]).dtype.kind == "M"
    ]
    table = replace(table, problems=(*table.problems, *dated))
    most = given.reading.max_categories or MOST_LEVELS
    features, many, left_out = usable(table, given, features, meaning, most)
    check_complete(frame[features])  # members of ensembles have no answer for missing values
    fields = {
        key: frame[c].to_numpy() for key, c in meaning.items() if key in ("y", "weights", "groups")
    }
    if not regression:
        check_classes(fields.get("y"), meaning.get("y"))
    elif fields.get("y") is not None and np.asarray(fields["y"]).dtype.kind not in "biuf":
        raise DataError(
            f"The target {meaning['y']!r} holds text; a number is expected. Leave out --regression, or name another column with --target."
        )
    train, test = _split(len(frame), test_size, seed)
    y = None if regression else fields.get("y")
    frame, features, regrouped = regroup(frame, features, many, given, most, y, train)
    numbers, names, feature_of = _as_numbers(frame, features)
    source = {
        **table.source,
        **table.read_as,
        "numeric": True,
        "regression": regression,
        "columns": given.to_json() | {"target": meaning.get("y")},
        "features": features,
        "feature_of": feature_of,
        **left_out,
        **regrouped,
    }
    whole = Dataset(
        np.zeros((len(frame), 0), dtype=np.uint8),
        numeric=numbers,
        columns=names,
        source=source,
        **fields,
    )
    check_any_weight(fields.get("weights"), train)
    return _parts(whole, train, test, source, test_size, seed)


def _as_numbers(
    frame: pd.DataFrame, features: list[str]
) -> tuple[np.ndarray, list[str], dict[str, str]]:
    """Numeric columns, their names, and for each 0/1 column of a text its original column."""
    parts, names, feature_of = [], [], {}
    for c in features:
        column = frame[c]
        if kind_of(c, column) not in ("text", "ordered"):
            parts.append(column.to_numpy(dtype=float))
            names.append(c)
            check_finite(c, parts[-1])
            continue
        texts = spelled(column)
        for level in sorted(set(texts.tolist())):
            parts.append((texts == level).astype(float))
            names.append(f"{c} == {level}")
            feature_of[names[-1]] = c
    return np.column_stack(parts), names, feature_of


def coded(frame: pd.DataFrame, columns: Sequence[str], feature_of: Mapping[str, str]) -> np.ndarray:
    """Rows of another table in the columns that `load_numeric` made, shape (n, d).

    Parameters
    ----------
    frame : DataFrame
        The other table.
    columns : sequence of str
        Names of numeric columns, or `color == red` for one value of a text column.
    feature_of : mapping
        `source["feature_of"]` of the first table.

    Returns
    -------
    array of shape (n, d)

    Raises
    ------
    DataError
        A column is absent, or holds something other than numbers.
    """
    check_columns((feature_of.get(name, name) for name in columns), frame.columns, "ensemble")
    parts = []
    for name in columns:
        column = feature_of.get(name, name)
        if name != column:
            held = BinaryFeature(column, "==", name.removeprefix(f"{column} == "), "no")
            parts.append(held.evaluate(frame[column]).astype(float))
            continue
        try:
            parts.append(frame[column].to_numpy(dtype=float))
            check_finite(column, parts[-1])
        except DataError:
            raise
        except (TypeError, ValueError):
            raise DataError(
                f"The column {column!r} holds text; the ensemble was fitted on numbers."
            ) from None
    return np.column_stack(parts)
