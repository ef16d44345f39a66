"""Search over the states of a task whose order is partial: a front for each state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from milp_trees.engines.fronts.search import FrontSearch, Point, Split
from milp_trees.engines.separable import partial
from milp_trees.engines.separable.states import State, StateSets
from milp_trees.models.nodes import Leaf, Node
from milp_trees.tasks.states_view import Integers, States


@dataclass
class StateTable:
    """The first n rows of an array are the front of a state so far."""

    state: State
    whole: Integers
    front: np.ndarray
    n: int


class StateFronts(StateSets, FrontSearch[State, np.ndarray, StateTable]):
    """Fronts of states, an array with a row per value; see `StateSets` and `FrontSearch`."""

    def __init__(self, view: States, size: int, compiled: bool, check: Callable[[], None]) -> None:
        super().__init__(view, size, compiled, check)
        self.kernels = partial.prepare(self.given, compiled)

    def warm_up(self) -> None:
        """Compile the kernels, by calling them for no rows and no tests."""
        view, kernels, width = self.view, self.kernels, self.view.width
        nothing = np.zeros((len(self.sums(self.root)), 0), dtype=np.int64)
        whole, given = (0,) * len(nothing), (view.start, view.tables)
        front = kernels.one_level(nothing, whole, *given, 1, 4, width)
        kernels.two_levels(nothing[:, :, None], whole, *given, 1, 4, width)
        kernels.merge(np.zeros((8, width), dtype=np.int64), 0, front, front, whole, 0, *given)
        kernels.find(front, front, (0,) * width, whole, 0, *given)

    def run(
        self, depth: int, most: int | None, keep: Callable[[list[Node], Integers], None]
    ) -> None:
        """Find the front of all rows."""
        values = self.points(self.front(self.root, depth, most))
        values.sort(key=lambda v: (self.view.units_of(v), v))
        nodes = [self.tree(self.root, depth, value, most) for value in values]
        if nodes:
            keep(nodes, values[0])

    def points(self, front: np.ndarray) -> list[Point]:
        """The values of a front."""
        return [tuple(row) for row in front.tolist()]

    def shallow(self, state: State, depth: int, most: int | None) -> np.ndarray:
        counted, leaves = self.counted(state, depth), min(1 << depth, most or 4)
        kernel = self.kernels.two_levels if depth == 2 else self.kernels.one_level
        given = (self.sums(state), state.context, self.view.tables, self.size)
        front: np.ndarray = kernel(counted, *given, leaves, self.view.width)
        return front

    def table(self, state: State) -> StateTable:
        leaves = self.front(state, 0)
        front = np.concatenate([leaves, np.empty((8, self.view.width), np.int64)])
        return StateTable(state, self.sums(state), front, len(leaves))

    def merge(self, table: StateTable, split: Split, a: np.ndarray, b: np.ndarray) -> None:
        self.check()
        given = (table.whole, split.test, table.state.context, self.view.tables)
        table.front, table.n = self.kernels.merge(table.front, table.n, a, b, *given)

    def close(self, state: State, table: StateTable) -> np.ndarray:
        return table.front[: table.n].copy()

    def leaf(self, state: State, point: Point) -> Leaf | None:
        return self.action(state, point) if point in self.points(self.front(state, 0)) else None

    def find(
        self, state: State, split: Split, a: np.ndarray, b: np.ndarray, point: Point
    ) -> tuple[Point, Point] | None:
        given = (self.sums(state), split.test, state.context, self.view.tables)
        i, j = self.kernels.find(a, b, point, *given)
        return None if i < 0 else (tuple(a[i].tolist()), tuple(b[j].tolist()))
