"""Best trees of any depth on all rows: best first over intervals of root thresholds.

Bounds of sets of rows are remembered.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from milp_trees.decisions.engines.dp_oracle.instance import WORST, OracleInstance
from milp_trees.decisions.engines.dp_oracle.intervals import begin
from milp_trees.decisions.engines.dp_oracle.two_splits import (
    Found,
    Report,
    Shape,
    TwoSplits,
    best_one,
    table_of,
)

#: Number of sets of rows whose answers are remembered.
REMEMBERED = 500_000


class _Range(NamedTuple):
    """An interval of thresholds as in `Intervals`, and its first threshold to evaluate.

    -1 stands for the middle.
    """

    column: int
    lo: int
    hi: int
    low_lo: float
    low_hi: float
    high_lo: float
    high_hi: float
    at: int


@dataclass
class OracleSearch:
    """One run.

    Parameters
    ----------
    inst : OracleInstance
    check : callable
        Raises an error when the time is over.
    """

    inst: OracleInstance
    check: Callable[[], None]

    def __post_init__(self) -> None:
        self.known: dict[tuple[int, bytes], Found] = {}

    def solve(
        self, rows: np.ndarray, depth: int, upper: float, report: Report | None = None
    ) -> Found:
        """Best tree of at most this depth on some rows, if it loses less than `upper`."""
        self.check()
        if depth == 0 or not self.inst.n_features:
            alone = (
                float(self.inst.losses(self.inst.sums[rows].sum(axis=0)[None, :])[0])
                + self.inst.leaf_cost
            )
            return Found(alone, None, alone, alone)
        if depth == 1:
            return best_one(self.inst, rows, self.check, upper)[0]
        key = (depth, blake2b(rows.tobytes(), digest_size=20).digest())
        found = self.known.get(key)
        if found is not None and (found.own >= min(found.value, upper) - self.inst.eps):
            self.inst.counters["remembered"] += 1
            return found
        if depth == 2:
            found = TwoSplits(self.inst, rows, upper, self.check, report).solve()
        else:
            found = _Deeper(self, rows, depth, upper, report).solve()
        if len(self.known) < REMEMBERED:
            self.known[key] = found
        return found


class _Deeper:
    """One search for the best tree of depth three or more."""

    def __init__(
        self,
        search: OracleSearch,
        rows: np.ndarray,
        depth: int,
        upper: float,
        report: Report | None,
    ) -> None:
        self.search, self.inst, self.rows, self.depth, self.upper, self.report = (
            search,
            search.inst,
            rows,
            depth,
            upper,
            report,
        )
        self.inst.counters["deeper"] += 1
        self.pruned, self.any_size = np.inf, np.inf
        self.ties = itertools.count()

    @property
    def cut(self) -> float:
        return min(self.best, self.upper) - self.inst.eps

    def solve(self) -> Found:
        # The search with one level less gives a tree, a first root, and bounds for sides that hold
        # all rows.
        less = self.search.solve(
            self.rows, self.depth - 1, self.upper, self._of_less if self.report else None
        )
        self.best, self.shape = less.value, less.shape
        heap, small = self._begin(less.any_size)
        while heap:
            bound, _, part = heap[0]
            self._note(min(bound, self.pruned))
            if bound >= self.cut:
                self.pruned = min(self.pruned, bound)
                break
            halves = self._halves(
                part, part.at if part.lo < part.at < part.hi else (part.lo + part.hi) // 2
            )
            heapq.heappop(heap)
            for half in halves:
                if half.hi - half.lo > 1:
                    self._push(heap, half)
        own = min(self.best, self.pruned)
        self._note(own)
        return Found(self.best, self.shape, own, min(own, self.any_size, small))

    def _begin(self, alone: float) -> tuple[list[tuple[float, int, _Range]], float]:
        """The open intervals, and a lower bound for splits with a side that is too small."""
        inst = self.inst
        table = table_of(inst, self.rows)
        self.worst, self.all_worst = table[0, :-1, WORST].copy(), float(table[0, -1, WORST])
        intervals, small = begin(
            inst, table, inst.large_enough(table[:, :-1], table[:, -1:]), np.array([alone])
        )
        seen = -1 if self.shape is None else self.shape[0]
        heap: list[tuple[float, int, _Range]] = []
        for k, b in enumerate(intervals.column.tolist()):
            at = seen - int(inst.first[b]) if seen >= 0 and inst.column[seen] == b else -1
            lows, highs = (
                (float(intervals.low_lo[k]), float(intervals.low_hi[k])),
                (float(intervals.high_lo[k]), float(intervals.high_hi[k])),
            )
            self._push(
                heap, _Range(b, int(intervals.lo[k]), int(intervals.hi[k]), *lows, *highs, at)
            )
        return heap, float(small[0])

    def _push(self, heap: list[tuple[float, int, _Range]], part: _Range) -> None:
        bound = part.low_lo + part.high_hi
        if self.inst.similarity:
            bound = max(
                bound, part.low_hi + part.high_lo - self._worst(part.column, part.lo, part.hi)
            )
        # Of equal bounds, the root of the shallower tree comes first.
        heapq.heappush(
            heap,
            (
                bound + float(self.inst.cost[self.inst.first[part.column]]),
                next(self.ties) - (10**9 if part.at >= 0 else 0),
                part,
            ),
        )

    def _worst(self, column: int, lo: int, hi: int) -> float:
        """Worst regret of the rows between two thresholds."""
        begin, end = int(self.inst.first[column]), int(self.inst.first[column + 1])
        above = self.all_worst if begin + hi >= end else float(self.worst[begin + hi])
        return above - (0.0 if lo < 0 else float(self.worst[begin + lo]))

    def _halves(self, part: _Range, middle: int) -> tuple[_Range, _Range]:
        """Both sides at one threshold."""
        inst, column = self.inst, part.column
        f = int(inst.first[column]) + middle
        low, high = part.low_lo, part.high_hi
        if inst.similarity:
            low = max(low, part.low_hi - self._worst(column, middle, part.hi))
            high = max(high, part.high_lo - self._worst(column, part.lo, middle))
        below = inst.codes[self.rows, column] <= middle
        low_any, high_any = self._sides(f, self.rows[below], self.rows[~below], low, high)
        return (
            part._replace(hi=middle, low_hi=low_any, high_hi=high_any, at=-1),
            part._replace(lo=middle, low_lo=low_any, high_lo=high_any, at=-1),
        )

    def _sides(
        self, f: int, low_rows: np.ndarray, high_rows: np.ndarray, low: float, high: float
    ) -> tuple[float, float]:
        """Lower bounds on both sides of a split (whatever the sizes of leaves).

        The larger side is searched first, and the other one only if the split is still open.
        """
        rows, bounds = [low_rows, high_rows], [low, high]
        own, found = list(bounds), []
        cost = float(self.inst.cost[f])
        for side in (0, 1) if len(low_rows) >= len(high_rows) else (1, 0):
            if own[0] + own[1] + cost >= self.cut:
                break
            answer = self.search.solve(
                rows[side], self.depth - 1, min(self.best, self.upper) - cost - own[1 - side]
            )
            found.append((side, answer))
            own[side], bounds[side] = max(own[side], answer.own), max(bounds[side], answer.any_size)
        self.pruned = min(self.pruned, own[0] + own[1] + cost)
        self.any_size = min(self.any_size, bounds[0] + bounds[1] + cost)
        if len(found) == 2:
            shapes = [answer.shape for _, answer in sorted(found, key=lambda pair: pair[0])]
            value = sum(answer.value for _, answer in found) + cost
            if value < self.best:
                self.best, self.shape = value, (f, *shapes)
        return bounds[0], bounds[1]

    def _of_less(self, value: float, shape: Shape, lower: float | None) -> None:
        assert self.report is not None
        self.report(value, shape, None)

    def _note(self, lower: float) -> None:
        if self.report:
            self.report(self.best, self.shape, min(self.best, lower))
