"""The arrays of a search: tests as codes of few columns, and numbers to sum over rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from milp_trees.common import exact
from milp_trees.data.dataset import Dataset
from milp_trees.models.space import Trees
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.grouping import equal_rows

#: The columns after the cost vector in `Instance.sums`: least cost, worst regret, rows, weight.
BASE, WORST, ROWS, MASS = -4, -3, -2, -1
#: Rounding error of sums, as a share of the sum of the rows' largest costs.
ROUNDING = 1e-12


@dataclass(eq=False)
class OracleInstance:
    """A view in the form that the search uses.

    Tests are sorted by column: those of column b are `first[b] : first[b + 1]`, and the k-th of
    them holds for rows with `codes[:, b] <= k`. These rows are its low side.

    Parameters
    ----------
    codes : int32 array of shape (n, p)
    first : int64 array of shape (p + 1,)
    column : int64 array of shape (F,)
        Column of a test.
    test : int64 array of shape (F,)
        Its number in the view.
    cost : float array of shape (F,)
        Cost of a split with the test.
    sums : float array of shape (n, d + 4)
        Cost vector, least cost z*(v), worst regret, number of rows, weight (whole numbers).
    oracle : DecisionSet
    leaf_cost : float
    min_samples_leaf, min_weight_leaf : int
        Smallest leaf, in rows and in whole weight.
    constant : float
        What was subtracted from the objective.
    rounding : float
        Losses smaller than this are zero.
    pool : Pool or None
        Decisions that give upper bounds; None if calls of the oracle are cheap.
    similarity : bool
        Whether bounds from supersets are used.
    eps : float
        The search ignores improvements that are not larger than this.
    """

    codes: np.ndarray
    first: np.ndarray
    column: np.ndarray
    test: np.ndarray
    cost: np.ndarray
    sums: np.ndarray
    oracle: object
    leaf_cost: float
    min_samples_leaf: int
    min_weight_leaf: int
    constant: float
    rounding: float
    pool: Pool | None = None
    similarity: bool = True
    eps: float = 0.0
    counters: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(
            ("oracle_calls", "one_splits", "two_splits", "deeper", "remembered"), 0
        )
    )

    @cached_property
    def short(self) -> np.ndarray:
        """`codes` in the integer type that is fastest to sort."""
        return self.codes.astype(np.int16) if self.codes.max(initial=0) < 2**15 else self.codes

    def by_code(self, rows: np.ndarray, column: int) -> np.ndarray:
        """Rows in the order of a column's codes."""
        order: np.ndarray = rows[np.argsort(self.short[rows, column], kind="stable")]
        return order

    @property
    def n_rows(self) -> int:
        return len(self.codes)

    @property
    def n_features(self) -> int:
        return len(self.column)

    @property
    def dimension(self) -> int:
        return self.sums.shape[1] - 4

    @property
    def small_leaves(self) -> bool:
        """Whether leaves with rows may be too small."""
        return self.min_samples_leaf > 1 or self.min_weight_leaf > 0

    def losses(self, sums: np.ndarray) -> np.ndarray:
        """φ of sets of rows given by their sums, shape (m, d + 4).

        It is the loss of a leaf, without the leaf's penalty.
        """
        least: np.ndarray = self.oracle.value(sums[:, : self.dimension])  # type: ignore[attr-defined]
        self.counters["oracle_calls"] += len(sums)
        loss: np.ndarray = least - sums[:, BASE]
        loss[loss < self.rounding] = 0.0
        return loss

    def may_be_leaf(self, total: np.ndarray) -> bool:
        """Whether a set with these sums is large enough."""
        return bool(total[ROWS] >= self.min_samples_leaf and total[MASS] >= self.min_weight_leaf)

    def large_enough(self, low: np.ndarray, total: np.ndarray) -> np.ndarray:
        """Whether both sides of a split may be leaves, by their sums (..., d + 4)."""
        rows, row_weight = low[..., ROWS], low[..., MASS]
        enough: np.ndarray = (rows >= self.min_samples_leaf) & (
            total[..., ROWS] - rows >= self.min_samples_leaf
        )
        if self.min_weight_leaf:
            enough &= (row_weight >= self.min_weight_leaf) & (
                total[..., MASS] - row_weight >= self.min_weight_leaf
            )
        return enough

    def thresholds(self, enough: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and last threshold with two large sides for every column, shapes (..., p).

        If there is none, first > last.
        """
        place = np.arange(self.n_features) - self.first[self.column]
        first = np.minimum.reduceat(
            np.where(enough, place, np.iinfo(np.int64).max), self.first[:-1], axis=-1
        )
        last = np.maximum.reduceat(np.where(enough, place, -1), self.first[:-1], axis=-1)
        return first, last


class Pool:
    """A few decisions that were best for some set; w·v of each bounds z*(v) from above.

    No call of the oracle is needed for these bounds.

    Parameters
    ----------
    size : int
        Number of decisions; a further one replaces the oldest.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._known: dict[bytes, np.ndarray] = {}

    def add(self, decisions: np.ndarray) -> None:
        for w in decisions:
            self._known.setdefault(w.tobytes(), w)
        while len(self._known) > self.size:
            del self._known[next(iter(self._known))]

    def bounds(self, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Upper bounds on z* of the low sides, shape (Q, F), and of the high sides.

        `sums` of shape (Q, F + 1, d) ends with the sum of the whole set.
        """
        paid = sums @ np.array(list(self._known.values())).T
        return paid[:, :-1].min(axis=2), (paid[:, -1:] - paid[:, :-1]).min(axis=2)

    def __len__(self) -> int:
        return len(self._known)


def prepare(
    view: LeafOracle, dataset: Dataset, space: Trees, pool: int, similarity: bool, merge_rows: bool
) -> OracleInstance:
    """An instance of a view; rows with equal tests are merged."""
    codes, tests = _codes(view)
    whole, scale, _ = exact.integers(dataset.row_weights)
    min_weight_leaf = math.ceil(space.min_weight_leaf / scale) if space.min_weight_leaf else 0
    sums = np.column_stack([view.vectors, view.base, np.zeros(view.n_rows), view.counts, whole])
    constant = 0.0
    if merge_rows and codes.shape[1]:
        kept, group = equal_rows(codes.astype(np.int64))
        if len(kept) < len(codes):
            order = np.argsort(group, kind="stable")
            codes, sums = (
                codes[kept],
                np.add.reduceat(
                    sums[order], np.searchsorted(group[order], np.arange(len(kept))), axis=0
                ),
            )
            unavoidable = view.decisions.value(sums[:, :-4])
            constant = float((unavoidable - sums[:, BASE]).sum())
            sums[:, BASE] = unavoidable
    highest = view.decisions.highest(sums[:, :-4])
    sums[:, WORST] = highest - sums[:, BASE]
    sizes = np.array([len(group) for group in tests], dtype=np.int64)
    test = (
        np.concatenate([np.asarray(group, dtype=np.int64) for group in tests])
        if tests
        else np.zeros(0, dtype=np.int64)
    )
    return OracleInstance(
        codes=np.ascontiguousarray(codes, dtype=np.int32),
        first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        column=np.repeat(np.arange(len(tests)), sizes),
        test=test,
        cost=view.split_costs[test],
        sums=np.ascontiguousarray(sums, dtype=float),
        oracle=view.decisions,
        leaf_cost=view.leaf_cost,
        min_samples_leaf=space.min_samples_leaf,
        min_weight_leaf=min_weight_leaf,
        constant=max(0.0, constant),
        rounding=ROUNDING * float(np.maximum(np.abs(highest), np.abs(sums[:, BASE])).sum()),
        pool=Pool(pool) if pool else None,
        similarity=similarity,
    )


def _codes(view: LeafOracle) -> tuple[np.ndarray, list[np.ndarray]]:
    """For every column the number of its thresholds below a row's value, and its tests in order."""
    codes: list[np.ndarray] = []
    tests: list[np.ndarray] = []
    for _, found in view.columns:
        members = np.array(found)
        for nested in [members] if _nested(view, members) else members[:, None]:
            codes.append(_column(view, nested))
            tests.append(nested)
    return np.column_stack(codes) if codes else np.zeros((view.n_rows, 0), dtype=np.int32), tests


def _column(view: LeafOracle, tests: np.ndarray) -> np.ndarray:
    if view.ranked is not None:
        return np.searchsorted(
            view.ranked.cut[tests], view.ranked.codes[:, view.ranked.column[tests[0]]]
        ).astype(np.int32)
    return (len(tests) - view.X[:, tests].sum(axis=1, dtype=np.int32)).astype(np.int32)


def _nested(view: LeafOracle, tests: np.ndarray) -> bool:
    """Whether every test is true where the test before it is.

    The names of tests may claim this although arrays given by the user differ.
    """
    if view.ranked is not None:
        return len(set(view.ranked.column[tests].tolist())) == 1 and bool(
            (np.diff(view.ranked.cut[tests]) >= 0).all()
        )
    return len(tests) == 1 or bool((view.X[:, tests[:-1]] <= view.X[:, tests[1:]]).all())
