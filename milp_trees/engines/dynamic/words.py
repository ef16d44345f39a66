"""Compiled helpers on 64-bit words: bit counts, set rows, hashes, atomic operations. Import only
where it is used: it loads numba.

Sets of rows are arrays of words. A set is remembered under two NH hashes (Black et al. 1999, UMAC):
sums of products of 32-bit halves, each half shifted by a random key; a zero word adds nothing, so
the key of a set does not depend on how many empty words follow it.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from typing import Any

import numpy as np

from milp_trees.compiling.inside import intrinsic, ir, types
from milp_trees.compiling.kernels import njit

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE = np.uint64(1)


@intrinsic
def ones(typingctx: Any, word: Any) -> Any:
    """Number of ones in a word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def lowest(typingctx: Any, word: Any) -> Any:
    """Position of the lowest one in a word that is not zero."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


def _atomic(operation: str) -> Any:
    @intrinsic
    def change(typingctx: Any, address: Any, value: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = builder.inttoptr(args[0], ir.IntType(64).as_pointer())
            return builder.atomic_rmw(operation, pointer, args[1], "seq_cst")

        return types.int64(types.int64, types.int64), codegen

    return change


#: (address, value): change the integer at an address for all threads at once; returns what was
#: there before.
atomic_add = _atomic("add")
atomic_min = _atomic("min")


# Loops instead of slices: every kind of array assignment costs numba a quarter of a second to
# compile.


@njit(cache=True)
def copy(source, target):
    """Copy the first numbers of an array, as many as the target has."""
    for i in range(len(target)):
        target[i] = source[i]


@njit(cache=True)
def clear(target):
    """Set all numbers of a vector to 0."""
    for i in range(len(target)):
        target[i] = 0


@njit(cache=True)
def fill(target, value):
    """Set all numbers of a vector to one."""
    for i in range(len(target)):
        target[i] = value


@njit(cache=True)
def subtract(a, b, target):
    """target = a - b."""
    for i in range(len(target)):
        target[i] = a[i] - b[i]


@njit(cache=True)
def count(bits):
    """Number of rows in a set."""
    n = 0
    for w in range(len(bits)):
        n += ones(bits[w])
    return n


@njit(cache=True)
def children(bits, test, left, right):
    """The two sides of a test; returns the number of rows on the right."""
    n = 0
    for w in range(len(bits)):
        right[w] = bits[w] & test[w]
        left[w] = bits[w] & ~test[w]
        n += ones(right[w])
    return n


@njit(cache=True)
def missing_weight(bits, other, heavy):
    """Bound on what the rows of `bits` outside `other` can cost: at most `heavy` per row of a word."""
    total = 0
    for w in range(len(bits)):
        total += ones(bits[w] & ~other[w]) * heavy[w]
    return total


@njit(cache=True)
def inside(bits, other):
    """Whether a set lies in another."""
    for w in range(len(bits)):  # noqa: SIM110 (numba compiles loops better)
        if bits[w] & ~other[w]:
            return False
    return True
