"""Compile the kernels on a tiny problem. Loads numba."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from milp_trees.common.limits import Limits
from milp_trees.engines.dp.warm import compile_search
from milp_trees.engines.kit.compile import tiny_view
from milp_trees.engines.lagrangian.closing import Closing
from milp_trees.engines.lagrangian.incumbent import Incumbent
from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.engines.lagrangian.tables import VectorTable
from milp_trees.engines.lagrangian.vectors import TreeVectors
from milp_trees.methods.trace import Trace
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import SideRow


def compile_kernels() -> None:
    """Solve a problem that needs all kernels, and load what solves the master programme."""
    from scipy.optimize import linprog  # noqa: F401

    view = tiny_view()
    coefs = np.zeros((16, 2), dtype=np.int64)
    coefs[:, 1] = 1
    view = replace(view, side=(SideRow("half", coefs, 8, 8),))
    incumbent = Incumbent(view, Trace(), 0.0)
    incumbent.offer(Tree(Leaf(0), view.actions))
    none = Multipliers.none(1)
    vectors = TreeVectors(view, Trees(3), none, Watch(Limits(time=None)), 2**30)
    Closing(vectors, none, incumbent, 16).close()
    VectorTable(2, lambda more: None).grow()
    compile_search(4)
