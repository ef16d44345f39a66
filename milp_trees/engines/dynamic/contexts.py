"""Groups of arrays that compiled code passes as one number: the address of a table of their
addresses and shapes. Loads numba.

A NamedTuple of thirty arrays is two hundred arguments in every compiled call, which makes compiling
slow. Here a function `f(data, work)` gets two numbers, and `data.X` reads the array's address and
shape from the table. Arrays must be C-contiguous and outlive the table (`Context` keeps them).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.compiling.inside import (
    AttributeTemplate,
    from_dtype,
    imputils,
    infer_getattr,
    intrinsic,
    ir,
    models,
    register_default,
    types,
    typing,
)

_I64 = ir.IntType(64)


class ContextType(types.Type):
    """Type of a table whose fields are (name, dtype, dimensions)."""

    def __init__(self, label: str, fields: tuple[tuple[str, str, int], ...]) -> None:
        self.fields = fields
        self.kinds = [(name, np.dtype(kind), n) for name, kind, n in fields]
        super().__init__(name=f"Context({label}, {fields})")

    def array(self, name: str) -> Any:
        return next(
            (
                types.Array(from_dtype(np.dtype(kind)), n, "C")
                for field, kind, n in self.fields
                if field == name
            ),
            None,
        )

    def offset(self, name: str) -> int:
        """Position of a field in the table: an address, then the shape."""
        at = 0
        for field, _, n in self.fields:
            if field == name:
                return at
            at += 1 + n
        raise KeyError(name)


@register_default(ContextType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _I64)


@infer_getattr
class _Attributes(AttributeTemplate):
    key = ContextType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return kind.array(name)


@imputils.lower_getattr_generic(ContextType)
def _get(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    """The array at a field. It owns nothing (no `meminfo`), so no references are counted."""
    array_type = kind.array(name)
    # The table does not change while compiled code runs.
    invariant = builder.module.add_metadata([])

    def entry(position: int) -> Any:
        loaded = builder.load(
            builder.inttoptr(builder.add(value, ir.Constant(_I64, 8 * position)), _I64.as_pointer())
        )
        loaded.set_metadata("invariant.load", invariant)
        return loaded

    at = kind.offset(name)
    array = context.make_array(array_type)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(array_type.dtype))
    shape = [entry(at + 1 + k) for k in range(array_type.ndim)]
    strides: list[Any] = []
    items, stride = ir.Constant(_I64, 1), ir.Constant(_I64, size)
    for length in reversed(shape):
        strides.insert(0, stride)
        stride, items = builder.mul(stride, length), builder.mul(items, length)
    context.populate_array(
        array,
        data=builder.inttoptr(entry(at), array.data.type),
        shape=shape,
        strides=strides,
        itemsize=ir.Constant(_I64, size),
        meminfo=None,
        parent=None,
    )
    return array._getvalue()


def context_at(kind: ContextType) -> Any:
    """An intrinsic that takes an address (int64) for a table of this type."""

    @intrinsic
    def cast(typingctx: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return args[0]

        return typing.signature(kind, types.int64), codegen

    return cast


class Context:
    """The arrays of a context, and the table that compiled code is given: `address`.

    Raises
    ------
    TypeError
        An array is not of the type that was declared.
    """

    def __init__(self, kind: ContextType, **arrays: np.ndarray) -> None:
        self.arrays = arrays
        table: list[int] = []
        for name, dtype, n in kind.kinds:
            array = arrays[name]
            if array.dtype != dtype or array.ndim != n or not array.flags.c_contiguous:
                raise TypeError(
                    f"{name} must be a contiguous {dtype} array of {n} dimensions; got {array.dtype} of {array.ndim}."
                )
            table += [array.ctypes.data, *array.shape]
        self._table = np.array(table, dtype=np.int64)
        self.address = int(self._table.ctypes.data)
        #: Further arrays to keep as long as this one.
        self.buffers: dict[str, np.ndarray] = {}

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            return self.__dict__["arrays"][name]
        except KeyError:
            raise AttributeError(name) from None


def fields(text: str) -> tuple[tuple[str, str, int], ...]:
    """`"X:uint8:2 tests:uint64:2"` as fields."""
    return tuple(
        (name, kind, int(n)) for name, kind, n in (part.split(":") for part in text.split())
    )
