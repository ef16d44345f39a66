"""What comes with names is laid over an order by its names, and refused if they do not fit.

A DataFrame of costs meets the order of actions, a Series of prices the order of features, a mapping
of weights the order of classes. A DataFrame whose columns are the usual 0, 1, 2, … has no names; like an
array, it is used in its order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import some

#: Stands for "every name must have an entry".
REQUIRED: Any = object()


def as_pandas(given: Any) -> Any:
    """A table or column of polars, pyarrow or a similar library as the pandas object it stands for.

    Arrays become plain ones (`plain_array`); everything else is returned as it is.
    """
    if isinstance(given, np.ndarray):
        return plain_array(given)
    if given is None or isinstance(given, (str, list, tuple, Mapping)):
        return given
    library = type(given).__module__.partition(".")[0]
    if library == "pandas":
        return given
    if library == "polars" and hasattr(given, "collect"):  # a LazyFrame
        given = given.collect()
    if not hasattr(given, "to_pandas"):
        return given
    try:
        return given.to_pandas()
    except ImportError:
        raise DataError(
            f"A {type(given).__name__} of {library} is read with pyarrow; install it with: pip install 'milp-trees[parquet]'"
        ) from None


def plain_array(array: np.ndarray) -> np.ndarray:
    """An array whose masked entries are missing ones, in the byte order of this machine.

    scikit-learn forgets masks, and pandas takes no foreign byte order, which many instruments write.
    """
    if isinstance(array, np.ma.MaskedArray):
        if not np.ma.getmaskarray(array).any():
            array = np.asarray(array)
        elif array.dtype.kind in "biuf":
            array = np.ma.filled(array.astype(np.result_type(array.dtype, float)), np.nan)
        elif array.dtype.kind in "USO":
            array = np.ma.filled(array.astype(object), None)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def spelled(name: Any) -> str:
    """A name as text; 1 and 1.0 are the same name."""
    if isinstance(name, np.generic):
        name = name.item()
    if isinstance(name, float) and name.is_integer():
        name = int(name)
    return str(name)


def places(names: Sequence[Any], order: Sequence[Any], what: str, of: str) -> list[int] | None:
    """For every name of an order its place among names; None if those are the order already."""
    held, wanted = [spelled(n) for n in names], [spelled(n) for n in order]
    if held == wanted and len(set(held)) == len(held):
        return None
    _refuse_repeated(held, what)
    if set(held) == set(wanted) and len(held) == len(wanted):
        place = {name: k for k, name in enumerate(held)}
        return [place[name] for name in wanted]
    unnamed = _counted(names) or (_made_up(wanted) and not set(held) & set(wanted))
    if unnamed and len(held) == len(wanted):
        return None
    raise _misfit(held, wanted, what, of)


def columns_over(given: Any, order: Sequence[Any], what: str, of: str) -> Any:
    """A table whose columns stand in an order."""
    given = as_pandas(given)
    if not hasattr(given, "columns"):
        return given
    found = places(list(given.columns), order, what, of)
    return given if found is None else given.iloc[:, found]


def columns_and_names(
    given: Any, order: Sequence[Any] | None, what: str, of: str
) -> tuple[Any, tuple[Any, ...] | None]:
    """A table as `columns_over` gives it, and the names of its columns."""
    given = as_pandas(given)
    if order is not None:
        return columns_over(given, order, what, of), tuple(order)
    names = list(getattr(given, "columns", ()))
    _refuse_repeated([spelled(n) for n in names], what)
    return given, None if _counted(names) else tuple(names)


def labelled(
    given: Any, order: Sequence[Any] | None, what: str, of: str
) -> tuple[Any, Sequence[Any] | None]:
    """What is given per entry of an order, and the order, which it may state itself."""
    given = as_pandas(given)
    if hasattr(given, "columns"):
        return columns_and_names(given, order, what, of)
    table = entries_by_name(given, what)
    if not isinstance(table, Mapping):
        return given, order
    names = list(table) if order is None else order
    return entries_over(table, names, what, of), names


def check_same_rows(given: Mapping[str, Any]) -> None:
    """Raise DataError if pandas objects name the same rows in different orders.

    Rows are matched by their places, as everywhere in scikit-learn. The same labels in another order
    mean that one of the objects was sorted or shuffled alone.
    """
    labelled = [
        (name, thing.index)
        for name, thing in given.items()
        if type(thing).__module__.partition(".")[0] == "pandas" and hasattr(thing, "index")
    ]
    for name, index in labelled[1:]:
        first, known = labelled[0]
        if len(index) != len(known) or index is known or index.equals(known):
            continue
        if index.isin(known).all() and known.isin(index).all():
            raise DataError(
                f"The rows of {name} have the labels of those of {first} in another order, and rows are matched by their places; "
                f"give {name}.loc[{first}.index], or {name}.to_numpy() if the places are right."
            )


def entries_over(
    given: Any, order: Sequence[Any], what: str, of: str, default: Any = REQUIRED
) -> list[Any]:
    """Entries in an order: those of a mapping or Series by their names, others as they are."""
    wanted = [spelled(n) for n in order]
    table = entries_by_name(given, what)
    if isinstance(table, Mapping):
        if not set(table) <= set(wanted) or (default is REQUIRED and len(table) < len(wanted)):
            raise _misfit(list(table), wanted, what, of, default is REQUIRED)
        return [table.get(name, default) for name in wanted]
    entries = list(table)
    if len(entries) != len(order):
        raise DataError(
            f"{what} has {len(entries)} entries for {len(order)} {of}; give one for each, or a mapping by name."
        )
    return entries


def entries_by_name(given: Any, what: str) -> Any:
    """A mapping or Series by the texts of its names; anything else as it is."""
    given = as_pandas(given)
    if hasattr(given, "index") and hasattr(given, "to_dict") and not hasattr(given, "columns"):
        names, values = list(given.index), given.tolist()
    elif isinstance(given, Mapping):
        names, values = list(given), list(given.values())
    else:
        return given
    keys = [spelled(name) for name in names]
    _refuse_repeated(keys, what)
    return dict(zip(keys, values, strict=True))


def one_or_several(columns: str | Sequence[str] | None) -> str | tuple[str, ...] | None:
    """A name for one column, a tuple for several."""
    if columns is None or isinstance(columns, str):
        return columns
    several = tuple(map(str, columns))
    return (several[0] if several else None) if len(several) < 2 else several


def _refuse_repeated(names: list[str], what: str) -> None:
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise DataError(f"{what} has the name {twice!r} twice; rename one of the two.")


def _misfit(
    held: Sequence[str], wanted: Sequence[str], what: str, of: str, all_needed: bool = True
) -> DataError:
    """The error of names that are not those of an order."""
    missing = [n for n in wanted if n not in set(held)] if all_needed else []
    unknown = [n for n in held if n not in set(wanted)]
    parts = [f"it lacks {some(map(repr, missing), 6)}"] if missing else []
    parts += [f"it has {some(map(repr, unknown), 6)}"] if unknown else []
    remedy = "give an array in their order" if all_needed else "leave them out"
    return DataError(
        f"The names in {what} do not fit the {of} {some(wanted)}: {' and '.join(parts)}. Name its entries as the {of}, or {remedy}."
    )


def _made_up(order: Sequence[str]) -> bool:
    """Whether names are those given where there are none: `x0`, `x1` and on, or `w0` and on."""
    return any(all(name == f"{sign}{k}" for k, name in enumerate(order)) for sign in "xw")


def _counted(names: Sequence[Any]) -> bool:
    """Whether names are the places 0, 1, 2, … that pandas gives where there are none."""
    whole = (isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in names)
    return all(whole) and all(n == k for k, n in enumerate(names))
