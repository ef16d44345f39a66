"""What the compiled search works on: rows as sums of few value vectors, in small scaled integers.

Only differences between actions matter, so a row has one value per action but the first: `regret[:,
k] - regret[:, 0]`. A row count is the last value when leaves have a minimum size. Everything is
multiplied by `unit`, and every leaf costs 1 more: among trees of equal cost the one with fewer
leaves is then smaller, and a split with an empty side is never worth its leaf.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from milp_trees.errors import Unsupported
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.views import CostMatrix

#: Padding of the number of tests (`kernels.LANES`).
LANES = 32
#: Largest size of the pair sums.
MOST_BYTES = 4 * 2**30
#: Sums beyond this share of the range need 64 bits; eight of them may be added.
SMALL = 2**27
LARGE = 2**59


@dataclass(frozen=True, eq=False)
class Instance:
    """Arrays for the kernels.

    Parameters
    ----------
    X : uint8 array of shape (n, padded F)
        Rows sorted by group. A row of the data can be spread over several.
    values : array of shape (n, V)
        Scaled value vector of each row (used if there are no groups).
    starts, coef : arrays of shape (G,), (G, V)
        First row and value vector of each group; G = 0 to sum row by row.
    first_action : int64 array of shape (n,)
        Scaled regret of the first action.
    most_regret : int64 array of shape (n,)
        Scaled regret of the worst action: a set of rows without this one costs at most so much
        less.
    leaf, split : scaled costs
    least : int
        Smallest leaf; values carry a count if it is above 1.
    unit, constant : int
        Scaled objective = unit · Z + number of leaves; `constant` is what no tree can avoid.
    """

    X: np.ndarray
    values: np.ndarray
    starts: np.ndarray
    coef: np.ndarray
    first_action: np.ndarray
    most_regret: np.ndarray
    leaf: int
    split: np.ndarray
    least: int
    unit: int
    constant: int
    n_features: int
    max_leaves: int

    @property
    def dtype(self) -> np.dtype:
        return self.values.dtype

    @property
    def infinity(self) -> int:
        """Larger than every value, small enough to be added eight times."""
        return SMALL if self.dtype == np.int32 else LARGE


def prepare(view: CostMatrix, space: Trees, settle_ties: bool = True) -> Instance:
    """The instance of a reduced view.

    Parameters
    ----------
    settle_ties : bool, default=True
        Whether every leaf costs 1 more (fronts, which list every number of leaves, need no such
        thing).

    Raises
    ------
    Unsupported
        The costs are too large for exact 64-bit sums, or there are too many tests.
    """
    n = max(1, view.n_rows)
    max_leaves = n if space.max_depth is None else min(n, 2 ** min(space.max_depth, 40))
    if space.max_leaf_nodes is not None:
        max_leaves = min(max_leaves, space.max_leaf_nodes)
    unit = 1 << (max_leaves + 1).bit_length() if settle_ties else 1
    least = min(space.min_samples_leaf, view.total_rows + 1)
    r = view.regret
    values = r[:, 1:] - r[:, :1]
    if values.shape[1] == 0:
        values = np.zeros((view.n_rows, 1), dtype=np.int64)
    penalty = (view.leaf_cost + int(view.split_costs.max(initial=0))) * max_leaves
    largest = (
        2
        * (int(np.abs(values).sum(axis=0).max(initial=0)) + int(r[:, 0].sum()) + penalty + 1)
        * unit
    )
    if largest >= LARGE:
        raise Unsupported(
            "dp adds costs in 64 bits, and these are too large; divide them by a common factor."
        )
    values = values * unit
    if least > 1:
        values = np.column_stack([values, view.counts])
        largest = max(largest, view.total_rows)
    dtype = np.int32 if largest < SMALL else np.int64
    rows, group, coef, rowwise = _groups(values, view.n_features)
    first, worst = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    if len(rows):
        # A row of the data that is spread over several rows here is charged once.
        position = np.unique(rows, return_index=True)
        first[position[1]] = r[position[0], 0] * unit
        worst[position[1]] = r[position[0]].max(axis=1) * unit
    padded = -(-max(1, view.n_features) // LANES) * LANES
    sums = 3 * values.shape[1] * padded**2 * np.dtype(dtype).itemsize
    if sums > MOST_BYTES:
        raise Unsupported(
            f"dp keeps sums for all pairs of tests; {view.n_features} tests need {sums / 2**30:.0f} GB. Use fewer thresholds."
        )
    X = np.zeros((len(rows), padded), dtype=np.uint8)
    X[:, : view.n_features] = view.X[rows]
    split = np.zeros(padded, dtype=dtype)
    split[: view.n_features] = view.split_costs * unit
    split[view.n_features :] = SMALL if dtype == np.int32 else LARGE
    own = coef[group] if len(rows) else np.zeros((0, values.shape[1]), dtype=np.int64)
    return Instance(
        X=X,
        values=np.ascontiguousarray(own, dtype=dtype),
        starts=np.zeros(0, dtype=np.int64)
        if rowwise
        else np.searchsorted(group, np.arange(len(coef) + 1)),
        coef=np.zeros((0, values.shape[1]), dtype=dtype)
        if rowwise
        else np.ascontiguousarray(coef, dtype=dtype),
        first_action=first,
        most_regret=worst,
        leaf=view.leaf_cost * unit + int(settle_ties),
        split=split,
        least=least,
        unit=unit,
        constant=int(view.base.sum()) * unit,
        n_features=view.n_features,
        max_leaves=max_leaves,
    )


def _groups(values: np.ndarray, n_features: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, bool]:
    """Rows (repeated if need be), their groups in rising order, the groups' value vectors, and
    whether summing row by row is cheaper.
    """
    kept = np.flatnonzero(values.any(axis=1))
    coef, group = np.unique(values[kept], axis=0, return_inverse=True)
    group = group.ravel()
    ways = [(_work(group, coef), kept, group, coef)]
    planes = _planes(values[kept])
    if planes is not None:
        rows, group, coef = planes
        ways.append((_work(group, coef), kept[rows], group, coef))
    work, rows, group, coef = min(ways, key=lambda way: way[0])
    order = np.argsort(group, kind="stable")
    # A row-by-row sum moves four or eight bytes per test where counting moves an eighth, but only
    # for true tests.
    by_row = 6.0 * len(kept) * values.shape[1]
    if by_row < work:
        _, _, group, coef = ways[0]
        return kept, group, coef, True
    return rows[order], group[order], coef, False


def _work(group: np.ndarray, coef: np.ndarray) -> float:
    """Bytes per pair of tests that counting moves: a slot per eight rows, and a flush of each group
    into the sums.
    """
    sizes = np.bincount(group, minlength=len(coef)) if len(group) else np.zeros(0)
    flush = 8.0 * (coef != 0).sum(axis=1)
    return float((np.ceil(sizes / 8) + np.ceil(sizes / 248) * flush).sum())


def _planes(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Every value as a signed sum of powers of two times the common divisor; a group per value,
    sign and power.
    """
    rows: list[np.ndarray] = []
    groups: list[np.ndarray] = []
    coefs: list[np.ndarray] = []
    for v in range(values.shape[1]):
        column = values[:, v]
        g = int(np.gcd.reduce(np.abs(column))) if len(column) else 0
        if g == 0:
            continue
        size = np.abs(column) // g
        if int(size.max()).bit_length() > 16:
            return None
        for bit in range(int(size.max()).bit_length()):
            for sign in (1, -1):
                here = np.flatnonzero(((size >> bit) & 1 == 1) & (np.sign(column) == sign))
                if len(here):
                    rows.append(here)
                    groups.append(np.full(len(here), len(coefs)))
                    vector = np.zeros(values.shape[1], dtype=np.int64)
                    vector[v] = sign * g << bit
                    coefs.append(vector)
    if not coefs:
        return None
    return np.concatenate(rows), np.concatenate(groups), np.array(coefs)
