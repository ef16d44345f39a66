"""Partial trees, and counters of the search over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from milp_trees.engines.partial_trees.parts import RowPart

#: Units of a value: whole part, and a fraction below 1.
Units = tuple[int, float]
#: A part, and the levels of splits that it may still get; 0: it stays a leaf.
Place = tuple[RowPart, int]
#: Splits made so far: (number of the part, test, earlier splits).
Made = tuple[int, int, "Made"] | None


@dataclass
class Counters:
    """How often each technique had an effect."""

    expanded: int = 0
    generated: int = 0
    bounded: int = 0
    apart: int = 0
    limited: int = 0
    duplicates: int = 0
    not_fixed: int = 0


class Node(NamedTuple):
    """A partial tree.

    It holds its leaves, how many more it may get (None: any number), a bound, and how it was made.
    """

    places: tuple[Place, ...]
    room: int | None
    bound: Units
    made: Made
