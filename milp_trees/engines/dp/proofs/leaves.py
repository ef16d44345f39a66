"""Claims that prove the optimum of trees with a largest number of leaves. Loads numba.

The search for the best trees of every size (`dp.by_leaves`) is asked for trees that cost less than
a claim. It finds none, and leaves lower bounds of both sides of every test by number of leaves:
for every division of the leaves they are enough together. What the checker does not find by itself
becomes a claim about a side, which is only as high as its parent needs.

The checker finds the best trees with at most three leaves by itself, and those of two levels. So a
claim needs no others at three levels, or with at most four leaves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.errors import SolverFailure
from milp_trees.common.limits import Limit, Stopped
from milp_trees.engines.dp.by_leaves.fronts import MEMO_BYTES, LeavesSearch
from milp_trees.engines.dp.by_leaves.limits import prepare_sizes
from milp_trees.engines.dp.by_leaves.turns import warm_up
from milp_trees.engines.dp.proofs.recent import FREE, Recent, numbers_of
from milp_trees.methods.claims import Claims
from milp_trees.methods.watch import Watch
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

#: Leaves up to which a claim needs no others.
FEW = 4


class LeavesClaim(NamedTuple):
    """A set of rows as bits, the answers that lead to it, and the limits of trees on it."""

    bits: np.ndarray
    path: tuple[int, ...]
    depth: int | None
    leaves: int


class OpenTest(NamedTuple):
    """A test whose sides need claims.

    `low` and `free` (2, leaves of the parent) bound its sides from below by their number of leaves:
    what the search knows, and what the checker finds by itself. `largest` is what the rows of the
    sides cost at most, and `need` what both sides must cost.
    """

    test: int
    low: np.ndarray
    free: np.ndarray
    largest: np.ndarray
    need: int


class LeavesProver:
    """The second pass on one view, for trees with a largest number of leaves.

    Parameters
    ----------
    view : CostMatrix
        After presolve, without side rows.
    space : Trees
        With a largest number of leaves.
    numbers : sequence of int
        What the features of the view are called in paths, counted from 1.
    watch : Watch
    """

    def __init__(self, view: CostMatrix, space: Trees, numbers: list[int], watch: Watch) -> None:
        self.numbers, self.watch = numbers, watch
        prepared = prepare_sizes(view, space, every_row=True)
        warm_up(prepared.instance)
        self.inst, self.most_depth = prepared.instance, prepared.depth
        self.data = self.inst.data
        self.search = LeavesSearch(prepared, view, MEMO_BYTES, similar=True)
        base, regret = view.base, view.regret.max(axis=1, initial=0)
        of_rows = np.zeros((64 * self.data.n_words, 2), dtype=np.int64)
        of_rows[self.inst.position] = np.column_stack([base, regret])
        self.base, self.regret = of_rows.T
        self.listed: list[tuple[Any, ...]] = []
        self.searches = 0
        self.recent: dict[tuple[int | None, int], Recent] = {}
        #: Claims about sets of rows by depth: leaves, and bound above the cheapest actions.
        self.claims: dict[tuple[bytes, int | None], list[tuple[int, int]]] = {}

    def prove(self, Z: int, depth: int | None, leaves: int) -> Claims:
        """Claims of which the last is that no tree of the space costs less than `Z`."""
        root = LeavesClaim(self.data.everything.copy(), (), depth, min(leaves, self.search.leaves))
        bound = Z - self.inst.constant
        if not self._follows(root, bound, self.inst.n_rows):
            self._prove_tests(root, bound)
        self.listed.append((Z, depth, [], [], leaves))
        return Claims(self.listed, notes={"searches": self.searches})

    # -- claims ------------------------------------------------------------------------------------

    def _follows(self, part: LeavesClaim, bound: int, n: int) -> bool:
        """Whether the checker needs no other claims for a claim about n rows."""
        levels = n - 1 if part.depth is None else min(part.depth, n - 1)
        four = 4 * self.data.leaf + 3 * self.data.least_split
        return levels <= FREE or min(part.leaves, n) <= FEW or bound <= max(four, self.data.leaf)

    def _prove(self, part: LeavesClaim, bound: int) -> None:
        """List a claim about a set, after all claims that it needs."""
        recent = self.recent.setdefault((part.depth, part.leaves), Recent(self.data.n_words))
        helps, low = recent.closest(self.data, part.bits, bound)
        held = self._held(part.bits)
        if low < bound:
            if not self._follows(part, bound, len(held)):
                self._prove_tests(part, bound)
            recent.keep(part.bits, bound, len(self.listed))
        stated = bound + int(self.base[held].sum())
        self.listed.append((stated, part.depth, list(part.path), helps, part.leaves))
        known = self.claims.setdefault((part.bits.tobytes(), part.depth), [])
        known.append((part.leaves, bound))

    def _prove_tests(self, part: LeavesClaim, bound: int) -> None:
        """List the claims by which no test is the root of a tree that costs less."""
        for test in self._open_tests(part, bound):
            self._prove_test(part, test)

    def _prove_test(self, part: LeavesClaim, test: OpenTest) -> None:
        """List claims that suffice for every way to divide the leaves."""
        below = None if part.depth is None else part.depth - 1
        true, number = self.data.tests[test.test], self.numbers[test.test]
        sides = [
            LeavesClaim(part.bits & ~true, (*part.path, -number), below, 0),
            LeavesClaim(part.bits & true, (*part.path, number), below, 0),
        ]
        for side, child in enumerate(sides):
            for leaves, bound in self.claims.get((child.bits.tobytes(), below), ()):
                free = test.free[side, : leaves + 1]
                np.maximum(free, bound, out=free)
        while len(wanted := self._divisions(test, part.leaves)):
            side, leaves, bound = self._choose(test, wanted, part.leaves)
            self._prove(sides[side]._replace(leaves=leaves), bound)
            free = test.free[side, : leaves + 1]
            np.maximum(free, bound, out=free)

    def _divisions(self, test: OpenTest, leaves: int) -> np.ndarray:
        """Leaves of the first side in divisions for which more claims are needed."""
        a = np.arange(1, leaves)
        no, yes = test.free[0, a], test.free[1, leaves - a]
        cost = int(self.data.split[test.test])
        pays = (no + cost < test.largest[0]) & (yes + cost < test.largest[1])
        found: np.ndarray = a[pays & (no + yes < test.need)]
        return found

    def _choose(self, test: OpenTest, wanted: np.ndarray, most: int) -> tuple[int, int, int]:
        """The next claim: a side, a number of leaves, and a bound.

        One claim about one side for all divisions is best. Otherwise the division that gives one
        side most leaves is settled first.
        """
        found: list[tuple[int, int, int]] = []
        for side in (0, 1):
            here = wanted if side == 0 else most - wanted
            need = test.need - test.free[1 - side, most - here]
            leaves = int(here.max())
            if test.low[side, leaves] >= need.max():
                return side, leaves, int(need.max())
            bounds = np.minimum(test.low[side, here], need)
            useful = bounds > test.free[side, here]
            found += zip(here[useful].tolist(), [side] * len(here), bounds[useful].tolist())
        if not found:
            raise SolverFailure(
                "dp knows too little for a proof of its optimum. Please report this problem."
            )
        leaves, side, bound = max(found)
        return side, leaves, bound

    # -- bounds ------------------------------------------------------------------------------------

    def _held(self, bits: np.ndarray) -> np.ndarray:
        """The numbers of the rows of a set, in the order of the search."""
        return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))

    def _open_tests(self, part: LeavesClaim, bound: int) -> list[OpenTest]:
        """Tests whose sides need claims, after a search for trees that cost less than a bound."""
        frame = self._searched(part, bound)
        data, most = self.data, part.leaves
        held = self._held(part.bits)
        X, first = data.X[held, : data.n_tests].astype(np.int64), data.n_values
        table = np.column_stack(
            [np.ones_like(held), self.regret[held], data.values[held, first:-1]]
        )
        yes = table.T @ X
        sums = np.stack([table.sum(axis=0)[:, None] - yes, yes])
        least = np.array([1, 0, *data.least[: data.n_masses]])[:, None]
        allowed = np.flatnonzero((sums >= least).all(axis=(0, 1)))
        # A bound for many leaves holds for fewer, too.
        low = frame.lower[allowed, :, : most + 1]
        low = np.maximum.accumulate(low[:, :, ::-1], axis=2)[:, :, ::-1]
        free, largest = low.copy(), sums[:, 1, allowed]
        four = max(data.leaf, 4 * data.leaf + 3 * data.least_split)
        free[:, :, FEW:] = np.minimum(low[:, :, FEW:], four)
        cost = np.asarray(data.split)[allowed]
        no, yes = free[:, 0, 1:most] + cost[:, None], free[:, 1, most - 1 : 0 : -1]
        pays = (no < largest[0][:, None]) & (yes + cost[:, None] < largest[1][:, None])
        at = np.flatnonzero((pays & (no + yes < bound)).any(axis=1))
        return [
            OpenTest(int(allowed[i]), low[i], free[i], largest[:, i], bound - int(cost[i]))
            for i in at.tolist()
        ]

    def _searched(self, part: LeavesClaim, bound: int) -> Any:
        """The root of a search for trees that cost less than a bound; there are none."""
        self.searches += 1
        depth = self.most_depth if part.depth is None else min(part.depth, self.most_depth)
        leaves = part.leaves
        frame = self.search.begin(part.bits, min(depth, leaves - 1), leaves)
        frame.budget[:] = bound
        reached: list[Limit] = []

        def over() -> bool:
            limit = self.watch.over()
            reached.extend([] if limit is None else [limit])
            return limit is not None

        if not self.search.run(over):
            raise Stopped(reached[-1])
        if frame.best[leaves] < bound:
            raise SolverFailure(
                "dp found a better tree than its optimum. Please report this problem."
            )
        return frame


def prove_few_leaves(
    view: CostMatrix, reduced: CostMatrix, space: Trees, Z: int, watch: Watch
) -> Claims:
    """Claims that no tree of a space with a largest number of leaves costs less than `Z`."""
    most = space.max_leaf_nodes
    if most is None:
        raise ValueError("The space has no largest number of leaves.")
    numbers = numbers_of(view, reduced)
    return LeavesProver(reduced, space, numbers, watch).prove(Z, space.max_depth, most)
