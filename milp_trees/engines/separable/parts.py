"""The six parts of a task as functions that kernels call: compiled, or as they are. Loads numba.

Parts that a task leaves out get their default here, so kernels know no exceptions. Small functions
on tuples are written for one width, because compiled code knows the length of its tuples.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import CellType, FunctionType
from typing import Any, NamedTuple

from milp_trees.common.compiling.inside import errors, typeof
from milp_trees.common.compiling.kernels import kernel
from milp_trees.tasks.states_view import States


class TaskParts(NamedTuple):
    """Functions for kernels; all are compiled, or none. See `States` for the six parts."""

    #: Compiles a function that calls these; the identity if they are not compiled.
    decorate: Any
    leaf: Any
    split: Any
    transition: Any
    better: Any
    combine: Any
    feasible: Any
    #: Whether the task has a cost of splits.
    has_split: bool
    #: `read(array, i)` is row i of an array as a value, `write(array, i, value)` stores one.
    read: Any
    write: Any
    #: Columns of sums as tuples, `cell(array, f, g)` of a pair of tests, `side(array, f)` of a test.
    cell: Any
    side: Any
    #: `minus(a, b)` is the difference of two.
    minus: Any


class Given(NamedTuple):
    """What the parts of a view are made from: two equal ones have the same code."""

    leaf: Any
    split: Any
    transition: Any
    better: Any
    combine: Any
    feasible: Any
    width: int
    n_sums: int
    n_actions: int


def given_by(view: States) -> Given:
    """What the parts of a view are made from."""
    functions = {name: getattr(view, name) for name in Given._fields[:6]}
    return Given(
        **functions,
        width=view.width,
        n_sums=1 + view.stats.shape[1],
        n_actions=view.n_actions,
    )


@lru_cache(maxsize=64)
def parts_of(given: Given, compiled: bool) -> TaskParts:
    """The parts of a task."""
    decorate: Callable[..., Any] = _compiled if compiled else lambda function: function
    V, S = given.width, given.n_sums
    defaults = {
        "leaf": "",
        "split": f"lambda sums, test, context, tables: ({'0, ' * V})",
        "transition": "lambda context, test, side, tables: context",
        "better": f"lambda a, b: {_componentwise(V)}",
        "combine": f"lambda a, b: ({_listed('a[{i}] + b[{i}]', V)})",
        "feasible": "lambda value, sums, context, tables: True",
        "read": f"lambda array, i: ({_listed('int(array[i, {i}])', V)})",
        "cell": f"lambda array, f, g: ({_listed('int(array[{i}, f, g])', S)})",
        "side": f"lambda array, f: ({_listed('int(array[{i}, f])', S)})",
        "minus": f"lambda a, b: ({_listed('a[{i}] - b[{i}]', S)})",
    }
    made = {
        name: decorate(getattr(given, name, None) or _written(text))
        for name, text in defaults.items()
    }
    has_split = given.split is not None
    return TaskParts(decorate=decorate, has_split=has_split, write=decorate(_write), **made)


def _compiled(function: Any) -> Any:
    """A kernel, in which plain functions that it calls are kernels too.

    They are found by their names in its module and in its closure.
    """
    return kernel(_with_kernels(function, {}))


def _with_kernels(function: Any, known: dict[int, Any]) -> Any:
    """A copy of a function that names kernels where it named plain functions."""

    def made(value: Any) -> Any:
        if not isinstance(value, FunctionType):
            return value
        if id(value) not in known:
            known[id(value)] = value  # a function that calls itself stays as it is
            known[id(value)] = kernel(_with_kernels(value, known))
        return known[id(value)]

    names = set(function.__code__.co_names) & set(function.__globals__)
    changed = {name: made(function.__globals__[name]) for name in names}
    cells = tuple(CellType(made(cell.cell_contents)) for cell in function.__closure__ or ())
    same = all(function.__globals__[name] is value for name, value in changed.items())
    if same and all(
        a.cell_contents is b.cell_contents
        for a, b in zip(cells, function.__closure__ or (), strict=True)
    ):
        return function
    copy = FunctionType(
        function.__code__,
        {**function.__globals__, **changed},
        function.__name__,
        function.__defaults__,
        cells or None,
    )
    copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
    return copy


def _write(array: Any, i: int, value: Any) -> None:
    for j in range(len(value)):
        array[i, j] = value[j]


def _listed(form: str, n: int) -> str:
    """A form for every number of a tuple, as the text of a tuple without its brackets."""
    return "".join(f"{form.format(i=i)}, " for i in range(n))


def _componentwise(n: int) -> str:
    none_larger = " and ".join(f"a[{i}] <= b[{i}]" for i in range(n))
    return f"{none_larger} and ({' or '.join(f'a[{i}] < b[{i}]' for i in range(n))})"


def _written(text: str) -> Any:
    """The function that a text writes; it names nothing but its arguments."""
    return eval(text, {"__builtins__": {"int": int}, "__name__": __name__})


_known: dict[Any, str] = {}


def not_compiled(view: States) -> str:
    """The sentence why a part of a task cannot be compiled; empty if all can.

    Every part is compiled for integers and tuples of integers, as kernels call it.
    """
    key = given_by(view), tuple(typeof(table) for table in view.tables)
    if key not in _known:
        _known[key] = _refusal(view)
    return _known[key]


def _refusal(view: States) -> str:
    parts = parts_of(given_by(view), True)
    sums = tuple(int(x) for x in view.sums[:1].sum(axis=0))
    given = (sums, view.start, view.tables)
    zero = (0,) * view.width
    calls = {
        "leaf": (sums, 0, view.start, view.tables),
        "split": (sums, 0, view.start, view.tables),
        "transition": (view.start, 0, 0, view.tables),
        "better": (zero, zero),
        "combine": (zero, zero),
        "feasible": (zero, *given),
    }
    for name, arguments in calls.items():
        if getattr(view, name) is None:
            continue
        part = getattr(parts, name)
        types = tuple(typeof(a) for a in arguments)
        try:
            part.compile(types)
        except (errors.NumbaError, NotImplementedError, TypeError) as why:
            line = " ".join(str(why).split())[:200]
            return f"numba cannot compile its part {name!r} ({line})."
        returned = part.overloads[types].signature.return_type
        wanted = {"better": 0, "feasible": 0, "transition": len(view.start)}.get(name, view.width)
        if wanted and str(returned) != f"UniTuple(int64 x {wanted})":
            return f"its part {name!r} returns {returned}, and a tuple of {wanted} integers is needed for compiled code."
    return ""
