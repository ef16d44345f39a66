"""The largest sum of a tangent over the leaves of all trees on a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from milp_trees.engines.tangents import kernels
from milp_trees.engines.tangents.rows import TangentPart, TangentRows

#: Stands among the tests of a part for a leaf.
LEAF = -1

_NO_CURVE = np.zeros((0, 4))


class Tangent(NamedTuple):
    """Steps, and what their sum means.

    For p positives and q negatives a tangent gives the sum of max(0, width · p − height · q).

    Parameters
    ----------
    widths, heights : float arrays
        Whole numbers.
    constant, fine : int
        Of a tangent of areas, see `Areas`.
    reference : float array of shape (steps, 4), optional
        The curve at which it touches areas.
    """

    widths: np.ndarray
    heights: np.ndarray
    constant: int = 0
    fine: int = 1
    reference: np.ndarray = _NO_CURVE


#: Tangents with the largest sums of some trees, by number of leaves (or one number for all).
Evidence = Sequence[tuple[Tangent, np.ndarray]]


class LeafAt(NamedTuple):
    """A leaf: its node (the root is 1, children are 2n and 2n + 1), positives and negatives."""

    node: int
    p: int
    q: int


def leaf_at(node: int, part: TangentPart) -> LeafAt:
    return LeafAt(node, part.p, part.q)


def options_of(part: TangentPart, depth: int) -> np.ndarray:
    """What the root of a tree on a part may be: a leaf, or one of its tests."""
    if not depth or part.is_pure:
        return np.array([LEAF])
    return np.append(LEAF, part.tests)


def join(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The largest sums of two trees together, for every number of leaves of both.

    The last axis is the number of leaves; if it has length 1, leaves are not counted.
    """
    n = a.shape[-1]
    if n == 1:
        return np.asarray(a + b)
    out = np.full(np.broadcast_shapes(a.shape, b.shape), -np.inf)
    possible = (b > -np.inf).reshape(-1, n).any(axis=0)
    for j in np.flatnonzero(possible).tolist():
        np.maximum(out[..., j:], a[..., : n - j] + b[..., j : j + 1], out=out[..., j:])
    return out


@dataclass
class Sums:
    """Sums under one tangent.

    Parameters
    ----------
    rows : TangentRows
    tangent : Tangent
    layers : int
        One more than the largest number of leaves; 1 if leaves are not counted.
    check : callable
        Called before long work; it raises an error to stop the search.
    """

    rows: TangentRows
    tangent: Tangent
    layers: int
    check: Callable[[], None]
    known: dict[tuple[TangentPart, int], np.ndarray] = field(default_factory=dict)

    def of_leaves(self, counts: Sequence[tuple[int, int]]) -> float:
        """The sum over leaves with some positives and negatives."""
        p, q = np.array(counts, dtype=float).reshape(-1, 2).T[:, :, None]
        return float(np.maximum(self.tangent.widths * p - self.tangent.heights * q, 0.0).sum())

    def best(self, part: TangentPart, depth: int) -> np.ndarray:
        """The largest sums of all trees of at most this depth, shape (layers,)."""
        key = part, depth
        if key not in self.known:
            self.known[key] = self.table(part, depth, options_of(part, depth)).max(axis=0)
        return self.known[key]

    def table(self, part: TangentPart, depth: int, options: np.ndarray) -> np.ndarray:
        """The largest sums for each choice of the root."""
        out = np.full((len(options), self.layers), -np.inf)
        alone = options == LEAF
        out[alone, min(1, self.layers - 1)] = self.of_leaves([(part.p, part.q)])
        tests = options[~alone]
        if not len(tests):
            return out
        if depth > 2:
            out[~alone] = [
                join(*(self.best(side, depth - 1) for side in self.rows.divide(part, f)))
                for f in tests.tolist()
            ]
            return out
        sums = self._shallow(part, depth, tests)
        if self.layers == 1:
            out[~alone] = sums.max(axis=1, keepdims=True)
        else:
            most = min(self.layers, 2 + sums.shape[1])
            out[~alone, 2:most] = sums[:, : most - 2]
        return out

    def _shallow(self, part: TangentPart, depth: int, tests: np.ndarray) -> np.ndarray:
        """The largest sums for one or two levels; columns are trees of two, three, four leaves."""
        which, counts = np.searchsorted(part.tests, tests), (float(part.p), float(part.q))
        steps = self.tangent.widths, self.tangent.heights
        if depth == 1:
            ones, zeros = (side[which] for side in part.sides)
            return np.asarray(kernels.one_split(ones, zeros, *counts, *steps))[:, None]
        self.check()
        pairs = self.rows.pairs(part)
        return np.asarray(kernels.two_splits(pairs, *counts, self.rows.least, which, *steps))

    def tree(
        self,
        node: int,
        part: TangentPart,
        depth: int,
        options: np.ndarray,
        sums: np.ndarray,
        leaves: int,
    ) -> tuple[dict[int, int], list[LeafAt]]:
        """A tree with the largest sum: the test of each inner node, and its leaves."""
        chosen = int(options[int(sums[:, leaves].argmax())])
        if chosen == LEAF:
            return {}, [leaf_at(node, part)]
        tests, found = {node: chosen}, []
        sides = self.rows.divide(part, chosen)
        of_sides = shares([self.best(side, depth - 1) for side in sides], leaves)
        for k, (side, own) in enumerate(zip(sides, of_sides, strict=True)):
            choices = options_of(side, depth - 1)
            table = self.table(side, depth - 1, choices)
            below = self.tree(2 * node + k, side, depth - 1, choices, table, own)
            tests |= below[0]
            found += below[1]
        return tests, found


def shares(best: Sequence[np.ndarray], leaves: int) -> list[int]:
    """How many of the leaves each of some trees has if all together have the largest sum."""
    stages = [best[0]]
    for one in best[1:-1]:
        stages.append(join(stages[-1], one))
    out: list[int] = []
    for before, own in zip(reversed(stages), reversed(best[1:]), strict=True):
        out.append(int((before[leaves::-1] + own[: leaves + 1]).argmax()))
        leaves -= out[-1]
    return [leaves, *reversed(out)]
