"""The objective of areas under the ROC curve, and its tangents, which touch it at curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from milp_trees.engines.tangents.sums import Evidence, LeafAt, Tangent
from milp_trees.tasks.count_views import LeafCounts

#: Widths of tangents are whole numbers of parts of a negative row: at most FINEST of them, at least
#: COARSEST, and if the slopes are exact at least COARSE.
FINEST, COARSE, COARSEST = 2**20, 64, 32
#: Doubles hold all whole numbers up to EXACT, and sums stay below a quarter of it.
EXACT = 2**53
#: Denominator of the slopes of steps that were joined; ends of steps that are so close are equal.
JOINED, CLOSE = 256, 1e-6
#: Most tangents for one partial tree, and most steps of a curve of reference.
MOST_TANGENTS, MOST_STEPS = 20, 24
#: Shares that a new tree may have in the next curve of reference.
SHARES = (1.0, 0.5, 0.3, 0.2, 0.1, 0.05)
#: A tangent is of use if it leaves less than this share of what the best one left; no further one is
#: tried after so many that are of no use, one after the other.
PROGRESS, PATIENCE = 0.9, 2


class Areas:
    """The largest area.

    Units are those of the view. A tangent whose steps begin at X and have the width w and the
    height h, in `fine` · b parts of a negative row, says with its sum G for a tree of H leaves: the
    units are at most (m · Σ h (2 X + w) + 2 b m fine · G) / fine² − H · leaf_units.

    A *curve* has a step in each row, by falling slope: positives, negatives, and its slope as two
    whole numbers.

    Parameters
    ----------
    view : LeafCounts
    sizes : sequence of int
        Numbers of leaves; (0,) if they do not matter.
    """

    most_tangents = MOST_TANGENTS

    def __init__(self, view: LeafCounts, sizes: Sequence[int]) -> None:
        self.view = view
        #: Indices of the sums that matter: each has one smallest sum with which it is in reach.
        self.layers = np.array(sizes)
        self.best: Fraction | None = None
        #: How many best trees there were.
        self.version = 0
        self.finest = _finest(view)

    @staticmethod
    def unsupported(view: LeafCounts) -> str | None:
        """Why sums would not be exact, or None."""
        if _finest(view) >= COARSEST:
            return None
        return "tangents adds up areas in whole numbers of 53 bits; there are too many rows here."

    def offer(self, leaves: Sequence[LeafAt]) -> list[bool] | None:
        """If a tree is the best so far, whether each of its leaves is labelled positive."""
        units = self.view.units([(leaf.p, leaf.q) for leaf in leaves])
        if self.best is not None and units <= self.best:
            return None
        self.best = units
        self.version += 1
        return [leaf.p > leaf.q for leaf in leaves]

    @property
    def _step(self) -> Fraction:
        """The least by which other units are larger than the best.

        Units are whole numbers, or fractions whose denominators are at most all negatives.
        """
        assert self.best is not None
        if self.view.theta == 1:
            return Fraction(1)
        return Fraction(1, self.best.denominator * self.view.totals[1])

    def needed(self, tangent: Tangent) -> np.ndarray:
        """The smallest sums with which trees may be better than the best, for each layer."""
        view, out = self.view, []
        assert self.best is not None
        scale = 2 * view.theta.denominator * view.multiplier * tangent.fine
        for leaves in self.layers.tolist():
            better = tangent.fine**2 * (self.best + self._step + view.leaf_units * leaves)
            least = -((view.multiplier * tangent.constant - better) // scale)
            out.append(float(min(max(least, -EXACT), EXACT)))
        return np.array(out)

    def excesses(self, tangent: Tangent, sums: np.ndarray) -> np.ndarray:
        """How far each layer is in reach, by sums of shape (…, sizes); negative: it is not."""
        return np.asarray((sums[..., self.layers] - self.needed(tangent)) / tangent.fine)

    def rank(self, evidence: Evidence) -> Fraction:
        """Most units that some trees can have, by sums under tangents."""
        view = self.view
        if not evidence:  # perfect separation by a tree that is paid for as a single leaf
            positives, negatives = view.totals
            return view.units([(positives, 0), (0, negatives)]) + view.leaf_units
        return min(self._units(*known) for known in evidence)

    def _units(self, tangent: Tangent, sums: np.ndarray) -> Fraction:
        """Most units by the sums under one tangent."""
        view, squared = self.view, tangent.fine**2
        scale = 2 * view.theta.denominator * view.multiplier * tangent.fine
        most = max(
            scale * int(sums[k]) - squared * view.leaf_units * k
            for k in self.layers.tolist()
            if sums[k] > -np.inf
        )
        return Fraction(view.multiplier * tangent.constant + most, squared)

    def in_reach(self, rank: Fraction, evidence: Evidence) -> bool:
        """Whether some trees may be better than the best."""
        assert self.best is not None
        return rank >= self.best + self._step

    def bound(self, rank: Fraction) -> Fraction:
        """Most units of trees of at most this rank."""
        return rank

    def guide(self, evidence: Evidence) -> AreaGuide:
        """Chooses tangents for the trees of which some sums are known."""
        if not evidence:
            return AreaGuide(self, curve_of([self.view.totals]))
        strictest = min(evidence, key=lambda known: self.excesses(*known).max())
        return AreaGuide(self, strictest[0].reference)

    def tangent(self, curve: np.ndarray) -> Tangent:
        """The tangent at a curve, whose ends of steps are rounded.

        Slopes are exact if numbers are small enough. So every tree that has the same curve as a
        best one touches a tangent at that curve, and none of them seems to be better.
        """
        b, a = self.view.theta.denominator, self.view.theta.numerator
        ends = np.cumsum(curve[:, 1])
        last = min(int((ends * b < a * self.view.totals[1] - CLOSE).sum()), len(curve) - 1)
        slopes = [(int(up), int(right)) for up, right in curve[: last + 1, 2:].tolist()]
        multiple = max(slopes[-1][1], 1)
        fine = min(FINEST, self.finest // multiple)
        exact = fine >= COARSE
        if not exact:
            fine, multiple = min(FINEST, self.finest), 1
        width, at, constant = fine * a * self.view.totals[1], 0, 0
        widths, heights = [], []
        for k, (up, right) in enumerate(slopes):
            unit = right if exact else 1
            if not right:
                continue  # a step of positives alone has no width
            w = max(0, round((float(ends[k]) * fine * b - at) / unit)) * unit
            w = width - at if k == last else min(w, (width - at) // unit * unit)
            if not w:
                continue
            h = multiple * w * up // right if exact else round(w * up / right)
            constant += h * (2 * multiple * at + multiple * w)
            at += w
            widths.append(float(multiple * w))
            heights.append(float(h))
        return Tangent(np.array(widths), np.array(heights), constant, fine * multiple, curve)


class AreaGuide:
    """Chooses tangents for a partial tree: at mixtures of trees that were largest under tangents.

    The least bound that any tangent gives is the largest area of a mixture of curves. So the curve
    of reference moves towards the tree that is largest under its tangent (Frank and Wolfe 1956).

    Parameters
    ----------
    objective : Areas
    curve : float array of shape (steps, 4)
        The first reference.
    """

    def __init__(self, objective: Areas, curve: np.ndarray) -> None:
        self.objective, self.curve = objective, curve
        self.least = np.inf
        self.useless = 0

    def next(self, reached: np.ndarray) -> Tangent | None:
        """The next tangent, or None if a further one would be of little use."""
        if self.useless == PATIENCE:
            return None
        return self.objective.tangent(self.curve)

    def learn(self, tangent: Tangent, sums: np.ndarray, leaves: list[LeafAt]) -> None:
        """Move the curve of reference towards a tree."""
        excess = float(self.objective.excesses(tangent, sums).max())
        self.useless = self.useless + 1 if excess > PROGRESS * self.least else 0
        self.least = min(self.least, excess)
        tree = curve_of([(leaf.p, leaf.q) for leaf in leaves])
        width = float(self.objective.view.theta) * self.objective.view.totals[1]
        mixtures = (mixture(self.curve, tree, share) for share in SHARES)
        self.curve = shortened(max(mixtures, key=lambda curve: area(curve, width)), width)


def _finest(view: LeafCounts) -> int:
    """Most parts of a negative row for which sums are exact."""
    return EXACT // (4 * view.theta.denominator * view.totals[0] * view.totals[1])


def curve_of(leaves: Sequence[tuple[int, int]]) -> np.ndarray:
    """The curve of a tree."""
    steps = []
    for p, q in leaves:
        common = math.gcd(p, q)
        steps.append((p, q, p // common, q // common))
    return _by_slope(np.array(steps, dtype=float))


def mixture(curve: np.ndarray, tree: np.ndarray, share: float) -> np.ndarray:
    """A curve with a share of another one; steps of the same slope are joined."""
    both = np.concatenate([curve, tree])
    both[: len(curve), :2] *= 1 - share
    both[len(curve) :, :2] *= share
    both = _by_slope(both)
    new = np.append(True, (both[1:, 2:] != both[:-1, 2:]).any(axis=1))
    first = np.flatnonzero(new)
    sums = np.add.reduceat(both[:, :2], first, axis=0)
    return np.concatenate([sums, both[first, 2:]], axis=1)


def _by_slope(steps: np.ndarray) -> np.ndarray:
    """Steps by falling slope, without empty ones."""
    steps = steps[steps[:, :2].sum(axis=1) > 0]
    return np.asarray(steps[np.argsort(-steps[:, 2] / steps[:, 2:].sum(axis=1), kind="stable")])


def area(curve: np.ndarray, width: float) -> float:
    """The area under a curve up to a width, with rounding."""
    up, right = curve[:, 0], curve[:, 1]
    y, x = np.cumsum(up) - up, np.cumsum(right) - right
    inside = np.clip(width - x, 0.0, right)
    slopes = np.divide(up, right, out=np.zeros_like(up), where=right > 0)
    return float((inside * (y + slopes * inside / 2)).sum())


def shortened(curve: np.ndarray, width: float) -> np.ndarray:
    """A curve of few enough steps: neighbours that turn the least are joined.

    Those beyond the width are joined first.
    """
    while len(curve) > MOST_STEPS:
        turns = curve[:-1, 0] * curve[1:, 1] - curve[1:, 0] * curve[:-1, 1]
        turns[np.cumsum(curve[:-1, 1]) - curve[:-1, 1] >= width] = 0.0
        turns[curve[:-1, 3] == 0] = np.inf  # a step of positives alone has no slope
        k = int(turns.argmin())
        curve = np.concatenate([curve[:k], _joined(*curve[k : k + 2]), curve[k + 2 :]])
    return curve


def _joined(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Two neighbours as one step; its slope is rounded, and is not above that of the first."""
    up, right = one[:2] + two[:2]
    slope = min(max(up / right, two[2] / two[3]), one[2] / one[3])
    return np.array([[up, right, np.floor(slope * JOINED), JOINED]])
