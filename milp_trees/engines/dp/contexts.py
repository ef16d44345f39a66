"""Records of numbers and arrays, which compiled code passes as the address of a table. Loads numba.

A NamedTuple of thirty arrays is two hundred arguments in every compiled call, which makes compiling
slow. Here a function `f(data, work)` gets two numbers: `data.X` reads the array's address and shape
from the table of `data`, `data.leaf` reads the number in the table, and `work.calls += 1` changes
one. Arrays must be C-contiguous and outlive the table (`Context` keeps them).
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from milp_trees.common.compiling.inside import (
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
_NONE: Mapping[str, Any] = MappingProxyType({})

Shape = tuple[int, ...]


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
        #: Numbers that do not change: a context also keeps them as ordinary attributes.
        self.fixed = {name: 0 for name, kind, _ in fields if kind == FIXED}
        #: Where an array's entries are, its dimensions, and the bytes of a number.
        self.place = {
            name: (self.position[name], n, np.dtype(kind).itemsize) for name, kind, n in fields if n
        }
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

    Arrays of zeros are cut from one block of memory, each at the beginning of a cache line. Python
    makes an array of numpy only where it reads one: making them all takes longer than a small
    search.

    Parameters
    ----------
    kind : ContextType
    shapes : mapping of name to tuple
        Arrays that begin as zeros.
    parts : sequence of Context
        Records to keep, whose address stands in the table.
    **values : int or array
        The other arrays, and numbers that are not 0.

    Attributes
    ----------
    address : int
        Of the table.

    Raises
    ------
    TypeError
        An array is missing, or not of the type that was declared.
    """

    def __init__(
        self,
        kind: ContextType,
        shapes: Mapping[str, Shape] = _NONE,
        /,
        parts: Any = (),
        **values: Any,
    ) -> None:
        table, size = _offsets(kind, shapes)
        begin, block = _block(size)
        for name in shapes:
            table[kind.position[name]] += begin
        own, arrays = kind.fixed.copy(), len(shapes)
        for name, value in values.items():
            if name in kind.place:
                at, n, _ = kind.place[name]
                check_array(name, value, kind.dtype[name], n)
                table[at : at + 1 + n] = (address(value), *value.shape)
                own[name] = value
                arrays += 1
            elif name in kind.position:
                table[kind.position[name]] = value
                if name in own:
                    own[name] = int(value)
            else:
                raise TypeError(f"{kind} has no {name}.")
        if arrays < len(kind.place):
            missing = set(kind.place) - set(values) - set(shapes)
            raise TypeError(f"{kind} needs {', '.join(sorted(missing))}.")
        self._start(kind, np.array(table, dtype=np.int64), block, parts, own)

    def _start(
        self,
        kind: ContextType,
        table: np.ndarray,
        block: np.ndarray,
        parts: Sequence[Context] = (),
        known: Mapping[str, Any] = _NONE,
    ) -> None:
        own = self.__dict__
        own.update(known)
        own["kind"], own["table"], own["block"], own["parts"] = kind, table, block, parts
        own["address"] = _begin(table)

    def address_of(self, name: str) -> int:
        """Where an array begins."""
        at: int = self.table.item(self.kind.position[name])
        return at

    def __getattr__(self, name: str) -> Any:
        """A number, or an array that is read for the first time."""
        kind = self.__dict__["kind"]
        if name not in kind.position:
            raise AttributeError(name)
        if name not in kind.place:
            return self.table.item(kind.position[name])
        at, n, _ = kind.place[name]
        begin, *shape = self.table[at : at + 1 + n].tolist()
        array = np.ndarray(shape, kind.dtype[name], self.block, begin - _begin(self.block))
        self.__dict__[name] = array
        return array

    def __setattr__(self, name: str, value: int) -> None:
        kind = self.kind
        if name not in kind.position or name in kind.place:
            raise AttributeError(f"Only numbers of a context are set; {name} is not one.")
        self.table[kind.position[name]] = value
        if name in self.__dict__:
            self.__dict__[name] = int(value)


class ContextRows(Sequence[Context]):
    """Contexts that follow each other in memory; their objects are made on access.

    Parameters
    ----------
    kind : ContextType
    n : int
        How many.
    shapes : mapping of name to tuple
        The arrays of each one, which begin as zeros.
    **numbers : array
        First values of number fields, which are 0 by default.
    """

    def __init__(
        self, kind: ContextType, n: int, shapes: Mapping[str, Shape], /, **numbers: np.ndarray
    ) -> None:
        if len(shapes) < len(kind.place):
            raise TypeError(f"{kind} needs {', '.join(sorted(set(kind.place) - set(shapes)))}.")
        first, size = _offsets(kind, shapes)
        begin, self.block = _block(n * size)
        self.kind, self.table = kind, np.array([first] * n, dtype=np.int64)
        starts = begin + size * np.arange(n)
        for name in shapes:
            self.table[:, kind.position[name]] += starts
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
        context._start(self.kind, self.table[i], self.block)
        return context


def _offsets(kind: ContextType, shapes: Mapping[str, Shape]) -> tuple[list[int], int]:
    """A table with the shapes of arrays and their places in a block, and the size of the block."""
    table, size = [0] * kind.size, 0
    for name, shape in shapes.items():
        at, n, room = kind.place[name]
        if len(shape) != n:
            raise TypeError(f"{name} must have {n} dimensions; got {len(shape)}.")
        table[at] = size
        table[at + 1 : at + 1 + n] = shape
        for length in shape:
            room *= length
        size += (room + _LINE - 1) & -_LINE
    return table, size


def _block(size: int) -> tuple[int, np.ndarray]:
    """Zeros, and the address of the first cache line in them."""
    block = np.zeros(size + _LINE, dtype=np.uint8)
    begin = _begin(block)
    return begin + -begin % _LINE, block


def address(array: np.ndarray) -> int:
    """Where an array's numbers begin."""
    if array.size and array.flags.writeable:  # in half of the time that `array.ctypes` takes
        return _begin(array)
    return int(array.ctypes.data)


def _begin(array: Any) -> int:
    """Where the numbers of an array begin that is not empty and may be written."""
    return ctypes.addressof(ctypes.c_char.from_buffer(array))


def check_array(name: str, array: np.ndarray, dtype: Any, dimensions: int) -> None:
    """Refuse an array that compiled code would misread."""
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
