"""Memory of a compiled search: buffers of a thread, stacks, tables. Loads numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.engines.dp import pair_layout as at
from milp_trees.engines.dp.arrays import UNLIMITED, Instance
from milp_trees.engines.dp.contexts import Context, ContextRows
from milp_trees.engines.dp.layouts import LEVEL, STACK, TABLE, TREE, WORK
from milp_trees.engines.dp.memory import RING
from milp_trees.engines.dp.pair_counts import (
    COUNT,
    EVALUATE,
    GATHER,
    HASH,
    PACK,
    SIDES,
    kernel_addresses,
)
from milp_trees.engines.dp.switches import Switches

#: The largest depth that is searched before all depths are.
DEEPEST = 40
#: Entries of the smallest table. A large one that is touched at random costs page faults worth more
#: than a small search.
_SMALLEST = 2**13
#: Rows by position that are needed for one slot of eight rows.
_SLOT = 8
_NONE = (0, 0, 0)


def table_of(entries: int) -> Context:
    """An empty table for at least this many entries at half load."""
    size = _SMALLEST
    while size < 2 * entries:
        size *= 2
    return Context(TABLE, {"used": (1,), "slots": (size, 4)}, room=size // 2)


def most_levels(inst: Instance, upper: int) -> int:
    """Levels that a stack needs when only trees up to a value matter.

    Every level takes at least a leaf and a split from the value that is left.
    """
    data = inst.data
    if inst.depth != UNLIMITED:
        return inst.depth + 3
    per_level = data.leaf + data.least_split
    tests = min(data.n_tests, max(1, inst.n_rows - 1)) + 3
    return min(tests, upper // per_level + 4) if per_level else tests


def stack_of(
    inst: Instance, levels: int, board: dict[str, Any], shared: Context | None = None
) -> Context:
    """A stack; its levels are the `parts`."""
    data = inst.data
    F, W, U = max(1, data.n_tests), data.n_words, data.n_values + data.n_masses
    shapes = {
        "bits": (W,),
        "key": (2,),
        "order": (F,),
        "low": (F if data.nested else 1, 2),
        "bound": (F,),
        "free_bound": (F,),
        "hashes": (F, 4),
        "side": (2, W),
        "total": (U + 1,),
    }
    parts = ContextRows(LEVEL, levels, shapes, number=np.arange(levels))
    names = ("root_bound", "busy")
    roots = dict.fromkeys(names, (F,)) if shared is None else {}
    root = {} if shared is None else {name: getattr(shared, name) for name in names}
    return Context(
        STACK,
        roots,
        parts=parts,
        levels=parts.address,
        **board,
        **root,
    )


def kernels_of(inst: Instance, sides: bool = False) -> np.ndarray:
    """Addresses of the kernels of an instance; with `sides` EVALUATE is replaced by SIDES."""
    data = inst.data
    how = (GATHER,) if data.by_row else (COUNT, PACK)
    evaluate = SIDES if sides else EVALUATE
    found = kernel_addresses(
        inst.kind,
        inst.splits,
        bool(data.n_masses),
        data.n_values,
        (*how, evaluate, HASH),
        data.n_masses,
        inst.leaf,
    )
    found[EVALUATE] = found[evaluate]
    return found


def work_of(
    inst: Instance,
    switches: Switches,
    depth: int,
    sizes: int = 0,
    kernels: np.ndarray | None = None,
) -> Context:
    """Buffers of one thread, and the table of arguments of its kernels."""
    data = inst.data
    F, S, W = max(1, data.n_tests), data.stride, data.n_words
    V, M, n, G = data.n_values, data.n_masses, max(1, inst.n_rows), data.n_counted
    U, bits, binned = V + M, int(inst.kind[1:]), bool(data.binned)
    by_row = bool(data.by_row) and not binned
    words, weighted_rows = (n + 63) // 64, n if by_row else 1
    depths = DEEPEST + 2 if depth == UNLIMITED and not sizes else depth + 1
    pairs, weighted = bits // 8 * U * at.pair_rows(F) * S, (U, weighted_rows, S)
    shapes = {
        "P": (pairs,),
        "Q": (pairs,),
        "bytes": ((inst.n_listed // _SLOT + G + 1) * S,),
        "slots": (G + 2,),
        "split_costs": (bits // 8 * S,),
        "coef": (max(1, G), U),
        "scratch": (at.scratch_bytes(S, U, weighted_rows),),
        "args": (at.TABLE,),
        "rows": (n,),
        "local": (64 * W,),
        "X": (n, S),
        "listed": (inst.n_listed + 1,),
        "first": (G + 2,),
        "total": (3, U + 1),
        "sides": (2, W),
        "hashes": (F, 4),
        "test_bits": (F if by_row else 1, words),
        "mask": (words,),
        "weighted_16": weighted if bits == 16 else _NONE,
        "weighted_32": weighted if bits == 32 else _NONE,
        "weighted_64": weighted if bits == 64 else _NONE,
        "value": (2, 2),
        "values": (8 if sizes else 0, S),
        "weight": (F + 2, data.n_actions),
        "impurity": (F,),
        "bin_rows": (n if binned else 0,),
        "bin_tests": (len(data.chains) - 1 if binned else 0, n),
        "bin_values": (U if binned else 0, n),
        "low": (F if data.nested else 1, 2),
        "ranked": (F if data.nested else 1,),
        "per_test_values": (8 * S if data.nested else 8,),
        "kept_bits": (depths, RING, W),
        "kept_bound": (depths, RING),
        "kept_tests": (depths, RING, sizes or F),
        "kept": (depths, 2),
        "pairs": (2,),
        "totals": (3,),
    }
    found = kernels_of(inst, bool(sizes)) if kernels is None else kernels
    flags = switches.flags()
    flags["nested"] &= int(data.nested)
    work = Context(WORK, shapes, kernels=found, **flags)
    if inst.splits:
        work.split_costs.view(f"{inst.kind[0]}{bits // 8}")[:] = data.split
    if G:
        work.coef[:] = data.group_values[:G, :U]
    where, total = work.address_of, work.address_of("total")
    work.pairs[:] = where("P"), where("Q")
    work.totals[:] = [total + 8 * (U + 1) * k for k in range(3)]
    args = {
        at.TESTS: F,
        at.STRIDE: S,
        at.VALUES: V,
        at.MASSES: M,
        at.LEAF: data.leaf,
        at.SPLIT: where("split_costs"),
        at.LEAST: data.address_of("least"),
        at.SCRATCH: where("scratch"),
        at.GROUPS: G,
        at.COEF: where("coef"),
        at.SLOTS: where("slots"),
        at.BYTES: where("bytes"),
        at.X: where("X"),
        at.ROWS: where("listed"),
        at.FIRST: where("first"),
        at.WEIGHTED: where(f"weighted_{bits}"),
        at.WEIGHTED_ROWS: weighted_rows,
        at.TEST_BITS: where("test_bits"),
        at.MASK: where("mask"),
        at.WORDS: words,
        at.SET_WORDS: W,
        at.SIDES_OUT: where("values"),
        at.SET_TESTS: data.address_of("tests"),
        at.SET_TESTS_STRIDE: W,
        at.SET_COUNT: data.n_tests,
        at.KEYS: data.address_of("keys"),
        at.KEYS_STRIDE: W,
        at.GRID: int(data.parameters[0]),
        at.MARGIN: int(data.parameters[1]),
    }
    work.args[list(args)] = list(args.values())
    return work


def writer_of(inst: Instance) -> Context:
    """What `extract` writes a tree with."""
    F, W = inst.data.n_tests, inst.data.n_words
    most = min(F, max(1, inst.n_rows)) + 4
    return Context(
        TREE,
        {
            "waiting": (most, W),
            "keys": (most, 2),
            "depths": (most, 3),
            "sides": (2, W),
            "out": (2 * max(1, inst.n_rows) + 4,),
        },
        slack=inst.slack,
    )
