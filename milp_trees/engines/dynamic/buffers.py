"""Memory of a compiled search: buffers of a thread, stacks, tables. Loads numba."""

from __future__ import annotations

import numpy as np

from milp_trees.engines.dynamic import pair_layout as at
from milp_trees.engines.dynamic.arrays import (
    UNLIMITED,
    Instance,
)
from milp_trees.engines.dynamic.contexts import Context, Rows, address
from milp_trees.engines.dynamic.layouts import LEVEL, STACK, TABLE, TREE, WORK
from milp_trees.engines.dynamic.memory import RING
from milp_trees.engines.dynamic.pair_counts import (
    COUNT,
    EVALUATE,
    GATHER,
    HASH,
    PACK,
    SIDES,
    aligned,
    kernel_addresses,
)
from milp_trees.engines.dynamic.switches import Switches

#: Entries of the smallest table. A large one that is touched at random costs page faults worth more
#: than a small search.
_SMALLEST = 2**13
#: Rows by position that are needed for one slot of eight rows.
_SLOT = 8


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
    inst: Instance, levels: int, board: dict[str, np.ndarray], shared: Context | None = None
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
        number=np.arange(levels),
        bits=np.zeros((levels, W), dtype=np.uint64),
        key=np.zeros((levels, 2), dtype=np.uint64),
        order=np.zeros((levels, F), dtype=np.int64),
        bound=np.zeros((levels, F), dtype=np.int64),
        hashes=np.zeros((levels, F, 4), dtype=np.uint64),
        side=np.zeros((levels, 2, W), dtype=np.uint64),
        total=np.zeros((levels, U + 1), dtype=np.int64),
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
    V, M, n = data.n_values, data.n_masses, max(1, inst.n_rows)
    U, by_row, bits = V + M, bool(data.by_row), int(inst.kind[1:])
    number = np.dtype(f"i{bits // 8}")
    G = data.n_counted
    listed = int(np.bitwise_count(data.group_bits[:G]).sum())
    words = (n + 63) // 64
    weighted_rows = n if by_row else 1
    R = at.pair_rows(F)
    keep = {
        "P": aligned((U, R, S), number),
        "Q": aligned((U, R, S), number),
        "bytes": aligned((listed // _SLOT + G + 1, S), np.uint8),
        "slots": np.zeros(G + 2, dtype=np.int64),
        "split": aligned(S, number),
        "coef": np.ascontiguousarray(data.group_values[: max(1, G), :U]),
        "scratch": aligned(at.scratch_bytes(S, U, weighted_rows), np.uint8),
        "X": aligned((n, S), np.uint8),
        "listed": np.zeros(listed + 1, np.int64),
        "first": np.zeros(G + 2, dtype=np.int64),
        "total": np.zeros((3, U + 1), dtype=np.int64),
        "mask": np.zeros(words, dtype=np.uint64),
        "test_bits": np.zeros((F if by_row else 1, words), dtype=np.uint64),
        "weighted": aligned((U, weighted_rows, S), number),
        "values": np.zeros((8 if sizes else 0, S), dtype=np.int64),
        "least": data.least.copy() if M else np.zeros(1, dtype=np.int64),
    }
    keep["split"][:] = data.split
    args = np.zeros(at.TABLE, dtype=np.int64)
    for slot, value in {
        at.TESTS: F,
        at.STRIDE: S,
        at.VALUES: V,
        at.MASSES: M,
        at.LEAF: data.leaf,
        at.SPLIT: address(keep["split"]),
        at.LEAST: address(keep["least"]),
        at.SCRATCH: address(keep["scratch"]),
        at.GROUPS: G,
        at.COEF: address(keep["coef"]),
        at.SLOTS: address(keep["slots"]),
        at.BYTES: address(keep["bytes"]),
        at.X: address(keep["X"]),
        at.ROWS: address(keep["listed"]),
        at.FIRST: address(keep["first"]),
        at.WEIGHTED: address(keep["weighted"]),
        at.WEIGHTED_ROWS: weighted_rows,
        at.TEST_BITS: address(keep["test_bits"]),
        at.MASK: address(keep["mask"]),
        at.WORDS: words,
        at.SET_WORDS: W,
        at.SIDES_OUT: address(keep["values"]),
        at.SET_TESTS: address(data.tests),
        at.SET_TESTS_STRIDE: W,
        at.SET_COUNT: data.n_tests,
        at.KEYS: address(data.keys),
        at.KEYS_STRIDE: W,
    }.items():
        args[slot] = value
    depths = 5 if depth == UNLIMITED and not sizes else depth + 1
    work = Context(
        WORK,
        args=args,
        kernels=kernels_of(inst, bool(sizes)) if kernels is None else kernels,
        **switches.flags(),
        rows=np.zeros(n, dtype=np.int64),
        local=np.zeros(64 * W, dtype=np.int64),
        X=keep["X"],
        listed=keep["listed"],
        first=keep["first"],
        total=keep["total"],
        sides=np.zeros((2, W), dtype=np.uint64),
        hashes=np.zeros((F, 4), dtype=np.uint64),
        pairs=np.array([address(keep["P"]), address(keep["Q"])]),
        totals=np.array([address(keep["total"][k]) for k in range(3)]),
        test_bits=keep["test_bits"],
        mask=keep["mask"],
        **{
            f"weighted_{b}": keep["weighted"]
            if b == bits
            else np.zeros((0, 0, 0), dtype=f"i{b // 8}")
            for b in (16, 32, 64)
        },
        value=np.zeros((2, 2), dtype=np.int64),
        values=keep["values"],
        weight=np.zeros((F + 1, data.n_actions), dtype=np.int64),
        impurity=np.zeros(F),
        kept_bits=np.zeros((depths, RING, W), dtype=np.uint64),
        kept_bound=np.zeros((depths, RING), dtype=np.int64),
        kept_tests=np.zeros((depths, RING, sizes or F), dtype=np.int64),
        kept=np.zeros((depths, 2), dtype=np.int64),
    )
    work.buffers.update(keep)  # known to the kernels by their address only
    return work


def writer_of(inst: Instance) -> Context:
    """What `extract` writes a tree with."""
    F, W = inst.data.n_tests, inst.data.n_words
    most = min(F, max(1, inst.n_rows)) + 4
    return Context(
        TREE,
        waiting=np.zeros((most, W), dtype=np.uint64),
        keys=np.zeros((most, 2), dtype=np.uint64),
        depths=np.zeros((most, 3), dtype=np.int64),
        sides=np.zeros((2, W), dtype=np.uint64),
        out=np.zeros(2 * max(1, inst.n_rows) + 4, dtype=np.int64),
    )
