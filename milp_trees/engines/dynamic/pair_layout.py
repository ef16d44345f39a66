"""Arguments of the compiled kernels, and a writer of vector code.

A kernel is `int64 kernel(int64 table)`: `table` is the address of an int64 array whose entries are
the arguments. One array serves all kernels of a problem. Vectors that run over tests hold integers
of the kernel's width T (B and X hold bytes) and have `S` entries, a multiple of 32; everything else
is int64. All buffers are addresses.
"""

# mypy: disable-error-code="import-untyped"

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Any

from milp_trees.compiling.inside import cgutils, ir

# What a problem keeps.
TESTS = 0  #: F, number of tests, at least 1
STRIDE = 1  #: S, columns of every row over tests: F rounded up to a multiple of 32
VALUES = 2  #: V, number of values, at least 1
MASSES = 3  #: M, number of masses; they follow the values, U = V + M; at least 1 for kernels with masses, else 0
LEAF = 4  #: cost of a leaf, at least 0
SPLIT = 5  #: T[S], cost of every test, at least 0; kernels with splits only
LEAST = 6  #: int64[M], smallest masses of a leaf; kernels with masses only
SCRATCH = 7  #: `scratch_bytes(...)` bytes
# COUNT: groups of equal value vectors, also made by PACK.
GROUPS = 8  #: G, number of groups
COEF = 9  #: int64[G, U], value vector of every group
SLOTS = 10  #: int64[G + 1], first slot of every group, and the number of slots
BYTES = 11  #: uint8[slots, S], bit t of a byte: the test on row t of the slot
PAIRS = (
    12  #: T[U, R, S], pair sums, R = `pair_rows(F)`; written by COUNT and GATHER, read by EVALUATE
)
# PACK
X = 13  #: uint8[rows, S], 0 or 1
ROWS = 14  #: int64[], row numbers sorted by group
FIRST = 15  #: int64[G + 1], first position of every group in ROWS, and the end
# GATHER
WEIGHTED = 16  #: T[U, WEIGHTED_ROWS, S], value u of the row where the test is true, else 0
WEIGHTED_ROWS = 17
TEST_BITS = 18  #: uint64[F, WORDS], bit r: the test on row r
MASK = 19  #: uint64[WORDS], the rows that count
WORDS = 20
# EVALUATE and SIDES
TOTALS = 21  #: int64[U], sums over all rows of the node
PARENT = 22  #: T[U, R, S], pair sums of the parent, or 0 for none
PARENT_TOTALS = 23  #: int64[U]
PER_TEST = 24  #: out T[S], best value of every root test of the node, or 0 for none; the largest T in padding
BEST = 25  #: out: best value
BEST_TEST = 26  #: out: its first root test
REST = 27  #: out: best value of the parent's other child, if there is a PARENT
REST_TEST = 28  #: out: its first root test
#: SIDES: out int64[2, 4, S], of the node and of the rest of its parent: left side as a leaf, with
#: one split at most, right side as a leaf, with one split at most
SIDES_OUT = 29
# HASH
SET_WORDS = 30  #: number of words of a set, a multiple of 4 (zero padded)
SET = 31  #: uint64[SET_WORDS], the node
SET_TESTS = 32  #: uint64[n, SET_TESTS_STRIDE], sets of the tests
SET_TESTS_STRIDE = 33  #: in words
SET_COUNT = 34  #: n
KEYS = 35  #: `hash_keys(...)`: uint64[4, KEYS_STRIDE]
KEYS_STRIDE = 36  #: in words
HASHES = 37  #: out uint64[n, 4]: two hashes of the rows where the test is false, two of those where it is true
TABLE = 40  #: entries of the array

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


def pair_rows(n_features: int) -> int:
    """Rows of a matrix of pair sums: tests are counted four at a time."""
    return (n_features + 3) // 4 * 4


def scratch_bytes(stride: int, n_values: int, n_rows: int) -> int:
    """Bytes of SCRATCH that suffice for every kernel of any width; `n_values` is U, `n_rows` is
    WEIGHTED_ROWS.
    """
    return 8 * (n_values + 5) * stride + 4096 + 8 * n_rows


def forbidden(bits: int) -> int:
    """What kernels with masses return for a tree with a leaf that is too small: three eighths of
    the largest number.
    """
    return 3 << (bits - 4)


class Code:
    """Writer of code for one kernel: addresses are int64, `vec` is a vector of `lanes` integers of
    `bits` bits.
    """

    def __init__(self, builder: Any, table: Any, bits: int, lanes: int) -> None:
        self.builder, self.table = builder, table
        self.bits, self.size, self.lanes = bits, bits // 8, lanes
        self.int = ir.IntType(bits)
        self.vec = ir.VectorType(self.int, lanes)

    # Memory.

    def sum(self, *terms: Any) -> Any:
        """Sum of int64 numbers; (a, b, ...) is a product."""
        terms = tuple(
            reduce(self.builder.mul, map(self.number, t))
            if isinstance(t, tuple)
            else self.number(t)
            for t in terms
        )
        return reduce(self.builder.add, terms)

    @staticmethod
    def number(x: Any) -> Any:
        return ir.Constant(I64, x) if isinstance(x, int) else x

    def load(self, address: Any, kind: Any) -> Any:
        align = (kind.element if isinstance(kind, ir.VectorType) else kind).width // 8
        return self.builder.load(self.builder.inttoptr(address, kind.as_pointer()), align=align)

    def store(self, value: Any, address: Any) -> None:
        kind = value.type
        align = (kind.element if isinstance(kind, ir.VectorType) else kind).width // 8
        self.builder.store(value, self.builder.inttoptr(address, kind.as_pointer()), align=align)

    def slot(self, entry: int) -> Any:
        """An argument. No kernel reads what it writes to the table, so loops need not load it
        again.
        """
        value = self.load(self.sum(self.table, 8 * entry), I64)
        value.set_metadata("invariant.load", self.builder.module.add_metadata([]))
        return value

    def set_slot(self, entry: int, value: Any) -> None:
        self.store(value, self.sum(self.table, 8 * entry))

    def var(self, value: Any) -> Any:
        """A variable that starts with this value."""
        with self.builder.goto_entry_block():
            variable = self.builder.alloca(value.type)
        self.builder.store(value, variable)
        return variable

    def get(self, variable: Any) -> Any:
        return self.builder.load(variable)

    def set(self, variable: Any, value: Any) -> None:
        self.builder.store(value, variable)

    # Control.

    @contextmanager
    def loop(self, start: Any, stop: Any, step: int = 1) -> Iterator[Any]:
        with cgutils.for_range_slice(
            self.builder, self.number(start), self.number(stop), self.number(step), I64
        ) as (index, _):
            yield index

    def smaller(self, a: Any, b: Any) -> Any:
        a, b = self.number(a), self.number(b)
        return self.builder.select(self.builder.icmp_signed("<", a, b), a, b)

    # Vectors.

    def splat(self, scalar: Any, vec: Any = None) -> Any:
        vec = vec or self.vec
        if isinstance(scalar, int):
            return ir.Constant(vec, [scalar] * vec.count)
        one = self.builder.insert_element(
            ir.Constant(vec, ir.Undefined), scalar, ir.Constant(I32, 0)
        )
        return self.builder.shuffle_vector(
            one,
            ir.Constant(vec, ir.Undefined),
            ir.Constant(ir.VectorType(I32, vec.count), [0] * vec.count),
        )

    def splat_long(self, scalar: Any) -> Any:
        """An int64 in every lane."""
        return self.splat(scalar if self.bits == 64 else self.builder.trunc(scalar, self.int))

    def call(self, name: str, *args: Any, result: Any = None) -> Any:
        """An LLVM intrinsic of vectors, by its name without types."""
        kind = args[0].type
        text = (
            f"v{kind.count}i{kind.element.width}"
            if isinstance(kind, ir.VectorType)
            else f"i{kind.width}"
        )
        function = ir.FunctionType(result or kind, [a.type for a in args])
        return self.builder.call(
            cgutils.get_or_insert_function(self.builder.module, function, f"llvm.{name}.{text}"),
            args,
        )

    def smin(self, a: Any, b: Any) -> Any:
        return self.call("smin", a, b)

    def smax(self, a: Any, b: Any) -> Any:
        return self.call("smax", a, b)

    def shuffle(self, a: Any, b: Any, lanes: list[int]) -> Any:
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, len(lanes)), lanes))


def largest(bits: int) -> int:
    """Largest signed number."""
    return (1 << (bits - 1)) - 1
