"""Best trees of depth two on a set of rows.

Intervals of root thresholds are halved, a batch at a time; both sides of all are evaluated at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from milp_trees.decisions.engines.dp_oracle.instance import WORST, OracleInstance
from milp_trees.decisions.engines.dp_oracle.intervals import Intervals, begin
from milp_trees.decisions.engines.dp_oracle.one_split import OneSplit, best_splits

#: Number of roots whose sides are evaluated together, and bytes of their tables.
MOST_ROOTS, TABLE_BYTES = 64, 2**27
#: A tree as nested tuples (test, low side, high side); None is a leaf.
Shape = Any


@dataclass
class Found:
    """What is known about the best tree on a set of rows.

    Parameters
    ----------
    value : float
        Loss of `shape`, penalties included.
    shape : nested tuples
    own : float
        A lower bound on trees of the depth with large enough leaves.
    any_size : float
        A lower bound whatever the sizes of leaves; it holds for every superset too.
    """

    value: float
    shape: Shape
    own: float
    any_size: float


#: Called with the best tree so far and a lower bound (None where there is none yet).
Report = Callable[[float, Shape, float | None], None]


def table_of(inst: OracleInstance, rows: np.ndarray) -> np.ndarray:
    """Sums of the low sides of all tests and of the whole, shape (1, F + 1, d + 4)."""
    from milp_trees.decisions.engines.dp_oracle.tables import fill

    out = np.zeros((1, inst.n_features + 1, inst.sums.shape[1]))
    if not inst.n_features:
        out[0, 0] = inst.sums[rows].sum(axis=0)
        return out
    fill(
        rows,
        inst.codes,
        inst.sums,
        inst.first,
        0,
        np.array([np.iinfo(np.int32).max]),
        np.zeros(out.shape[1:]),
        out[0],
        out,
    )
    return out


def best_one(
    inst: OracleInstance, rows: np.ndarray, check: Callable[[], None], limit: float = np.inf
) -> tuple[Found, np.ndarray]:
    """Best tree of depth one, and the table of the rows."""
    table = table_of(inst, rows)
    one = best_splits(inst, table, np.array([limit]), None, check)
    return Found(
        float(one.value[0]), _shape(one.test[0]), float(one.own[0]), float(one.any_size[0])
    ), table


def _shape(test: int) -> Shape:
    return None if test < 0 else (int(test), None, None)


class TwoSplits:
    """One search for the best tree of depth two.

    Parameters
    ----------
    rows : int64 array
    upper : float
        Trees that lose at least this much do not matter.
    check : callable
        Raises an error when the time is over.
    report : callable, optional
    """

    def __init__(
        self,
        inst: OracleInstance,
        rows: np.ndarray,
        upper: float,
        check: Callable[[], None],
        report: Report | None = None,
    ) -> None:
        inst.counters["two_splits"] += 1
        self.inst, self.rows, self.upper, self.check, self.report = inst, rows, upper, check, report
        one, self.whole = best_one(inst, rows, check)
        self.best, self.shape, self.alone = one.value, one.shape, one.any_size
        self.pruned, self.any_size = np.inf, np.inf
        self._note(None)

    @property
    def cut(self) -> float:
        return min(self.best, self.upper) - self.inst.eps

    def solve(self) -> Found:
        enough = self.inst.large_enough(self.whole[:, :-1], self.whole[:, -1:])
        open_, small = begin(self.inst, self.whole, enough, np.array([self.alone]))
        most = max(1, min(MOST_ROOTS, TABLE_BYTES // (2 * self.whole.nbytes)))
        while True:
            bound = open_.bound() + self.inst.cost[self.inst.first[open_.column]]
            self._note(min(self.pruned, float(bound.min(initial=np.inf))))
            order = np.argsort(bound, kind="stable")
            open_, bound = open_[order], bound[order]
            dead = bound >= self.cut
            if dead.any():
                self.pruned = min(self.pruned, float(bound[dead].min()))
                open_, bound = open_[~dead], bound[~dead]
            if not len(open_):
                own = min(self.best, self.pruned)
                return Found(self.best, self.shape, own, min(own, self.any_size, float(small[0])))
            now, later = open_[:most], open_[most:]
            open_ = _joined(self._evaluate(now, (now.lo + now.hi) // 2), later)

    def _evaluate(self, open_: Intervals, middle: np.ndarray) -> Intervals:
        """Evaluate both sides at one threshold of every interval; return what remains of them."""
        inst = self.inst
        order = np.lexsort((middle, open_.column))
        open_, middle = open_[order], middle[order]
        f = inst.first[open_.column] + middle
        one = self._sides(open_.column, middle, inst.cost[f])
        self._keep(f, one)
        self.pruned = min(self.pruned, float((one.own[0::2] + one.own[1::2] + inst.cost[f]).min()))
        self.any_size = min(
            self.any_size, float((one.any_size[0::2] + one.any_size[1::2] + inst.cost[f]).min())
        )
        worst = open_.worst
        if inst.similarity:
            before = np.where(
                open_.lo >= 0,
                self.whole[0, inst.first[open_.column] + np.maximum(open_.lo, 0), WORST],
                0.0,
            )
            worst = self.whole[0, f, WORST] - before
        return open_.halves(middle, one.any_size[0::2], one.any_size[1::2], worst)

    def _sides(self, column: np.ndarray, middle: np.ndarray, cost: np.ndarray) -> OneSplit:
        from milp_trees.decisions.engines.dp_oracle.tables import fill

        inst = self.inst
        tables = np.empty((2 * len(column), *self.whole.shape[1:]))
        columns, starts = np.unique(column, return_index=True)
        for b, at, to in zip(
            columns.tolist(), starts.tolist(), [*starts[1:].tolist(), len(column)], strict=True
        ):
            self.check()
            running = np.zeros(self.whole.shape[1:])
            fill(
                inst.by_code(self.rows, b),
                inst.codes,
                inst.sums,
                inst.first,
                b,
                middle[at:to],
                running,
                self.whole[0],
                tables[2 * at : 2 * to],
            )
        limit = np.repeat(min(self.best, self.upper) - cost, 2)
        return best_splits(inst, tables, limit, np.arange(len(tables)) ^ 1, self.check)

    def _keep(self, f: np.ndarray, one: OneSplit) -> None:
        found = one.value[0::2] + one.value[1::2] + self.inst.cost[f]
        j = int(found.argmin())
        if found[j] < self.best:
            self.best = float(found[j])
            self.shape = (int(f[j]), _shape(one.test[2 * j]), _shape(one.test[2 * j + 1]))
            if self.inst.pool is not None:
                self.inst.pool.add(leaf_decisions(self.inst, self.rows, self.shape))

    def _note(self, lower: float | None) -> None:
        if self.report:
            self.report(self.best, self.shape, None if lower is None else min(self.best, lower))


def leaf_sets(inst: OracleInstance, rows: np.ndarray, shape: Shape) -> list[np.ndarray]:
    """Rows of the leaves of a tree, low sides first."""
    if shape is None:
        return [rows]
    f, low, high = shape
    below = inst.codes[rows, inst.column[f]] <= f - inst.first[inst.column[f]]
    return leaf_sets(inst, rows[below], low) + leaf_sets(inst, rows[~below], high)


def leaf_decisions(inst: OracleInstance, rows: np.ndarray, shape: Shape) -> np.ndarray:
    """The best decisions of the leaves, low sides first."""
    sums = np.array(
        [inst.sums[part, : inst.dimension].sum(axis=0) for part in leaf_sets(inst, rows, shape)]
    )
    inst.counters["oracle_calls"] += len(sums)
    decisions: np.ndarray = inst.oracle.solve(sums).decisions  # type: ignore[attr-defined]
    return decisions


def split_cost(inst: OracleInstance, shape: Shape) -> float:
    """Sum of the costs of the splits of a tree."""
    return (
        0.0
        if shape is None
        else float(inst.cost[shape[0]]) + split_cost(inst, shape[1]) + split_cost(inst, shape[2])
    )


def _joined(a: Intervals, b: Intervals) -> Intervals:
    return Intervals(
        *(np.concatenate([x, y]) for x, y in zip(vars(a).values(), vars(b).values(), strict=True))
    )
