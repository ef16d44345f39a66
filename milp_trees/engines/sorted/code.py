"""Inner loops over one sorted column, for many cuts of another column at once, as vector
instructions.

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

# mypy: disable-error-code="no-untyped-def,untyped-decorator,no-any-unimported"

from functools import cache
from typing import Any

import numpy as np

from milp_trees.compiling.inside import cgutils, intrinsic, ir, types
from milp_trees.compiling.kernels import c_function

I64 = ir.IntType(64)


def lanes_of(dtype: Any) -> int:
    """Root cuts that one pass handles."""
    return 32 if np.dtype(dtype) == np.int16 else 16


class _Code:
    """Vector code of one pass: helpers around an IR builder."""

    def __init__(self, context: Any, builder: Any, element: Any) -> None:
        self.context, self.builder = context, builder
        self.lanes = lanes_of(str(element))
        self.scalar = context.get_value_type(element)
        self.vector = ir.VectorType(self.scalar, self.lanes)
        self.bits = self.scalar.width

    def constant(self, number: int) -> Any:
        return ir.Constant(self.vector, [ir.Constant(self.scalar, number)] * self.lanes)

    def place(self, base: Any, index: Any) -> Any:
        """Address of the index-th vector of a buffer."""
        return self.builder.gep(self.builder.bitcast(base, self.vector.as_pointer()), [index])

    def load(self, base: Any, index: Any) -> Any:
        at = self.place(base, index)
        return self.builder.load(at, align=self.bits // 8)

    def store(self, value: Any, base: Any, index: Any) -> None:
        self.builder.store(value, self.place(base, index), align=self.bits // 8)

    def spread(self, scalar: Any) -> Any:
        empty = ir.Constant(self.vector, ir.Undefined)
        one = self.builder.insert_element(empty, scalar, ir.Constant(ir.IntType(32), 0))
        zeros = ir.Constant(
            ir.VectorType(ir.IntType(32), self.lanes), [ir.Constant(ir.IntType(32), 0)] * self.lanes
        )
        return self.builder.shuffle_vector(one, empty, zeros)

    def at(self, base: Any, index: Any) -> Any:
        return self.builder.load(self.builder.gep(base, [index]))

    def low(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.builder.icmp_signed("<", a, b), a, b)

    def high(self, a: Any, b: Any) -> Any:
        return self.builder.select(self.builder.icmp_signed(">", a, b), a, b)

    def cell(self, start: Any) -> Any:
        """A vector that changes; LLVM keeps it in registers."""
        place = cgutils.alloca_once(
            self.builder, self.vector if start.type == self.vector else self.scalar
        )
        self.builder.store(start, place)
        return place

    def update(self, cell: Any, by: Any, value: Any) -> None:
        self.builder.store(by(self.builder.load(cell), value), cell)

    def keep_least(self, value: Any, base: Any, i: int) -> None:
        """The i-th vector of a buffer becomes the smaller of itself and a value."""
        index = ir.Constant(I64, i)
        self.store(self.low(self.load(base, index), value), base, index)

    def runs(self, ends: Any, n_runs: Any, row: Any, after: Any) -> None:
        """`row(k)` for all rows, `after()` behind the last row of each run of equal values."""
        builder = self.builder
        begin = cgutils.alloca_once_value(builder, ir.Constant(I64, 0))
        with cgutils.for_range(builder, n_runs, intp=I64) as over:
            end = builder.sext(self.at(ends, over.index), I64)
            with cgutils.for_range_slice(
                builder, builder.load(begin), end, ir.Constant(I64, 1), intp=I64
            ) as (k, _):
                row(k)
            builder.store(end, begin)
            after()


def _fold(code: _Code, out: Any, first: int, low: Any, total: Any, extremes: Any) -> None:
    """The least sum of two leaves of both sides from the extreme prefix sums, kept in two vectors
    of `out` where it is smaller.

    Where no cut was allowed the least prefix sum is larger than the largest, and nothing is kept.
    """
    builder = code.builder
    zero, top = code.constant(0), code.constant(2 ** (code.bits - 2))
    sides = (builder.load(low), builder.sub(code.spread(builder.load(total)), builder.load(low)))
    for i, whole in enumerate(sides):
        least, largest = builder.load(extremes[2 * i]), builder.load(extremes[2 * i + 1])
        leaves = [
            builder.add(code.low(zero, x), code.low(zero, builder.sub(whole, x)))
            for x in (least, largest)
        ]
        none = builder.icmp_signed(">", least, largest)
        code.keep_least(builder.select(none, top, code.low(*leaves)), out, first + i)


@intrinsic
def scan_two(
    typingctx: Any,
    P: Any,
    W: Any,
    Y: Any,
    A: Any,
    least: Any,
    C: Any,
    ends: Any,
    n_runs: Any,
    V: Any,
    width: Any,
    cuts: Any,
    sums: Any,
    store: Any,
    out: Any,
) -> Any:
    """Two actions: the least sum of two leaves of either side of every root cut, kept in `out`
    where it is smaller (low sides, high sides).

    All four passes take the same arguments. `P[k]` is the position in the root's column of the k-th
    row in the order of this column, `W[k]` its value, `ends` where its `n_runs` runs of equal
    values end, `cuts[lane]` the last position on the low side.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, P.dtype)
        p, w, _, _, _, _, e, n, _, _, t, _, _, o = args
        cut, zero = code.load(t, ir.Constant(I64, 0)), code.constant(0)
        low, total = code.cell(zero), code.cell(ir.Constant(code.scalar, 0))
        extremes = [code.cell(zero) for _ in range(4)]

        def row(k: Any) -> None:
            x = code.at(w, k)
            side = builder.icmp_signed("<=", code.spread(code.at(p, k)), cut)
            code.update(low, builder.add, builder.select(side, code.spread(x), zero))
            code.update(total, builder.add, x)

        def after() -> None:
            here = builder.load(low)
            rest = builder.sub(code.spread(builder.load(total)), here)
            for cell, by, value in zip(
                extremes, (code.low, code.high) * 2, (here, here, rest, rest), strict=True
            ):
                code.update(cell, by, value)

        code.runs(e, n, row, after)
        _fold(code, o, 0, low, total, extremes)
        return context.get_dummy_value()

    return types.void(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out), codegen


@intrinsic
def scan_two_least(
    typingctx: Any,
    P: Any,
    W: Any,
    Y: Any,
    A: Any,
    least: Any,
    C: Any,
    ends: Any,
    n_runs: Any,
    V: Any,
    width: Any,
    cuts: Any,
    sums: Any,
    store: Any,
    out: Any,
) -> Any:
    """As `scan_two`, and two more vectors in `out` behind it: the same over the cuts whose both
    sides have an amount of at least `least`.

    `A[k]` is the amount of a row; `C` holds the amount of the low side of every lane, then the
    amount of its high side.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, P.dtype)
        p, w, _, a, fewest, c, e, n_runs_, _, _, t, _, _, o = args
        cut, zero = code.load(t, ir.Constant(I64, 0)), code.constant(0)
        few = code.spread(builder.trunc(fewest, code.scalar) if code.bits < 64 else fewest)
        most = [builder.sub(code.load(c, ir.Constant(I64, i)), few) for i in (0, 1)]
        nil = ir.Constant(code.scalar, 0)
        low, total, amount, amounts = (
            code.cell(zero),
            code.cell(nil),
            code.cell(zero),
            code.cell(nil),
        )
        extremes = [code.cell(zero) for _ in range(4)]
        top = 2 ** (code.bits - 1) - 1
        allowed = [code.cell(code.constant(x)) for x in (top, -top, top, -top)]  # nothing yet

        def row(k: Any) -> None:
            x, n = code.at(w, k), code.at(a, k)
            side = builder.icmp_signed("<=", code.spread(code.at(p, k)), cut)
            code.update(low, builder.add, builder.select(side, code.spread(x), zero))
            code.update(amount, builder.add, builder.select(side, code.spread(n), zero))
            code.update(total, builder.add, x)
            code.update(amounts, builder.add, n)

        def after() -> None:
            here, count = builder.load(low), builder.load(amount)
            rest = builder.sub(code.spread(builder.load(total)), here)
            counts = (count, builder.sub(code.spread(builder.load(amounts)), count))
            values, ways = (here, here, rest, rest), (code.low, code.high) * 2
            for cell, by, value in zip(extremes, ways, values, strict=True):
                code.update(cell, by, value)
            fits = [
                builder.and_(builder.icmp_signed(">=", n, few), builder.icmp_signed("<=", n, m))
                for n, m in zip(counts, most, strict=True)
            ]
            for i, (cell, by, value) in enumerate(zip(allowed, ways, values, strict=True)):
                before = builder.load(cell)
                builder.store(builder.select(fits[i // 2], by(before, value), before), cell)

        code.runs(e, n_runs_, row, after)
        _fold(code, o, 0, low, total, extremes)
        _fold(code, o, 2, low, total, allowed)
        return context.get_dummy_value()

    return types.void(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out), codegen


@intrinsic
def scan_many(
    typingctx: Any,
    P: Any,
    W: Any,
    Y: Any,
    A: Any,
    least: Any,
    C: Any,
    ends: Any,
    n_runs: Any,
    V: Any,
    width: Any,
    cuts: Any,
    sums: Any,
    store: Any,
    out: Any,
) -> Any:
    """Any number of actions: the least sum of two leaves of either side of every root cut.

    `W[v * width + k]`, v < V, is the difference of action v + 1 to the first. `sums` holds vectors
    in blocks of V: work space, totals of the low sides, totals of the high sides, work space. `out`
    as for `scan_two_least`.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, P.dtype)
        p, w, _, a, fewest, c, e, n_runs_, V, width, t, s, _, o = args
        cut, zero = code.load(t, ir.Constant(I64, 0)), code.constant(0)
        few = code.spread(builder.trunc(fewest, code.scalar) if code.bits < 64 else fewest)
        most = [builder.sub(code.load(c, ir.Constant(I64, i)), few) for i in (0, 1)]
        nil = ir.Constant(code.scalar, 0)
        amount, amounts = code.cell(zero), code.cell(nil)
        top = code.constant(2 ** (code.bits - 2))
        best = [code.cell(zero), code.cell(zero), code.cell(top), code.cell(top)]
        leaf = [cgutils.alloca_once(builder, code.vector) for _ in range(4)]
        twice, thrice = builder.mul(V, ir.Constant(I64, 2)), builder.mul(V, ir.Constant(I64, 3))
        with cgutils.for_range(builder, V, intp=I64) as over:
            code.store(zero, s, over.index)
            code.store(zero, s, builder.add(thrice, over.index))

        def row(k: Any) -> None:
            n = code.at(a, k)
            side = builder.icmp_signed("<=", code.spread(code.at(p, k)), cut)
            code.update(amount, builder.add, builder.select(side, code.spread(n), zero))
            code.update(amounts, builder.add, n)
            with cgutils.for_range(builder, V, intp=I64) as over:
                v = over.index
                x = code.spread(code.at(w, builder.add(builder.mul(v, width), k)))
                code.store(builder.add(code.load(s, v), builder.select(side, x, zero)), s, v)
                whole = builder.add(thrice, v)
                code.store(builder.add(code.load(s, whole), x), s, whole)

        def after() -> None:
            for cell in leaf:
                builder.store(zero, cell)
            with cgutils.for_range(builder, V, intp=I64) as over:
                v = over.index
                here = code.load(s, v)
                rest = builder.sub(code.load(s, builder.add(thrice, v)), here)
                others = (
                    builder.sub(code.load(s, builder.add(V, v)), here),
                    builder.sub(code.load(s, builder.add(twice, v)), rest),
                )
                for cell, value in zip(leaf, (here, others[0], rest, others[1]), strict=True):
                    code.update(cell, code.low, value)
            count = builder.load(amount)
            counts = (count, builder.sub(code.spread(builder.load(amounts)), count))
            for i in (0, 1):
                value = builder.add(builder.load(leaf[2 * i]), builder.load(leaf[2 * i + 1]))
                code.update(best[i], code.low, value)
                fits = builder.and_(
                    builder.icmp_signed(">=", counts[i], few),
                    builder.icmp_signed("<=", counts[i], most[i]),
                )
                before = builder.load(best[2 + i])
                builder.store(builder.select(fits, code.low(before, value), before), best[2 + i])

        code.runs(e, n_runs_, row, after)
        for i, cell in enumerate(best):
            code.keep_least(builder.load(cell), o, i)
        return context.get_dummy_value()

    return types.void(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out), codegen


@intrinsic
def scan_labels(
    typingctx: Any,
    P: Any,
    W: Any,
    Y: Any,
    A: Any,
    least: Any,
    C: Any,
    ends: Any,
    n_runs: Any,
    V: Any,
    width: Any,
    cuts: Any,
    sums: Any,
    store: Any,
    out: Any,
) -> Any:
    """Any number of actions where each row loses its weight `W[k]` on every action but `Y[k]`;
    results as `scan_many`.

    What a leaf saves is the largest weight of an action. In one direction that only grows, so
    nothing but the row's own action has to be looked at: a first pass stores the largest weights
    before every cut (in `store`), a second one, backwards, has those behind it. Work per row does
    not depend on the number of actions. `sums` is work space of 2 V vectors (V actions), `store` of
    3 per run.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        code = _Code(context, builder, P.dtype)
        p, w, y, a, fewest, c, e, n_runs_, V, _, t, s, kept, o = args
        one, three = ir.Constant(I64, 1), ir.Constant(I64, 3)
        cut, zero = code.load(t, ir.Constant(I64, 0)), code.constant(0)
        few = code.spread(builder.trunc(fewest, code.scalar) if code.bits < 64 else fewest)
        most = [builder.sub(code.load(c, ir.Constant(I64, i)), few) for i in (0, 1)]
        amount, amounts = code.cell(zero), code.cell(ir.Constant(code.scalar, 0))
        largest = [code.cell(zero), code.cell(zero)]
        top = code.constant(2 ** (code.bits - 2))
        best = [code.cell(zero), code.cell(zero), code.cell(top), code.cell(top)]

        def reset() -> None:
            with cgutils.for_range(builder, builder.mul(V, ir.Constant(I64, 2)), intp=I64) as over:
                code.store(zero, s, over.index)
            for cell in largest:
                builder.store(zero, cell)

        def add(k: Any) -> Any:
            """Add a row to its action's weights on its side of every lane; the side."""
            side = builder.icmp_signed("<=", code.spread(code.at(p, k)), cut)
            x = code.spread(code.at(w, k))
            label = builder.mul(builder.sext(code.at(y, k), I64), ir.Constant(I64, 2))
            for i, part in enumerate(
                (builder.select(side, x, zero), builder.select(side, zero, x))
            ):
                place = builder.add(label, ir.Constant(I64, i))
                total = builder.add(code.load(s, place), part)
                code.store(total, s, place)
                code.update(largest[i], code.high, total)
            return side

        def forward(k: Any) -> None:
            side = add(k)
            n = code.at(a, k)
            code.update(amount, builder.add, builder.select(side, code.spread(n), zero))
            code.update(amounts, builder.add, n)

        begin = cgutils.alloca_once_value(builder, ir.Constant(I64, 0))
        reset()
        with cgutils.for_range(builder, n_runs_, intp=I64) as over:
            end = builder.sext(code.at(e, over.index), I64)
            with cgutils.for_range_slice(builder, builder.load(begin), end, one, intp=I64) as (
                k,
                _,
            ):
                forward(k)
            builder.store(end, begin)
            place = builder.mul(over.index, three)
            # The last store of an amount is that of all rows; the second pass needs it scalar, and
            # finds it as the sum of both sides.
            for i, value in enumerate(
                (builder.load(largest[0]), builder.load(largest[1]), builder.load(amount))
            ):
                code.store(value, kept, builder.add(place, ir.Constant(I64, i)))
        reset()
        behind = code.cell(ir.Constant(code.scalar, 0))
        last = builder.sub(n_runs_, one)
        with cgutils.for_range(builder, last, intp=I64) as over:
            g = builder.sub(builder.sub(last, over.index), one)
            end = builder.sext(code.at(e, g), I64)
            stop = builder.sext(code.at(e, builder.add(g, one)), I64)
            with cgutils.for_range(builder, builder.sub(stop, end), intp=I64) as inner:
                k = builder.add(end, inner.index)
                add(k)
                code.update(behind, builder.add, code.at(a, k))
            place = builder.mul(g, three)
            count = code.load(kept, builder.add(place, ir.Constant(I64, 2)))
            before = builder.sub(builder.load(amounts), builder.load(behind))
            counts = (count, builder.sub(code.spread(before), count))
            for i in (0, 1):
                first = code.load(kept, builder.add(place, ir.Constant(I64, i)))
                value = builder.sub(zero, builder.add(first, builder.load(largest[i])))
                code.update(best[i], code.low, value)
                fits = builder.and_(
                    builder.icmp_signed(">=", counts[i], few),
                    builder.icmp_signed("<=", counts[i], most[i]),
                )
                old = builder.load(best[2 + i])
                builder.store(builder.select(fits, code.low(old, value), old), best[2 + i])
        for i, cell in enumerate(best):
            code.keep_least(builder.load(cell), o, i)
        return context.get_dummy_value()

    return types.void(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out), codegen


# -- functions with an address: the search calls them without compiling them again ---------------------------


def _two(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out):
    scan_two(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out)


def _two_least(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out):
    scan_two_least(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out)


def _many(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out):
    scan_many(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out)


def _labels(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out):
    scan_labels(P, W, Y, A, least, C, ends, n_runs, V, width, cuts, sums, store, out)


FORMS = {"two": _two, "two, least": _two_least, "many": _many, "labels": _labels}


@cache
def compiled(form: str, dtype: str) -> Any:
    """One pass, compiled for a number type; its `address` is what `call` takes."""
    item = types.CPointer(getattr(types, dtype))
    whole = types.int64
    signature = types.void(
        item,
        item,
        item,
        item,
        whole,
        item,
        types.CPointer(types.int32),
        whole,
        whole,
        whole,
        item,
        item,
        item,
        item,
    )
    return c_function(signature, FORMS[form])


@intrinsic
def call(typingctx: Any, address: Any, given: Any) -> Any:
    """Call a compiled pass by its address with a tuple of 14 addresses and numbers."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [I64] * len(given))
        builder.call(
            builder.inttoptr(args[0], kind.as_pointer()), cgutils.unpack_tuple(builder, args[1])
        )
        return context.get_dummy_value()

    return types.void(types.int64, given), codegen
