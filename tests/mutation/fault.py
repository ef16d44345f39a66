"""What planted faults call: conditions on how far or how large something is, and results that are wrong from some position on.

`hits` counts how often a fault was active, so that a mutant that survives can be told from one that was never reached.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

#: How often a conditioned fault was active in this process.
hits = 0


def _hit(active: bool) -> bool:
    global hits
    hits += active
    return active


def since(index: Any, least: int) -> bool:
    """Whether an index is a number of at least `least`."""
    return _hit(isinstance(index, (int, np.integer)) and not isinstance(index, bool) and index >= least)


def size(kind: str, least: int, *known: Any) -> bool:
    """Whether what is at hand (a Pyomo model, a view, a dataset, a space, a list of columns) is at least this large in one respect."""
    things = [part for x in known for part in (getattr(x, "view", None), getattr(x, "space", None), x) if part is not None]
    return _hit(any((_measure(kind, x) or 0) >= least for x in things))


def _measure(kind: str, x: Any) -> Any:
    if kind == "leaf-limit":  # depth of trees whose leaves are limited
        return getattr(x, "max_leaf_nodes", None) and getattr(x, "max_depth", 0)
    if kind == "threshold":
        lists = [tests for _, tests in columns] if isinstance(columns := getattr(x, "columns", ()), tuple) else []
        return max(map(len, lists), default=0)
    if kind == "group":
        groups = getattr(x, "groups", None)
        return None if groups is None or callable(groups) else len({str(g) for g in np.asarray(groups, dtype=object).ravel()})
    if kind == "cost":
        amounts = next((a for name in ("costs", "values", "vectors", "price") if (a := getattr(x, name, None)) is not None and not callable(a)), None)
        return None if amounts is None else max((abs(float(c)) for c in np.asarray(amounts, dtype=object).ravel()), default=0)
    if kind == "side-row":
        return len(getattr(x, "side", ()) or ())
    if kind == "action":
        classes = getattr(x, "classes", None) or getattr(x, "actions", None) or ()
        return max(getattr(x, "n_actions", 0), 0 if callable(classes) else len(classes))
    if kind == "column":
        return len(columns) if isinstance(columns := getattr(x, "columns", ()), (tuple, list)) else 0
    name = {"level": "max_depth", "row": "n_rows", "test": "n_tests", "min-leaf": "min_samples_leaf", "node": "n_nodes"}[kind]
    return getattr(x, name, None)


def rest(items: Any) -> Any:
    """All but the first."""
    return islice(items, 1, None)


def most(items: Any) -> Any:
    """All but the last."""
    return list(items)[:-1]


def wrong(result: Any, kind: str, start: int) -> Any:
    """A function's result, wrong from a row, an action or an item on, or in its large numbers; as it is if there is no such part."""
    if type(result) is tuple and result and isinstance(result[0], (np.ndarray, list)):
        return (wrong(result[0], kind, start), *result[1:])
    if isinstance(result, (list, tuple)) and kind == "item":
        return result[:start] if _hit(len(result) > start) and type(result) in (list, tuple) else result
    if not isinstance(result, np.ndarray) or kind == "item":
        return result
    if kind == "cost":
        where: Any = (
            np.abs(result.astype(float)) >= start if result.dtype != object else np.vectorize(lambda c: abs(c) >= start, otypes=[bool])(result)
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
