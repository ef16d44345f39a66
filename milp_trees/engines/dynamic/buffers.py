"""Memory of a compiled search: buffers of a thread, stacks, tables. Loads numba."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.engines.dynamic import pair_layout as at
from milp_trees.engines.dynamic.arrays import (
    UNLIMITED,
    Instance,
)
from milp_trees.engines.dynamic.contexts import Context, Memory, Rows
from milp_trees.engines.dynamic.layouts import LEVEL, STACK, TABLE, TREE, WORK
from milp_trees.engines.dynamic.memory import RING
from milp_trees.engines.dynamic.pair_counts import (
    COUNT,
    EVALUATE,
    GATHER,
    HASH,
    PACK,
    SIDES,
    kernel_addresses,
)
from milp_trees.engines.dynamic.switches import Switches

#: Entries of the smallest table. A large one that is touched at random costs page faults worth more
#: than a small search.
_SMALLEST = 2**13
#: Rows by position that are needed for one slot of eight rows.
_SLOT = 8
#: Number types of arrays.
_U8, _U64, _F64 = np.dtype(np.uint8), np.dtype(np.uint64), np.dtype(np.float64)
_I16, _I32, _I64 = np.dtype(np.int16), np.dtype(np.int32), np.dtype(np.int64)
_NONE = (0, 0, 0)


def table_of(entries: int) -> Context:
    """An empty table for at least this many entries at half load."""
    size = _SMALLEST
    while size < 2 * entries:
        size *= 2
    return Context(
        TABLE,
        room=size // 2,
        used=np.zeros(1, dtype=np.int64),
        slots=np.zeros((size, 4), dtype=np.uint64),
    )


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
    """A stack; its levels are the `parts`.

    Parameters
    ----------
    inst : Instance
        Its sizes decide those of the arrays.
    levels : int
        Number of levels (`most_levels`).
    board : dict
        The arrays `stop` and `shared_best`, common to all stacks of a run.
    shared : Context, optional
        The stack of another thread, with which bounds of the root tests are shared.

    Returns
    -------
    Context
        A record of `layouts.STACK`.
    """
    data = inst.data
    F, W, U = max(1, data.n_tests), data.n_words, data.n_values + data.n_masses
    parts = Rows(
        LEVEL,
        levels,
        Memory(
            bits=(_U64, (levels, W)),
            key=(_U64, (levels, 2)),
            order=(_I64, (levels, F)),
            bound=(_I64, (levels, F)),
            hashes=(_U64, (levels, F, 4)),
            side=(_U64, (levels, 2, W)),
            total=(_I64, (levels, U + 1)),
        ),
        number=np.arange(levels),
    )
    return Context(
        STACK,
        parts=parts,
        levels=parts.address,
        root_bound=shared.root_bound if shared else np.zeros(F, dtype=np.int64),
        busy=shared.busy if shared else np.zeros(F, dtype=np.int64),
        **board,
    )


def kernels_of(inst: Instance, sides: bool = False) -> np.ndarray:
    """Addresses of the kernels of an instance; with `sides` EVALUATE is replaced by SIDES."""
    data = inst.data
    how = (GATHER,) if data.by_row else (COUNT, PACK)
    evaluate = SIDES if sides else EVALUATE
    found = kernel_addresses(
        inst.kind,
        bool(data.split.any()),
        bool(data.n_masses),
        data.n_values,
        (*how, evaluate, HASH),
        data.n_masses,
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
    """Buffers of one thread, and the table of arguments of its kernels.

    Parameters
    ----------
    inst : Instance
        Its sizes and number type decide those of the arrays.
    switches : Switches
        Which parts of the search are used.
    depth : int
        Largest depth of a tree, or UNLIMITED; the archive keeps sets for every depth up to it.
    sizes : int, default=0
        For a search by number of leaves: how many bounds the archive keeps per set. By default it
        keeps one per root test and one in all.
    kernels : int64 array, optional
        Addresses of the kernels; by default those of `kernels_of`.

    Returns
    -------
    Context
        A record of `layouts.WORK`.
    """
    data = inst.data
    F, S, W = max(1, data.n_tests), data.stride, data.n_words
    V, M, n, G = data.n_values, data.n_masses, max(1, inst.n_rows), data.n_counted
    U, by_row, bits = V + M, bool(data.by_row), int(inst.kind[1:])
    number, words = np.dtype(f"i{bits // 8}"), (n + 63) // 64
    weighted_rows, depths = n if by_row else 1, 5 if depth == UNLIMITED and not sizes else depth + 1
    pairs, weighted = (U, at.pair_rows(F), S), (U, weighted_rows, S)
    memory = Memory(
        P=(number, pairs),
        Q=(number, pairs),
        bytes=(_U8, (inst.n_listed // _SLOT + G + 1, S)),
        slots=(_I64, (G + 2,)),
        split_costs=(number, (S,)),
        coef=(_I64, (max(1, G), U)),
        scratch=(_U8, (at.scratch_bytes(S, U, weighted_rows),)),
        args=(_I64, (at.TABLE,)),
        rows=(_I64, (n,)),
        local=(_I64, (64 * W,)),
        X=(_U8, (n, S)),
        listed=(_I64, (inst.n_listed + 1,)),
        first=(_I64, (G + 2,)),
        total=(_I64, (3, U + 1)),
        sides=(_U64, (2, W)),
        hashes=(_U64, (F, 4)),
        test_bits=(_U64, (F if by_row else 1, words)),
        mask=(_U64, (words,)),
        weighted_16=(_I16, weighted if bits == 16 else _NONE),
        weighted_32=(_I32, weighted if bits == 32 else _NONE),
        weighted_64=(_I64, weighted if bits == 64 else _NONE),
        value=(_I64, (2, 2)),
        values=(_I64, (8 if sizes else 0, S)),
        weight=(_I64, (F + 1, data.n_actions)),
        impurity=(_F64, (F,)),
        kept_bits=(_U64, (depths, RING, W)),
        kept_bound=(_I64, (depths, RING)),
        kept_tests=(_I64, (depths, RING, sizes or F)),
        kept=(_I64, (depths, 2)),
    )
    memory.array("split_costs")[:] = data.split
    if G:
        memory.array("coef")[:] = data.group_values[:G, :U]
    where = memory.address
    args = memory.array("args")
    for slot, value in (
        (at.TESTS, F),
        (at.STRIDE, S),
        (at.VALUES, V),
        (at.MASSES, M),
        (at.LEAF, data.leaf),
        (at.SPLIT, where("split_costs")),
        (at.LEAST, data.address_of("least")),
        (at.SCRATCH, where("scratch")),
        (at.GROUPS, G),
        (at.COEF, where("coef")),
        (at.SLOTS, where("slots")),
        (at.BYTES, where("bytes")),
        (at.X, where("X")),
        (at.ROWS, where("listed")),
        (at.FIRST, where("first")),
        (at.WEIGHTED, where(f"weighted_{bits}")),
        (at.WEIGHTED_ROWS, weighted_rows),
        (at.TEST_BITS, where("test_bits")),
        (at.MASK, where("mask")),
        (at.WORDS, words),
        (at.SET_WORDS, W),
        (at.SIDES_OUT, where("values")),
        (at.SET_TESTS, data.address_of("tests")),
        (at.SET_TESTS_STRIDE, W),
        (at.SET_COUNT, data.n_tests),
        (at.KEYS, data.address_of("keys")),
        (at.KEYS_STRIDE, W),
    ):
        args[slot] = value
    total = where("total")
    return Context(
        WORK,
        memory,
        kernels=kernels_of(inst, bool(sizes)) if kernels is None else kernels,
        **switches.flags(),
        pairs=np.array([where("P"), where("Q")]),
        totals=np.array([total + 8 * (U + 1) * k for k in range(3)]),
    )


def writer_of(inst: Instance) -> Context:
    """What `extract` writes a tree with."""
    F, W = inst.data.n_tests, inst.data.n_words
    most = min(F, max(1, inst.n_rows)) + 4
    return Context(
        TREE,
        Memory(
            waiting=(_U64, (most, W)),
            keys=(_U64, (most, 2)),
            depths=(_I64, (most, 3)),
            sides=(_U64, (2, W)),
            out=(_I64, (2 * max(1, inst.n_rows) + 4,)),
        ),
    )
