"""Arguments of the compiled kernels (`compiling.vectors`), entries of one table.

One array serves all kernels of a problem. Vectors that run over tests hold integers
of the kernel's width T (B and X hold bytes) and have `S` entries, a multiple of 32; everything else
is int64. All buffers are addresses.
"""

from __future__ import annotations

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
# SIDES with prices (`dp_paid`): T[2 R, S], R = `pair_rows(F)`: in row i the prices of all lower
# tests where test i is the root, in row R + i the price of the lower test i below every root.
PRICES = 38
#: Bits of two doubles: units per unit of a leaf function, and its margin in units (`kit.leaf_code`).
GRID, MARGIN = 39, 40
TABLE = 42  #: entries of the array


def pair_rows(n_features: int) -> int:
    """Rows of a matrix of pair sums: tests are counted four at a time."""
    return (n_features + 3) // 4 * 4


def scratch_bytes(stride: int, n_values: int, n_rows: int) -> int:
    """Bytes of SCRATCH that suffice for every kernel of any width."""
    return 8 * (n_values + 5) * stride + 4096 + 8 * n_rows


def forbidden(bits: int) -> int:
    """Result of kernels with masses for a tree with a leaf that is too small.

    It is three eighths of the largest number.
    """
    return 3 << (bits - 4)
