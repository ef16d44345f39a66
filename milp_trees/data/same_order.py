"""Rows whose classes and actions stand in the order of other rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import some
from milp_trees.data.names import places, spelled

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


def in_order_of(rows: Dataset, model: Dataset, what: str = "The test data") -> Dataset:
    """Rows with the classes and actions of other rows, in their order.

    Classes are numbered by each Dataset on its own, so that rows which lack a class have other
    numbers for the same classes.
    """
    changes: dict[str, Any] = {}
    if rows.classes is not None and model.classes is not None and rows.y is not None:
        changes = _classes(rows, model, what)
    if rows.values is not None and rows.actions is not None and model.actions is not None:
        order = places(rows.actions, model.actions, f"{what} (its actions)", "actions")
        if order is not None:
            changes |= {"values": rows.values[:, order], "actions": model.actions}
    return rows.with_(**changes) if changes else rows


def _classes(rows: Dataset, model: Dataset, what: str) -> dict[str, Any]:
    """The target by the classes of other rows; nothing if it is the same already."""
    own, known = (list(map(spelled, data.classes or ())) for data in (rows, model))
    if own == known:
        return {}
    place = {name: k for k, name in enumerate(known)}
    y = rows.require("y", what)
    held = [own[k] for k in np.unique(y)]
    unknown = [name for name in held if name not in place]
    if unknown:
        raise DataError(
            f"{what} has the class {unknown[0]!r}, which is not among the classes {some(known)}; leave out those rows."
        )
    codes = np.array([place.get(name, 0) for name in own], dtype=np.int64)[y]
    return {"y": codes, "classes": model.classes}
