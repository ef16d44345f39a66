"""A writer of vector code for kernels, and how compiled code calls them. Loads numba.

A kernel is `int64 kernel(int64 table)`: `table` is the address of an int64 array whose entries are
the arguments. `kernels.c_function` compiles it, and `call` calls it by its address.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,import-untyped"

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from typing import Any

from milp_trees.common.compiling.inside import cgutils, intrinsic, ir, types

I1, I8, I32, I64 = (ir.IntType(bits) for bits in (1, 8, 32, 64))


class Code:
    """Writer of code for one kernel.

    Addresses are int64; `vec` is a vector of `lanes` integers of `bits` bits.
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
        """An argument; it is loaded once, since no kernel reads what it writes to the table."""
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
        """Within this block code is written for the body of a loop."""
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
        """Call an LLVM intrinsic of vectors."""
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
        """Lanes of two vectors as one vector."""
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(I32, len(lanes)), lanes))


def largest(bits: int) -> int:
    """Largest signed number."""
    return (1 << (bits - 1)) - 1


@intrinsic
def call(typingctx: Any, address: Any, table: Any) -> Any:
    """Call the kernel at this address with the address of its table of arguments (both int64)."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kernel = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
        return builder.call(builder.inttoptr(args[0], kernel.as_pointer()), [args[1]])

    return types.int64(types.int64, types.int64), codegen


@intrinsic
def call_two(typingctx: Any, address: Any, first: Any, second: Any) -> Any:
    """Call the function at this address with two int64 numbers; it returns one."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = ir.FunctionType(I64, [I64, I64])
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])

    return types.int64(types.int64, types.int64, types.int64), codegen


@intrinsic
def double_bits(typingctx: Any, whole: Any) -> Any:
    """The bits of the double that a whole number is, as an int64."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(builder.sitofp(args[0], ir.DoubleType()), I64)

    return types.int64(types.int64), codegen


@intrinsic
def bits_double(typingctx: Any, whole: Any) -> Any:
    """The double with these bits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


@intrinsic
def load_long(typingctx: Any, address: Any) -> Any:
    """The int64 at an address."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], I64.as_pointer()))

    return types.int64(types.int64), codegen


@intrinsic
def doubles_at(typingctx: Any, address: Any, size: Any) -> Any:
    """The doubles from an address on as an array, which does not own them."""
    kind = types.Array(types.float64, 1, "C")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(kind)(context, builder)
        context.populate_array(
            array,
            data=builder.inttoptr(args[0], array.data.type),
            shape=[args[1]],
            strides=[ir.Constant(I64, 8)],
            itemsize=ir.Constant(I64, 8),
            meminfo=None,
            parent=None,
        )
        return array._getvalue()

    return kind(types.int64, types.int64), codegen
