"""Recursion over sets of rows and what is paid: best trees by number of leaves. Loads numba.

A node is a set of rows with the prices that attributes have there; two paths that lead to the same
rows and prices share it (van der Linden, de Weerdt, Demirović 2023, *STreeD*: the state of a task
whose cost depends on the path). The last three levels are one compiled call. Above them a node
starts from its best trees of one level less, and a side of a test is searched only if bounds say
that it could matter: with one split at most it is known exactly, and with more it pays at least the
cheapest attribute for all its rows.

Vectors are indexed by the number of leaves. If their number is not limited, entry 1 of a vector of
two entries holds the value for any number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling import compiling
from milp_trees.engines.dp.arrays import INFINITY, Instance
from milp_trees.engines.dp.warm import tiny_view
from milp_trees.engines.dp_paid import kernels
from milp_trees.engines.dp_paid.arrays import arrays_of, instance_of, kernels_of
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.tasks.path_costs import PathCosts

#: Levels of splits of one compiled call.
_COMPILED = 3

_warm: set[tuple[str, bool, bool, bool]] = set()


class Entry(NamedTuple):
    """What is known of a node: vectors by number of leaves.

    `lower` are bounds, `best` the values found, `tests` their root tests (-1: a leaf) and `left` the
    leaves on their left.
    """

    lower: np.ndarray
    best: np.ndarray
    tests: np.ndarray
    left: np.ndarray


class _Test(NamedTuple):
    """A root test of a node: its price for all rows, its sides, and which is searched first."""

    f: int
    cost: int
    known: np.ndarray
    floor: np.ndarray
    right_first: bool


class Search:
    """One search.

    Parameters
    ----------
    view : PathCosts
        Reduced.
    space : Trees
        With a depth limit.
    instance : Instance
        What `instance_of` makes of both.
    check : callable
        Called before every node; it may raise `Stopped`.
    improved : callable
        Called with the search after every better tree of all rows, and after every better bound.
    sizes : bool, default=False
        Whether the best trees of every number of leaves are asked for.
    """

    def __init__(
        self,
        view: PathCosts,
        space: Trees,
        instance: Instance,
        check: Callable[[], None],
        improved: Callable[[Search], None],
        sizes: bool = False,
    ) -> None:
        self.view, self.check, self.improved = view, check, improved
        self.instance, self.data = instance, instance.data
        self.arrays = arrays_of(view, instance)
        self.addresses = (
            self.data.address,
            self.arrays.work.address,
            self.arrays.paid.address,
        )
        self.depth = min(space.depth, instance.depth)
        #: Largest number of leaves, None if it is not limited.
        self.most = space.max_leaf_nodes if sizes or space.limits_leaves else None
        if self.most == 1:
            self.depth = 0
        self.memo: dict[tuple[bytes, bytes, int], Entry] = {}
        self.reused = 0
        self.rows: np.ndarray = self.data.everything
        #: The best entry of all rows, the depth that it is of, and the largest proven bounds.
        self.found: tuple[Entry, int] | None = None
        self.lower: np.ndarray | None = None

    # -- the search ------------------------------------------------------------------------------------

    def solve(self) -> None:
        """Find the best trees of all rows, for one depth after the other."""
        for depth in range(min(_COMPILED, self.depth), self.depth + 1):
            width = self._width(depth)
            budget = np.full(width + 1, INFINITY, dtype=np.int64)
            entry = self.node(self.rows, self.arrays.prices, depth, budget)
            self._keep(entry, depth)
        assert self.found is not None
        self.lower = self.found[0].best
        self.improved(self)

    def _width(self, depth: int) -> int:
        """Last index of vectors for trees of a depth."""
        if self.most is None:
            return 1
        return min(self.most, 2 ** min(depth, 40))

    def _keep(self, entry: Entry, depth: int) -> None:
        if self.found is None or (
            entry.best[-1] < self.found[0].best[-1] or len(entry.best) > len(self.found[0].best)
        ):
            self.found = (entry, depth)
            self.improved(self)

    def node(self, bits: np.ndarray, prices: np.ndarray, depth: int, budget: np.ndarray) -> Entry:
        """Best trees of a node, where they are below a budget."""
        self.check()
        if depth <= _COMPILED:
            return self._compiled(bits, prices, depth, budget)
        key = bits.tobytes(), prices.tobytes(), depth
        known = self.memo.get(key)
        if known is not None and (known.lower >= np.minimum(known.best, budget))[1:].all():
            self.reused += 1
            return known
        entry = self._deep(bits, prices, depth, budget)
        if known is not None:
            np.maximum(entry.lower, known.lower, out=entry.lower)
            better = known.best < entry.best
            for new, old in zip(entry[1:], known[1:], strict=True):
                new[better] = old[better]
        self.memo[key] = entry
        return entry

    def _compiled(
        self, bits: np.ndarray, prices: np.ndarray, depth: int, budget: np.ndarray
    ) -> Entry:
        full = 2**depth if self.most is None else self._width(depth)
        best, tests, left = np.empty((3, full + 1), dtype=np.int64)
        asked = budget
        if self.most is None:
            asked = np.full(full + 1, -INFINITY, dtype=np.int64)
            asked[full] = budget[1]
        if depth < _COMPILED:  # a call without a budget ends with trees of two levels
            asked = np.full(full + 1, -INFINITY, dtype=np.int64)
        kernels.three(*self.addresses, bits, prices, asked, best, tests, left)
        if self.most is None:
            best, tests, left = (v[[0, full]] for v in (best, tests, left))
        lower = best if depth < _COMPILED else np.minimum(best, budget)
        return Entry(lower, best, tests, left)

    def _deep(self, bits: np.ndarray, prices: np.ndarray, depth: int, budget: np.ndarray) -> Entry:
        paid, width, whole = self.arrays.paid, self._width(depth), bits is self.rows
        below = self.node(bits, prices, depth - 1, budget[: self._width(depth - 1) + 1])
        best, tests, left = (_longer(v, width + 1) for v in below[1:])
        kernels.sides(*self.addresses, bits, prices)
        sides, floor, right, total = (
            paid.sides.copy(),
            paid.floor.copy(),
            paid.weight[0].copy(),
            paid.total,
        )
        cost = (
            paid.split
            + np.where(paid.attribute >= 0, prices[paid.attribute] if len(prices) else 0, 0) * total
        )
        least = cost + np.minimum(sides[:, 1], floor[:, 0]) + np.minimum(sides[:, 3], floor[:, 1])
        if whole and depth == self.depth:
            self._bounds(least, best)
        for f in np.argsort(cost + sides[:, 1] + sides[:, 3], kind="stable").tolist():
            goal = np.minimum(best, budget)
            if least[f] < goal[1:].max():
                test = _Test(f, int(cost[f]), sides[f], floor[f], bool(2 * right[f] > total))
                if depth == _COMPILED + 1:
                    self.check()
                    kernels.attempt(*self.addresses, bits, prices, *test, budget, best, tests, left)
                else:
                    self._try(bits, prices, depth, test, (best, tests, left), goal)
            least[f] = INFINITY
            if whole and depth == self.depth:
                self._keep(Entry(best, best, tests, left), depth)
                self._bounds(least, best)
        return Entry(np.minimum(best, budget), best, tests, left)

    def _try(
        self,
        bits: np.ndarray,
        prices: np.ndarray,
        depth: int,
        test: _Test,
        found: tuple[np.ndarray, np.ndarray, np.ndarray],
        goal: np.ndarray,
    ) -> None:
        """Improve the best trees of a node by those with root test f, if bounds allow any."""
        f, cost, known, floor, right_first = test
        true = self.data.tests[f]
        child_width = self._width(depth - 1)
        lower = [_known(known[2 * s : 2 * s + 2], child_width, floor[s]) for s in range(2)]
        upper = [_known(known[2 * s : 2 * s + 2], child_width, INFINITY) for s in range(2)]
        if not kernels.could_improve(goal, cost, *lower):
            return
        rows = (bits & ~true, bits & true)
        if not rows[0].any() or not rows[1].any():
            return
        after = np.empty_like(prices)
        self.pay(prices, f, after)
        allowed = np.empty(child_width + 1, dtype=np.int64)
        for s in (1, 0) if right_first else (0, 1):
            kernels.allowance(goal, cost, lower[1 - s], allowed)
            if (lower[s] < np.minimum(allowed, upper[s]))[1:].any():
                entry = self.node(rows[s], after, depth - 1, allowed)
                lower[s], upper[s] = np.maximum(lower[s], entry.lower), entry.best
                if not kernels.could_improve(goal, cost, *lower):
                    return
        kernels.join(*found, f, cost, *upper)

    def pay(self, prices: np.ndarray, f: int, after: np.ndarray) -> None:
        """Prices once a test has been paid."""
        kernels.pay_test(self.arrays.paid.address, prices, f, after)

    def _bounds(self, least: np.ndarray, best: np.ndarray) -> None:
        """A bound on all trees, from bounds for every root test that is not finished."""
        bound = np.minimum(best, int(least.min(initial=INFINITY)))
        if self.lower is None or bound[-1] > self.lower[-1]:
            self.lower = bound
            self.improved(self)

    # -- trees -----------------------------------------------------------------------------------------

    def tree(self, entry: Entry, depth: int, k: int) -> Node:
        """The tree of all rows behind a value of an entry; limits are no longer checked."""
        self.check = lambda: None
        return self._split(self.rows, self.arrays.prices, entry, depth, k)

    def _split(
        self, bits: np.ndarray, prices: np.ndarray, entry: Entry, depth: int, k: int
    ) -> Node:
        f = int(entry.tests[k])
        if f < 0:
            return Leaf(self._action(bits))
        true, after = self.data.tests[f], np.empty_like(prices)
        self.pay(prices, f, after)
        leaves = (int(entry.left[k]), k - int(entry.left[k]))
        return Branch(
            self.view.errors.features[f],
            *(
                self._below(side, after, depth - 1, a)
                for side, a in zip((bits & ~true, bits & true), leaves, strict=True)
            ),
        )

    def _below(self, bits: np.ndarray, prices: np.ndarray, depth: int, k: int) -> Node:
        if depth == 0:
            return Leaf(self._action(bits))
        width = self._width(depth)
        k = 1 if self.most is None else min(k, width)
        budget = np.full(width + 1, -INFINITY, dtype=np.int64)
        budget[k] = INFINITY
        return self._split(bits, prices, self.node(bits, prices, depth, budget), depth, k)

    def _action(self, bits: np.ndarray) -> int:
        held = np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little"))
        total = self.data.values[held, : self.data.n_values].sum(axis=0)
        k = int(total.argmin())
        return k + 1 if total[k] < 0 else 0


def _longer(vector: np.ndarray, length: int) -> np.ndarray:
    """A copy of a vector by leaves; its last value also holds for more leaves."""
    out = np.empty(length, dtype=np.int64)
    out[: len(vector)], out[len(vector) :] = vector[:length], vector[-1]
    return out


def _known(pair: np.ndarray, width: int, more: int) -> np.ndarray:
    """A vector of a side from its cost as a leaf, with one split, and a bound for more."""
    out = np.empty(width + 1, dtype=np.int64)
    out[:] = min(int(pair[1]), int(more))
    if width > 1:
        out[1], out[2] = pair
    return out


def warm_up(instance: Instance) -> None:
    """Compile what an instance needs, once per process."""
    if instance.kernel_kind in _warm:
        return
    with compiling("the search with prices"):
        kernels_of(instance)
        if not _warm:
            errors, free = tiny_view(), np.zeros(1, dtype=np.int64)
            view = PathCosts(
                errors, errors.counts, np.zeros(4, dtype=np.int64), free, free, free - 1
            )
            for space in (Trees(4), Trees(4, 5)):
                of_view = instance_of(view, space)
                Search(view, space, of_view, lambda: None, lambda _: None).solve()
    _warm.add(instance.kernel_kind)
