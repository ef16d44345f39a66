"""Compiled kernels of the exact tree engine: pair sums, best trees of depth two, packing, hashing.

Kernels are vector code behind C function addresses: a search that calls them through `call` neither
optimises them again nor depends on them when it is cached. `pair_layout` documents their arguments.
Import this module only where it is used: it loads numba.
"""

# mypy: disable-error-code="import-untyped,no-untyped-def,untyped-decorator"

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from milp_trees.common.compiling.inside import intrinsic, ir, types
from milp_trees.common.compiling.kernels import c_function
from milp_trees.common.compiling.reals import REAL
from milp_trees.engines.dp import pair_sums_code, pair_values_code

#: Positions in what `kernel_addresses` returns.
COUNT, GATHER, PACK, EVALUATE, SIDES, HASH = range(6)

_CODE: tuple[Any, ...] = (
    pair_sums_code.count,
    pair_sums_code.gather,
    pair_sums_code.pack,
    pair_values_code.evaluate,
    pair_values_code.sides,
    pair_sums_code.nh_children,
)
_BITS = {"i16": 16, "i32": 32, "i64": 64, "f64": REAL}
#: Up to so many sums per pair are counted in registers.
_FEW = {"i16": 3, "i32": 2, "i64": 1, "f64": 0}


@intrinsic(prefer_literal=True)
def _body(
    typingctx: Any,
    table: Any,
    kernel: Any,
    bits: Any,
    has_split: Any,
    has_mass: Any,
    few: Any,
) -> Any:
    """The code of a kernel; all but the table are compile-time constants."""
    choice = [x.literal_value for x in (kernel, bits, has_split, has_mass, few)]

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _CODE[choice[0]](builder, args[0], *choice[1:])
        return ir.Constant(ir.IntType(64), 0)

    return types.int64(table, kernel, bits, has_split, has_mass, few), codegen


@cache
def _kernel(kernel: int, bits: int, has_split: int, has_mass: int, few: int) -> Any:
    def pair_kernel(table):
        return _body(table, kernel, bits, has_split, has_mass, few)

    return c_function("int64(int64)", pair_kernel)


@cache
def _leaf_kernel(kernel: int, leaf: Any, n_values: int, has_split: int, has_mass: int) -> Any:
    """A kernel on doubles, with the function that leaves cost."""
    write, own = _CODE[kernel], leaf if kernel in (EVALUATE, SIDES) else None

    @intrinsic
    def body(typingctx: Any, table: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            chosen = None if own is None else (own, n_values)
            write(builder, args[0], REAL, has_split, has_mass, chosen)
            return ir.Constant(ir.IntType(64), 0)

        return types.int64(types.int64), codegen

    def pair_kernel(table):
        return body(table)

    return c_function("int64(int64)", pair_kernel)


def kernel_addresses(
    dtype: str,
    has_split: bool,
    has_mass: bool,
    n_values: int,
    kernels: tuple[int, ...] = tuple(range(6)),
    n_masses: int | None = None,
    leaf: Any = None,
) -> np.ndarray:
    """Addresses of the kernels for one kind of problem, compiled or read from files.

    `leaf` is the function that leaves cost; None for the cheapest action.
    """
    addresses = np.zeros(len(_CODE), np.int64)
    if n_masses is None and not has_mass:
        n_masses = 0
    n_sums = 0 if n_masses is None else n_values + n_masses
    for kernel in kernels:
        width, split, row_weight, few = _BITS[dtype], 0, 0, 0
        if kernel == COUNT:
            few = n_sums if n_sums <= _FEW[dtype] else 0
        elif kernel in (EVALUATE, SIDES):
            split, row_weight, few = int(has_split), int(has_mass), int(n_values == 1)
        elif kernel in (PACK, HASH):
            width = 64  # one version
        made = (
            _kernel(kernel, width, split, row_weight, few)
            if width != REAL
            else _leaf_kernel(kernel, leaf, n_values, split, row_weight)
        )
        addresses[kernel] = made.address
    return addresses


@cache
def hash_keys(n_words: int, seed: int = 0) -> np.ndarray:
    """KEYS of HASH for sets of up to `n_words` words.

    Two rows hold random keys, two rows what a zero word would add.
    """
    keys = np.zeros((4, n_words), np.uint64)
    keys[:2] = np.random.default_rng(seed).integers(0, 2**64, (2, n_words), np.uint64)
    keys[2:] = (keys[:2] & np.uint64(2**32 - 1)) * (keys[:2] >> np.uint64(32))
    return keys


def aligned(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Zeros that begin at a multiple of 64 bytes."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.zeros(size + 64, np.uint8)
    begin = -raw.ctypes.data % 64
    return raw[begin : begin + size].view(dtype).reshape(shape)
