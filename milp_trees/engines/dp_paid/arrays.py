"""The arrays of the search with prices: those of `dp`, and the prices. Loads numba."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from milp_trees.common.compiling import compiling
from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.arrays import Instance, prepare
from milp_trees.engines.dp.by_leaves.fronts import MEMO_BYTES, LeavesSearch, Paid
from milp_trees.engines.dp.by_leaves.limits import PreparedSizes, prepare_sizes
from milp_trees.engines.dp.by_leaves.prices import PAID, fill_kernel
from milp_trees.engines.dp.contexts import Context
from milp_trees.engines.dp.pair_counts import (
    COUNT,
    EVALUATE,
    GATHER,
    HASH,
    PACK,
    kernel_addresses,
)
from milp_trees.engines.dp_paid.pairs_code import priced_kernel
from milp_trees.engines.kit.compile import tiny_view
from milp_trees.models.space import Trees
from milp_trees.tasks.path_costs import PathCosts

#: Leaves that stand for any number of them: more than trees of three levels have.
_ANY = 8

_warm: set[tuple[str, bool, bool, bool]] = set()


def prepare_paid(view: PathCosts, space: Trees, sizes: bool) -> PreparedSizes:
    """The arrays of a reduced view for trees within a depth.

    Weights are the costs of one more action above those of the first one: no leaf chooses it, and
    sums over pairs of tests then hold the weights too.
    """
    matrix = view.errors
    made: dict[tuple[Trees, bool], PreparedSizes] = matrix.memo.setdefault("dp-paid", {})
    if (space, sizes) in made:
        return made[space, sizes]
    wide = np.column_stack([matrix.costs, matrix.costs[:, 0] + view.weights])
    most = int(view.price.max(initial=0)) * int(view.weights.sum())
    named = replace(matrix, costs=wide, actions=(*matrix.actions, None))
    if not matrix.min_weight_leaf and not view.weights.all():
        # Kernels recognise an empty side by its weight, unless they count what is in a leaf.
        named = replace(named, row_weight=matrix.counts, min_weight_leaf=1)
    if sizes or space.limits_leaves:
        found = prepare_sizes(named, space, every_row=True, prices=3 * most)
    else:
        instance = prepare(named, space, every_row=True, prices=3 * most)
        depth = min(space.depth, instance.depth)
        found = PreparedSizes(instance, min(2**depth, _ANY), depth, depth > 3)
    made[space, sizes] = found
    return found


def search_of(
    view: PathCosts, prepared: PreparedSizes, memory_bytes: int = MEMO_BYTES
) -> LeavesSearch:
    """The search of a reduced view."""
    data, bits = prepared.instance.data, int(prepared.instance.kind[1:])
    context = _context(view, data, bits)
    paid = Paid(
        context,
        view.price.copy(),
        context.address_of(f"prices_{bits}"),
        _kernels_of(prepared.instance),
    )
    return LeavesSearch(prepared, view.errors, memory_bytes, similar=False, paid=paid)


def _kernels_of(instance: Instance) -> np.ndarray:
    """Addresses of the kernels of an instance."""
    data, bits = instance.data, int(instance.kind[1:])
    split, mass = instance.splits, bool(data.n_masses)
    how = (GATHER, HASH) if data.by_row else (COUNT, PACK, HASH)
    found = kernel_addresses(instance.kind, split, mass, data.n_values, how, data.n_masses)
    found[EVALUATE] = priced_kernel(bits, int(split), int(mass))
    return found


def _context(view: PathCosts, data: Any, bits: int) -> Context:
    """The record of the prices."""
    F, S, A = data.n_tests, data.stride, len(view.price)
    R = at.pair_rows(max(1, F))
    own, group = view.attribute, np.full(F, -1, dtype=np.int64)
    group[own >= 0] = view.group[own[own >= 0]]
    relation = np.zeros((R, S), dtype=np.uint8)
    relation[:F, :F] = (group[:, None] == group) & (group[:, None] >= 0)
    relation[:F, :F][(own[:, None] == own) & (own[:, None] >= 0)] = 2
    shapes = {
        **{f"prices_{n}": (2 * R, S) if n == bits else (0, 0) for n in (16, 32, 64)},
        **dict.fromkeys(("base", "low"), (S,)),
        "after": (A,),
        "weight": (1, F),
        "cost": (F,),
    }
    return Context(
        PAID,
        shapes,
        matrix_rows=R,
        any_free=int((own < 0).any()),
        fill=fill_kernel(),
        attribute=own,
        discount=view.discount,
        group=view.group,
        relation=relation,
    )


def warm_up(instance: Instance) -> None:
    """Compile what an instance needs, once per process."""
    if instance.kernel_kind in _warm:
        return
    with compiling("the search with prices"):
        _kernels_of(instance)
        if not _warm:
            errors, free = tiny_view(), np.zeros(1, dtype=np.int64)
            none = np.full(4, -1, dtype=np.int64)
            view = PathCosts(errors, errors.counts, none, free, free, free - 1)
            prepared = prepare_paid(view, Trees(4), sizes=False)
            search = search_of(view, prepared)
            search.begin(search.data.everything, prepared.depth, prepared.leaves)
            search.run(lambda: False)
            search.trees([prepared.leaves])
    _warm.add(instance.kernel_kind)
