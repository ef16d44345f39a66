"""Branch and bound over partial trees whose first tests are fixed."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from milp_trees.engines.tangents.partial import Choices, Known, OpenPart, Partial
from milp_trees.engines.tangents.rows import TangentRows
from milp_trees.engines.tangents.sums import (
    LeafAt,
    Sums,
    Tangent,
    join,
    leaf_at,
    options_of,
    shares,
)


@dataclass
class TangentsSearch:
    """One run.

    Parameters
    ----------
    objective : Areas or Errors
    rows : TangentRows
    depth : int
    layers : int
        One more than the largest number of leaves; 1 if leaves are not counted.
    check : callable
        Called before long work; it raises an error to stop the search.
    improved : callable
        Called without arguments after every new best tree.
    """

    objective: Any
    rows: TangentRows
    depth: int
    layers: int
    check: Callable[[], None]
    improved: Callable[[], None]
    heap: list[tuple[Any, int, Partial]] = field(default_factory=list)
    current: Partial | None = None
    #: The best tree: tests by inner node, and whether the leaves are labelled positive.
    tree: tuple[dict[int, int], dict[int, bool]] = field(default_factory=lambda: ({}, {}))
    expanded: int = 0
    tangents: int = 0

    def begin(self) -> None:
        """Nothing is decided yet, and the tree is a single leaf."""
        every = self.rows.every
        self.tree = {}, {1: every.p > every.q}
        root = OpenPart(1, every, self.depth, options_of(every, self.depth))
        self.current = Partial(None, (), (root,), (), self.objective.rank(()))
        self.ties = itertools.count()

    def offer_leaf(self) -> None:
        """Offer the single leaf, before anything else is offered."""
        self.offer({}, [leaf_at(1, self.rows.every)])

    def run(self, pause: Callable[[], None]) -> None:
        """Expand partial trees until none can become better than the best; `pause` may raise."""
        while self.current is not None:
            pause()
            self._expand(self.current)
            self._advance()

    def _advance(self) -> None:
        """Go on to the most promising partial tree; an interruption leaves none out."""
        while self.heap:
            partial = self.heap[0][2]
            if self.objective.in_reach(partial.rank, partial.evidence):
                self.current = partial
                heapq.heappop(self.heap)
                return
            heapq.heappop(self.heap)
        self.current = None

    def offer(self, tests: dict[int, int], leaves: list[LeafAt]) -> bool:
        """Make a tree the best if it is better; the result says whether it is."""
        labels = self.objective.offer(leaves)
        if labels is None:
            return False
        of_leaves = {leaf.node: message for leaf, message in zip(leaves, labels, strict=True)}
        self.tree = tests, of_leaves  # at once, so that an interrupt never leaves half a tree
        self.improved()
        return True

    def bound(self) -> Any:
        """An upper bound on the units of all trees."""
        ranks = [] if self.current is None else [self.current.rank]
        ranks += [-rank for rank, *_ in self.heap[:1]]
        bounds = [self.objective.bound(rank) for rank in ranks]
        best = self.objective.best
        return max(bounds if best is None else [best, *bounds])

    # -- one partial tree ----------------------------------------------------------------------------

    def _expand(self, partial: Partial) -> None:
        """Leave out choices under some tangents, then decide on one open part."""
        self.expanded += 1
        choices, guide = Choices(self.objective, partial), self.objective.guide(partial.evidence)
        while choices.reached.any():
            tangent = guide.next(choices.reached)
            if tangent is None or len(choices.known) == self.objective.most_tangents:
                self._branch(choices)
                return
            self.check()
            self.tangents += 1
            choices.add(Known(tangent, self._sums(choices.partial, tangent, guide)))

    def _sums(self, partial: Partial, tangent: Tangent, guide: Any) -> tuple[np.ndarray, ...]:
        """The largest sums for all choices; a tree that has the largest of them is offered."""
        sums = Sums(self.rows, tangent, self.layers, self.check)
        fixed = np.full(self.layers, -np.inf)
        fixed[min(len(partial.leaves), self.layers - 1)] = sums.of_leaves(
            [(leaf.p, leaf.q) for leaf in partial.leaves]
        )
        tables = [sums.table(x.part, x.depth, x.options) for x in partial.open]
        best = [fixed, *(table.max(axis=0) for table in tables)]
        before = list(itertools.accumulate(best[:-1], join))
        nothing = np.append(0.0, np.full(self.layers - 1, -np.inf))
        after = list(itertools.accumulate(best[:1:-1], join, initial=nothing))[::-1]
        out = [
            join(table, join(*others)) for table, *others in zip(tables, before, after, strict=True)
        ]
        whole = out[0].max(axis=0)
        excesses = self.objective.excesses(tangent, whole)
        size = int(self.objective.layers[int(excesses.argmax())])
        tests, leaves = partial.tests, list(partial.leaves)
        for x, table, own in zip(partial.open, tables, shares(best, size)[1:], strict=True):
            below = sums.tree(x.node, x.part, x.depth, x.options, table, own)
            tests |= below[0]
            leaves += below[1]
        guide.learn(tangent, whole, leaves)
        self.offer(tests, leaves)
        return tuple(out)

    def _branch(self, choices: Choices) -> None:
        """Decide on one open part: a child for each of its choices that is in reach.

        It is one of the largest depth, and of those one with the fewest choices.
        """
        partial = choices.partial
        i = min(
            range(len(partial.open)),
            key=lambda k: (-partial.open[k].depth, len(partial.open[k].options)),
        )
        for k in choices.reached_in(i):
            evidence = choices.evidence(i, k)
            child = partial.child(self.rows, i, k, evidence, self.objective.rank(evidence))
            if child.open:
                heapq.heappush(self.heap, (-child.rank, next(self.ties), child))
            else:
                self.offer(child.tests, list(child.leaves))
