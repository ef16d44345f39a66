"""The hypergraph of all trees within an allowance, with the numbers of trees per value.

A state is a set of rows with the depth that is left; its edges are splits into two states. From the
root down, a split is kept if the optimal values of its sides fit into the state's allowance; the
allowance of a side is what the optimum of its sibling leaves, and the largest over all parents is
used (Xin et al. 2022, *Exploring the whole Rashomon set of sparse decision trees*, keep models in
this way). From the leaves up, numbers of trees are convolved; they are integers of Python.

Where leaves cost a function of sums, allowances are in rounded units and wide enough for every tree
within the slack; trees are counted by exact values (`exact_losses`).
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from milp_trees.engines.near_best.exact_losses import ExactLosses
from milp_trees.engines.near_best.states import ENTRY, Levels, RowSets
from milp_trees.tasks.views import LeafSums

Table = dict[int, Any]


class GivenSplits(NamedTuple):
    """The tests as the user gave them.

    Per test: its number in the view, the equal test that presolve kept, whether it is the
    complement of that test, and its cost.
    """

    number: np.ndarray
    kept: np.ndarray
    flipped: np.ndarray
    cost: np.ndarray


class TreeState:
    """A set of rows with the depth that is left.

    `leaf` and `allowance` are in units of the view; `key`, the value of a leaf, and `most`, the
    largest value of a tree that is counted, are what trees are counted by.
    """

    __slots__ = (
        "action",
        "allowance",
        "depth",
        "edges",
        "ends",
        "key",
        "leaf",
        "most",
        "rows",
        "size",
        "table",
    )

    def __init__(self, rows: np.ndarray, depth: int, size: int, leaf: int, action: int) -> None:
        self.rows, self.depth, self.size, self.leaf, self.action = rows, depth, size, leaf, action
        self.allowance = -1
        self.key: Any = leaf
        self.most: Any = -1
        #: Splits into two leaves, as `TreeGraph.last` returns them, if they are kept.
        self.ends: Any = None
        #: (position in `GivenSplits`, cost, state where the test is false, state where it is true), by
        #: position.
        self.edges: list[tuple[int, int, TreeState, TreeState]] = []
        #: Key → number of trees. A key is the value, or value · base + leaves if leaves are
        #: limited.
        self.table: Table = {}


class TreeGraph:
    """All trees of regret at most `allowance`.

    Parameters
    ----------
    sets : RowSets
    given : LeafSums
        The view before presolve: its tests are counted.
    depth : int
        Largest depth of a tree.
    allowance : int
        Largest regret of a tree, in integer units.
    max_leaves : int or None
    trivial, merge : bool
        Whether sibling leaves may have one action, and whether one test represents all tests that
        divide a node in the same way.
    exact : ExactLosses, optional
        Exact values of leaves that cost a function of sums.

    Raises
    ------
    Stopped
        A limit was reached.
    """

    def __init__(
        self,
        sets: RowSets,
        given: LeafSums,
        depth: int,
        allowance: int,
        max_leaves: int | None = None,
        trivial: bool = True,
        merge: bool = False,
        exact: ExactLosses | None = None,
    ) -> None:
        self.sets, self.given, self.trivial, self.merge = sets, given, trivial, merge
        self.splits, self.exact = _splits(given, sets.view), exact
        #: Price of every split (as in `GivenSplits`), and its place among all prices.
        self.price: list[Any] = self.splits.cost.tolist()
        if exact is not None:
            self.price = [exact.split_prices[j] for j in self.splits.number.tolist()]
        places = {price: k for k, price in enumerate(sorted(set(self.price)))}
        self._place = np.array([places[price] for price in self.price], dtype=np.int64)
        self.max_leaves = 0 if max_leaves is None else max_leaves
        self.base = 2 * self.max_leaves + 1
        self.one_leaf = int(max_leaves is not None)
        held, known = sets.bytes, len(sets.known)
        try:
            self.states = self._grow(depth, allowance)
            self.root = self.states[0]
            self._measure()
            for state in reversed(self.states):
                state.table = dict(sorted(self._count(state).items()))
                sets.tick(self._each * len(state.table))
            self._cut()
        finally:  # the values of sets are kept, the graph may be freed
            sets.bytes = held + (len(sets.known) - known) * (ENTRY + 8 * sets.words)

    def _measure(self) -> None:
        """Give the states what trees are counted by."""
        self._each = ENTRY // 2
        if self.exact is None:
            for state in self.states:
                state.most = state.allowance
        else:
            self.exact.measure(self)
            self._each += self.exact.denominator.bit_length() // 8

    def _cut(self) -> None:
        """Leave out the trees of the root that are not within the slack of the best one."""
        root = self.root
        if self.exact is not None and root.table:
            root.most = min(root.most, self.exact.limit(self.best))
            end = (root.most + 1) * self.base
            root.table = {key: count for key, count in root.table.items() if key < end}

    @property
    def best(self) -> int:
        """The value of the best tree."""
        return int(next(iter(self.root.table)) // self.base)

    # -- growing ---------------------------------------------------------------------------------------------

    def _grow(self, depth: int, allowance: int) -> list[TreeState]:
        """States by falling number of rows: a state is opened after all its parents."""
        sets = self.sets
        whole = sets.levels(sets.all_rows)
        root = TreeState(
            sets.all_rows,
            min(depth, max(0, sets.view.n_rows - 1)),
            sets.view.n_rows,
            whole.leaf,
            whole.action,
        )
        root.allowance = allowance
        known = {(root.rows.tobytes(), root.depth): root}
        heap, states, number = [(-root.size, 0, root)], [], 1
        while heap:
            *_, state = heapq.heappop(heap)
            states.append(state)
            if state.depth < 2:
                continue
            for child in self._open(state, known):
                heapq.heappush(heap, (-child.size, number, child))
                number += 1
            sets.tick(ENTRY // 2 * len(state.edges))
        return states

    def _open(self, state: TreeState, known: dict[tuple[bytes, int], TreeState]) -> list[TreeState]:
        """Make the edges of a state; returns the new states."""
        sets, two, allowance = self.sets, self.sets.levels(state.rows), state.allowance
        low, new = sets.low(two), []
        found: dict[int, tuple[TreeState, TreeState]] = {}
        value: dict[int, int] = {}
        for f in np.flatnonzero(low.sum(axis=0) + sets.split <= allowance).tolist():
            spare = allowance - int(sets.split[f])
            values = sets.within(two, state.rows, state.depth, f, spare)
            if values is None:
                continue
            left_value, right_value = values
            left, right = sets.sides(state.rows, f)
            children = []
            for side, rows, rest in ((0, left, right_value), (1, right, left_value)):
                depth = sets.depth_of(two, state.depth, side, f)
                key = (rows.tobytes(), depth)
                child = known.get(key)
                if child is None:
                    child = TreeState(
                        rows,
                        depth,
                        int(two.size[side, f]),
                        int(two.value[side, f]),
                        int(two.actions[side, f]),
                    )
                    known[key] = child
                    new.append(child)
                    sets.tick(2 * ENTRY + 16 * sets.words)
                child.allowance = max(child.allowance, spare - rest)
                children.append(child)
            found[f] = (children[0], children[1])
            value[f] = left_value + right_value
        for j, (f, flipped, cost) in enumerate(
            zip(*(a.tolist() for a in self.splits[1:]), strict=True)
        ):
            if f in found and value[f] + cost <= allowance:
                left_state, right_state = found[f]
                state.edges.append(
                    (j, cost, right_state, left_state)
                    if flipped
                    else (j, cost, left_state, right_state)
                )
        if self.merge:
            state.edges = self._merged(state.edges)
        return new

    def last(self, state: TreeState) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The splits of a state into two leaves.

        They are position in `GivenSplits`, value, and actions of both leaves.
        """
        if state.ends is not None:
            return state.ends  # type: ignore[no-any-return]
        one, s = self.sets.levels(state.rows, two=False), self.splits
        value = one.value.sum(axis=0)[s.kept] + s.cost
        left, right = np.where(s.flipped, one.actions[::-1, s.kept], one.actions[:, s.kept])
        differ = None if self.trivial else left != right
        at = self.fitting(state, one, differ)
        return at, value[at], left[at], right[at]

    def fitting(
        self, state: TreeState, one: Levels, differ: np.ndarray | None = None
    ) -> np.ndarray:
        """Positions of the splits of a state into two leaves whose units fit."""
        s = self.splits
        fits = one.value.sum(axis=0)[s.kept] + s.cost <= state.allowance
        at = np.flatnonzero(fits if differ is None else fits & differ)
        if self.merge and len(at):
            side = self.sets.truth[s.kept[at]] & state.rows
            first = np.flatnonzero(state.rows)[0]
            has = (side[:, first] & (state.rows[first] & (~state.rows[first] + np.uint64(1)))) != 0
            side[~has] ^= state.rows
            order = np.argsort(self._place[at], kind="stable")
            _, cheapest = np.unique(side[order], axis=0, return_index=True)
            at = np.sort(at[order[cheapest]])
        return at

    def _merged(
        self, edges: list[tuple[int, int, TreeState, TreeState]]
    ) -> list[tuple[int, int, TreeState, TreeState]]:
        """Of the edges into the same two states the cheapest, and of these the first."""
        best: dict[frozenset[int], tuple[int, int, TreeState, TreeState]] = {}
        for edge in edges:
            pair = frozenset((id(edge[2]), id(edge[3])))
            if pair not in best or self.price[edge[0]] < self.price[best[pair][0]]:
                best[pair] = edge
        return sorted(best.values(), key=lambda edge: edge[0])

    # -- counting --------------------------------------------------------------------------------------------

    def _count(self, state: TreeState) -> Table:
        """Number of trees per key."""
        out: Table = defaultdict(int)
        if state.key <= state.most:
            out[state.key * self.base + self.one_leaf] = 1
        if state.depth == 1 and (self.max_leaves != 1):
            for value, count in zip(
                *(a.tolist() for a in np.unique(self.last(state)[1], return_counts=True)),
                strict=True,
            ):
                if value <= state.most:
                    out[value * self.base + 2 * self.one_leaf] += count
        made: dict[frozenset[int], Table] = {}
        for _, cost, left, right in state.edges:
            pair = frozenset((id(left), id(right)))
            if pair not in made:
                made[pair] = self.both(left, right, state.most, left.table, right.table)
            shift = cost * self.base
            for key, count in made[pair].items():
                if (key + shift) // self.base <= state.most:
                    out[key + shift] += count
        return out

    def both(self, left: TreeState, right: TreeState, most: int, a: Table, b: Table) -> Table:
        """Numbers of trees for two sides together, sorted by key."""
        out: Table = {}
        base, top = self.base, (most + 1) * self.base
        for u, m in a.items():
            if self.exact is not None:  # nearly every tree has a value of its own
                self.sets.check(self._each * len(out))
            for v, n in b.items():
                if u + v >= top:
                    break
                if (u + v) % base <= self.max_leaves:
                    out[u + v] = out.get(u + v, 0) + m * n
        least = self.siblings(left, right)
        if least is not None and least in out:
            out[least] = out[least] - 1
            if not np.any(out[least]):
                del out[least]
        return out

    def siblings(self, left: TreeState, right: TreeState) -> int | None:
        """Key of the two leaves with one action that do not count as a tree, or None."""
        if self.trivial or left.action != right.action:
            return None
        least: int = (left.key + right.key) * self.base + 2 * self.one_leaf
        return least


def _splits(given: LeafSums, reduced: LeafSums) -> GivenSplits:
    """Where presolve put the tests of a view; constant tests split nothing and are left out."""
    rows = []
    for j, test in enumerate(given.features):
        to = (reduced.index[test], False) if test in reduced.index else reduced.alias[test]
        if not isinstance(to, bool):
            rows.append((j, to[0], int(to[1]), int(given.split_costs[j])))
    number, kept, flipped, cost = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    return GivenSplits(number, kept, flipped.astype(bool), cost)
