"""All vectors (cost, side totals) of the trees on a set of rows whose price is within an allowance.

The price of a tree is its Lagrangian cost. Optimal prices of sets of rows tell how much a subtree
may cost beside its sibling, so that only few sets and few vectors are left where the allowance is
close to the optimum. Of the trees with equal side totals the cheapest is kept; no other dominance
is valid. All numbers are relative to the first action (`kernels`). Loads numba.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from milp_trees.common.limits import Stopped
from milp_trees.engines.dp.arrays import prepare
from milp_trees.engines.dp.buffers import work_of
from milp_trees.engines.dp.switches import Switches
from milp_trees.engines.lagrangian import kernels, listing
from milp_trees.engines.lagrangian.bag import FAR, Bag, List
from milp_trees.engines.lagrangian.kernels import NONE
from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.methods.watch import Watch
from milp_trees.models.space import Trees
from milp_trees.results.result import Limit
from milp_trees.tasks.views import CostMatrix

T = TypeVar("T")

#: From this number of pairs on, compiled code runs in a thread of its own.
PAIRS = 2**22


class TreeVectors:
    """Sets of rows of a reduced view at some multipliers.

    Parameters
    ----------
    view : CostMatrix
        Reduced, with its side rows.
    space : Trees
    multipliers : Multipliers
    watch : Watch
        Its limits end the work.
    max_bytes : int
        Memory for lists of vectors and for values.
    """

    def __init__(
        self,
        view: CostMatrix,
        space: Trees,
        multipliers: Multipliers,
        watch: Watch,
        max_bytes: int,
    ) -> None:
        self.view, self.space, self.watch, self.max_bytes = view, space, watch, max_bytes
        instance = prepare(
            multipliers.view_at(view), replace(space, max_depth=None), every_row=True
        )
        self.data = instance.data
        self.work, self.work_sides = (
            work_of(instance, Switches(), 2),
            work_of(instance, Switches(), 2, sizes=1),
        )
        self.truth, self.all_rows = self.data.tests, self.data.everything
        self.price = self.data.split[: self.data.n_tests]
        self.K, self.F = view.n_actions, view.n_features
        limited = int(space.limits_leaves)
        self.weights = np.array(
            [multipliers.denominator, *multipliers.numerators, *[0] * limited], dtype=np.int64
        )
        self.J = len(self.weights)
        self.leaf = np.array(
            [view.leaf_cost, *[0] * len(view.side), *[1] * limited], dtype=np.int64
        )
        self.split = np.ascontiguousarray(view.split_costs, dtype=np.int64)
        self.most = np.full(self.J, FAR)
        if limited:
            assert space.max_leaf_nodes is not None
            self.most[-1] = space.max_leaf_nodes
        self._place(view, space, instance.position)
        self._work()
        self._values: dict[tuple[bytes, int], int] = {}
        self._below: dict[tuple[bytes, int], np.ndarray] = {}
        self.bytes = self.sets = self.kept = 0

    def _place(self, view: CostMatrix, space: Trees, position: np.ndarray) -> None:
        """Relative costs, coefficients and masses of the rows, by their place in the sets."""
        matrices = [view.costs, *(row.coefs for row in view.side)]
        columns = [
            (m[:, k] - m[:, 0])
            for k in range(1, self.K)
            for m in [*matrices, *[np.zeros_like(view.costs)] * int(space.limits_leaves)]
        ]
        V, M = int(self.data.n_values), int(self.data.n_masses)
        columns += list(self.data.values[position, V : V + M].T)
        self.least = np.ascontiguousarray(self.data.least)
        if not M:
            # No leaf is empty: a test must divide the rows.
            columns.append(np.ones(len(position), dtype=np.int64))
            self.least = np.ones(1, dtype=np.int64)
        n = 64 * self.data.n_words
        self.columns = np.zeros((n, max(1, len(columns))), dtype=np.int64)
        if columns:
            self.columns[position, : len(columns)] = np.column_stack(columns)
        placed = np.zeros((n, view.X.shape[1]), dtype=bool)
        placed[position] = view.X
        self.tests = np.nonzero(placed)[1].astype(np.int64)
        self.first = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.count_nonzero(placed, axis=1), out=self.first[1:])

    def _work(self) -> None:
        F, U = max(1, self.F), self.columns.shape[1]
        most = self.K + F * self.K * (self.K - 1)
        self.sums, self.totals = np.zeros((3, F, U), np.int64), np.zeros((3, U), np.int64)
        self.cell, self.vector = np.zeros((2, U), np.int64), np.zeros(self.J, np.int64)
        self.found, self.prices = (
            np.zeros((2, most + 1, self.J), np.int64),
            np.zeros((2, most + 1), np.int64),
        )
        self.stop = np.zeros(1, dtype=np.uint8)

    # -- values ----------------------------------------------------------------------------------------------

    def tick(self, more: int = 0) -> None:
        """Check the limits of time and memory."""
        self.bytes += more
        self.watch.check()
        if self.bytes > self.max_bytes:
            raise Stopped(Limit.MEMORY)

    def sides(self, rows: np.ndarray, f: int) -> tuple[np.ndarray, np.ndarray]:
        """Rows on which a test is false, and on which it is true."""
        right = rows & self.truth[f]
        return rows ^ right, right

    def below(self, rows: np.ndarray, depth: int) -> np.ndarray:
        """Best price of both sides of every test with `depth - 1` levels left, shape (2, F).

        It is NONE where a test divides nothing or a side is too small.
        """
        key = (rows.tobytes(), depth)
        if key not in self._below:
            self.tick(8 * len(rows) + 16 * self.F + 300)
            self.sets += 1
            leaf, found = self._below_three(rows) if depth == 3 else self._below_other(rows, depth)
            split = found.sum(axis=0) + self.price
            self._values[key] = min(leaf, int(split.min(initial=NONE)))
            self._below[key] = found
        return self._below[key]

    def _below_three(self, rows: np.ndarray) -> tuple[int, np.ndarray]:
        found = np.empty((2, self.F), dtype=np.int64)
        leaf = kernels.values_below(self.data.address, self.work.address, rows, found)
        return int(leaf), found

    def _below_other(self, rows: np.ndarray, depth: int) -> tuple[int, np.ndarray]:
        sides = np.empty((4, self.F), dtype=np.int64)
        leaf = kernels.sides_below(self.data.address, self.work_sides.address, rows, sides)
        found = np.ascontiguousarray(sides[[0, 2]] if depth == 1 else sides[[1, 3]])
        if depth > 3:
            for f in np.flatnonzero(found[0] < NONE).tolist():
                for side, part in enumerate(self.sides(rows, f)):
                    found[side, f] = self.value(part, depth - 1)
        return int(leaf), found

    def value(self, rows: np.ndarray, depth: int) -> int:
        """Best price of a tree on a set of rows; NONE if the set is too small for a leaf."""
        if depth == 0:
            n = self._options(self._sums(rows), False, FAR)
            return int(self.prices[0, 0]) if n else NONE
        if (rows.tobytes(), depth) not in self._values:
            self.below(rows, depth)
        return self._values[rows.tobytes(), depth]

    # -- lists -----------------------------------------------------------------------------------------------

    def _sums(self, rows: np.ndarray) -> np.ndarray:
        kernels.side_sums(
            self.data.address,
            rows,
            self.columns,
            self.first,
            self.tests,
            self.sums[2],
            self.totals[2],
        )
        return self.totals[2]

    def _options(self, total: np.ndarray, stumps: bool, allowance: int) -> int:
        n: int = listing.options(
            self.sums[2],
            total,
            self.weights,
            self.leaf,
            self.split,
            self.least,
            self.K,
            stumps,
            allowance,
            self.cell,
            self.found[0],
            self.prices[0],
        )
        return n

    def vectors(self, rows: np.ndarray, depth: int, allowance: int) -> List:
        """The vectors of all trees on a set of rows with a price of at most `allowance`."""
        bag = Bag(self.J, self.tick)
        if depth <= 1:
            n = self._options(self._sums(rows), depth == 1, allowance)
            for i in range(n):
                bag.put(self.found[0, i])
        elif depth == 2:
            self._two(rows, allowance, bag)
        else:
            n = self._options(self._sums(rows), False, allowance)
            for i in range(n):
                bag.put(self.found[0, i])
            total = self.below(rows, depth).sum(axis=0) + self.price
            for f in np.flatnonzero(total <= allowance).tolist():
                self._merge(*self.lists(rows, f, depth, allowance), f, allowance, bag)
        return self._listed(bag)

    def _listed(self, bag: Bag) -> List:
        out = bag.sorted(self.weights)
        self.kept += len(out.rows)
        self.bytes -= bag.bytes
        return out

    def spare(self, rows: np.ndarray, f: int, depth: int, allowance: int) -> tuple[int, int]:
        """What the sides of a test may cost, each beside the best tree of the other side."""
        left, right = self.below(rows, depth)[:, f].tolist()
        rest = allowance - int(self.price[f])
        return rest - right, rest - left

    def lists(self, rows: np.ndarray, f: int, depth: int, allowance: int) -> tuple[List, List]:
        """The vectors of both sides of a test, within what they may cost."""
        self.tick()
        left, right = self.sides(rows, f)
        one, other = self.spare(rows, f, depth, allowance)
        return self.vectors(left, depth - 1, one), self.vectors(right, depth - 1, other)

    def leaf_with(self, rows: np.ndarray, vector: np.ndarray) -> int | None:
        """The action of the leaf that has a vector, or None."""
        total = self._sums(rows)
        if not self._options(total, False, FAR):
            return None
        for k in range(self.K):
            own = self.leaf + (total[(k - 1) * self.J : k * self.J] if k else 0)
            if (own == vector).all():
                return k
        return None

    def beside(self, pairs: int, work: Callable[[np.ndarray], T]) -> T:
        """Run compiled code; in a thread of its own, open to limits, if it looks at many pairs."""
        return work(self.stop) if pairs < PAIRS else self.watch.beside(work)

    def _two(self, rows: np.ndarray, allowance: int, bag: Bag) -> None:
        self.sets += 1
        begin, most = 0, len(self.prices[0])

        def go_on(stop: np.ndarray) -> int:
            done: int = listing.vectors_two(
                self.data.address,
                self.work_sides.address,
                rows,
                self.columns,
                self.first,
                self.tests,
                self.weights,
                self.leaf,
                self.split,
                self.least,
                self.K,
                allowance,
                self.most,
                begin,
                self.sums,
                self.totals,
                self.cell,
                self.found,
                self.prices,
                self.vector,
                bag.rows,
                bag.slots,
                bag.used,
                stop,
            )
            return done

        while True:
            begin = self.beside(self.F * most * most // 4, go_on)
            if begin >= self.F:
                return
            bag.grow()

    def _merge(self, left: List, right: List, f: int, allowance: int, bag: Bag) -> None:
        """Put the vectors of all trees with test f at the root."""
        begin, rest = 0, allowance - int(self.price[f])

        def go_on(stop: np.ndarray) -> int:
            done: int = listing.merge(
                left.rows,
                left.prices,
                len(left.rows),
                right.rows,
                right.prices,
                len(right.rows),
                self.split[f],
                rest,
                self.most,
                begin,
                self.vector,
                bag.rows,
                bag.slots,
                bag.used,
                stop,
            )
            return done

        while True:
            begin = self.beside(len(left.rows) * len(right.rows), go_on)
            if begin >= len(left.rows):
                return
            bag.grow()
