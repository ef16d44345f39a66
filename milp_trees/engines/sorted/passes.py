"""Passes over one sorted column, for many cuts of another column at once, as vector code.

A node of the search has m rows. The root of a depth-two tree cuts column c after some of its
distinct values; its children cut column j. For up to `lanes` root cuts at once, one pass over the
rows in the order of column j keeps, per lane, the sum of the rows on the low side of the root; from
it and the plain prefix sum follow all four leaves of every cut of column j. Each step is a handful
of vector operations whatever the number of lanes, so the cost per root cut and row is a fraction of
a machine cycle.

With two actions a leaf whose rows sum to x (second action minus first) adds min(0, x) to what the
first action costs. As a function of the prefix sum x, min(0, x) + min(0, total - x) is concave: its
minimum over the cuts is at the least or at the largest prefix sum.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from milp_trees.compiling.inside import intrinsic, types
from milp_trees.compiling.kernels import c_function
from milp_trees.compiling.vectors import I32, I64, Code, largest

# Arguments of a pass: one table for all of them, addresses but for the numbers.
POSITIONS = 0  #: position in the root's column of the k-th row in the order of this column
VALUES = 1  #: its values: V rows of WIDTH numbers, the difference of action v + 1 to the first one
LABELS = 2  #: "labels": its action that loses nothing; its value is what the others lose
AMOUNTS = 3  #: its amount
LEAST = 4  #: least amount of a leaf
SIDES = 5  #: amount of the low side of every lane, then of the high sides
ENDS = 6  #: int32, where the runs of equal values end
RUNS = 7  #: number of runs
N_VALUES = 8  #: V
WIDTH = 9
CUTS = 10  #: last position on the low side, per lane
SUMS = (
    11  #: "many": vectors in blocks of V, work space, totals of the low sides, of the high sides,
)
#: work space; "labels": work space of 2 V vectors
STORE = 12  #: "labels": work space of three vectors per run
OUT = 13  #: vectors that only become smaller: least sum of two leaves of the low sides, of the high
#: sides, and the same over the cuts whose both sides have the least amount
TABLE = 14  #: entries of the table


def lanes_of(dtype: Any) -> int:
    """Root cuts that one pass handles."""
    return 32 if np.dtype(dtype) == np.int16 else 16


class _Pass(Code):
    """Code of one pass: a low side per lane, and the amounts there."""

    def __init__(self, builder, table, bits):
        super().__init__(builder, table, bits, lanes_of(f"i{bits // 8}"))
        self.cut = self.vector(CUTS, 0)
        self.least = self.splat_long(self.slot(LEAST))
        self.most = [self.builder.sub(self.vector(SIDES, i), self.least) for i in (0, 1)]
        self.amount, self.amounts = self.var(self.splat(0)), self.zero()

    def zero(self):
        """A variable number."""
        return self.var(
            self.builder.trunc(self.number(0), self.int) if self.bits < 64 else self.number(0)
        )

    def one(self, entry, k):
        """The k-th number of an argument."""
        return self.load(self.sum(self.slot(entry), (k, self.size)), self.int)

    def place(self, entry, i):
        return self.sum(self.slot(entry), (self.lanes * self.size, i))

    def vector(self, entry, i):
        return self.load(self.place(entry, i), self.vec)

    def put(self, value, entry, i):
        self.store(value, self.place(entry, i))

    def update(self, variable, by, value):
        self.set(variable, by(self.get(variable), value))

    def side(self, k):
        """Whether a row is on the low side, per lane."""
        return self.builder.icmp_signed("<=", self.splat(self.one(POSITIONS, k)), self.cut)

    def if_low(self, side, scalar):
        return self.builder.select(side, self.splat(scalar), self.splat(0))

    def add_amount(self, side, k):
        n = self.one(AMOUNTS, k)
        self.update(self.amount, self.builder.add, self.if_low(side, n))
        self.update(self.amounts, self.builder.add, n)

    def fits(self, i, count):
        """Whether both parts of side i, of which the first has `count`, have the least amount."""
        at_least = self.builder.icmp_signed(">=", count, self.least)
        return self.builder.and_(at_least, self.builder.icmp_signed("<=", count, self.most[i]))

    def counts(self, amounts):
        """Amounts of a cut's first part on the low and on the high side."""
        low = self.get(self.amount)
        return low, self.builder.sub(self.splat(amounts), low)

    def rows(self, row, after):
        """`row(k)` for all rows, `after(g)` behind the last row of each run of equal values."""
        begin = self.var(self.number(0))
        with self.loop(0, self.slot(RUNS)) as g:
            end = self.end_of(g)
            with self.loop(self.get(begin), end) as k:
                row(k)
            self.set(begin, end)
            after(g)

    def end_of(self, g):
        return self.builder.sext(self.load(self.sum(self.slot(ENDS), (4, g)), I32), I64)

    def keep_least(self, value, i):
        self.put(self.smin(self.vector(OUT, i), value), OUT, i)


def _two(code: _Pass, limited: bool = False) -> None:
    """Two actions. With limits everything twice: over all cuts, and over those that are allowed."""
    builder = code.builder
    low, total = code.var(code.splat(0)), code.zero()
    ways, top = (code.smin, code.smax) * 2, largest(code.bits)
    extremes = [code.var(code.splat(0)) for _ in ways]
    allowed = [code.var(code.splat(x)) for x in (top, -top, top, -top)] if limited else []

    def row(k):
        x, side = code.one(VALUES, k), code.side(k)
        code.update(low, builder.add, code.if_low(side, x))
        code.update(total, builder.add, x)
        if limited:
            code.add_amount(side, k)

    def after(g):
        here = code.get(low)
        rest = builder.sub(code.splat(code.get(total)), here)
        seen = (here, here, rest, rest)
        for variable, by, value in zip(extremes, ways, seen, strict=True):
            code.update(variable, by, value)
        counts = code.counts(code.get(code.amounts))
        for i, variable in enumerate(allowed):
            before = code.get(variable)
            better = ways[i](before, seen[i])
            fits = code.fits(i // 2, counts[i // 2])
            code.set(variable, builder.select(fits, better, before))

    code.rows(row, after)
    whole = (code.get(low), builder.sub(code.splat(code.get(total)), code.get(low)))
    for first, found in ((0, extremes), (2, allowed)):
        for i in range(len(found) // 2):
            ends = [code.get(found[2 * i]), code.get(found[2 * i + 1])]
            code.keep_least(_two_leaves(code, whole[i], *ends), first + i)


def _two_leaves(code: _Pass, whole, least, most):
    """The least sum of two leaves from the smallest and largest prefix sums.

    Where no cut was allowed, `least` is larger than `most`; the result is then so large that it is
    never kept.
    """
    builder, zero = code.builder, code.splat(0)
    sums = [
        builder.add(code.smin(zero, x), code.smin(zero, builder.sub(whole, x)))
        for x in (least, most)
    ]
    none = builder.icmp_signed(">", least, most)
    return builder.select(none, code.splat(2 ** (code.bits - 2)), code.smin(*sums))


class _Best:
    """The least sums of two leaves so far, over all cuts and over those that are allowed."""

    def __init__(self, code: _Pass) -> None:
        top = code.splat(2 ** (code.bits - 2))
        self.code = code
        self.found = [code.var(x) for x in (code.splat(0), code.splat(0), top, top)]

    def offer(self, i, value, count):
        """A cut of side i; `count` is the amount of its first part."""
        code, allowed = self.code, self.found[2 + i]
        code.update(self.found[i], code.smin, value)
        before = code.get(allowed)
        code.set(
            allowed, code.builder.select(code.fits(i, count), code.smin(before, value), before)
        )

    def keep(self):
        for i, variable in enumerate(self.found):
            self.code.keep_least(self.code.get(variable), i)


def _many(code: _Pass) -> None:
    """Any number of actions: prefix sums of all of them."""
    builder, zero = code.builder, code.splat(0)
    V, best = code.slot(N_VALUES), _Best(code)
    leaf = [code.var(zero) for _ in range(4)]
    with code.loop(0, V) as v:
        code.put(zero, SUMS, v)
        code.put(zero, SUMS, code.sum((3, V), v))

    def row(k):
        side = code.side(k)
        code.add_amount(side, k)
        with code.loop(0, V) as v:
            x = code.one(VALUES, code.sum((v, code.slot(WIDTH)), k))
            for at, part in ((v, code.if_low(side, x)), (code.sum((3, V), v), code.splat(x))):
                code.put(builder.add(code.vector(SUMS, at), part), SUMS, at)

    def after(g):
        for variable in leaf:
            code.set(variable, zero)
        with code.loop(0, V) as v:
            here = code.vector(SUMS, v)
            rest = builder.sub(code.vector(SUMS, code.sum((3, V), v)), here)
            others = [
                builder.sub(code.vector(SUMS, code.sum((1 + i, V), v)), part)
                for i, part in enumerate((here, rest))
            ]
            for variable, value in zip(leaf, (here, others[0], rest, others[1]), strict=True):
                code.update(variable, code.smin, value)
        counts = code.counts(code.get(code.amounts))
        for i in (0, 1):
            value = builder.add(code.get(leaf[2 * i]), code.get(leaf[2 * i + 1]))
            best.offer(i, value, counts[i])

    code.rows(row, after)
    best.keep()


def _labels(code: _Pass) -> None:
    """Any number of actions where each row loses its value on every action but its label.

    What a leaf saves is the largest weight of an action. In one direction that only grows, so
    nothing but the row's own action has to be looked at: a first pass stores the largest weights
    before every cut, a second one, backwards, has those behind it. Work per row does not depend on
    the number of actions.
    """
    builder, zero, best = code.builder, code.splat(0), _Best(code)
    weights = [code.var(zero) for _ in range(2)]  # the largest ones of both sides

    def reset():
        with code.loop(0, code.sum((2, code.slot(N_VALUES)))) as i:
            code.put(zero, SUMS, i)
        for variable in weights:
            code.set(variable, zero)

    def add(k):
        """Add a row to its action's weight on its side of every lane; the side."""
        side, x = code.side(k), code.splat(code.one(VALUES, k))
        label = code.one(LABELS, k)
        label = label if code.bits == 64 else builder.sext(label, I64)
        parts = (builder.select(side, x, zero), builder.select(side, zero, x))
        for i, part in enumerate(parts):
            total = builder.add(code.vector(SUMS, code.sum((2, label), i)), part)
            code.put(total, SUMS, code.sum((2, label), i))
            code.update(weights[i], code.smax, total)
        return side

    def after(g):
        for i, variable in enumerate((*weights, code.amount)):
            code.put(code.get(variable), STORE, code.sum((3, g), i))

    reset()
    code.rows(lambda k: code.add_amount(add(k), k), after)
    reset()
    behind = code.zero()
    last = code.sum(code.slot(RUNS), -1)
    with code.loop(0, last) as back:
        g = builder.sub(code.sum(last, -1), back)
        with code.loop(code.end_of(g), code.end_of(code.sum(g, 1))) as k:
            add(k)
            code.update(behind, builder.add, code.one(AMOUNTS, k))
        count = code.vector(STORE, code.sum((3, g), 2))
        before = builder.sub(code.get(code.amounts), code.get(behind))
        for i, n in enumerate((count, builder.sub(code.splat(before), count))):
            saved = builder.add(code.vector(STORE, code.sum((3, g), i)), code.get(weights[i]))
            best.offer(i, builder.sub(zero, saved), n)
    best.keep()


def _two_least(code: _Pass) -> None:
    _two(code, limited=True)


FORMS = {"two": _two, "two, least": _two_least, "many": _many, "labels": _labels}


@intrinsic(prefer_literal=True)
def _body(typingctx: Any, table: Any, form: Any, bits: Any) -> Any:
    """The code of a pass; all but the table are compile-time constants."""
    write, width = list(FORMS.values())[form.literal_value], bits.literal_value

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write(_Pass(builder, args[0], width))
        return Code.number(0)

    return types.int64(table, form, bits), codegen


@cache
def compiled(form: str, dtype: str) -> Any:
    """One pass, compiled for a number type; `vectors.call` takes its `address`."""
    number, bits = list(FORMS).index(form), 8 * np.dtype(dtype).itemsize

    def column_pass(table):
        return _body(table, number, bits)

    return c_function("int64(int64)", column_pass)
