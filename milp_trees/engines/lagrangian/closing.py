"""The exact end of the search: are there feasible trees between the bound and a target?

A feasible tree that costs at most the target has a Lagrangian cost of at most
`target + Σ multiplier · bound`. The vectors of all such trees are made for the children of the root
(`vectors`); for every root test the lists of both sides are sorted and swept, so that pairs are not
listed. The cheapest feasible pair of all root tests is the optimum; without one, no feasible tree
costs as little as the target.

The target rises in steps. The first is the bound itself; how far the next one goes follows from how
the numbers of vectors have grown, so the last step does not take much longer than is needed.
"""

from __future__ import annotations

import math

import numpy as np

from milp_trees.engines.lagrangian.incumbent import Incumbent
from milp_trees.engines.lagrangian.kernels import NONE
from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.engines.lagrangian.tables import FAR, within_far
from milp_trees.engines.lagrangian.vector_kernels import cheapest_pair
from milp_trees.engines.lagrangian.vectors import TreeVectors
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree

#: A step is free to take this much work, in vectors; a set of rows counts as `SET` vectors.
CHEAP, SET = 20_000, 100
#: A step may take this much more work than the step before.
MORE = 4
#: The first step is this share of the gap at most.
FIRST = 64


class Closing:
    """Targets between the bound and the incumbent.

    Parameters
    ----------
    vectors : TreeVectors
    multipliers : Multipliers
        Those of `vectors`.
    incumbent : Incumbent
        Gets better trees and bounds.
    most : int
        No tree costs more than this.
    """

    def __init__(
        self, vectors: TreeVectors, multipliers: Multipliers, incumbent: Incumbent, most: int
    ) -> None:
        self.vectors, self.incumbent, self.most = vectors, incumbent, most
        view = self.view = vectors.view
        self.depth = max(0, min(vectors.space.depth, view.n_features, view.n_rows - 1))
        self.first = int(view.costs[:, 0].sum())
        side = [int(row.coefs[:, 0].sum()) for row in view.side]
        self.D = multipliers.denominator
        self.free = 0
        self.lower, self.upper = np.full(vectors.J, -FAR), vectors.most.copy()
        for j, (n, row) in enumerate(zip(multipliers.numerators, view.side, strict=True)):
            if n:
                at = row.upper if n > 0 else row.lower
                assert at is not None
                self.free += n * (at - side[j])
            if row.lower is not None:
                self.lower[1 + j] = within_far(row.lower - side[j])
            if row.upper is not None:
                self.upper[1 + j] = within_far(row.upper - side[j])
        self.levels = 0

    def close(self) -> None:
        """Raise the bound until it meets the incumbent, or every tree is excluded."""
        inc, unit, before = self.incumbent, self.incumbent.unit, 0
        step = unit if inc.value is None else max(unit, (inc.value - inc.bound) // FIRST)
        while not inc.proven and inc.bound <= self.most:
            target = min(inc.bound + step - unit, self.most)
            if inc.value is not None:
                target = min(target, inc.value - unit)
            begun = self._work()
            self._level(target)
            work = self._work() - begun
            self.levels += 1
            inc.raise_bound(target + 1 if inc.value is None else min(target + 1, inc.value))
            step, before = self._step(work, before, step), work

    @property
    def infeasible(self) -> bool:
        """Whether every tree is excluded."""
        return self.incumbent.value is None and self.incumbent.bound > self.most

    def _work(self) -> int:
        return self.vectors.kept + SET * self.vectors.sets

    def _step(self, work: int, before: int, step: int) -> int:
        """How far the next target lies above the bound."""
        unit = self.incumbent.unit
        twice, allowed = 2 * step, max(CHEAP, MORE * work)
        growth = work / before if before and work > before else 1.0
        if growth > 1.0:
            # VectorWork has grown by this factor over the last step; assume that it goes on like that.
            reach = step * math.log(allowed / max(1, work)) / math.log(growth)
            twice = min(twice, max(unit, int(reach // unit) * unit)) if work < allowed else unit
        return max(unit, twice)

    def _allowance(self, target: int) -> int:
        return within_far(self.D * (target - self.first) + self.free)

    # -- one target -----------------------------------------------------------------------------------------

    def _level(self, target: int) -> None:
        """Find the best feasible tree of at most this cost, if there is one."""
        vectors, rows = self.vectors, self.vectors.all_rows
        self._leaves(target)
        if self.depth == 0:
            return
        below = vectors.below(rows, self.depth)
        total = below.sum(axis=0) + vectors.price
        for f in np.argsort(total, kind="stable").tolist():
            if self.incumbent.value is not None:
                target = min(target, self.incumbent.value - self.incumbent.unit)
            allowance = self._allowance(target)
            if total[f] > allowance or total[f] >= NONE:
                return
            self._root(f, target, allowance)

    def _leaves(self, target: int) -> None:
        """Trees of a single leaf."""
        if self.vectors.value(self.vectors.all_rows, 0) >= NONE:
            return
        for k, cost in enumerate(self.view.costs.sum(axis=0).tolist()):
            if cost + self.view.leaf_cost <= target:
                self.incumbent.take(Tree(Leaf(k), self.view.actions))

    def _root(self, f: int, target: int, allowance: int) -> None:
        """The best feasible tree with this test at the root."""
        vectors, depth = self.vectors, self.depth
        left, right = vectors.lists(vectors.all_rows, f, depth, allowance)
        cost = int(self.view.split_costs[f])
        falling = np.argsort(-left.rows[:, 1], kind="stable")
        rising = np.argsort(right.rows[:, 1], kind="stable")
        a, b = np.ascontiguousarray(left.rows[falling]), np.ascontiguousarray(right.rows[rising])
        best = target - self.first - cost + 1
        _, i, k = vectors.beside(
            len(a) * len(b) if vectors.J > 2 else 0,
            lambda stop: cheapest_pair(a, b, self.lower, self.upper, best, stop),
        )
        if i < 0:
            return
        vector = a[i] + b[k]
        vector[0] += cost
        root = Reader(vectors).read(vectors.all_rows, depth, allowance, vector, [f])
        self.incumbent.take(Tree(root, self.view.actions).prune_empty(self.view))


class Reader:
    """Finds the tree behind a vector by making the lists along it again."""

    def __init__(self, vectors: TreeVectors) -> None:
        self.vectors = vectors
        self._random = np.random.default_rng(0).integers(1, 2**62, vectors.J)

    def read(
        self,
        rows: np.ndarray,
        depth: int,
        allowance: int,
        vector: np.ndarray,
        tests: list[int] | None = None,
    ) -> Node:
        """A tree with a vector that is in the list of these rows at this allowance."""
        vectors = self.vectors
        if tests is None:
            leaf = vectors.leaf_with(rows, vector)
            if leaf is not None:
                return Leaf(leaf)
            below = vectors.below(rows, depth)
            total = below.sum(axis=0) + vectors.price
            tests = np.flatnonzero(total <= allowance).tolist()
        for f in tests:
            pair = self._pair(rows, f, depth, allowance, vector)
            if pair is not None:
                one, other = vectors.spare(rows, f, depth, allowance)
                left, right = vectors.sides(rows, f)
                return Branch(
                    vectors.view.features[f],
                    self.read(left, depth - 1, one, pair[0]),
                    self.read(right, depth - 1, other, pair[1]),
                )
        raise AssertionError("a vector has no tree")

    def _pair(
        self, rows: np.ndarray, f: int, depth: int, allowance: int, vector: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Vectors of both sides of a test that sum up to one, or None."""
        left, right = self.vectors.lists(rows, f, depth, allowance)
        rest = vector - left.rows
        rest[:, 0] -= self.vectors.terms.split[f]
        # Sums that wrap around are equal where the vectors are.
        wanted, there = rest @ self._random, right.rows @ self._random
        order = np.argsort(there, kind="stable")
        at = np.searchsorted(there[order], wanted)
        for i in np.flatnonzero(at < len(order)).tolist():
            k = int(at[i])
            while k < len(order) and there[order[k]] == wanted[i]:
                if (right.rows[order[k]] == rest[i]).all():
                    return left.rows[i], right.rows[order[k]]
                k += 1
        return None
