"""The arrays of the search with prices: those of `dp`, and a record of prices. Loads numba."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.arrays import Instance, prepare
from milp_trees.engines.dp.buffers import work_of
from milp_trees.engines.dp.contexts import Context
from milp_trees.engines.dp.pair_counts import (
    COUNT,
    EVALUATE,
    GATHER,
    PACK,
    kernel_addresses,
)
from milp_trees.engines.dp.switches import Switches
from milp_trees.engines.dp_paid.pairs_code import priced_kernel
from milp_trees.engines.dp_paid.records import PAID
from milp_trees.models.space import Trees
from milp_trees.tasks.path_costs import PathCosts


class Arrays(NamedTuple):
    """What compiled code is given, and the prices at the root."""

    work: Context
    paid: Context
    prices: np.ndarray


def instance_of(view: PathCosts, space: Trees) -> Instance:
    """The instance of a reduced view for the kernels of `dp`.

    Weights are the costs of one more action above those of the first one: no leaf chooses it, and
    sums over pairs of tests then hold the weights too.
    """
    matrix = view.errors
    made: dict[Trees, Instance] = matrix.memo.setdefault("dp-paid", {})
    if space in made:
        return made[space]
    wide = np.column_stack([matrix.costs, matrix.costs[:, 0] + view.weights])
    most = int(view.price.max(initial=0)) * int(view.weights.sum())
    named = replace(matrix, costs=wide, actions=(*matrix.actions, None))
    if not matrix.min_weight_leaf and not view.weights.all():
        # Kernels recognise an empty side by its weight, unless they count what is in a leaf.
        named = replace(named, row_weight=matrix.counts, min_weight_leaf=1)
    made[space] = prepare(named, space, every_row=True, prices=3 * most)
    return made[space]


def kernels_of(instance: Instance) -> np.ndarray:
    """Addresses of the kernels of an instance."""
    data, bits = instance.data, int(instance.kind[1:])
    split, mass = instance.splits, bool(data.n_masses)
    how = (GATHER,) if data.by_row else (COUNT, PACK)
    found = kernel_addresses(instance.kind, split, mass, data.n_values, how, data.n_masses)
    found[EVALUATE] = priced_kernel(bits, int(split), int(mass))
    return found


def arrays_of(view: PathCosts, instance: Instance) -> Arrays:
    """The arrays for a reduced view and its instance."""
    bits = int(instance.kind[1:])
    work = work_of(instance, Switches(similarity=False), 0, 5, kernels_of(instance))
    paid = _paid(view, instance.data, bits)
    work.args[at.PRICES] = paid.address_of(f"prices_{bits}")
    return Arrays(work, paid, view.price.copy())


def _paid(view: PathCosts, data: Any, bits: int) -> Context:
    F, S, A = data.n_tests, data.stride, len(view.price)
    R = at.pair_rows(max(1, F))
    own, group = view.attribute, np.full(F, -1, dtype=np.int64)
    group[own >= 0] = view.group[own[own >= 0]]
    relation = np.zeros((R, S), dtype=np.uint8)
    relation[:F, :F] = (group[:, None] == group) & (group[:, None] >= 0)
    relation[:F, :F][(own[:, None] == own) & (own[:, None] >= 0)] = 2

    table = (2 * R, S)
    shapes = {
        "prices_16": table if bits == 16 else (0, 0),
        "prices_32": table if bits == 32 else (0, 0),
        "prices_64": table if bits == 64 else (0, 0),
        "base": (S,),
        "low": (S,),
        "after": (A,),
        "sides": (F, 4),
        "floor": (F, 2),
        "weight": (1, F),
        "found": (2, 5),
        "order": (F,),
        "score": (F,),
        "goal": (17,),
        "children": (2, data.n_words),
        "next": (A,),
        "lower": (2, 9),
        "upper": (2, 9),
        "allowed": (9,),
        "child": (3, 9),
    }
    return Context(
        PAID,
        shapes,
        matrix_rows=R,
        any_free=int((own < 0).any()),
        attribute=own,
        discount=view.discount,
        group=view.group,
        relation=relation,
        split=np.ascontiguousarray(data.split[:F]),
    )
