"""Compiled helpers on 64-bit words: bit counts, set rows, atomic operations. Loads numba.

Sets of rows are arrays of words. Import this module only where it is used.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

from typing import Any

from milp_trees.common.compiling.inside import intrinsic, ir, types
from milp_trees.common.compiling.kernels import kernel
from milp_trees.common.compiling.ones import ones


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


@kernel(allocates=False)
def copy(source, target):
    """Copy the first numbers of an array, as many as the target has."""
    for i in range(len(target)):
        target[i] = source[i]


@kernel(allocates=False)
def clear(target):
    """Set all numbers of a vector to 0."""
    for i in range(len(target)):
        target[i] = 0


@kernel(allocates=False)
def fill(target, value):
    """Set all numbers of a vector to one."""
    for i in range(len(target)):
        target[i] = value


@kernel(allocates=False)
def subtract(a, b, target):
    """target = a - b."""
    for i in range(len(target)):
        target[i] = a[i] - b[i]


@kernel(allocates=False)
def count(bits):
    """Number of rows in a set."""
    n = 0
    for w in range(len(bits)):
        n += ones(bits[w])
    return n


@kernel(allocates=False)
def children(bits, test, left, right):
    """The two sides of a test; returns the number of rows on the right."""
    n = 0
    for w in range(len(bits)):
        right[w] = bits[w] & test[w]
        left[w] = bits[w] & ~test[w]
        n += ones(right[w])
    return n


@kernel(allocates=False)
def missing_weight(bits, other, heavy):
    """Bound on the cost of the rows in `bits` but not in `other`: `heavy` per row of a word."""
    total = 0
    for w in range(len(bits)):
        total += ones(bits[w] & ~other[w]) * heavy[w]
    return total


@kernel(allocates=False)
def weight_up_to(bits, other, heavy, most):
    """`missing_weight`, or a smaller sum that is at least `most`."""
    total = 0
    for w in range(len(bits)):
        total += ones(bits[w] & ~other[w]) * heavy[w]
        if total >= most:
            break
    return total


@kernel(allocates=False)
def inside(bits, other):
    """Whether a set lies in another."""
    for w in range(len(bits)):  # noqa: SIM110 (numba compiles loops better)
        if bits[w] & ~other[w]:
            return False
    return True
