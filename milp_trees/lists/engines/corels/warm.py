"""Compile everything that a search over prefixes may need, by running a tiny one. Loads numba."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from milp_trees.common.limits import Limits
from milp_trees.lists.engines.corels import arrays as room
from milp_trees.lists.engines.corels.prepare import prepare
from milp_trees.lists.engines.corels.run import PrefixSearch
from milp_trees.lists.engines.corels.switches import Options
from milp_trees.methods.watch import Watch
from milp_trees.tasks.views import CostMatrix


def warm_up() -> None:
    """Search the lists over two antecedents on four rows, and make all arrays larger once."""
    tests = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.uint8)
    names = ("first", "second")
    view = CostMatrix(
        X=tests,
        features=names,  # type: ignore[arg-type]
        costs=np.array([[0, 2], [2, 0], [2, 0], [0, 2]]),
        actions=(0, 1),
        counts=np.ones(4, dtype=np.int64),
        leaf_cost=0,
        split_costs=np.zeros(2, dtype=np.int64),
        side=(),
        offset=Fraction(0),
        scale=Fraction(1),
        exact=True,
        rows=np.arange(4),
    )
    limits = Limits(time=None)
    run = PrefixSearch(prepare(view, 2, 1, Options()), limits, Watch(limits), float)
    run.arrays = room.more_places(room.more_masks(room.more_nodes(run.arrays)))
    run.go(lambda bound: None)
    run.collect()
