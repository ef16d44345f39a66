"""Claims with which a short program can count all trees near the best again.

The count itself needs no claim: `check_count` lists states from the set of all rows down and leaves
out what bounds exclude. Claims make these bounds exact where it cannot compute them from pairs of
tests, so that it meets the same states as the search. They are about sets with more than two levels
of tests to follow. Such a claim needs others only if there are four levels or more: for every test,
either both sides are settled by a few exact rules, or a claim about one side, or both, is enough.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.engines.near_best.kernels import NONE
from milp_trees.engines.near_best.states import Levels, RowSets

if TYPE_CHECKING:
    from milp_trees.methods.watch import Watch
    from milp_trees.models.space import Trees
    from milp_trees.tasks.views import CostMatrix

#: Levels of tests up to which a claim follows from the rows alone.
ALONE = 3


class CountClaims:
    """Claims about the states of all trees within an allowance.

    Parameters
    ----------
    given, view : CostMatrix
        The view of the problem before and after presolve.
    space : Trees
    depth : int or None
        Largest number of levels of tests; None is no limit.
    watch : Watch
    max_bytes : int
        Estimated memory at which the pass ends.
    """

    def __init__(
        self,
        given: CostMatrix,
        view: CostMatrix,
        space: Trees,
        depth: int | None,
        watch: Watch,
        max_bytes: int,
    ) -> None:
        self.sets, self.view, self.depth = RowSets(view, space, watch, max_bytes), view, depth
        #: Whether leaves are limited and levels are not. Then claims are about the levels that so
        #: many leaves can have, and the last claim says only what every model costs.
        self.unlimited = depth is None and space.limits_leaves
        if depth is None and space.max_leaf_nodes is not None:
            self.depth = space.max_leaf_nodes - 1
        self.number = [given.index[test] + 1 for test in view.features]
        leaf, cheapest = int(view.leaf_cost), int(given.split_costs.min(initial=NONE))
        #: What trees of more than three leaves cost at least; bounds up to it need no claim.
        self.free = max(leaf, 4 * leaf + 3 * cheapest)
        self.known: dict[tuple[bytes, int], int] = {}
        self.items: list[tuple[Any, ...]] = []

    def collect(self, allowance: int) -> list[tuple[Any, ...]]:
        """The claims for trees of regret at most `allowance`; the last one is about all rows."""
        sets = self.sets
        root, levels = sets.all_rows, self._levels(())
        heap: list[Any] = [(-self.view.n_rows, 0, root, ())]
        most = {(root.tobytes(), levels): allowance}
        number = 0
        while heap:
            _, _, rows, path = heapq.heappop(heap)
            here = most[rows.tobytes(), self._levels(path)]
            for child, size, below, spare in self._open(rows, path, here):
                key = child.tobytes(), self._levels(below)
                if key not in most:
                    number += 1
                    heapq.heappush(heap, (-size, number, child, below))
                most[key] = max(spare, most.get(key, spare))
        self._claim(root, (), sets.value(root, levels, allowance))
        if self.unlimited:
            last = int(self.view.base.sum()) + sets.leaf_cost
            self.items.append((last, None, []))
        return self.items

    def _levels(self, path: tuple[int, ...]) -> int:
        """Levels of tests that may follow after a path."""
        rows = max(0, self.view.n_rows - 1)
        return rows if self.depth is None else min(rows, self.depth - len(path))

    # -- what the count needs ----------------------------------------------------------------------

    def _open(
        self, rows: np.ndarray, path: tuple[int, ...], allowance: int
    ) -> list[tuple[np.ndarray, int, tuple[int, ...], int]]:
        """Claims about the children of a state; returns the children that are states.

        Each comes with its number of rows, its path and its allowance.
        """
        levels = self._levels(path)
        if levels <= ALONE or allowance < self.free:
            return []
        two, new = self.sets.levels(rows), []
        low = self._low(two)
        fits = low.sum(axis=0) + self.sets.split <= allowance
        for f in np.flatnonzero(fits).tolist():
            spare = allowance - int(self.sets.split[f])
            both = self.sets.within(two, rows, levels, f, spare)
            if both is None:
                self._exceed(two, rows, path, f, spare + 1, low)
                continue
            for side, child in enumerate(self.sets.sides(rows, f)):
                below = self._below(path, f, side)
                if both[side] > self.free or not self._pays:
                    self._claim(child, below, both[side])
                new.append((child, int(two.size[side, f]), below, spare - both[1 - side]))
        return new

    @property
    def _pays(self) -> bool:
        """Whether every test costs something."""
        return self.free > self.sets.leaf_cost

    def _low(self, two: Levels) -> np.ndarray:
        """Lower bounds of the sides of every test that need no claim."""
        if self._pays:
            return np.minimum(self.sets.low(two), np.where(two.value == NONE, NONE, self.free))
        return np.where(two.value == NONE, NONE, 0)

    def _below(self, path: tuple[int, ...], f: int, side: int) -> tuple[int, ...]:
        return (*path, self.number[f] if side else -self.number[f])

    # -- what claims need --------------------------------------------------------------------------

    def _claim(self, rows: np.ndarray, path: tuple[int, ...], bound: int) -> None:
        """Add a claim, with all that it needs, that a set costs at least a valid bound."""
        levels = self._levels(path)
        key = rows.tobytes(), levels
        if self.known.get(key, -1) >= bound:
            return
        inside = self._mask(rows)
        if levels > ALONE and bound > self.free:
            two = self.sets.levels(rows)
            low, keeps = self._low(two), self._pointless(inside)
            for f in np.flatnonzero((low.sum(axis=0) + self.sets.split < bound) & ~keeps).tolist():
                self._exceed(two, rows, path, f, bound - int(self.sets.split[f]), low)
        self.known[key] = bound
        left = None if self.depth is None else self.depth - len(path)
        self.items.append((bound + int(self.view.base[inside].sum()), left, list(path)))

    def _exceed(
        self,
        two: Levels,
        rows: np.ndarray,
        path: tuple[int, ...],
        f: int,
        needed: int,
        low: np.ndarray,
    ) -> None:
        """Claims from which both sides of a test together cost at least what is needed."""
        levels, sides = self._levels(path), self.sets.sides(rows, f)
        bounds = [int(low[0, f]), int(low[1, f])]
        for side in (0, 1):
            if sum(bounds) >= needed:
                return
            want = needed - bounds[1 - side]
            found = self.sets.side(two, sides[side], levels, side, f, want - 1)
            bounds[side] = max(bounds[side], min(found, want))
            if bounds[side] > self.free or not self._pays:
                self._claim(sides[side], self._below(path, f, side), bounds[side])

    def _mask(self, rows: np.ndarray) -> np.ndarray:
        """A set as one truth value per row of the view."""
        bits = np.unpackbits(rows.view(np.uint8), bitorder="little")
        inside: np.ndarray = bits[self.sets.position] == 1
        return inside

    def _pointless(self, inside: np.ndarray) -> np.ndarray:
        """Tests that cost at least what the rows of a side may cost: the other side is as good."""
        regret = self.view.regret.max(axis=1, initial=0)[inside]
        yes = regret @ self.view.X[inside]
        least = np.minimum(yes, regret.sum() - yes)
        pointless: np.ndarray = self.sets.leaf_cost + self.sets.split >= least
        return pointless
