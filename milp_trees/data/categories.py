"""Columns with very many categories, made into columns that trees can ask.

`target` replaces a category by the share of each class among its rows. For a training row these
rows are those of other folds, so its own label has no part in its value; for any other row they are
all training rows. `hash` puts the categories into groups without looking at the target.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

#: Folds of the training rows, and the rows of average shares that every category gets beside its own.
FOLDS, PRIOR = 5, 10
#: Shares are rounded to so many decimals, so that thresholds can be read.
_DECIMALS = 3


def made(frame: pd.DataFrame, maps: Mapping[str, Any]) -> pd.DataFrame:
    """A table with the columns that stored maps make of columns with many categories."""
    new: dict[str, Any] = {}
    for name, stored in maps.items():
        if name in frame.columns:
            new |= _made(name, frame[name], stored)
    return frame.assign(**new)


def _made(name: str, column: pd.Series, stored: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that one map makes."""
    import pandas as pd

    codes, found = pd.factorize(column)
    texts = [str(text) for text in found]
    try:
        if "groups" in stored:
            groups = [
                str(zlib.crc32(t.encode("utf-8", "replace")) % stored["groups"]) for t in texts
            ]
            values = np.array([*groups, None], dtype=object)
            return {f"hash of {name}": values[codes]}
        known, others = stored["shares"], stored["others"]
        table = np.array(
            [*(known.get(t, others) for t in texts), [np.nan] * len(others)], dtype=float
        )
        names = _share_names(name, stored["classes"])
        return {new: table[codes, j] for j, new in enumerate(names)}
    except (KeyError, TypeError, ValueError, ZeroDivisionError, AttributeError) as error:
        raise DataError(
            f"The stored groups of {name!r} are damaged ({type(error).__name__}: {error}); solve again."
        ) from None


def _share_names(name: str, classes: Sequence[Any]) -> list[str]:
    return [f"share of {c} by {name}" for c in classes]


def columns_of(name: str, stored: Mapping[str, Any]) -> list[str]:
    """Names of the columns that a map makes."""
    return [f"hash of {name}"] if "groups" in stored else _share_names(name, stored["classes"])


def made_from(source: Mapping[str, Any]) -> dict[str, str]:
    """The columns that were made from columns of a table, each with the name of that one."""
    maps = source.get("categories", {})
    try:
        return {new: name for name, stored in maps.items() for new in columns_of(name, stored)}
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"The stored groups of categories are damaged ({type(error).__name__}: {error}); solve again."
        ) from None


def groups(size: int) -> dict[str, Any]:
    """The map of `hash`: the number of groups."""
    return {"groups": size}


def shares(
    column: pd.Series, y: np.ndarray, train: np.ndarray
) -> tuple[dict[str, Any], np.ndarray]:
    """The map of `target`, and the shares of all rows.

    Parameters
    ----------
    column : Series of length n
        Texts.
    y : array of shape (n,)
        Classes.
    train : array of int
        The training rows.

    Returns
    -------
    map : dict
        The share of every class by category, from all training rows; of two classes only the last.
    values : array of shape (n, classes in the map)
        From other folds for training rows, and by the map for other rows.
    """
    import pandas as pd

    classes, labels = np.unique(y, return_inverse=True)
    requested = np.arange(len(classes))[1:] if len(classes) == 2 else np.arange(len(classes))
    of_class = (labels[:, None] == requested).astype(float)
    codes, found = pd.factorize(column)
    every, mean = _shares(codes[train], of_class[train], len(found))
    values = np.vstack([every, np.full((1, len(requested)), np.nan)])[codes]
    # This generator gives the same numbers in every version of NumPy.
    fold = np.random.RandomState(0).permutation(len(train)) % FOLDS
    for k in range(FOLDS):
        here, rest = train[fold == k], train[fold != k]
        if len(here) and len(rest):
            inside, _ = _shares(codes[rest], of_class[rest], len(found))
            values[here] = np.where(codes[here, None] < 0, np.nan, inside[codes[here]])
    seen = set(codes[train].tolist()) - {-1}
    stored = {
        "classes": [c.item() if hasattr(c, "item") else c for c in classes[requested]],
        "shares": {str(found[k]): every[k].tolist() for k in sorted(seen)},
        "others": mean.tolist(),
    }
    return stored, values


def _shares(codes: np.ndarray, of_class: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Shares of classes by category, drawn towards those of all rows; and those of all rows."""
    mean = of_class.mean(axis=0)
    rows = codes >= 0
    count = np.bincount(codes[rows], minlength=size)[:, None]
    total = np.column_stack(
        [np.bincount(codes[rows], of_class[rows, j], size) for j in range(of_class.shape[1])]
    )
    return np.round((total + PRIOR * mean) / (count + PRIOR), _DECIMALS), np.round(mean, _DECIMALS)


def threshold_note(names: Sequence[str], how: str) -> str:
    """What a result on such columns may lose, and for what its proof holds."""
    many = ", ".join(names)
    if how == "hash":
        return f"the values of {many} are put into groups by a hash, so another grouping may give a better tree"
    return (
        f"the values of {many} are replaced by shares of classes, for a training row those of other rows only; optimal is meant for these shares, "
        "predictions use the shares among all training rows, and another grouping may give a better tree"
    )
