"""`load`: a Dataset from a file or a built-in name.

The Dataset also holds everything that `verify` needs to read the data again.
"""

from __future__ import annotations

import difflib
import fnmatch
import hashlib
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError, UnknownName
from milp_trees.data.action_columns import actions_of
from milp_trees.data.dataset import Dataset
from milp_trees.data.read import Table, column, frame_table, is_frame, read_table
from milp_trees.data.roles import Columns
from milp_trees.data.table_columns import as_frame
from milp_trees.data.targets import target_fields
from milp_trees.data.teachers import check_teachers, estimated
from milp_trees.data.usable import regroup, usable

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.binarize import Binarizer

#: Role of a column → field of the Dataset.
ROLES = {
    "group": "groups",
    "factor": "factor",
    "weights": "weights",
    "treatment": "treatments",
    "outcome": "outcomes",
    "propensity": "propensities",
}


def load(
    name: str | Path | pd.DataFrame,
    *,
    binarizer: str | Binarizer = "auto",
    test_size: float | None = None,
    seed: int = 0,
    **columns: Any,
) -> Dataset:
    """A Dataset from a file, a table in memory, or a built-in name.

    Parameters
    ----------
    name : str, Path or DataFrame
        A file, a DataFrame of pandas, polars or pyarrow, whose last column is the target unless
        `target=` names another, a built-in name (`breast-cancer`, `iris`, `wine`, `digits`), or generated data
        (`planted:rows=200,depth=2`). Of the rule files of CORELS it is the one with the ending
        `.out`; the labels are read from the one beside it.
    binarizer : str or Binarizer, default="auto"
        How columns become binary features: `auto`, `midpoints`, `quantiles:N`, `tree-guess`, or a
        Binarizer, which may be fitted already.
    test_size : float, optional
        Share of rows to leave out; `load_split` returns these rows too.
    seed : int, default=0
        Seed of the split.
    **columns
        `target="y"`, `targets=` (several numbers), `event=` and `time=` (survival), `group=`, `factor=`, `weights=`, `treatment=`, `outcome=`, `propensity=`,
        `values=`, `propensity_model=`, `outcome_model=`, `features=`, `drop=`, `label=`: see `Columns`. `sep=`, `decimal=`, `encoding=`,
        `dates=`, `text=`, `max_categories=`, `categories=`, `category_sets=`,
        `ignore_bad_columns=`: how the table is
        read, see `Reading`; `mt.look` shows what is found without them.

    Returns
    -------
    Dataset
        All rows, or the training rows.

    Examples
    --------
    >>> import milp_trees as mt
    >>> mt.load("iris", binarizer="quantiles:4")
    Dataset(150 rows × 12 features, 3 classes)
    """
    return load_split(name, binarizer=binarizer, test_size=test_size, seed=seed, **columns)[0]


def load_split(
    name: str | Path | pd.DataFrame,
    *,
    binarizer: str | Binarizer = "auto",
    test_size: float | None = None,
    seed: int = 0,
    **columns: Any,
) -> tuple[Dataset, Dataset | None]:
    """Training and test rows of a file, a table in memory, or a built-in data set."""
    from milp_trees.data.generate import GENERATORS, generated

    if isinstance(name, (np.ndarray, list)):
        name = as_frame(name)
    if is_frame(name):
        return load_columns(name, Columns.of(columns), binarizer, test_size, seed)
    if not isinstance(name, (str, Path)):
        raise DataError(f"Give a file, a DataFrame or the name of a data set, not {name!r}.")
    if str(name).split(":")[0] in GENERATORS:
        ignored = [k for k, v in columns.items() if v] + (
            ["binarizer"] if binarizer != "auto" else []
        )
        if ignored:
            raise DataError(
                f"Generated data are binary features and labels already; leave out {', '.join(ignored)}."
            )
        whole = generated(str(name))
        train, test = _split(whole.n_rows, test_size, seed)
        return _parts(whole, train, test, whole.source, test_size, seed)
    return load_columns(name, Columns.of(columns), binarizer, test_size, seed)


def load_columns(
    name: str | Path | pd.DataFrame,
    given: Columns,
    binarizer: str | Binarizer = "auto",
    test_size: float | None = None,
    seed: int = 0,
) -> tuple[Dataset, Dataset | None]:
    """Like `load_split`, for a file or a built-in table whose columns are stated already."""
    from milp_trees.data.binarize import Binarizer

    check_teachers(given)
    table = (frame_table if is_frame(name) else read_named)(
        name,
        given.target,
        labels=[c for c in (given.group, given.factor, given.treatment) if c],
        numeric_target=not has_target(given),
        label=given.label,
        reading=given.reading,
    )
    frame = table.frame
    meaning, features = meanings(table, given)
    chosen = binarizer if isinstance(binarizer, Binarizer) else Binarizer.from_name(binarizer)
    fitted = hasattr(chosen, "rules_")
    for name in () if given.stored else ("max_categories", "category_sets"):
        stated = getattr(given.reading, name)
        if stated is not None and chosen is binarizer:
            raise DataError(
                f"{name} is given beside a Binarizer, which has its own; give it to one of them."
            )
        if stated is not None:
            setattr(chosen, name, stated)
    features, many, left_out = usable(
        table, given, features, meaning, None if fitted else chosen.max_categories
    )
    several = ("values", "targets")
    fields = {key: frame[c].to_numpy() for key, c in meaning.items() if key not in several}
    if meaning.get("values"):
        fields["values"] = frame[list(meaning["values"])].to_numpy()
        fields["actions"] = actions_of(meaning["values"], fields.get("treatments"), table.header)
    if table.classes and "y" in fields:  # they keep the order of the file
        fields["y"] = np.array([table.classes.index(v) for v in fields["y"]])
        fields["classes"] = table.classes
    fields |= target_fields(frame, meaning, given)
    train, test = _split(len(frame), test_size, seed)
    check_any_weight(fields.get("weights"), train)
    frame, features, regrouped = regroup(
        frame, features, many, given, chosen.max_categories, fields.get("y"), train
    )
    fitted_on = None
    if not fitted:
        fitted_on = frame[features] if test is None else frame[features].iloc[train]
        y = fields.get("y")
        y = fields.get("targets") if y is None else y
        chosen._fit_among(fitted_on, None if y is None else y[train], frame[features])
    others = [str(c) for c in table.frame.columns if c != meaning.get("y")]
    source = {
        **table.source,
        **table.read_as,
        "columns": given.to_json() | {"target": meaning.get("y")},
        "features": features,
        # Positions in cost files count the columns of the table, also those that are left out.
        **({} if others == features else {"table_columns": others}),
        "width": table.frame.shape[1],
        **left_out,
        **regrouped,
        "binarizer": {**(chosen.to_json() if fitted else chosen.described()), "given": fitted},
    }
    whole = chosen.dataset(
        frame[features],
        fitted_on=fitted_on,
        **({"open_thresholds": False} if fitted else {}),
        group_column=meaning.get("groups"),
        source=source,
        **fields,
    )
    parts = _parts(whole, train, test, dict(whole.source), test_size, seed)
    return estimated(given, frame[features], parts, (train, test))


def read_named(name: str | Path, target: str | None = None, **options: Any) -> Table:
    """The table of a file or a built-in name."""
    from milp_trees.data.builtin import BUILTIN, builtin
    from milp_trees.data.engine_sources import needs_engine
    from milp_trees.data.generate import GENERATORS

    if str(name) in BUILTIN:
        if options.get("label") is not None:
            raise DataError(f"--label belongs to a file of rules (.out), and {name} is built in.")
        frame, own = builtin(str(name))
        digest = hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
        return Table(
            frame,
            own if target is None else column(frame, target, "--target"),
            True,
            {"path": str(name), "sha256": digest},
        )
    text = str(name)
    if needs_engine(text):
        raise DataError(
            f"{text} is a folder, a pattern or a database, whose rows an engine groups: mt.load_grouped({text!r}, …); a single file is read as it is."
        )
    if not _find_quietly(Path(text)) and "/" not in text and "." not in text:
        known = [*BUILTIN, *GENERATORS]
        close = difflib.get_close_matches(text, known, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise UnknownName(
            f"{text!r} is neither a file nor a built-in data set.{hint} Built in: {', '.join(known)}."
        )
    return read_table(name, target, **options)


def _find_quietly(path: Path) -> bool:
    try:
        return path.exists() or (bool(path.name) and path.with_name(path.name + ".gz").exists())
    except (OSError, ValueError):  # a name that no file can have
        return False


def has_target(given: Columns) -> bool:
    """Whether a column is the target; data for a policy have one only if it is named."""
    return given.target is not None or not (given.values or given.treatment or given.predicted)


def meanings(table: Table, given: Columns) -> tuple[dict[str, Any], list[str]]:
    """The column of every field of the Dataset, and the feature columns."""
    frame = table.frame
    meaning: dict[str, Any] = {
        ROLES[r]: column(frame, getattr(given, r), f"--{r}")
        for r in ROLES
        if getattr(given, r) is not None
    }
    if given.values:
        meaning["values"] = tuple(column(frame, c, "--values") for c in given.values)
    if has_target(given):
        meaning["y"] = table.target
    if given.predicted:
        words = ("--time", "--event") if given.time else ("--targets",) * len(given.targets)
        named = zip(given.predicted, words, strict=True)
        meaning["targets"] = tuple(column(frame, c, word) for c, word in named)
    taken = {meaning.get(k) for k in ("y", "weights", "treatments", "outcomes", "propensities")} | {
        c for k in ("values", "targets") for c in meaning.get(k, ())
    }
    names = [str(c) for c in frame.columns]
    wanted = _matching(names, given.features, "--features") if given.features else names
    unwanted = _matching(names, given.drop, "--drop")
    features = [c for c in wanted if c not in taken and c not in unwanted]
    if not features:
        raise DataError(
            "No column is left to split on; name fewer with --drop, or others with --features."
        )
    return meaning, features


def _matching(names: list[str], patterns: Sequence[str], role: str) -> list[str]:
    out: list[str] = []
    for pattern in patterns:
        found = [n for n in names if n == pattern] or fnmatch.filter(names, pattern)
        if not found:
            close = difflib.get_close_matches(pattern, names, n=1)
            raise DataError(
                f"{role} names {pattern!r}, which matches no column.{f' Did you mean {close[0]!r}?' if close else ''}"
            )
        out += found
    return [n for n in names if n in set(out)]


def check_any_weight(weights: Any, train: np.ndarray) -> None:
    """Raise DataError if all training rows have the weight 0."""
    if weights is not None and not np.asarray(weights)[train].any():
        raise DataError("All training rows have the weight 0; at least one must count.")


def _split(n: int, test_size: float | None, seed: int) -> tuple[np.ndarray, np.ndarray | None]:
    if test_size is None:
        return np.arange(n), None
    if not 0 < test_size < 1:
        raise DataError(
            f"test_size must lie between 0 and 1 (a share of the rows); got {test_size}."
        )
    if not 0 <= seed < 2**32:
        raise DataError(
            f"The seed of a split must be a whole number from 0 to 4294967295; got {seed}."
        )
    if not 1 <= math.ceil(n * test_size) < n:
        raise DataError(
            f"test_size {test_size} leaves no training row of {n}; choose a smaller share."
        )
    # The same rows as `train_test_split` of scikit-learn, which takes a second to import.
    order = np.random.RandomState(seed).permutation(n)
    n_test = math.ceil(n * test_size)
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def _parts(
    whole: Dataset,
    train: np.ndarray,
    test: np.ndarray | None,
    source: Mapping[str, Any],
    test_size: float | None,
    seed: int,
) -> tuple[Dataset, Dataset | None]:
    if test is None:
        return whole, None
    split = {"test_size": test_size, "seed": seed}
    return (
        whole.subset(train).with_(source={**source, "split": {**split, "part": "train"}}),
        whole.subset(test).with_(source={**source, "split": {**split, "part": "test"}}),
    )
