"""The cells of the columns that the leaves of a solution have in common."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyomo.environ as pyo

from milp_trees.embedding.cells import Box
from milp_trees.embedding.inputs import Input, held


def joint_reach(block: Any) -> dict[str, int]:
    """The cells that the leaves of the current solution have in common; 0 where there are none."""
    trees = block._trees
    row = {column: cell_of(one) for column, one in trees.inputs.items()}
    out = {column: one.cells.everything for column, one in trees.inputs.items()}
    for t, leaf in enumerate(block.leaves()):
        boxes = [box for box in trees.boxes[t] if box.leaf == leaf]
        if not boxes:
            return dict.fromkeys(out, 0)

        def misses(box: Box) -> int:
            return sum(not reach >> row[column] & 1 for column, reach in box.reach.items())

        for column, reach in min(boxes, key=misses).reach.items():
            out[column] &= reach
    return out


def cell_of(one: Input) -> int:
    """The cell of a column in the current solution; that of a missing value is the last."""
    cells = one.cells
    if one.missing is not None and pyo.value(one.missing) > 0.5:
        return cells.n
    if one.value is not None:
        value = float(pyo.value(one.value))
        value = float(round(value)) if one.whole else value
        place = int(np.searchsorted(cells.start, value, side="right")) - 1
        return min(max(place, 0), cells.n - 1)
    name = held(one)
    return cells.place.get(name, cells.place.get(None, 0))
