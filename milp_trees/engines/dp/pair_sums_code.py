"""Code that packs rows, sums the values of every pair of tests, and hashes sets of rows.

Counting: the rows of a group lie eight to a byte, so a byte operation and a population count serve
8 rows and 32 tests (Muła, Kurz, Lemire 2018, *Faster population counts using AVX2 instructions*).
Counts of four tests by 32 or 64 tests stay in registers as bytes, which hold the sum of 31 slots;
then they are multiplied by the group's values and added to the pair sums. Hashing: NH (Black et al.
1999, *UMAC*).
"""

# mypy: disable-error-code="import-untyped,no-untyped-def,no-untyped-call"

from contextlib import contextmanager
from functools import partial

from milp_trees.common.compiling.inside import ir
from milp_trees.common.compiling.reals import code_on
from milp_trees.common.compiling.vectors import I8, I32, I64, Code
from milp_trees.engines.dp import pair_layout as at

#: Slots whose eight rows each a byte can count.
BLOCK = 31


def rounded(code: Code, n):
    """F rounded up as in `pair_rows`."""
    return code.builder.and_(code.sum(n, 3), code.number(-4))


def count(builder, table, bits, _has_split, _has_mass, n_sums):
    """COUNT: pair sums by groups."""
    code = Code(builder, table, bits, 32)
    F, S = code.slot(at.TESTS), code.slot(at.STRIDE)
    tile = partial(_count_few, n_sums=n_sums) if n_sums else _count_many
    with code.loop(0, F, 4) as i:
        begin = builder.and_(i, code.number(-32))
        with code.loop(begin, code.sum(S, -32), 64) as j:
            tile(Code(builder, table, bits, 64), i, j)
        odd = builder.and_(code.sum(S, (begin, -1)), code.number(32))
        with builder.if_then(builder.icmp_signed("!=", odd, code.number(0))):
            tile(code, i, code.sum(S, -32))


@contextmanager
def _counts(code: Code, i, j):
    """Counts of tests i to i + 3 with the 32 or 64 tests from j on, for every block of slots.

    Yields the group of a block, and how often each of the four is true together with the others.
    """
    slots, zero = code.slot(at.SLOTS), ir.Constant(ir.VectorType(I8, code.lanes), None)
    with code.loop(0, code.slot(at.GROUPS)) as g:
        begin, end = (code.load(code.sum(slots, (8, code.sum(g, k))), I64) for k in (0, 1))
        with code.loop(begin, end, BLOCK) as block:
            ones = [code.var(zero) for _ in range(4)]
            with code.loop(block, code.smaller(code.sum(block, BLOCK), end)) as s:
                _count_slot(
                    code, code.sum(code.slot(at.BYTES), (s, code.slot(at.STRIDE))), i, j, ones
                )
            yield g, [code.builder.zext(code.get(variable), code.vec) for variable in ones]


def _count_few(code: Code, i, j, n_sums):
    """A few values: their sums stay in registers until the end."""
    builder, S = code.builder, code.slot(at.STRIDE)
    totals = [[code.var(code.splat(0)) for _ in range(4)] for _ in range(n_sums)]
    with _counts(code, i, j) as (g, counts):
        for u, four in enumerate(totals):
            factor = code.splat_long(
                code.load(code.sum(code.slot(at.COEF), (8, code.sum((g, n_sums), u))), I64)
            )
            for total, number in zip(four, counts, strict=True):
                code.set(total, builder.add(code.get(total), builder.mul(number, factor)))
    rows = rounded(code, code.slot(at.TESTS))
    for u, four in enumerate(totals):
        for q, total in enumerate(four):
            code.store(
                code.get(total),
                code.sum(
                    code.slot(at.PAIRS), (code.sum((code.sum((u, rows), i, q), S), j), code.size)
                ),
            )


def _count_many(code: Code, i, j):
    """Several values: the first block's sums replace those in memory, the others are added."""
    builder, S = code.builder, code.slot(at.STRIDE)
    U = code.sum(code.slot(at.VALUES), code.slot(at.MASSES))
    out = code.sum(code.slot(at.PAIRS), (code.sum((i, S), j), code.size))
    matrix = code.sum((rounded(code, code.slot(at.TESTS)), S, code.size))
    keep = code.var(code.number(0))  # which bits of the memory count: none, then all
    with _counts(code, i, j) as (g, counts):
        old = code.get(keep)
        with code.loop(0, U) as u:
            factor = code.load(code.sum(code.slot(at.COEF), (8, code.sum((g, U), u))), I64)
            with builder.if_then(
                builder.icmp_signed("!=", builder.or_(factor, builder.not_(old)), code.number(0))
            ):
                for q, number in enumerate(counts):
                    address = code.sum(out, (u, matrix), (q, S, code.size))
                    before = builder.and_(code.load(address, code.vec), code.splat_long(old))
                    code.store(
                        builder.add(before, builder.mul(number, code.splat_long(factor))), address
                    )
        code.set(keep, code.number(-1))
    with (
        builder.if_then(builder.icmp_signed("==", code.get(keep), code.number(0))),
        code.loop(0, U) as u,
    ):
        for q in range(4):
            code.store(code.splat(0), code.sum(out, (u, matrix), (q, S, code.size)))


def _count_slot(code: Code, slot, i, j, ones):
    bytes_of_tests = ir.VectorType(I8, code.lanes)
    columns = code.load(code.sum(slot, j), bytes_of_tests)
    for q, variable in enumerate(ones):
        test = code.splat(code.load(code.sum(slot, i, q), I8), bytes_of_tests)
        code.set(
            variable,
            code.builder.add(
                code.get(variable), code.call("ctpop", code.builder.and_(columns, test))
            ),
        )


def gather(builder, table, bits, _has_split, _has_mass, _one_value):
    """GATHER: pair sums by rows."""
    code = code_on(builder, table, bits, 32)
    F, S = code.slot(at.TESTS), code.slot(at.STRIDE)
    U = code.sum(code.slot(at.VALUES), code.slot(at.MASSES))
    rows = rounded(code, F)
    with code.loop(0, F) as i:
        n = _list_rows(code, i)
        begin = builder.and_(i, code.number(-32))
        with code.loop(0, U) as u:
            values = code.sum(
                code.slot(at.WEIGHTED), (u, code.slot(at.WEIGHTED_ROWS), S, code.size)
            )
            out = code.sum(code.slot(at.PAIRS), (code.sum((u, rows), i), S, code.size))
            with code.loop(begin, code.sum(S, -32), 64) as j:
                _gather_tile(
                    code_on(builder, table, bits, 64),
                    n,
                    code.sum(values, (j, code.size)),
                    code.sum(out, (j, code.size)),
                )
            odd = builder.and_(code.sum(S, (begin, -1)), code.number(32))
            with builder.if_then(builder.icmp_signed("!=", odd, code.number(0))):
                j = code.sum(S, -32)
                _gather_tile(
                    code, n, code.sum(values, (j, code.size)), code.sum(out, (j, code.size))
                )
    with code.loop(F, rows) as i, code.loop(0, U) as u, code.loop(0, S, 32) as j:
        code.store(
            code.splat(0),
            code.sum(code.slot(at.PAIRS), (code.sum((code.sum((u, rows), i), S), j), code.size)),
        )


def _list_rows(code: Code, i):
    """List the rows of test i in the scratch memory, as offsets in the matrix of values.

    Returns their number.
    """
    builder, words = code.builder, code.slot(at.WORDS)
    n = code.var(code.number(0))
    with code.loop(0, words) as w:
        rows = code.load(code.sum(code.slot(at.MASK), (8, w)), I64)
        rows = code.var(
            builder.and_(
                rows,
                code.load(code.sum(code.slot(at.TEST_BITS), (8, code.sum((i, words), w))), I64),
            )
        )
        with code.loop(0, builder.ctpop(code.get(rows))):
            left = code.get(rows)
            row = code.sum((64, w), builder.cttz(left, ir.Constant(ir.IntType(1), 1)))
            code.store(
                code.sum((code.sum((row, code.slot(at.STRIDE))), code.size)),
                code.sum(code.slot(at.SCRATCH), (8, code.get(n))),
            )
            code.set(rows, builder.and_(left, code.sum(left, -1)))
            code.set(n, code.sum(code.get(n), 1))
    return code.get(n)


def _gather_tile(code: Code, n, values, out):
    total = code.var(code.splat(0))
    with code.loop(0, n) as k:
        offset = code.load(code.sum(code.slot(at.SCRATCH), (8, k)), I64)
        code.set(
            total, code.builder.add(code.get(total), code.load(code.sum(values, offset), code.vec))
        )
    code.store(code.get(total), out)


def pack(builder, table, bits, _has_split, _has_mass, _one_value):
    """PACK: eight rows of a group to a byte. A last slot repeats its last row and masks it out."""
    code = Code(builder, table, 8, 32)
    longs = ir.VectorType(I64, 4)
    S, rows, slots = code.slot(at.STRIDE), code.slot(at.ROWS), code.slot(at.SLOTS)
    used = code.var(code.number(0))
    code.store(code.number(0), slots)
    with code.loop(0, code.slot(at.GROUPS)) as g:
        begin, end = (
            code.load(code.sum(code.slot(at.FIRST), (8, code.sum(g, k))), I64) for k in (0, 1)
        )
        with code.loop(begin, end, 8) as k:
            last = code.sum(end, -1)
            eight = [
                code.load(code.sum(rows, (8, code.smaller(code.sum(k, t), last))), I64)
                for t in range(8)
            ]
            eight = [code.sum(code.slot(at.X), (row, S)) for row in eight]
            mask = code.sum(
                builder.shl(code.number(1), code.smaller(code.sum(end, (k, -1)), 8)), -1
            )
            mask = code.splat(builder.trunc(mask, I8))
            out = code.sum(code.slot(at.BYTES), (code.get(used), S))
            with code.loop(0, S, 32) as c:
                # A byte is 0 or 1, so shifting four whole words moves no bit into the next byte.
                bytes8 = [
                    builder.bitcast(code.load(code.sum(row, c), code.vec), longs) for row in eight
                ]
                bytes8 = [builder.shl(x, code.splat(t, longs)) for t, x in enumerate(bytes8)]
                while len(bytes8) > 1:
                    bytes8 = [
                        builder.or_(a, b) for a, b in zip(bytes8[::2], bytes8[1::2], strict=True)
                    ]
                code.store(
                    builder.and_(builder.bitcast(bytes8[0], code.vec), mask), code.sum(out, c)
                )
            code.set(used, code.sum(code.get(used), 1))
        code.store(code.get(used), code.sum(slots, 8, (8, g)))


def nh_children(builder, table, bits, _has_split, _has_mass, _one_value):
    """HASH: two NH hashes of both children of a set, for one or more tests.

    A word w with keys (k1, k2) adds (low(w) + k1)(high(w) + k2) - k1 k2, so that a zero word adds
    nothing and may be left out.
    """
    code = Code(builder, table, 64, 4)
    halves = ir.VectorType(I32, 8)
    low, up = code.splat(2**32 - 1), code.splat(32)
    stride = code.slot(at.KEYS_STRIDE)
    with code.loop(0, code.slot(at.SET_COUNT)) as n:
        totals = [code.var(code.splat(0)) for _ in range(4)]
        test = code.sum(code.slot(at.SET_TESTS), (8, code.sum((n, code.slot(at.SET_TESTS_STRIDE)))))
        with code.loop(0, code.slot(at.SET_WORDS), 4) as w:
            whole = code.load(code.sum(code.slot(at.SET), (8, w)), code.vec)
            true = builder.and_(whole, code.load(code.sum(test, (8, w)), code.vec))
            sides = [builder.bitcast(side, halves) for side in (builder.xor(whole, true), true)]
            keys = [
                code.load(code.sum(code.slot(at.KEYS), (8, code.sum((k, stride), w))), code.vec)
                for k in range(4)
            ]
            for total, (side, h) in zip(
                totals, [(s, h) for s in sides for h in range(2)], strict=True
            ):
                word = builder.bitcast(
                    builder.add(side, builder.bitcast(keys[h], halves)), code.vec
                )
                product = builder.mul(builder.and_(word, low), builder.lshr(word, up))
                code.set(total, builder.add(code.get(total), builder.sub(product, keys[2 + h])))
        for k, total in enumerate(totals):
            summed = code.call("vector.reduce.add", code.get(total), result=I64)
            code.store(summed, code.sum(code.slot(at.HASHES), (8, code.sum((n, 4), k))))
