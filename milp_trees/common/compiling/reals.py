"""Vector code on doubles, and compiled code of functions that are written once. Loads numba.

`RealCode` writes the same programs as `Code`, on doubles instead of integers. `Traced` is a value
of such a program: a Python function that is called with traced values becomes code.
"""

# mypy: disable-error-code="no-untyped-def,import-untyped"

from __future__ import annotations

from typing import Any

from milp_trees.common.compiling.inside import cgutils, ir
from milp_trees.common.compiling.vectors import I64, Code

F64 = ir.DoubleType()
#: Stands for the number of bits where sums are doubles.
REAL = -64


def _is_real(kind: Any) -> bool:
    return isinstance(kind, ir.DoubleType) or (
        isinstance(kind, ir.VectorType) and isinstance(kind.element, ir.DoubleType)
    )


class _RealBuilder:
    """A builder whose arithmetic and comparisons are those of the operands' type."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._builder, name)

    def add(self, a: Any, b: Any, **more: Any) -> Any:
        return self._builder.fadd(a, b) if _is_real(a.type) else self._builder.add(a, b, **more)

    def sub(self, a: Any, b: Any, **more: Any) -> Any:
        return self._builder.fsub(a, b) if _is_real(a.type) else self._builder.sub(a, b, **more)

    def icmp_signed(self, sign: str, a: Any, b: Any) -> Any:
        if _is_real(a.type):
            return self._builder.fcmp_ordered(sign, a, b)
        return self._builder.icmp_signed(sign, a, b)


def code_on(builder: Any, table: Any, bits: int, lanes: int) -> Code:
    """A writer on integers of some bits, or on doubles."""
    return RealCode(builder, table, lanes) if bits == REAL else Code(builder, table, bits, lanes)


class RealCode(Code):
    """Writer of code for one kernel on doubles; `vec` is a vector of `lanes` of them."""

    def __init__(self, builder: Any, table: Any, lanes: int) -> None:
        Code.__init__(self, _RealBuilder(builder), table, 64, lanes)
        self.int = F64
        self.vec = ir.VectorType(F64, lanes)

    def load(self, address: Any, kind: Any) -> Any:
        if not _is_real(kind):
            return super().load(address, kind)
        return self.builder.load(self.builder.inttoptr(address, kind.as_pointer()), align=8)

    def store(self, value: Any, address: Any) -> None:
        if not _is_real(value.type):
            super().store(value, address)
            return
        pointer = self.builder.inttoptr(address, value.type.as_pointer())
        self.builder.store(value, pointer, align=8)

    def splat(self, scalar: Any, vec: Any = None) -> Any:
        vec = vec or self.vec
        if isinstance(scalar, (int, float)) and _is_real(vec):
            return ir.Constant(vec, [float(scalar)] * vec.count)
        return super().splat(scalar, vec)

    def splat_long(self, scalar: Any) -> Any:
        """An int64 as a double in every lane."""
        return self.splat(self.builder.sitofp(scalar, F64))

    def real_slot(self, entry: int) -> Any:
        """An argument that holds the bits of a double."""
        return self.builder.bitcast(self.slot(entry), F64)

    def call(self, name: str, *args: Any, result: Any = None) -> Any:
        kind = args[0].type
        if not _is_real(kind):
            return super().call(name, *args, result=result)
        text = f"v{kind.count}f64" if isinstance(kind, ir.VectorType) else "f64"
        function = ir.FunctionType(result or kind, [a.type for a in args])
        return self.builder.call(
            cgutils.get_or_insert_function(self.builder.module, function, f"llvm.{name}.{text}"),
            args,
        )

    def smin(self, a: Any, b: Any) -> Any:
        if not _is_real(a.type):
            return super().smin(a, b)
        return self.builder.select(self.builder.fcmp_ordered("<", a, b), a, b)

    def smax(self, a: Any, b: Any) -> Any:
        if not _is_real(a.type):
            return super().smax(a, b)
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)


class Traced:
    """A double or a vector of doubles in a program that is being written."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def constant(self, number: float) -> Any:
        """A number of the same type."""
        kind = self.value.type
        several = isinstance(kind, ir.VectorType)
        return ir.Constant(kind, [float(number)] * kind.count if several else float(number))

    def _with(self, other: Any, operation: str, swapped: bool = False) -> Traced:
        right = other.value if isinstance(other, Traced) else self.constant(other)
        pair = (right, self.value) if swapped else (self.value, right)
        return Traced(self.builder, getattr(self.builder, operation)(*pair))

    def __add__(self, other: Any) -> Traced:
        return self._with(other, "fadd")

    def __radd__(self, other: Any) -> Traced:
        return self._with(other, "fadd", True)

    def __sub__(self, other: Any) -> Traced:
        return self._with(other, "fsub")

    def __rsub__(self, other: Any) -> Traced:
        return self._with(other, "fsub", True)

    def __mul__(self, other: Any) -> Traced:
        return self._with(other, "fmul")

    def __rmul__(self, other: Any) -> Traced:
        return self._with(other, "fmul", True)

    def __truediv__(self, other: Any) -> Traced:
        return self._with(other, "fdiv")

    def __rtruediv__(self, other: Any) -> Traced:
        return self._with(other, "fdiv", True)

    def __neg__(self) -> Traced:
        return Traced(self.builder, self.builder.fneg(self.value))

    def split(self, lowest: int) -> tuple[Traced, Traced]:
        """The numbers as m·2^e, where m is at least the double with the bits `lowest`."""
        builder, kind = self.builder, self.value.type
        several = isinstance(kind, ir.VectorType)
        whole = ir.VectorType(I64, kind.count) if several else I64

        def every(number: int) -> Any:
            return ir.Constant(whole, [number] * kind.count if several else number)

        bits = builder.bitcast(self.value, whole)
        exponent = builder.ashr(builder.sub(bits, every(lowest)), every(52))
        mantissa = builder.sub(bits, builder.shl(exponent, every(52)))
        parts = builder.bitcast(mantissa, kind), builder.sitofp(exponent, kind)
        return Traced(builder, parts[0]), Traced(builder, parts[1])

    def near(self, other: Traced, half: int, offset: int) -> tuple[Traced, Traced]:
        """The numbers as a·2^k with a near another number's size, by the bits of both.

        k is the difference of the bits, and `half`, without the bits of the mantissa. With the offset
        it is no negative number, so that simple instructions do: those on signed 64 bits are missing
        from many processors.
        """
        builder, kind = self.builder, self.value.type
        several = isinstance(kind, ir.VectorType)
        whole = ir.VectorType(I64, kind.count) if several else I64

        def every(number: int) -> Any:
            return ir.Constant(whole, [number] * kind.count if several else number)

        bits, theirs = (builder.bitcast(x.value, whole) for x in (self, other))
        moved = builder.add(bits, every(offset))
        apart = builder.sub(moved, builder.sub(theirs, every(half)))
        scaled = builder.sub(moved, builder.and_(apart, every(-1 << 52)))
        # A double of 2^52 has the bits of whole numbers below that as its last ones.
        power = builder.or_(builder.lshr(apart, every(52)), every(0x433 << 52))
        exponent = Traced(builder, builder.bitcast(power, kind)) - float(2**52 + (offset >> 52))
        return Traced(builder, builder.bitcast(scaled, kind)), exponent

    def where_positive(self, other: Traced) -> Traced:
        """These numbers where others are positive, and 0 elsewhere."""
        zero = self.constant(0.0)
        positive = self.builder.fcmp_ordered(">", other.value, zero)
        return Traced(self.builder, self.builder.select(positive, self.value, zero))


def floor_of(code: RealCode, leaf: Any, sums: list[Any], grid: Any, margin: Any) -> Any:
    """`floor(leaf(sums) * grid - margin)`, or 0 where the first sum is not positive."""
    builder = code.builder
    traced = leaf(tuple(Traced(builder, x) for x in sums)) * Traced(builder, grid)
    units = code.call("floor", (traced - Traced(builder, margin)).value)
    zero = Traced(builder, sums[0]).constant(0.0)
    weighs = builder.fcmp_ordered(">", sums[0], zero)
    return builder.select(weighs, units, zero)


def whole_at(code: RealCode, address: Any, entry: int) -> Any:
    """The int64 at a place behind an address, as a double."""
    return code.builder.sitofp(code.load(code.sum(address, 8 * entry), I64), F64)
