"""Compile ahead: once per process, uncharged, by solving a tiny problem."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.common.compiling import compiling
from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.methods.callback import without_callback
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.views import CostMatrix, SideRow

if TYPE_CHECKING:
    from milp_trees.tasks.base import Task

_done: set[tuple[Hashable, ...]] = set()


def compile_once(what: str, work: Callable[[], object], *kind: Hashable) -> None:
    """Do work that compiles, unless this process has done it; no run is charged for it.

    Parameters
    ----------
    what : str
        Its name in the log.
    work : callable
        It imports what loads numba, and calls what is to be compiled.
    kind : hashable
        What the code depends on, such as the type of numbers; the work is done once for each kind.
    """
    if (what, *kind) in _done:
        return
    _done.add((what, *kind))  # before, because the work may be a run that asks for it again
    try:
        with compiling(what), without_callback():
            work()
    except BaseException:
        _done.discard((what, *kind))
        raise


def tiny_view(price: int = 0, side: bool = False) -> CostMatrix:
    """Parity of four features; every split has a price, and a side row limits nothing."""
    X = ((np.arange(16)[:, None] >> np.arange(4)) & 1).astype(np.uint8)
    odd = (X.sum(axis=1) % 2).astype(np.int64)
    costs = np.column_stack([odd, 1 - odd])
    return CostMatrix(
        X=X,
        features=tuple(BinaryFeature(f"x{f}") for f in range(4)),
        costs=costs,
        actions=(0, 1),
        counts=np.ones(16, np.int64),
        leaf_cost=0,
        split_costs=np.full(4, price, dtype=np.int64),
        side=(SideRow("s", costs, 0, None),) if side else (),
        offset=Fraction(0),
        scale=Fraction(1),
        exact=True,
        rows=np.arange(16),
    )


def tiny_problem(task: Task) -> Problem:
    """Trees of depth four for forty rows of noise, some of them equal."""
    X, y = np.split(np.random.default_rng(0).integers(0, 2, (40, 5)), [4], axis=1)
    return Problem(Dataset(X.astype(np.uint8), y=y.ravel()), task, Trees(4))
