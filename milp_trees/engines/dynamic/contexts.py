"""Records of numbers and arrays, which compiled code passes as the address of a table. Loads numba.

A NamedTuple of thirty arrays is two hundred arguments in every compiled call, which makes compiling
slow. Here a function `f(data, work)` gets two numbers: `data.X` reads the array's address and shape
from the table of `data`, `data.leaf` reads the number in the table, and `work.calls += 1` changes
one. Arrays must be C-contiguous and outlive the table (`Context` keeps them).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
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
#: Bytes of a cache line, where the arrays of a memory begin: vectors are loaded faster there.
_LINE = 64


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


class Memory:
    """One block of zeros from which arrays are cut; each begins at a multiple of 64 bytes.

    Making an array of numpy takes longer than a small search takes for all its work, so arrays are
    only made where Python reads them.

    Parameters
    ----------
    **arrays : (dtype, shape)
        Number type and shape of every array.
    """

    def __init__(self, **arrays: tuple[np.dtype, tuple[int, ...]]) -> None:
        self.place: dict[str, tuple[int, np.dtype, tuple[int, ...]]] = {}
        size = 0
        for name, (dtype, shape) in arrays.items():
            self.place[name] = (size, dtype, shape)
            size += (dtype.itemsize * math.prod(shape) + _LINE - 1) // _LINE * _LINE
        self.block = np.zeros(size + _LINE, dtype=np.uint8)
        begin = address(self.block)
        self.skipped = -begin % _LINE
        self.begin = begin + self.skipped

    def address(self, name: str) -> int:
        """Where an array begins."""
        return self.begin + self.place[name][0]

    def array(self, name: str) -> np.ndarray:
        """An array; it keeps the block."""
        at, dtype, shape = self.place[name]
        return np.ndarray(shape, dtype, self.block, self.skipped + at)


class Context:
    """The numbers and arrays of a context, and the table that compiled code is given: `address`.

    Parameters
    ----------
    kind : ContextType
    memory : Memory, optional
        Arrays that are not given as values are those of this memory, under the same names. Its
        further arrays are known to compiled code by their address only.
    parts : sequence of Context
        Records to keep, whose address stands in the table.
    **values : int or array
        Other arrays, and numbers that are not 0.

    Attributes
    ----------
    address : int
        Of the table.

    Raises
    ------
    TypeError
        An array is not of the type that was declared.
    """

    def __init__(
        self, kind: ContextType, memory: Memory | None = None, /, parts: Any = (), **values: Any
    ) -> None:
        if not set(values) <= set(kind.kind):
            raise TypeError(f"{kind} has no {', '.join(sorted(set(values) - set(kind.kind)))}.")
        arrays: dict[str, np.ndarray] = {}
        table: list[int] = []
        for name, (_, n) in kind.kind.items():
            if n == 0:
                table.append(values.get(name, 0))
            elif name in values:
                array = arrays[name] = values[name]
                check_array(name, array, kind.dtype[name], n)
                table += (address(array), *array.shape)
            elif memory is not None:
                shape = _checked_shape(memory, name, kind.dtype[name], n)
                table += (memory.address(name), *shape)
            else:
                raise TypeError(f"{kind} needs the array {name}.")
        find = None if memory is None else memory.array
        self._start(kind, np.array(table, dtype=np.int64), arrays, find, parts)

    def _start(
        self,
        kind: ContextType,
        table: np.ndarray,
        arrays: dict[str, np.ndarray],
        find: Callable[[str], np.ndarray] | None,
        parts: Sequence[Context] = (),
    ) -> None:
        vars(self).update(kind=kind, table=table, find=find, parts=parts, **arrays)
        vars(self)["address"] = address(table)

    def address_of(self, name: str) -> int:
        """Where an array begins."""
        return int(self.table[self.kind.position[name]])

    def __getattr__(self, name: str) -> Any:
        """A number, or an array that Python reads for the first time."""
        kind = vars(self)["kind"]
        if name not in kind.kind:
            raise AttributeError(name)
        if kind.is_number(name):
            return int(self.table[kind.position[name]])
        array = vars(self)[name] = self.find(name)
        return array

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
    memory : Memory
        Has for every array field an array whose first dimension is n.
    **numbers : array
        First values of number fields, which are 0 by default.
    """

    def __init__(self, kind: ContextType, n: int, memory: Memory, **numbers: np.ndarray) -> None:
        self.kind, self.memory = kind, memory
        first, step = [0] * kind.size, [0] * kind.size
        for name, dtype in kind.dtype.items():
            dimensions, at = kind.kind[name][1], kind.position[name]
            shape = _checked_shape(memory, name, dtype, dimensions + 1)[1:]
            first[at : at + 1 + dimensions] = (memory.address(name), *shape)
            step[at] = dtype.itemsize * math.prod(shape)
        self.table = np.array(first) + np.arange(n)[:, None] * np.array(step)
        for name, values in numbers.items():
            self.table[:, kind.position[name]] = values

    @property
    def address(self) -> int:
        return address(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, i: Any) -> Any:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        context = Context.__new__(Context)
        context._start(self.kind, self.table[i], {}, lambda name: self.memory.array(name)[i])
        return context


def _checked_shape(memory: Memory, name: str, dtype: Any, dimensions: int) -> tuple[int, ...]:
    """The shape of an array in a memory, which must be of the type that was declared."""
    _, given, shape = memory.place[name]
    if given != dtype or len(shape) != dimensions:
        raise TypeError(
            f"{name} must be a {dtype} array of {dimensions} dimensions; got {given} of {len(shape)}."
        )
    return shape


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
