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
from milp_trees.engines.lagrangian import kernels, vector_kernels
from milp_trees.engines.lagrangian.kernels import NONE
from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.engines.lagrangian.tables import FAR, VectorTable
from milp_trees.engines.lagrangian.vector_kernels import SortedVectors, VectorTerms, VectorWork
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
        leaf = np.array([view.leaf_cost, *[0] * len(view.side), *[1] * limited], dtype=np.int64)
        self.most = np.full(self.J, FAR)
        if limited:
            assert space.max_leaf_nodes is not None
            self.most[-1] = space.max_leaf_nodes
        columns, least = self._columns(limited, instance.position)
        placed = np.zeros((len(columns), view.X.shape[1]), dtype=bool)
        placed[instance.position] = view.X
        first = np.zeros(len(columns) + 1, dtype=np.int64)
        np.cumsum(np.count_nonzero(placed, axis=1), out=first[1:])
        self.terms = VectorTerms(
            columns,
            first,
            tests=np.nonzero(placed)[1].astype(np.int64),
            weights=self.weights,
            leaf=leaf,
            split=np.ascontiguousarray(view.split_costs, dtype=np.int64),
            least=least,
            most=self.most,
            n_actions=self.K,
        )
        F, U, n = max(1, self.F), columns.shape[1], self.K + self.F * self.K * (self.K - 1) + 1
        self.node = VectorWork(
            by_test=np.zeros((3, F, U), np.int64),
            total=np.zeros((3, U), np.int64),
            rows=np.zeros((2, n, self.J), np.int64),
            prices=np.zeros((2, n), np.int64),
            cell=np.zeros((2, U), np.int64),
            vector=np.zeros(self.J, np.int64),
        )
        self.stop = np.zeros(1, dtype=np.uint8)
        self._values: dict[tuple[bytes, int], int] = {}
        self._below: dict[tuple[bytes, int], np.ndarray] = {}
        self.bytes = self.sets = self.kept = 0

    def _columns(self, limited: int, position: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Relative costs, coefficients and masses of the rows, by their place; and least masses."""
        view, data = self.view, self.data
        matrices = [view.costs, *(row.coefs for row in view.side)]
        matrices += [np.zeros_like(view.costs)] * limited
        columns = [m[:, k] - m[:, 0] for k in range(1, self.K) for m in matrices]
        V, M = int(data.n_values), int(data.n_masses)
        columns += list(data.values[position, V : V + M].T)
        least = np.ascontiguousarray(data.least)
        if not M:
            # No leaf is empty: a test must divide the rows.
            columns.append(np.ones(len(position), dtype=np.int64))
            least = np.ones(1, dtype=np.int64)
        placed = np.zeros((64 * data.n_words, len(columns)), dtype=np.int64)
        placed[position] = np.column_stack(columns)
        return placed, least

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
            return int(self.node.prices[0, 0]) if self._options(rows, False, FAR) else NONE
        if (rows.tobytes(), depth) not in self._values:
            self.below(rows, depth)
        return self._values[rows.tobytes(), depth]

    # -- lists -----------------------------------------------------------------------------------------------

    def _options(self, rows: np.ndarray, stumps: bool, allowance: int) -> int:
        """The vectors of trees of at most one split, as the first rows of `node.rows[0]`."""
        terms, node = self.terms, self.node
        kernels.side_sums(
            self.data.address,
            rows,
            terms.columns,
            terms.first,
            terms.tests,
            node.by_test[2],
            node.total[2],
        )
        n: int = vector_kernels.options(2, 0, stumps, allowance, terms, node)
        return n

    def vectors(self, rows: np.ndarray, depth: int, allowance: int) -> SortedVectors:
        """The vectors of all trees on a set of rows with a price of at most `allowance`."""
        table = VectorTable(self.J, self.tick)
        if depth == 2:
            self._two_levels(rows, allowance, table)
            return self._sorted(table)
        for i in range(self._options(rows, depth == 1, allowance)):
            table.insert(self.node.rows[0, i])
        if depth > 2:
            total = self.below(rows, depth).sum(axis=0) + self.price
            for f in np.flatnonzero(total <= allowance).tolist():
                self._sums_of(*self.lists(rows, f, depth, allowance), f, allowance, table)
        return self._sorted(table)

    def _sorted(self, table: VectorTable) -> SortedVectors:
        out = table.sorted(self.weights)
        self.kept += len(out.rows)
        self.bytes -= table.bytes
        return out

    def spare(self, rows: np.ndarray, f: int, depth: int, allowance: int) -> tuple[int, int]:
        """What the sides of a test may cost, each beside the best tree of the other side."""
        left, right = self.below(rows, depth)[:, f].tolist()
        rest = allowance - int(self.price[f])
        return rest - right, rest - left

    def lists(
        self, rows: np.ndarray, f: int, depth: int, allowance: int
    ) -> tuple[SortedVectors, SortedVectors]:
        """The vectors of both sides of a test, within what they may cost."""
        self.tick()
        left, right = self.sides(rows, f)
        one, other = self.spare(rows, f, depth, allowance)
        return self.vectors(left, depth - 1, one), self.vectors(right, depth - 1, other)

    def leaf_with(self, rows: np.ndarray, vector: np.ndarray) -> int | None:
        """The action of the leaf that has a vector, or None."""
        if not self._options(rows, False, FAR):
            return None
        total = self.node.total[2]
        for k in range(self.K):
            own = self.terms.leaf + (total[(k - 1) * self.J : k * self.J] if k else 0)
            if (own == vector).all():
                return k
        return None

    def beside(self, pairs: int, work: Callable[[np.ndarray], T]) -> T:
        """Run compiled code; in a thread of its own, open to limits, if it looks at many pairs."""
        return work(self.stop) if pairs < PAIRS else self.watch.beside(work)

    def _two_levels(self, rows: np.ndarray, allowance: int, table: VectorTable) -> None:
        """Insert the vectors of all trees of depth at most two."""
        self.sets += 1
        begin, most = 0, len(self.node.prices[0])

        def go_on(stop: np.ndarray) -> int:
            done: int = vector_kernels.insert_two_levels(
                self.data.address,
                self.work_sides.address,
                rows,
                allowance,
                begin,
                self.terms,
                self.node,
                table.slots,
                stop,
            )
            return done

        while True:
            begin = self.beside(self.F * most * most // 4, go_on)
            if begin >= self.F:
                return
            table.grow()

    def _sums_of(
        self, left: SortedVectors, right: SortedVectors, f: int, allowance: int, table: VectorTable
    ) -> None:
        """Insert the vectors of all trees with test f at the root."""
        begin, rest, vector = 0, allowance - int(self.price[f]), self.node.vector

        def go_on(stop: np.ndarray) -> int:
            done: int = vector_kernels.insert_sums(
                left, right, f, rest, begin, self.terms, vector, table.slots, stop
            )
            return done

        while True:
            begin = self.beside(len(left.rows) * len(right.rows), go_on)
            if begin >= len(left.rows):
                return
            table.grow()
