"""What planted faults call: conditions on how far or how large something is, and results that are
wrong from some position on.

`hits` counts how often a fault was active, so that a mutant that survives can be told from one that
was never reached.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

#: How often a conditioned fault was active in this process; how often its condition made sense
#: where it was asked, and how often not.
hits = fits = misfits = 0
#: Functions that were called, as `calls` notes them.
called: set[str] = set()


def _hit(active: bool) -> bool:
    global hits, fits
    fits += 1
    hits += active
    return active


def _misfit() -> bool:
    global misfits
    misfits += 1
    return False


def since(index: Any, least: int) -> bool:
    """Whether an index is a number of at least `least`."""
    if not isinstance(index, (int, np.integer)) or isinstance(index, bool):
        return _misfit()
    return _hit(bool(index >= least))


def size(kind: str, least: int, *known: Any) -> bool:
    """Whether what is at hand (a Pyomo model, a view, a dataset, a space, a list of columns) is at
    least this large in one respect.
    """
    things = [
        part
        for x in known
        for part in (getattr(x, "view", None), getattr(x, "space", None), x)
        if part is not None
    ]
    found = [n for x in things if (n := _measure(kind, x)) is not None]
    return _hit(max(found) >= least) if found else _misfit()


def _measure(kind: str, x: Any) -> Any:
    """How large something is; None if it has no such size."""
    columns = getattr(x, "columns", None)
    if kind in ("threshold", "column"):
        if not isinstance(columns, tuple):
            return None
        return (
            len(columns)
            if kind == "column"
            else max((len(tests) for _, tests in columns), default=0)
        )
    if kind == "leaf-limit":  # depth of trees whose leaves are limited
        return (
            (x.max_depth or 0) * (x.max_leaf_nodes is not None)
            if hasattr(x, "max_leaf_nodes")
            else None
        )
    if kind == "group":
        groups = getattr(x, "groups", None)
        return (
            None
            if groups is None or callable(groups)
            else len({str(g) for g in np.asarray(groups, dtype=object).ravel()})
        )
    if kind == "cost":
        found = [
            a
            for name in ("costs", "values", "vectors", "price")
            if (a := getattr(x, name, None)) is not None and not callable(a)
        ]
        return (
            max(
                (abs(float(c)) for a in found for c in np.asarray(a, dtype=object).ravel()),
                default=0,
            )
            if found
            else None
        )
    if kind == "side-row":
        return len(x.side) if isinstance(getattr(x, "side", None), tuple) else None
    if kind == "action":
        names = [
            a
            for a in (getattr(x, "actions", None), getattr(x, "classes", None))
            if isinstance(a, tuple)
        ]
        return max((len(a) for a in names), default=None)
    size = getattr(
        x,
        {
            "level": "max_depth",
            "row": "n_rows",
            "test": "n_features",
            "min-leaf": "min_samples_leaf",
            "node": "n_nodes",
        }[kind],
        None,
    )
    return size if isinstance(size, (int, np.integer)) else None


def rest(items: Any) -> Any:
    """All but the first."""
    return islice(items, 1, None)


def most(items: Any) -> Any:
    """All but the last."""
    return list(items)[:-1]


def wrong(result: Any, kind: str, start: int) -> Any:
    """A function's result, wrong from a row, an action or an item on, or in its large numbers; as
    it is if there is no such part.
    """
    if type(result) is tuple and result and isinstance(result[0], (np.ndarray, list)):
        return (wrong(result[0], kind, start), *result[1:])
    if isinstance(result, (list, tuple)) and kind == "item":
        return (
            result[:start]
            if _hit(len(result) > start) and type(result) in (list, tuple)
            else result
        )
    if not isinstance(result, np.ndarray) or kind == "item":
        return result
    if kind == "cost":
        where: Any = (
            np.abs(result.astype(float)) >= start
            if result.dtype != object
            else np.vectorize(lambda c: abs(c) >= start, otypes=[bool])(result)
        )
    else:
        axis = {"row": 0, "action": 1}[kind]
        if result.ndim <= axis or result.shape[axis] <= start:
            return result
        where = np.zeros(result.shape, dtype=bool)
        where[(slice(None),) * axis + (start,)] = True
    if not _hit(bool(where.any())):
        return result
    out = result.copy()
    out[where] = ~out[where] if out.dtype == bool else out[where] + 1
    return out
