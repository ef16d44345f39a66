"""The records of the search over sorted columns, as compiled code is given them. Loads numba.

Arrays are made as named tuples (`nodes.SearchColumns`, `nodes.Lists`, `sweep.SweepWork`,
`memory.SortedState`), which say what they mean. Compiled code gets the addresses of tables of them:
sixty arrays as arguments of every call would take twice as long to compile.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from functools import cache
from typing import Any

from milp_trees.engines.dp.contexts import Context, ContextType, context_at, fields

LISTS = ContextType(
    "Lists",
    fields(
        "rows:int32:3 ranks:int32:3 ends:int32:3 runs:int64:2 size:int64:1 side:uint8:1"
        " sums:int64:2"
    ),
)
STATE = ContextType(
    "State",
    fields(
        "level:int64:2 keys:uint64:2 words:uint64:2 spans:int64:3 bounds:int64:3"
        " cache_keys:uint64:2 cache:int64:2 archive_words:uint64:3 archive:int64:3"
        " archived:int64:1 known:int64:1 found:int64:1 shared:int64:1 stop:uint8:1"
    ),
)
#: The records whose numbers have the type in which costs fit, written `#`.
_COLUMNS = (
    "values:#:2 labels:#:1 weights:#:1 first:int64:1 worst:int64:1 amounts:#:2 keys:uint64:2"
    " costs:int64:1 by_cost:int64:1 least:#:1 parameters:int64:1 cheapest:fixed leaf:fixed"
    " unit:fixed slack:fixed priced:fixed leaf_function:fixed"
)
_WORK = (
    "position:#:1 P:#:2 W:#:3 Y:#:2 A:#:3 cuts:#:1 least:#:1 C:#:1 counts:#:1 sums:#:1 store:#:1"
    " out:#:1 prefix:int64:2 low:int64:2 high:int64:2 caps:int64:2 spans:int64:2 bounds:int64:2"
    " picked:int64:1 address:int64:1 args:int64:1"
)

lists_at, state_at = context_at(LISTS), context_at(STATE)


@cache
def columns_of(number: str) -> ContextType:
    """The record of `nodes.SearchColumns` for a number type."""
    return ContextType("Columns", fields(_COLUMNS.replace("#", number)))


@cache
def work_of(number: str) -> ContextType:
    """The record of `sweep.SweepWork` for a number type."""
    return ContextType("Work", fields(_WORK.replace("#", number)))


def tables(number: str, given: tuple[Any, ...]) -> tuple[Context, ...]:
    """The tables of the four named tuples for a number type; they keep the arrays."""
    kinds = columns_of(number), LISTS, work_of(number), STATE
    return tuple(Context(kind, **one._asdict()) for kind, one in zip(kinds, given, strict=True))
