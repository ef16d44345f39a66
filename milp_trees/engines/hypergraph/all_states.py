"""All states and columns of trees, level by level; `graph` says what they are."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from milp_trees.engines.hypergraph.graph import States
from milp_trees.engines.hypergraph.levels import Enumeration, all_trees
from milp_trees.engines.hypergraph.row_sets import SetTable
from milp_trees.engines.kit.compile import compile_once, tiny_view
from milp_trees.models.space import Trees
from milp_trees.tasks.views import LeafSums

T = TypeVar("T", bound=States)


def enumerate_states(
    view: LeafSums,
    space: Trees,
    max_states: int = 400_000,
    max_columns: int = 3_000_000,
    merge: bool = True,
) -> States:
    """All states and columns of a view for a space of trees."""
    warm_up()
    return assemble(all_trees(view, space, max_states, max_columns, merge), States)


def assemble(run: Enumeration, made: type[T]) -> T:
    """The states and columns that an enumeration yields level by level."""
    depth, parts = [], []
    for level, found in run.levels():
        depth.append(np.full(len(level.sets), level.depth))
        following = level.first + len(level.sets)
        for part in found:
            part.info[:, 0] += level.first
            entered = part.info[:, 6:]
            np.add(entered, following, out=entered, where=entered >= 0)
        parts += found
    table = np.concatenate([part.info for part in parts])
    order = np.argsort(table[:, 0], kind="stable")
    field = np.ascontiguousarray(table[order].T)
    return made(
        depth_left=np.concatenate(depth),
        state=field[0],
        kind=field[1],
        test=field[2],
        action_left=field[3],
        action_right=field[4],
        child_left=field[6],
        child_right=field[7],
        cost=field[5],
        side=np.concatenate([part.side for part in parts])[order],
    )


def warm_up() -> None:
    """Compile the kernels, once per process; later processes read them from files."""

    def enumerate_tiny() -> None:
        enumerate_states(tiny_view(side=True), Trees(2))
        SetTable.of(1, 1).with_room(2)

    compile_once("the enumeration of states", enumerate_tiny)
