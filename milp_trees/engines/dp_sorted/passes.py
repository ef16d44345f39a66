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

Where a leaf costs a function of sums, all four leaves of a cut are evaluated; but only in blocks of
rows that can hold a better cut. A part of a leaf never costs more than the leaf, so all cuts in a
block cost at least what the rows before it and those behind it cost as leaves.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from milp_trees.common.compiling.inside import intrinsic, types
from milp_trees.common.compiling.kernels import c_function
from milp_trees.common.compiling.reals import F64, RealCode, floor_of
from milp_trees.common.compiling.vectors import I1, I32, I64, Code, largest

# Arguments of a pass: one table for all of them, addresses but for the numbers.
POSITIONS = 0  #: position in the root's column of the k-th row in the order of this column
VALUES = 1  #: its values: V rows of WIDTH numbers, the difference of action v + 1 to the first one
LABELS = 2  #: "labels": its action that loses nothing; its value is what the others lose
AMOUNTS = 3  #: its amounts, of which leaves have a least sum: rows of WIDTH numbers, one per amount
LEAST = 4  #: least sum of every amount
SIDES = 5  #: amounts of the low side of every lane, then of the high sides
ENDS = 6  #: int32, where the runs of equal values end
RUNS = 7  #: number of runs
N_VALUES = 8  #: V
WIDTH = 9
CUTS = 10  #: last position on the low side, per lane
SUMS = (
    11  #: "many": vectors in blocks of V, work space, totals of the low sides, of the high sides,
)
#: work space; "labels": work space of 2 V vectors
STORE = 12  #: "labels": work space of two vectors per run, or four with amounts
OUT = 13  #: vectors that only become smaller: least sum of two leaves of the low sides, of the high
#: sides, and the same over the cuts whose both sides have the least amounts
N_AMOUNTS = 14
COUNTS = 15  #: work space: a vector per amount, then a number per amount
GRID = 16  #: "sums": bits of the two parameters of the leaf function (`leaf_code`)
MARGIN = 17
TABLE = 18  #: entries of the table

#: Runs of a block whose cuts are bounded together.
BLOCK = 8


def lanes_of(dtype: Any) -> int:
    """Root cuts that one pass handles."""
    kind = np.dtype(dtype)
    return 8 if kind == np.float64 else 32 if kind == np.int16 else 16


class _Pass(Code):
    """Code of one pass.

    `amounts` is the class that keeps the amounts of the low side of every lane.
    """

    def __init__(self, builder, table, bits, amounts):
        super().__init__(builder, table, bits, lanes_of(f"i{bits // 8}"))
        self._begin(amounts)

    def _begin(self, amounts):
        self.cut = self.vector(CUTS, 0)
        self.amounts = amounts(self)

    def zero(self):
        """A variable number."""
        return self.var(
            self.builder.trunc(self.number(0), self.int) if self.bits < 64 else self.number(0)
        )

    def at(self, entry, k):
        return self.sum(self.slot(entry), (k, self.size))

    def one(self, entry, k):
        """The k-th number of an argument."""
        return self.load(self.at(entry, k), self.int)

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


class _NoAmount:
    """Leaves need nothing."""

    limited = False

    def __init__(self, code: _Pass) -> None:
        pass

    def add(self, side, k):
        """Add a row to its side of every lane."""

    def fits(self):
        """Per side, whether both parts of it up to here and from here on have the least amounts."""
        return (None, None)


class _OneAmount(_NoAmount):
    """Leaves need something of one amount, which is kept in registers."""

    limited = True

    def __init__(self, code: _Pass) -> None:
        self.code = code
        self.least = code.splat(code.one(LEAST, 0))
        self.most = [code.builder.sub(code.vector(SIDES, i), self.least) for i in (0, 1)]
        self.low, self.all = code.var(code.splat(0)), code.zero()

    def add(self, side, k):
        code, n = self.code, self.code.one(AMOUNTS, k)
        code.update(self.low, code.builder.add, code.if_low(side, n))
        code.update(self.all, code.builder.add, n)

    def fits(self):
        code, low = self.code, self.code.get(self.low)
        counts = (low, code.builder.sub(code.splat(code.get(self.all)), low))
        return [
            _between(code, least, count, most)
            for least, count, most in zip((self.least, self.least), counts, self.most, strict=True)
        ]


class _Amounts(_NoAmount):
    """Leaves need something of several amounts, which are kept in memory."""

    limited = True

    def __init__(self, code: _Pass) -> None:
        self.code, self.n = code, code.slot(N_AMOUNTS)
        self.mask = [code.var(code.splat(-1)) for _ in (0, 1)]
        with code.loop(0, self.n) as i:
            code.put(code.splat(0), COUNTS, i)
            code.store(code.get(code.zero()), self.total(i))

    def total(self, i):
        """Where the sum of an amount over both sides is kept."""
        return self.code.sum(self.code.place(COUNTS, self.n), (self.code.size, i))

    def add(self, side, k):
        code, add = self.code, self.code.builder.add
        with code.loop(0, self.n) as i:
            n = code.one(AMOUNTS, code.sum((i, code.slot(WIDTH)), k))
            code.put(add(code.vector(COUNTS, i), code.if_low(side, n)), COUNTS, i)
            code.store(add(code.load(self.total(i), code.int), n), self.total(i))

    def fits(self):
        code, builder, zero = self.code, self.code.builder, self.code.splat(0)
        for mask in self.mask:
            code.set(mask, code.splat(-1))
        with code.loop(0, self.n) as i:
            least, low = code.splat(code.one(LEAST, i)), code.vector(COUNTS, i)
            high = builder.sub(code.splat(code.load(self.total(i), code.int)), low)
            sides = (i, code.sum(self.n, i))
            for mask, count, side in zip(self.mask, (low, high), sides, strict=True):
                most = builder.sub(code.vector(SIDES, side), least)
                fits = _between(code, least, count, most)
                code.set(mask, builder.select(fits, code.get(mask), zero))
        return [builder.icmp_signed("!=", code.get(mask), zero) for mask in self.mask]


def _between(code: _Pass, least, count, most):
    """Whether a part has at least so much and leaves the rest enough."""
    builder = code.builder
    return builder.and_(
        builder.icmp_signed(">=", count, least), builder.icmp_signed("<=", count, most)
    )


def _two(code: _Pass) -> None:
    """Two actions. With limits everything twice: over all cuts, and over those that are allowed."""
    builder = code.builder
    low, total = code.var(code.splat(0)), code.zero()
    ways, top = (code.smin, code.smax) * 2, largest(code.bits)
    extremes = [code.var(code.splat(0)) for _ in ways]
    allowed = [code.var(code.splat(x)) for x in (top, -top) * 2] if code.amounts.limited else []

    def row(k):
        x, side = code.one(VALUES, k), code.side(k)
        code.update(low, builder.add, code.if_low(side, x))
        code.update(total, builder.add, x)
        code.amounts.add(side, k)

    def after(g):
        here = code.get(low)
        rest = builder.sub(code.splat(code.get(total)), here)
        seen = (here, here, rest, rest)
        for variable, by, value in zip(extremes, ways, seen, strict=True):
            code.update(variable, by, value)
        fits = code.amounts.fits()
        for i, variable in enumerate(allowed):
            before = code.get(variable)
            better = ways[i](before, seen[i])
            code.set(variable, builder.select(fits[i // 2], better, before))

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

    def __init__(self, code: _Pass, known: bool = False) -> None:
        self.code, top = code, code.splat(2 ** (code.bits - 2))
        worst = (code.splat(0), code.splat(0), top, top)
        self.found = [
            code.var(code.vector(OUT, i) if known else worst[i])
            for i in range(4 if code.amounts.limited else 2)
        ]

    def offer(self, i, value, fits):
        """A cut of side i, which is allowed if it fits."""
        code = self.code
        code.update(self.found[i], code.smin, value)
        if code.amounts.limited:
            allowed = self.found[2 + i]
            before = code.get(allowed)
            code.set(allowed, code.builder.select(fits, code.smin(before, value), before))

    def keep(self):
        for i, variable in enumerate(self.found):
            self.code.keep_least(self.code.get(variable), i)

    def needed(self, i):
        """What a cut of side i must be below to be better."""
        return self.code.get(self.found[2 + i if self.code.amounts.limited else i])


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
        code.amounts.add(side, k)
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
        fits = code.amounts.fits()
        for i in (0, 1):
            value = builder.add(code.get(leaf[2 * i]), code.get(leaf[2 * i + 1]))
            best.offer(i, value, fits[i])

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
    stored = 4 if code.amounts.limited else 2
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
        for i, variable in enumerate(weights):
            code.put(code.get(variable), STORE, code.sum((stored, g), i))
        for i, fits in enumerate(code.amounts.fits()):
            if fits is not None:
                code.put(builder.sext(fits, code.vec), STORE, code.sum((stored, g), 2 + i))

    reset()
    code.rows(lambda k: code.amounts.add(add(k), k), after)
    reset()
    last = code.sum(code.slot(RUNS), -1)
    with code.loop(0, last) as back:
        g = builder.sub(code.sum(last, -1), back)
        with code.loop(code.end_of(g), code.end_of(code.sum(g, 1))) as k:
            add(k)
        for i, variable in enumerate(weights):
            saved = builder.add(code.vector(STORE, code.sum((stored, g), i)), code.get(variable))
            fits = None
            if code.amounts.limited:
                kept = code.vector(STORE, code.sum((stored, g), 2 + i))
                fits = builder.icmp_signed("!=", kept, zero)
            best.offer(i, builder.sub(zero, saved), fits)
    best.keep()


class _RealPass(_Pass, RealCode):
    """Code of a pass on doubles, with the function that leaves cost of so many sums."""

    def __init__(self, builder, table, amounts, leaf, n_sums):
        RealCode.__init__(self, builder, table, lanes_of(np.float64))
        self.leaf, self.n_sums = leaf, n_sums
        self.grid, self.margin = (self.splat(self.real_slot(x)) for x in (GRID, MARGIN))
        self._begin(amounts)

    def zero(self):
        return self.var(F64(0.0))

    def cost(self, sums):
        """Units that leaves with these sums cost, without what their rows cost in any leaf."""
        return floor_of(self, self.leaf, sums[: self.n_sums], self.grid, self.margin)

    def values(self, k):
        """The values of a row: the sums of the function, and what the row costs in any leaf."""
        return [
            self.one(VALUES, self.sum((v, self.slot(WIDTH)), k)) for v in range(self.n_sums + 1)
        ]


class _Prefix:
    """Sums of the first rows: those on the low side of every lane, and all."""

    def __init__(self, code: _RealPass) -> None:
        self.code = code
        self.low = [code.var(code.splat(0)) for _ in range(code.n_sums + 1)]
        self.all = [code.zero() for _ in self.low]

    def add(self, k):
        code = self.code
        side = code.side(k)
        for low, total, x in zip(self.low, self.all, code.values(k), strict=True):
            code.update(low, code.builder.add, code.if_low(side, x))
            code.update(total, code.builder.add, x)
        return side

    def sides(self):
        """The sums of both sides."""
        code = self.code
        low = [code.get(x) for x in self.low]
        every = [code.splat(code.get(x)) for x in self.all]
        return low, _less(code, every, low)

    def copy(self, other):
        for to, given in zip(self.low + self.all, other.low + other.all, strict=True):
            self.code.set(to, self.code.get(given))


def _less(code, a, b):
    return [code.builder.sub(x, y) for x, y in zip(a, b, strict=True)]


def _sums(code: _RealPass) -> None:
    """A function of sums. Blocks of runs are passed over first, and evaluated where that is needed.

    Only cuts are looked for that are better than what was found before or is good enough to be known.
    Bounds hold for the costs of leaves before they are rounded (`loss_sums`).
    """
    builder, best, V = code.builder, _Best(code, known=True), code.n_sums + 1
    here, ahead = _Prefix(code), _Prefix(code)
    whole = [[code.vector(SUMS, (1 + i) * V + v) for v in range(V)] for i in (0, 1)]
    runs, begin = code.slot(RUNS), code.var(code.number(0))

    def evaluate(g):
        end = code.end_of(g)
        with code.loop(code.get(begin), end) as k:
            code.amounts.add(here.add(k), k)
        code.set(begin, end)
        fits = code.amounts.fits()
        for i, sums in enumerate(here.sides()):
            with builder.if_then(promises[i]):
                value = builder.add(code.cost(sums), code.cost(_less(code, whole[i], sums)))
                best.offer(i, value, fits[i])

    def promising(i):
        """Whether a cut of the block may be better on side i of some lane."""
        first, last = here.sides()[i], ahead.sides()[i]
        costs = builder.add(code.cost(first), code.cost(_less(code, whole[i], last)))
        bound = builder.sub(costs, builder.sub(last[-1], first[-1]))
        below = builder.icmp_signed("<", bound, best.needed(i))
        return code.call("vector.reduce.or", below, result=I1)

    with code.loop(0, runs, BLOCK) as block:
        after = code.smaller(code.sum(block, BLOCK), runs)
        end = code.end_of(code.sum(after, -1))
        with code.loop(code.get(begin), end) as k:
            ahead.add(k)
        promises = [promising(i) for i in (0, 1)]
        with builder.if_else(builder.or_(*promises)) as (then, otherwise):
            with then, code.loop(block, after) as g:
                evaluate(g)
            with otherwise:
                if code.amounts.limited:
                    with code.loop(code.get(begin), end) as k:
                        code.amounts.add(code.side(k), k)
                here.copy(ahead)
                code.set(begin, end)
    best.keep()


#: What a leaf costs, and what it needs: a pass for every pair of them.
COSTS = {"two": _two, "many": _many, "labels": _labels}
NEEDS = {"nothing": _NoAmount, "one amount": _OneAmount, "amounts": _Amounts}


@intrinsic(prefer_literal=True)
def _body(typingctx: Any, table: Any, costs: Any, needs: Any, bits: Any) -> Any:
    """The code of a pass; all but the table are compile-time constants."""
    write = list(COSTS.values())[costs.literal_value]
    amounts, width = list(NEEDS.values())[needs.literal_value], bits.literal_value

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write(_Pass(builder, args[0], width, amounts))
        return Code.number(0)

    return types.int64(table, costs, needs, bits), codegen


@cache
def compiled_sums(needs: str, leaf: Any, n_sums: int) -> Any:
    """One pass for a leaf function of so many sums, called by its address."""
    amounts = NEEDS[needs]

    @intrinsic
    def body(typingctx: Any, table: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            _sums(_RealPass(builder, args[0], amounts, leaf, n_sums))
            return Code.number(0)

        return types.int64(types.int64), codegen

    def column_pass(table):
        return body(table)

    return c_function("int64(int64)", column_pass)


@cache
def compiled(form: tuple[str, str], dtype: str) -> Any:
    """One pass for a form (of `COSTS` and `NEEDS`) and a number type, called by its address."""
    first, second = list(COSTS).index(form[0]), list(NEEDS).index(form[1])
    bits = 8 * np.dtype(dtype).itemsize

    def column_pass(table):
        return _body(table, first, second, bits)

    return c_function("int64(int64)", column_pass)
