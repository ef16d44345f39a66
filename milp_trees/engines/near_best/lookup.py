"""Trees of a hypergraph by their number, and how many trees use each test.

Only the numbers of trees are needed, so the i-th tree is found without the trees before it. A list
in order then needs no queue of candidates, as Huang and Chiang (2005, *Better k-best parsing*)
have, and a uniformly drawn number gives a uniformly drawn tree.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import Any

import numpy as np

from milp_trees.engines.near_best.graph import Table, TreeGraph, TreeState
from milp_trees.models.nodes import Branch, Leaf, Node

#: Counts up to this are convolved as 64-bit integers, larger ones as integers of Python.
SAFE = 2**62
#: Bytes for the vectors of `without` together, and number of choices that are remembered while
#: trees are looked up.
VECTORS, CHOICES = 2**28, 200_000


class Lookup:
    """Trees of a graph."""

    def __init__(self, graph: TreeGraph) -> None:
        self.graph = graph
        self._choices: dict[tuple[int, int], tuple[list[int], list[tuple[Any, ...]]]] = {}

    # -- one tree by its number ------------------------------------------------------------------------------

    def tree(self, state: TreeState, key: int, i: int) -> Node:
        """The i-th tree of a state among those with one key.

        The leaf is first; then trees are ordered by test, by the left side's key, by the left
        side's number and by the right side's number.
        """
        ends, choices = self._choice(state, key)
        at = bisect_right(ends, i)
        i -= ends[at - 1] if at else 0
        chosen = choices[at]
        if len(chosen) == 1:
            return Leaf(chosen[0])
        j, left, right, *more = chosen
        test = self.graph.given.features[int(self.graph.splits.number[j])]
        if isinstance(left, int):
            return Branch(test, Leaf(left), Leaf(right))
        cost = more[0] * self.graph.base
        excluded = self.graph.siblings(left, right)
        for u, m in left.table.items():
            v = key - cost - u
            n = right.table.get(v, 0)
            # If the two leaves do not count, they are the first of their pairs, since leaves come
            # first on both sides.
            skipped = int(
                bool(n) and self._is_leaf(left, u) and self._is_leaf(right, v) and excluded == u + v
            )
            if i < m * n - skipped:
                i += skipped
                return Branch(test, self.tree(left, u, i // n), self.tree(right, v, i % n))
            i -= m * n - skipped
        raise AssertionError("a tree's number is beyond the count")

    def _is_leaf(self, state: TreeState, key: int) -> bool:
        return key == state.key * self.graph.base + self.graph.one_leaf

    def _choice(self, state: TreeState, key: int) -> tuple[list[int], list[tuple[Any, ...]]]:
        """The roots of the trees of a state with one key, and where the numbers of each end."""
        known = self._choices.get((id(state), key))
        if known is not None:
            return known
        counts: list[int] = []
        choices: list[tuple[Any, ...]] = []
        if self._is_leaf(state, key):
            counts.append(1)
            choices.append((state.action,))
        if state.depth == 1:
            at, value, left, right = self.graph.last(state)
            for c in np.flatnonzero(
                value * self.graph.base + 2 * self.graph.one_leaf == key
            ).tolist():
                counts.append(1)
                choices.append((int(at[c]), int(left[c]), int(right[c])))
        for j, cost, one, other in state.edges:
            rest = key - cost * self.graph.base
            n = sum(m * other.table.get(rest - u, 0) for u, m in one.table.items()) - int(
                self.graph.siblings(one, other) == rest
            )
            if n:
                counts.append(n)
                choices.append((j, one, other, cost))
        if len(self._choices) >= CHOICES:
            self._choices.clear()
        self._choices[id(state), key] = (list(accumulate(counts)), choices)
        return self._choices[id(state), key]

    # -- who uses what ---------------------------------------------------------------------------------------

    def without(self) -> list[Table]:
        """For every test (as in `GivenSplits`), the number of trees per key that do not use it."""
        n = len(self.graph.splits.number)
        entries = sum(len(s.table) for s in self.graph.states)
        step = max(1, VECTORS // (8 * max(1, entries)))
        out: list[Table] = []
        for begin in range(0, n, step):
            vectors = self._avoiding(np.arange(begin, min(n, begin + step)))
            out += [
                {key: int(v[t]) for key, v in vectors.items()}
                for t in range(min(n, begin + step) - begin)
            ]
        return out

    def _avoiding(self, tests: np.ndarray) -> Table:
        """Key of the root → numbers of the trees without each of the tests, as a vector."""
        most = max((max(s.table.values()) for s in self.graph.states if s.table), default=0)
        kind: Any = np.int64 if most < SAFE else object
        position = {int(j): t for t, j in enumerate(tests.tolist())}
        tables: dict[int, Table] = {}
        for state in reversed(self.graph.states):
            out: Table = {key: np.zeros(len(tests), dtype=kind) for key in state.table}
            leaf = state.key * self.graph.base + self.graph.one_leaf
            if leaf in out:
                out[leaf] += 1
            if state.depth == 1 and self.graph.max_leaves != 1:
                at, value, *_ = self.graph.last(state)
                for j, key in zip(
                    at.tolist(),
                    (value * self.graph.base + 2 * self.graph.one_leaf).tolist(),
                    strict=True,
                ):
                    if key in out:  # else it is above what is counted
                        out[key] += 1
                        if j in position:
                            out[key][position[j]] -= 1
            made: dict[frozenset[int], Table] = {}
            for j, cost, left, right in state.edges:
                pair = frozenset((id(left), id(right)))
                if pair not in made:
                    made[pair] = self.graph.both(
                        left, right, state.most, tables[id(left)], tables[id(right)]
                    )
                for key, vector in made[pair].items():
                    if (key + cost * self.graph.base) // self.graph.base <= state.most:
                        here = out[key + cost * self.graph.base]
                        mine = here[position[j]] if j in position else None
                        here += vector
                        if mine is not None:
                            here[position[j]] = mine
            tables[id(state)] = out
        return tables[id(self.graph.root)]
