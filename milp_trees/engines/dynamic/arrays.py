"""The arrays of a compiled search: rows and tests as bit sets, costs as small integers.

Only differences between actions matter: a row is a vector of `V = K - 1` values `regret_k -
regret_0`, followed by `M` masses (row counts and weights, where leaves have a minimum of them) and
by `regret_0`. A leaf costs `sum regret_0 + min(0, sums of the values)`. Rows are either kept in
groups of equal vectors, whose pairs of tests are counted in bytes, or summed one by one where there
are nearly as many vectors as rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from milp_trees.errors import Unsupported
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.grouping import equal_rows
from milp_trees.tasks.views import CostMatrix

#: Tests are padded to a multiple of this many columns: one vector register of bytes.
LANES = 32
#: Largest size of the sums for all pairs of tests.
MOST_BYTES = 2 * 2**30
#: Larger than every objective; four of them can be added.
INFINITY = 2**60
#: With no more distinct value vectors, rows are grouped by them without looking for another way.
_FEW = 8
#: With no more rows, only groups of equal vectors are considered.
_SMALL = 64
#: The depth of a search without a depth limit.
UNLIMITED = 63
#: Largest sums per number type.
_ROOM = {"i16": 2**15 - 1, "i32": 2**31 - 1, "i64": 2**60}


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem as the compiled search sees it.

    Parameters
    ----------
    data : Context
        The arrays (`layouts.DATA`).
    kind : {"i16", "i32", "i64"}
        Number type of the sums over pairs of tests.
    unit, constant : int
        Search value = unit · (Z - constant) + number of leaves if `unit > 1`.
    depth : int
        Largest depth that can matter, or UNLIMITED.
    position : int64 array
        Of every kept row of the view, its place in the sets.
    """

    data: Any
    kind: str
    unit: int
    constant: int
    depth: int
    n_rows: int
    position: np.ndarray

    @property
    def penalised(self) -> bool:
        """Whether every split costs something, so that depth need not be limited."""
        return bool(self.data.leaf + self.data.least_split > 0)

    @property
    def kernel_kind(self) -> tuple[str, bool, bool, bool]:
        """What decides which compiled kernels the instance needs."""
        data = self.data
        return self.kind, bool(data.split.any()), bool(data.n_masses), bool(data.by_row)

    def to_Z(self, value: int, n_leaves: int = 0) -> int:
        """Integer objective of a search value, or a lower bound on it."""
        return (int(value) - (n_leaves if self.unit > 1 else 0)) // self.unit + self.constant


def surely_fits(view: CostMatrix) -> bool:
    """Whether a view is far from what `prepare` refuses, which costs no time."""
    sums = 3 * (view.n_actions + 1) * (view.n_features + 32) ** 2
    costs = float(view.regret.sum(dtype=float)) * 16 * view.n_rows
    return 8 * sums < MOST_BYTES and costs < INFINITY


def prepare(
    view: CostMatrix, space: Trees, fewest_leaves: bool = False, every_row: bool = False
) -> Instance:
    """The arrays of a reduced view.

    Parameters
    ----------
    view : CostMatrix
        Reduced (`view.reduce()`).
    space : Trees
        Its largest number of leaves is ignored.
    fewest_leaves : bool, default=False
        Among trees of equal cost prefer fewer leaves: a leaf costs one more than given, and costs
        are scaled so that this decides ties only.
    every_row : bool, default=False
        Keep also the rows that cost the same whatever the action, which no optimum depends on.

    Returns
    -------
    Instance

    Raises
    ------
    Unsupported
        Costs are too large for exact 64-bit sums, or there are too many tests.
    """
    regret = view.regret
    d = (
        regret[:, 1:] - regret[:, :1]
        if view.n_actions > 1
        else np.zeros((view.n_rows, 1), dtype=np.int64)
    )
    masses, least = _masses(view, space)
    kept = np.flatnonzero(d.any(axis=1) | every_row | bool(least))
    n = len(kept)
    most_leaves = max(1, n if space.max_depth is None else min(n, 2 ** min(space.max_depth, 40)))
    unit = 1 << (most_leaves + 1).bit_length() if fewest_leaves else 1
    _check_fits(d, view, unit, most_leaves)
    leaf = view.leaf_cost * unit + int(fewest_leaves)
    split = view.split_costs * unit
    vectors = np.column_stack([d[kept] * unit, masses[kept], regret[kept, 0] * unit])
    V, M = d.shape[1], len(least)
    penalties = 8 * leaf + 8 * int(split.max(initial=0)) + 1
    kind = _kind(vectors, V, M, least, penalties)
    F = view.n_features
    S = -(-max(1, F) // LANES) * LANES
    if 3 * (V + M) * F * S * int(kind[1:]) // 8 > MOST_BYTES:
        raise Unsupported(
            f"dp keeps sums for all pairs of tests; {F} tests are too many. Use dp-sorted, or fewer thresholds."
        )
    layout = _layout(vectors, V, M, regret[kept], unit, kind, F)
    return Instance(
        data=_data(view, kept, vectors, regret, unit, layout, leaf, split, least, F, S, kind),
        kind=kind,
        unit=unit,
        constant=int(view.base.sum()),
        depth=_depth(space, n, F),
        n_rows=n,
        position=layout.position,
    )


def _check_fits(d: np.ndarray, view: CostMatrix, unit: int, most_leaves: int) -> None:
    """Raise Unsupported if sums do not fit, before the first product that could overflow."""
    columns = [*d.T, view.regret[:, 0], *(amounts for amounts, _ in view.leaf_minima)]
    largest = max(int(np.abs(c).sum(dtype=object)) for c in columns) if len(d) else 0
    each = (view.leaf_cost + int(view.split_costs.max(initial=0))) * unit + 1
    if largest * unit * 8 + each * (8 + 2 * most_leaves) >= INFINITY:
        raise Unsupported(
            "dp adds costs in 64 bits, and these are too large; divide them by a common factor."
        )


def _depth(space: Trees, n: int, F: int) -> int:
    useful = min(F, max(0, n - 1))
    if space.max_depth is None or space.max_depth >= useful >= UNLIMITED:
        return UNLIMITED if useful > 2 else useful
    depth = min(space.max_depth, useful)
    if depth >= UNLIMITED:
        raise Unsupported(
            f"dp takes depth limits up to {UNLIMITED - 1}, or none (max_depth=None); got {space.max_depth}."
        )
    return depth


def _masses(view: CostMatrix, space: Trees) -> tuple[np.ndarray, list[int]]:
    """Columns that leaves must hold a minimum of, and the minima."""
    columns, least = [], []
    if space.min_samples_leaf > 1:
        columns.append(view.counts)
        least.append(min(space.min_samples_leaf, view.total_rows + 1))
    for amounts, fewest in view.leaf_minima:
        columns.append(amounts)
        least.append(min(fewest, int(amounts.sum()) + 1))
    return (
        np.column_stack(columns) if columns else np.zeros((view.n_rows, 0), dtype=np.int64)
    ), least


def _kind(vectors: np.ndarray, V: int, M: int, least: list[int], penalties: int) -> str:
    """The smallest number type that holds all sums; differences may wrap around and back."""
    sums = vectors[:, : V + M]
    positive = int(np.where(sums > 0, sums, 0).sum(axis=0).max(initial=0))
    # Several leaves of different actions together gain up to what the first action loses
    # everywhere, more than any one column may sum to.
    gain = int(vectors[:, -1].sum())
    largest = max([positive, gain, *least]) + penalties
    factor = 4 if M else 1
    return next((kind for kind, room in _ROOM.items() if factor * largest < room), "i64")


class _Layout(NamedTuple):
    position: np.ndarray  # of every kept row in the bit sets
    n_words: int
    groups: list[np.ndarray]  # kept rows of each group
    values: np.ndarray  # (G, U + 1)
    by_row: bool


def _layout(
    vectors: np.ndarray, V: int, M: int, regret: np.ndarray, unit: int, kind: str, F: int
) -> _Layout:
    """Groups and order of rows with the least estimated work at a node of typical size."""
    n, U = len(vectors), V + M
    if not n:
        return _Layout(np.zeros(0, np.int64), _words(0), [], np.zeros((0, U + 1), np.int64), False)
    # With two actions the regret of the first one follows from the difference.
    first, of = equal_rows(vectors[:, :1] if U == 1 and V == 1 else vectors)
    distinct = vectors[first]
    wide = int(kind[1:]) // 16
    ways: list[tuple[float, list[np.ndarray], np.ndarray]] = []
    if len(distinct) <= max(64, n // 4):
        ways.append((0.0, _members(of, len(distinct)), distinct))
    # With few rows it hardly matters how they are counted, and planes take time to find.
    planes = _planes(vectors) if len(distinct) > _FEW and n > _SMALL else None
    if planes is not None:
        ways.append((0.0, *planes))
    if len(distinct) <= _FEW:
        _, groups, values = ways[0]
    else:
        priced = [
            (_count_work(groups, values, U, n, wide), groups, values) for _, groups, values in ways
        ]
        by_row = 0.35 * min(n, 200) * U * 3.0 * wide
        work, groups, values = min(
            priced, key=lambda way: way[0], default=(np.inf, [], distinct[:0])
        )
        if by_row < work:
            groups, values = [], distinct[:0]
    heavy = regret.max(axis=1)
    aligned = groups and len(groups) <= max(8, n // 64) and sum(map(len, groups)) == n
    if aligned:
        counted = values[:, :U].any(axis=1)
        order = np.argsort(~counted, kind="stable")
        groups, values = [groups[g] for g in order], values[order]
        position, begin = np.zeros(n, dtype=np.int64), 0
        for members in groups:
            position[members] = begin + np.arange(len(members))
            begin += -(-len(members) // 64) * 64
        return _Layout(position, _words(begin), groups, values, False)
    position = np.empty(n, dtype=np.int64)
    position[np.argsort(heavy, kind="stable")] = np.arange(n)
    counted_first = (
        np.argsort(~values[:, :U].any(axis=1), kind="stable")
        if len(values)
        else np.zeros(0, np.int64)
    )
    return _Layout(
        position, _words(n), [groups[g] for g in counted_first], values[counted_first], not groups
    )


def _words(positions: int) -> int:
    """Words of a set: a multiple of four, as the hashes are computed on vectors of four."""
    return 4 * max(1, -(-positions // 256))


def _members(of: np.ndarray, n_groups: int) -> list[np.ndarray]:
    order = np.argsort(of, kind="stable")
    ends = np.cumsum(np.bincount(of, minlength=n_groups)).tolist()
    return [order[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def _count_work(groups: list[np.ndarray], values: np.ndarray, U: int, n: int, wide: int) -> float:
    """Vector operations per pair of tests and 32 columns at a node of typical size.

    There is a slot per eight rows, and a flush per group and value.
    """
    nonzero = values[:, :U] != 0
    rows = np.array([len(group) for group in groups])[nonzero.any(axis=1)]
    slots = np.ceil(min(1.0, 200 / n) * rows / 8).sum()
    return float(3.0 * slots + 2.0 * wide * nonzero.sum())


def _planes(vectors: np.ndarray) -> tuple[list[np.ndarray], np.ndarray] | None:
    """Every column as a signed sum of powers of two times its greatest common divisor.

    There is a group per column, sign and power; None if there are too many of them.
    """
    groups: list[np.ndarray] = []
    values: list[np.ndarray] = []
    for u in range(vectors.shape[1]):
        column = vectors[:, u]
        g = int(np.gcd.reduce(np.abs(column)))
        if g == 0:
            continue
        size = np.abs(column) // g
        if int(size.max()).bit_length() > 16:
            return None
        for bit in range(int(size.max()).bit_length()):
            for sign in (1, -1):
                here = np.flatnonzero(((size >> bit) & 1 == 1) & (np.sign(column) == sign))
                if len(here):
                    vector = np.zeros(vectors.shape[1], dtype=np.int64)
                    vector[u] = sign * g << bit
                    groups.append(here)
                    values.append(vector)
    return (groups, np.array(values).reshape(-1, vectors.shape[1])) if len(groups) <= 64 else None


def _bits(positions: np.ndarray, n_words: int) -> np.ndarray:
    member = np.zeros(64 * n_words, dtype=np.uint8)
    member[positions] = 1
    return np.packbits(member, bitorder="little").view(np.uint64)


def _group_bits(groups: list[np.ndarray], n_words: int) -> tuple[np.ndarray, np.ndarray]:
    """Every group of positions as a set, and its first word and the one after its last."""
    if not groups:
        return np.zeros((1, n_words), dtype=np.uint64), np.zeros((1, 2), dtype=np.int64)
    members, sizes = np.concatenate(groups), np.array([len(group) for group in groups])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    bits = np.zeros((len(groups), 64 * n_words), dtype=np.uint8)
    bits[np.repeat(np.arange(len(groups)), sizes), members] = 1
    ends = (np.minimum.reduceat(members, starts), np.maximum.reduceat(members, starts) + 64)
    return (
        np.packbits(bits, axis=1, bitorder="little").view(np.uint64),
        np.stack(ends, axis=1) // 64,
    )


def _data(
    view: CostMatrix,
    kept: np.ndarray,
    vectors: np.ndarray,
    regret: np.ndarray,
    unit: int,
    layout: _Layout,
    leaf: int,
    split: np.ndarray,
    least: list[int],
    F: int,
    S: int,
    kind: str,
) -> Any:
    from milp_trees.engines.dynamic.contexts import Context
    from milp_trees.engines.dynamic.layouts import DATA
    from milp_trees.engines.dynamic.pair_counts import hash_keys

    position, W, U = layout.position, layout.n_words, vectors.shape[1] - 1
    X = np.zeros((64 * W, S), dtype=np.uint8)
    X[position, :F] = view.X[kept]
    values = np.zeros((64 * W, U + 1), dtype=np.int64)
    values[position] = vectors
    most = np.zeros(64 * W, dtype=np.int64)
    most[position] = regret[kept].max(axis=1) * unit
    best = np.zeros(64 * W, dtype=np.int64)
    best[position] = regret[kept].argmin(axis=1)
    tests = (
        np.ascontiguousarray(
            np.packbits(np.ascontiguousarray(X[:, :F].T), axis=1, bitorder="little")
        )
        .view(np.uint64)
        .reshape(F, W)
    )
    G = len(layout.groups)
    group_bits, group_range = _group_bits([position[members] for members in layout.groups], W)
    group_values = np.zeros((max(1, G), U + 1), dtype=np.int64)
    group_values[:G] = layout.values
    padded = np.zeros(S, dtype=np.int64)
    padded[:F] = split
    M = len(least)
    signed = group_values[:, 0] if U - M == 1 else np.zeros(max(1, G), dtype=np.int64)
    return Context(
        DATA,
        n_tests=F,
        stride=S,
        n_words=W,
        n_values=U - M,
        n_masses=M,
        leaf=leaf,
        least_split=int(split.min(initial=0)) if F else 0,
        by_row=int(layout.by_row),
        n_groups=G,
        n_counted=int(layout.values[:, :U].any(axis=1).sum()) if G else 0,
        n_actions=max(2, view.n_actions),
        forbidden={"i16": 2**13, "i32": 2**29, "i64": INFINITY}[kind],
        X=X,
        tests=tests,
        everything=_bits(position, W),
        values=values,
        best=best,
        heavy=most.reshape(W, 64).max(axis=1),
        most=most,
        group_bits=group_bits,
        group_range=group_range,
        group_values=group_values,
        group_best=(signed < 0).astype(np.int64),
        group_most=np.abs(signed),
        split=padded,
        least=np.array(least, dtype=np.int64),
        keys=hash_keys(W),
    )
