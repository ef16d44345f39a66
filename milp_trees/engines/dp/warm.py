"""Compile the search on a tiny problem, and the kernels for a kind of problem. Loads numba."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from milp_trees.common.compiling import compiling
from milp_trees.data.dataset import BinaryFeature
from milp_trees.engines.dp.arrays import Instance, prepare
from milp_trees.engines.dp.buffers import kernels_of
from milp_trees.engines.dp.runs import DpSearch
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

_done: set[int] = set()
_warm: set[tuple[bool, str, bool, bool, bool]] = set()


def tiny_view() -> CostMatrix:
    """Parity of four features."""
    X = ((np.arange(16)[:, None] >> np.arange(4)) & 1).astype(np.uint8)
    wrong = (X.sum(axis=1) % 2).astype(np.int64)
    return CostMatrix(
        X=X,
        features=tuple(BinaryFeature(f"x{f}") for f in range(4)),
        costs=np.column_stack([wrong, 1 - wrong]),
        actions=(0, 1),
        counts=np.ones(16, np.int64),
        leaf_cost=0,
        split_costs=np.zeros(4, np.int64),
        side=(),
        offset=Fraction(0),
        scale=Fraction(1),
        exact=True,
        rows=np.arange(16),
    )


def compile_search(depth: int) -> None:
    """Compile the functions for trees of a depth, once per process.

    Depths up to two need a small part of the search. Kernels of other number types follow with
    their first instance.
    """
    tried = 2 if depth <= 2 else 4
    if tried in _done:
        return
    DpSearch(prepare(tiny_view(), Trees(tried))).solve()
    _done.add(tried)


def warm_up(instance: Instance) -> None:
    """Compile or load the kernels for an instance's kind, once per process."""
    kind = (instance.depth <= 2, *instance.kernel_kind)
    if kind not in _warm:
        with compiling("the exact search"):
            compile_search(instance.depth)
            kernels_of(instance)
        _warm.add(kind)
