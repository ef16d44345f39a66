"""The arrays of a compiled search: rows and tests as bit sets, costs as small integers.

Only differences between actions matter: a row is a vector of `V = K - 1` values `regret_k -
regret_0`, followed by `M` masses (row counts and weights, where leaves have a minimum of them) and
by `regret_0`. A leaf costs `sum regret_0 + min(0, sums of the values)`. Rows are either kept in
groups of equal vectors, whose pairs of tests are counted in bytes, or summed one by one where there
are nearly as many vectors as rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.models.space import Trees
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.views import CostMatrix, LeafSums

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
#: More groups of equal bits are not made.
_MOST_PLANES = 64
#: More than the rounding of sums of floats.
_ROUNDING = 1 + 1e-6
#: Work of adding a row to the bins of two chains, in vectors of four sums.
_WORTH = 0.5
#: Which archived sets bound a set: any, by the rows that they have and it has not; those that hold
#: it, likewise; those that lie inside it, which cost no more; none.
ANY, HOLDING, INSIDE, NONE = range(4)
#: Largest sums per number type.
_ROOM = {"i16": 2**15 - 1, "i32": 2**31 - 1, "i64": 2**60}


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem as the compiled search sees it.

    Parameters
    ----------
    data : Context
        The arrays (`layouts.DATA`).
    kind : {"i16", "i32", "i64", "f64"}
        Number type of the sums over pairs of tests.
    unit, constant : int
        Search value = unit · (Z - constant) + number of leaves if `unit > 1`.
    depth : int
        Largest depth that can matter, or UNLIMITED.
    n_rows : int
        Number of rows that are kept.
    position : int64 array
        Of every kept row of the view, its place in the sets.
    n_listed : int
        Number of rows in all groups that are counted, together.
    splits : bool
        Whether a test costs something.
    leaf : callable or None
        What leaves cost, if it is not the cheapest action.
    slack : int
        By how much a bound may be above a rounded optimum; 0 for whole costs.
    """

    data: Any
    kind: str
    unit: int
    constant: int
    depth: int
    n_rows: int
    position: np.ndarray
    n_listed: int
    splits: bool
    leaf: Any = None
    slack: int = 0

    @property
    def penalised(self) -> bool:
        """Whether every split costs something, so that depth need not be limited."""
        return bool(self.data.leaf + self.data.least_split > 0)

    @property
    def kernel_kind(self) -> tuple[Any, ...]:
        """What decides which compiled kernels the instance needs."""
        data = self.data
        own = None if self.leaf is None else (self.leaf, data.n_values)
        return self.kind, self.splits, bool(data.n_masses), bool(data.by_row), own

    def to_Z(self, value: int, n_leaves: int = 0) -> int:
        """Integer objective of a search value, or a lower bound on it."""
        return (int(value) - (n_leaves if self.unit > 1 else 0)) // self.unit + self.constant


def surely_fits(view: LeafSums) -> bool:
    """Whether a view is far from what `prepare` refuses, which costs no time."""
    if isinstance(view, LossSums):
        columns = view.n_values + 1 + len(view.leaf_minima)
        return _pair_bytes(view, columns) <= MOST_BYTES and _leaf_units(view) < INFINITY
    assert isinstance(view, CostMatrix)
    sums = 3 * (view.n_actions + 1) * (view.n_features + 32) ** 2
    if 8 * sums >= MOST_BYTES or not view.n_rows:
        return 8 * sums < MOST_BYTES
    rows = 16.0 * view.n_rows
    spread = float(view.costs.max()) - float(view.costs.min())
    # The second bound is the closer one, and takes longer.
    return spread * view.n_rows * view.n_actions * rows < INFINITY or bool(
        view.regret.sum(dtype=float) * rows < INFINITY
    )


def prepare(
    view: LeafSums,
    space: Trees,
    fewest_leaves: bool = False,
    every_row: bool = False,
    prices: int = 0,
) -> Instance:
    """The arrays of a reduced view."""
    from milp_trees.engines.dp.preparing import measure

    masses, least = _masses(view, space)
    if isinstance(view, LossSums):
        return _prepare_leaves(view, space, masses, least, prices)
    assert isinstance(view, CostMatrix)
    rows = _rows(view.costs, masses, every_row or bool(least))
    measure(rows.address)
    n = rows.n_kept
    most_leaves = max(1, n if space.max_depth is None else min(n, 2 ** min(space.max_depth, 40)))
    unit = 1 << (most_leaves + 1).bit_length() if fewest_leaves else 1
    F, dearest = view.n_features, int(view.split_costs.max(initial=0))
    largest = float(rows.total.max()) * _ROUNDING
    each = view.leaf_cost + dearest
    if (largest * 8 + each * (8 + 2 * most_leaves)) * unit + prices >= INFINITY:
        raise Unsupported(
            "dp adds costs in 64 bits, and these are too large; divide them by a common factor."
        )
    leaf = view.leaf_cost * unit + int(fewest_leaves)
    split = view.split_costs * unit
    U, M = rows.vectors.shape[1] - 1, len(least)
    if unit > 1:
        _scale(rows, n, U - M, unit)
    penalties = 8 * leaf + 8 * dearest * unit + prices + 1
    kind = _kind(rows.gain, least, penalties)
    S = -(-max(1, F) // LANES) * LANES
    if 3 * U * F * S * int(kind[1:]) // 8 > MOST_BYTES:
        raise Unsupported(
            f"dp keeps sums for all pairs of tests; {F} tests are too many. Use dp-sorted, or fewer thresholds."
        )
    layout = _layout(rows, n, U, kind)
    return Instance(
        data=_data(view, rows, layout, leaf, split, least, F, S, kind),
        kind=kind,
        unit=unit,
        constant=int(view.base.sum()),
        depth=_depth(space, n, F),
        n_rows=n,
        position=layout.position,
        n_listed=layout.n_listed,
        splits=bool(split.any()),
    )


def _prepare_leaves(
    view: LossSums, space: Trees, masses: np.ndarray, least: list[int], prices: int
) -> Instance:
    """The arrays of a view whose leaves cost a function of sums.

    All rows are kept and summed one by one, in doubles; ties are settled by the view itself.
    """
    n, F, V, M = view.n_rows, view.n_features, view.n_values, len(least)
    if _leaf_units(view) + prices >= INFINITY:
        raise Unsupported(
            "dp adds costs in 64 bits, and these are too large; divide the penalties by a common factor."
        )
    S = -(-(F + 1) // LANES) * LANES
    if _pair_bytes(view, V + M) > MOST_BYTES:
        raise Unsupported(
            f"dp keeps sums for all pairs of tests; {F} tests are too many. Use dp-sorted, or fewer thresholds."
        )
    rows = _rows(np.zeros((n, V + 1), dtype=np.int64), masses, True)
    rows.vectors[:] = np.column_stack([view.parts[:, :-1], masses, view.parts[:, -1]])
    rows.kept[:] = np.arange(n)
    rows.n_kept = n
    position = np.arange(n)
    empty = np.zeros(0, dtype=np.int64)
    layout = _Layout(
        position,
        _words(n),
        empty,
        np.zeros((0, 4), dtype=np.int64),
        np.zeros((0, V + M + 1), dtype=np.int64),
        0,
        0,
    )
    return Instance(
        data=_data(view, rows, layout, view.leaf_cost, view.split_costs, least, F, S, "f64"),
        kind="f64",
        unit=1,
        constant=0,
        depth=_depth(space, n, F),
        n_rows=n,
        position=position,
        n_listed=0,
        splits=bool(view.split_costs.any()),
        leaf=view.leaf,
        slack=view.slack,
    )


def _leaf_units(view: LossSums) -> int:
    """What a search adds up at most, generously."""
    dearest = int(view.split_costs.max(initial=0))
    return (int(view.size) + view.leaf_cost + dearest) * 16


def _pair_bytes(view: LossSums, columns: int) -> int:
    """Bytes of the sums of some columns for all pairs of tests."""
    F = view.n_features
    return 24 * columns * F * (-(-(F + 1) // LANES) * LANES)


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


def _masses(view: LeafSums, space: Trees) -> tuple[np.ndarray, list[int]]:
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


def _rows(costs: np.ndarray, masses: np.ndarray, every_row: bool) -> Any:
    """The record that `preparing.measure` works on."""
    from milp_trees.engines.dp.contexts import Context
    from milp_trees.engines.dp.preparing import ROWS

    (n, K), M = costs.shape, masses.shape[1]
    U = max(1, K - 1) + M
    # With two actions the regret of the first one follows from the difference.
    n_keys = 1 if U == 1 and not M else U + 1
    shapes = {
        **dict.fromkeys(("kept", "best", "most", "of", "first", "sizes"), (n,)),
        "vectors": (n, U + 1),
        "slots": (1 << (2 * n).bit_length(),),
        "gain": (U + 1,),
        "total": (U + 1,),
    }
    return Context(
        ROWS,
        shapes,
        every_row=int(every_row),
        n_keys=n_keys,
        costs=np.ascontiguousarray(costs, dtype=np.int64),
        masses=np.ascontiguousarray(masses, dtype=np.int64),
    )


def _scale(rows: Any, n: int, V: int, unit: int) -> None:
    """Multiply all costs, but not the masses."""
    for columns in (rows.vectors[:n, :V], rows.vectors[:n, -1:], rows.most[:n]):
        columns *= unit
    rows.gain[:V] *= unit
    rows.gain[-1] *= unit


def _kind(gain: np.ndarray, least: list[int], penalties: int) -> str:
    """The smallest number type that holds all sums; differences may wrap around and back."""
    # Several leaves of different actions together gain up to what the first action loses
    # everywhere (the last sum), more than any one column may sum to.
    largest = max([*gain.tolist(), *least]) + penalties
    factor = 4 if least else 1
    return next((kind for kind, room in _ROOM.items() if factor * largest < room), "i64")


class _Layout(NamedTuple):
    position: np.ndarray  # of every kept row in the bit sets
    n_words: int
    rank: np.ndarray  # new number of every group of equal vectors
    planes: np.ndarray  # (G, 4): see `preparing.PLACES`
    values: np.ndarray  # (G, U + 1)
    n_counted: int  # the first groups, those with a value
    n_listed: int  # rows in those groups together


def _layout(rows: Any, n: int, U: int, kind: str) -> _Layout:
    """Groups and order of rows with the least estimated work at a node of typical size."""
    from milp_trees.engines.dp.preparing import order_rows

    wide, G = int(kind[1:]) // 16, rows.n_groups
    sizes, values = rows.sizes[:G], rows.vectors[rows.first[:G]]
    planes = np.zeros((0, 4), dtype=np.int64)
    if G > _FEW:
        work = _count_work(sizes, values, U, n, wide) if max(64, n // 4) >= G else np.inf
        # With few rows it hardly matters how they are counted, and planes take time to find.
        found = _planes(rows, U) if n > _SMALL else None
        if found is not None and (other := _count_work(*found[:2], U, n, wide)) < work:
            work, (sizes, values, planes) = other, found
        if 0.35 * min(n, 200) * U * 3.0 * wide < work:
            sizes, values, planes = sizes[:0], values[:0], planes[:0]
    counted = values[:, :U].any(axis=1)
    order = np.argsort(~counted, kind="stable")
    aligned = 0 < len(sizes) <= max(8, n // 64) and not len(planes)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    position = np.empty(n, dtype=np.int64)
    if aligned:
        room = (sizes[order] + 63) // 64 * 64
        begin = np.concatenate([[0], np.cumsum(room)])
        order_rows(rows.of, rank, begin[:-1].copy(), position)
        positions = int(begin[-1])
    else:
        position[np.argsort(rows.most[:n], kind="stable")] = np.arange(n)
        positions = n
    return _Layout(
        position,
        _words(positions),
        rank,
        planes[order] if len(planes) else planes,
        values[order],
        int(counted.sum()),
        int(sizes[counted].sum()),
    )


def _words(positions: int) -> int:
    """Words of a set: a multiple of four, as the hashes are computed on vectors of four."""
    return 4 * max(1, -(-positions // 256))


def _count_work(sizes: np.ndarray, values: np.ndarray, U: int, n: int, wide: int) -> float:
    """Vector operations per pair of tests and 32 columns at a node of typical size.

    There is a slot per eight rows, and a flush per group and value.
    """
    nonzero = values[:, :U] != 0
    slots = np.ceil(min(1.0, 200 / n) * sizes[nonzero.any(axis=1)] / 8).sum()
    return float(3.0 * slots + 2.0 * wide * np.count_nonzero(nonzero))


def _planes(rows: Any, U: int) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Every column as a signed sum of powers of two times its greatest common divisor.

    There is a group per column, sign and power, with its size, its values, and how it is found
    (`preparing.PLACES`). None if there are too many of them.
    """
    from milp_trees.engines.dp.preparing import MOST_BITS, plane_sizes

    divisor, found = np.zeros(U + 1, dtype=np.int64), np.zeros((U + 1, MOST_BITS, 2), np.int64)
    if not plane_sizes(rows.address, divisor, found):
        return None
    column, bit, negative = np.nonzero(found)
    if not 0 < len(column) <= _MOST_PLANES:
        return None
    sign, G = 1 - 2 * negative, len(column)
    values = np.zeros((G, U + 1), dtype=np.int64)
    values[np.arange(G), column] = sign * divisor[column] << bit
    planes = np.stack([column, divisor[column], bit, sign], axis=1)
    return found[column, bit, negative], values, planes


def _relation(view: LeafSums, masses: int) -> int:
    """Which archived sets bound a set (`memory`)."""
    if isinstance(view, LossSums):
        return NONE if masses else INSIDE
    return HOLDING if masses else ANY


def _first_tests(view: LeafSums, F: int) -> tuple[np.ndarray, np.ndarray]:
    """Where chains of tests begin, and per chain and row the first test that is true.

    The first tests are left out where sums for pairs of tests are quicker row by row; then their shape is
    (0, 0).
    """
    whole = np.arange(F + 1, dtype=np.int64)
    chains = whole if not isinstance(view, LossSums) else view.chains
    C, none = len(chains) - 1, np.zeros((0, 0), dtype=np.int32)
    if not isinstance(view, LossSums) or C == F or not F:
        return chains, none
    density = float(view.X.mean()) if view.n_rows else 0.0
    if _WORTH * density * F * (F + LANES) / 8 < C * (C + 1) / 2:
        return chains, none
    first = np.empty((C, 64 * _words(view.n_rows)), dtype=np.int32)
    for c, (begin, end) in enumerate(pairwise(chains.tolist())):
        test = end - view.X[:, begin:end].sum(axis=1, dtype=np.int64)
        first[c, : view.n_rows] = np.where(test < end, test, F)
    return chains, first


def _data(
    view: LeafSums,
    rows: Any,
    layout: _Layout,
    leaf: int,
    split: np.ndarray,
    least: list[int],
    F: int,
    S: int,
    kind: str,
) -> Any:
    from milp_trees.engines.dp.contexts import Context
    from milp_trees.engines.dp.layouts import DATA
    from milp_trees.engines.dp.pair_counts import hash_keys
    from milp_trees.engines.dp.preparing import PLACES, fill
    from milp_trees.engines.kit.leaf_code import compiled_leaf

    W, G, M = layout.n_words, len(layout.values), len(least)
    U = rows.vectors.shape[1] - 1
    groups, places = max(1, G), 64 * W
    leaf_function, parameters = compiled_leaf(view)
    chains, first_tests = _first_tests(view, F)
    long = chains[:-1] < chains[1:] - 1
    nested = bool(isinstance(view, LossSums) and not M and long.any())
    shapes = {
        "X": (places, S),
        "tests": (F, W),
        "everything": (W,),
        "values": (places, U + 1),
        "best": (places,),
        "heavy": (W,),
        "most": (places,),
        "group_bits": (groups, W),
        "group_range": (groups, 2),
        "group_values": (groups, U + 1),
        "group_best": (groups,),
        "group_most": (groups,),
        "split": (S,),
    }
    data = Context(
        DATA,
        shapes,
        n_tests=F,
        stride=S,
        n_words=W,
        n_values=U - M,
        n_masses=M,
        leaf=leaf,
        least_split=int(split.min(initial=0)) if F else 0,
        by_row=int(rows.n_kept > 0 and not G),
        n_groups=G,
        n_counted=layout.n_counted,
        n_actions=max(2, view.sums.shape[1]),
        forbidden={"i16": 2**13, "i32": 2**29, "i64": INFINITY, "f64": INFINITY}[kind],
        relation=_relation(view, M),
        nested=int(nested),
        binned=int(first_tests.size > 0),
        chains=chains,
        chain_of=np.repeat(np.arange(len(chains) - 1), np.diff(chains)),
        first_tests=first_tests,
        leaf_function=leaf_function,
        parameters=parameters,
        priced=int(view.leaf_cost + int(split.min(initial=0)) > getattr(view, "tie", 0)),
        least=np.array(least, dtype=np.int64),
        keys=hash_keys(W),
    )
    data.split[:F] = split
    data.group_values[:G] = layout.values
    if U - M == 1:
        signed = layout.values[:, 0]
        data.group_best[:G], data.group_most[:G] = signed < 0, np.abs(signed)
    filling = Context(
        PLACES,
        {"eight": (S,)},
        given=np.ascontiguousarray(view.X, dtype=np.uint8),
        position=layout.position,
        rank=layout.rank,
        planes=layout.planes,
        test_bytes=data.tests.view(np.uint8),
    )
    fill(data.address, rows.address, filling.address)
    return data
