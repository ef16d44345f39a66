"""The objective of metrics of false positives and false negatives; tangents are weighted errors."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from milp_trees.engines.tangents.sums import Evidence, LeafAt, Tangent
from milp_trees.tasks.count_views import PairCounts
from milp_trees.tasks.surd import Surd

#: Weights of both kinds of errors add up to this, before common divisors are removed.
WEIGHTS = 1000
#: Most tangents for one partial tree and number of leaves.
MOST_TANGENTS = 12

#: Fewest false negatives by false positives, with the labels of the leaves.
Labelled = dict[int, tuple[int, tuple[bool, ...]]]


class Errors:
    """The best metric.

    A *corner* is a pair (false positives, false negatives) that would be better than the best tree,
    while it would not be with one more error of either kind. There are some for every number of
    leaves. A tangent has one step, whose height a and width b are weights: the sum for a tree is
    b · positives − a · FP − b · FN for its best labels.

    Parameters
    ----------
    view : PairCounts
    sizes : sequence of int
        Numbers of leaves; (0,) if they do not matter.
    """

    def __init__(self, view: PairCounts, sizes: Sequence[int]) -> None:
        self.view, self.sizes = view, tuple(sizes)
        self.most_tangents = MOST_TANGENTS * len(self.sizes)
        positives, negatives = view.totals
        #: Most false negatives of a better tree, by number of leaves and of false positives.
        self.allowed = np.full((len(self.sizes), negatives + 1), positives, dtype=np.int64)
        self.best: Surd | None = None
        #: How many best trees there were.
        self.version = 0
        #: The corners, and the number of leaves (or 0) of each.
        self.corners = np.zeros((0, 2), dtype=np.int64)
        self.layers = np.zeros(0, dtype=np.int64)

    @staticmethod
    def unsupported(view: PairCounts) -> str | None:
        """None: weighted errors are exact for any number of rows that fits into memory."""
        return None

    def size(self, leaves: Sequence[LeafAt]) -> int:
        """The number of leaves, or 0 if it does not matter."""
        return 0 if self.sizes == (0,) else len(leaves)

    def offer(self, leaves: Sequence[LeafAt]) -> list[bool] | None:
        """If a labelling of a tree is the best so far, whether each leaf is labelled positive."""
        useful = self.allowed[self.sizes.index(self.size(leaves))].tolist()
        points: Labelled = {0: (0, ())}
        for leaf in leaves:  # what is not useful now is not useful with more errors
            new: Labelled = {}
            for fp, (fn, labels) in points.items():
                for x, y, label in ((fp + leaf.q, fn, True), (fp, fn + leaf.p, False)):
                    if y <= useful[x] and (x not in new or y < new[x][0]):
                        new[x] = y, (*labels, label)
            points = new
        if not points:
            return None
        units, labels = max(
            ((self.view.units(fp, fn, len(leaves)), labels) for fp, (fn, labels) in points.items()),
            key=lambda found: found[0],
        )
        self.best = units
        self.version += 1
        self._cut()
        return list(labels)

    def _cut(self) -> None:
        """Find the corners again, for a new best tree."""
        corners, layers = [], []
        for own, leaves in zip(self.allowed, self.sizes, strict=True):
            self._cut_layer(own, max(leaves, 1))
            useful = own[own >= 0]
            last = np.append(useful[:-1] > useful[1:], True)[: len(useful)]
            at = np.flatnonzero(last)
            corners.append(np.stack([at, useful[at]], axis=1))
            layers.append(np.full(len(at), leaves, dtype=np.int64))
        self.corners, self.layers = np.concatenate(corners), np.concatenate(layers)

    def _cut_layer(self, own: np.ndarray, leaves: int) -> None:
        """Lower the most false negatives, for trees of some number of leaves."""
        best, units = self.best, self.view.units
        assert best is not None
        fn = bisect_left(range(own[0] + 1), True, key=lambda x: not units(0, x, leaves) > best) - 1
        for fp in range(int((own >= 0).sum())):
            fn = min(fn, int(own[fp]))
            while fn >= 0 and not units(fp, fn, leaves) > best:
                fn -= 1
            own[fp] = fn
            if fn < 0:
                own[fp:] = -1
                break

    def needed(self, tangent: Tangent) -> np.ndarray:
        """The smallest sums with which trees may have no more errors than each corner."""
        a, b = tangent.heights[0], tangent.widths[0]
        return np.asarray(b * self.view.totals[0] - self.corners @ np.array([a, b]))

    def excesses(self, tangent: Tangent, sums: np.ndarray) -> np.ndarray:
        """How far each corner is in reach, by sums of shape (…, sizes); negative: it is not."""
        over = sums[..., self.layers] - self.needed(tangent)
        return np.asarray(over / (tangent.heights[0] + tangent.widths[0]))

    def rank(self, evidence: Evidence) -> float:
        """How far the corner that is furthest in reach is so."""
        if not evidence:
            return math.inf
        over = [self.excesses(*known) for known in evidence]
        return float(np.min(over, axis=0).max(initial=-1.0))

    def in_reach(self, rank: float, evidence: Evidence) -> bool:
        """Whether some trees may be better than the best."""
        return self.rank(evidence) >= 0

    def bound(self, rank: float) -> Surd:
        """The best metric of trees of at most this rank.

        If a tree could make t more errors of both kinds and still be better than the best, then for
        a corner with that many errors or more each tangent has an excess of at least t. So t is at
        most the rank.
        """
        view, best = self.view, self.best
        if rank == math.inf:
            return view.units(0, 0, 1)
        assert best is not None
        more = math.floor(max(rank, 0.0)) + 1
        for own, leaves in zip(self.allowed, self.sizes, strict=True):
            least = view.totals[0] + 1
            for fp in range(len(own)):
                beyond = int(own[fp + more]) if fp + more < len(own) else -1
                fn = max(beyond + 1 - more, 0)
                if fn < least:
                    least, best = fn, max(best, view.units(fp, fn, max(leaves, 1)))
        return best

    def guide(self, evidence: Evidence) -> ErrorGuide:
        """Chooses tangents for the trees of which some sums are known."""
        return ErrorGuide(self, evidence)


class ErrorGuide:
    """Chooses weights for a partial tree: those that may leave out corners that are in reach.

    First come the weights that are strictest for some corner by what is known, then those under
    which a corner lies furthest below all known trees (as in the dichotomic search of Aneja and
    Nair 1979). No weights leave out a corner that has at least as many errors of both kinds as a
    mixture of trees.

    Parameters
    ----------
    objective : Errors
    evidence : sequence of (Tangent, array)
    """

    def __init__(self, objective: Errors, evidence: Evidence) -> None:
        self.objective, self.evidence = objective, evidence
        self.first: list[tuple[int, int]] | None = None
        self.used: set[tuple[int, int]] = set()
        #: Leaves (or 0), false positives and false negatives of trees with the fewest errors.
        self.known: list[tuple[int, int, int]] = []

    def next(self, reached: np.ndarray) -> Tangent | None:
        """The next tangent; after the first, None if no weights leave out any corner in reach."""
        if self.first is None:
            self.first = self._strictest(reached)
        if self.first:
            return self._tangent(self.first.pop())
        corners, layers = self.objective.corners[reached], self.objective.layers[reached]
        apart = [self._apart(corners[layers == k], k) for k in np.unique(layers).tolist()]
        if self.used:
            apart = [(gain, own) for gain, own in apart if gain > 0 and own not in self.used]
        return self._tangent(max(apart)[1]) if apart else None

    def _strictest(self, reached: np.ndarray) -> list[tuple[int, int]]:
        """The known weights that leave some corner furthest out of reach, or least in reach."""
        if not self.evidence:
            return []
        over = [self.objective.excesses(*known)[reached] for known in self.evidence]
        strictest = np.unique(np.argmin(over, axis=0)).tolist()
        tangents = [self.evidence[k][0] for k in strictest]
        return [(int(t.heights[0]), int(t.widths[0])) for t in tangents]

    def _tangent(self, weights: tuple[int, int]) -> Tangent:
        self.used.add(weights)
        return Tangent(np.array([float(weights[1])]), np.array([float(weights[0])]))

    def _apart(self, corners: np.ndarray, leaves: int) -> tuple[float, tuple[int, int]]:
        """How far the lowest of some corners lies below all known trees, and for which weights."""
        positives, negatives = self.objective.view.totals
        own = [(fp, fn) for size, fp, fn in self.known if size == leaves]
        # Every tree may label all rows alike.
        points = np.array([(0, positives), (negatives, 0), *own], dtype=float)
        candidates = [0.0, 1.0]
        for i in range(len(points)):
            for k in range(i):
                x, y = points[i] - points[k]
                if x * y < 0:
                    candidates.append(y / (y - x))
        weights = np.array([(share, 1 - share) for share in candidates])
        gains = (weights @ points.T).min(axis=1) - (weights @ corners.T).min(axis=1)
        k = int(gains.argmax())
        return float(gains[k]), _whole(candidates[k])

    def learn(self, tangent: Tangent, sums: np.ndarray, leaves: list[LeafAt]) -> None:
        """Keep the errors of a tree."""
        a, b = tangent.heights[0], tangent.widths[0]
        positive = [b * leaf.p > a * leaf.q for leaf in leaves]
        fp = sum(leaf.q for leaf, message in zip(leaves, positive, strict=True) if message)
        fn = sum(leaf.p for leaf, message in zip(leaves, positive, strict=True) if not message)
        self.known.append((self.objective.size(leaves), fp, fn))


def _whole(share: float) -> tuple[int, int]:
    """Weights of which the first has a share, as whole numbers of at least 1."""
    a = min(max(round(share * WEIGHTS), 1), WEIGHTS - 1)
    common = math.gcd(a, WEIGHTS - a)
    return a // common, (WEIGHTS - a) // common
