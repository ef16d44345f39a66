"""Records of numbers and arrays, which compiled code passes as the address of a table. Loads numba.

A NamedTuple of thirty arrays is two hundred arguments in every compiled call, which makes compiling
slow. Here a function `f(data, work)` gets two numbers: `data.X` reads the array's address and shape
from the table of `data`, `data.leaf` reads the number in the table, and `work.calls += 1` changes
one. Arrays must be C-contiguous and outlive the table (`Context` keeps them).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, cast

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


#: What the table says of a field: a number that compiled code may change, one that it may not, an array.
NUMBER, FIXED = "number", "fixed"


class ContextType(types.Type):
    """Type of a table whose fields are (name, dtype, dimensions).

    Numbers have the dtype NUMBER or FIXED and no dimensions.
    """

    def __init__(self, label: str, fields: tuple[tuple[str, str, int], ...]) -> None:
        self.fields = fields
        self.position: dict[str, int] = {}
        self.size = 0
        for name, _, n in fields:  # an array takes an address, then its shape
            self.position[name] = self.size
            self.size += 1 + n
        self.kind = {name: (kind, n) for name, kind, n in fields}
        self.dtype = {name: np.dtype(kind) for name, kind, n in fields if n}
        super().__init__(name=f"Context({label}, {fields})")

    def is_number(self, name: str) -> bool:
        return self.kind[name][0] in (NUMBER, FIXED)

    def type_of(self, name: str) -> Any:
        """Numba's type of a field; None if there is no such field."""
        if name not in self.kind:
            return None
        kind, n = self.kind[name]
        return (
            types.int64 if self.is_number(name) else types.Array(from_dtype(np.dtype(kind)), n, "C")
        )


@register_default(ContextType)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _I64)


@infer_getattr
class _Attributes(AttributeTemplate):
    key = ContextType

    def generic_resolve(self, kind: Any, name: str) -> Any:
        return kind.type_of(name)


def _entry(builder: Any, table: Any, position: int) -> Any:
    """Pointer to an entry of a table."""
    return builder.inttoptr(builder.add(table, ir.Constant(_I64, 8 * position)), _I64.as_pointer())


@imputils.lower_getattr_generic(ContextType)
def _get(context: Any, builder: Any, kind: Any, value: Any, name: str) -> Any:
    """The number or the array at a field.

    The array does not own its memory (no `meminfo`), so no references are counted.
    """
    at = kind.position[name]
    if kind.kind[name][0] == NUMBER:
        return builder.load(_entry(builder, value, at))
    # Everything but NUMBERs stays as it is while compiled code runs.
    invariant = builder.module.add_metadata([])

    def entry(position: int) -> Any:
        loaded = builder.load(_entry(builder, value, position))
        loaded.set_metadata("invariant.load", invariant)
        return loaded

    if kind.is_number(name):
        return entry(at)
    array_type = kind.type_of(name)
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


@imputils.lower_setattr_generic(ContextType)
def _set(context: Any, builder: Any, signature: Any, args: Any, name: str) -> None:
    kind, given = signature.args
    if kind.kind[name][0] != NUMBER:
        raise TypeError(f"Compiled code changes numbers only; {name} is not one.")
    builder.store(
        context.cast(builder, args[1], given, types.int64),
        _entry(builder, args[0], kind.position[name]),
    )


def context_at(kind: ContextType) -> Any:
    """An intrinsic that takes an address (int64) for a table of this type."""

    @intrinsic
    def cast(typingctx: Any, address: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return args[0]

        return typing.signature(kind, types.int64), codegen

    return cast


class Context:
    """The numbers and arrays of a context, and the table that compiled code is given: `address`.

    Parameters
    ----------
    kind : ContextType
    parts : sequence of Context
        Records to keep, whose address stands in the table.
    **values : int or array
        Every array, and numbers that are not 0.

    Attributes
    ----------
    address : int
        Of the table.
    buffers : dict
        Further arrays to keep, which compiled code knows by their address only.

    Raises
    ------
    TypeError
        An array is not of the type that was declared.
    """

    def __init__(self, kind: ContextType, /, parts: Any = (), **values: Any) -> None:
        if not set(values) <= set(kind.kind):
            raise TypeError(f"{kind} has no {', '.join(sorted(set(values) - set(kind.kind)))}.")
        arrays: dict[str, np.ndarray] = {}
        table: list[int] = []
        for name, (_, n) in kind.kind.items():
            if n == 0:
                table.append(values.get(name, 0))
                continue
            array = arrays[name] = values[name]
            check_array(name, array, kind.dtype[name], n)
            table += (address(array), *array.shape)
        self._start(kind, np.array(table, dtype=np.int64), arrays, parts)

    def _start(
        self,
        kind: ContextType,
        table: np.ndarray,
        arrays: dict[str, np.ndarray],
        parts: Sequence[Context] = (),
    ) -> None:
        vars(self).update(kind=kind, table=table, arrays=arrays, buffers={}, parts=parts)
        vars(self)["address"] = address(table)

    def __getattr__(self, name: str) -> Any:
        if name in vars(self)["arrays"]:
            return self.arrays[name]
        if name in self.kind.kind:
            return int(self.table[self.kind.position[name]])
        raise AttributeError(name)

    def __setattr__(self, name: str, value: int) -> None:
        if name not in self.kind.kind or not self.kind.is_number(name):
            raise AttributeError(f"Only numbers of a context are set; {name} is not one.")
        self.table[self.kind.position[name]] = value


class Rows(Sequence[Context]):
    """Contexts that follow each other in memory; their objects are made on access.

    Parameters
    ----------
    kind : ContextType
    n : int
        How many.
    **arrays : array
        For every array field an array whose first dimension is n; for a number field its first
        values, which are 0 by default.
    """

    def __init__(self, kind: ContextType, n: int, **arrays: np.ndarray) -> None:
        self.kind, self.arrays = kind, {}
        first, step = [0] * kind.size, [0] * kind.size
        numbers = []
        for name, array in arrays.items():
            dimensions, at = kind.kind[name][1], kind.position[name]
            if kind.is_number(name):
                numbers.append((at, array))
                continue
            check_array(name, array, kind.dtype[name], dimensions + 1)
            first[at : at + 1 + dimensions] = (address(array), *array.shape[1:])
            step[at] = array.strides[0]
            self.arrays[name] = array
        self.table = np.array(first) + np.arange(n)[:, None] * np.array(step)
        for at, array in numbers:
            self.table[:, at] = array

    @property
    def address(self) -> int:
        return address(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        context = Context.__new__(Context)
        arrays = {name: array[i] for name, array in self.arrays.items()}
        context._start(self.kind, self.table[i], arrays)
        return context


def address(array: np.ndarray) -> int:
    """Where an array's numbers begin."""
    if array.size and array.flags.writeable:  # in half of the time that `array.ctypes` takes
        return ctypes.addressof(ctypes.c_char.from_buffer(cast(Any, array)))
    return int(array.ctypes.data)


def check_array(name: str, array: np.ndarray, dtype: Any, dimensions: int) -> None:
    """Refuse an array that compiled code would misread.

    Parameters
    ----------
    name : str
        Of the field, for the message.
    array : numpy.ndarray
        The array to check.
    dtype : dtype
        The number type it must have.
    dimensions : int
        The number of dimensions it must have.

    Raises
    ------
    TypeError
        The array has another type or number of dimensions, or is not C-contiguous.
    """
    if array.dtype != dtype or array.ndim != dimensions or not array.flags.c_contiguous:
        raise TypeError(
            f"{name} must be a contiguous {dtype} array of {dimensions} dimensions; "
            f"got {array.dtype} of {array.ndim}."
        )


def fields(text: str) -> tuple[tuple[str, str, int], ...]:
    """Fields from text such as `"depth n_tests:fixed X:uint8:2"`.

    The examples are a number, a number that does not change, and an array of two dimensions.
    """
    out = []
    for part in text.split():
        name, _, rest = part.partition(":")
        kind, _, n = rest.partition(":")
        out.append((name, kind or NUMBER, int(n or 0)))
    return tuple(out)
