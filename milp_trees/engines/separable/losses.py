"""Losses as states: a leaf function of sums, written out as a part of a task.

The function is called once with values that write down what is done to them, a line per operation.
The lines are a plain function of integers, which is compiled like the parts of any task; it gives
the whole units of the view, so a set of rows has one value.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from milp_trees.tasks.leaf_functions import LeafFunction
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.states_view import States


def states_of(view: LossSums) -> States:
    """The task of a view as states without context, whose value is a number of units."""
    return States(
        X=np.ascontiguousarray(view.X),
        features=view.features,
        counts=view.counts,
        stats=view.parts,
        actions=("",),
        names=("units",),
        leaf=_leaf_part(view.leaf, view.n_values),
        split=_split_cost if view.split_costs.any() else None,
        tables=(
            np.array([view.grid, float(view.margin)]),
            np.array([view.leaf_cost], dtype=np.int64),
            np.ascontiguousarray(view.split_costs, dtype=np.int64),
        ),
        # The tie of a leaf is more than rounding takes from it.
        nonnegative=True,
    )


def _split_cost(sums: Any, test: Any, context: Any, tables: Any) -> Any:
    """What a split on a test costs."""
    return (tables[2][test],)


@cache
def _leaf_part(leaf: LeafFunction, n_sums: int) -> Any:
    """The part of a leaf function; sums are the rows, those of the function, and the constants."""
    lines: list[str] = []
    given = [WrittenDouble(lines, f"float(sums[{1 + u}])") for u in range(n_sums)]
    found = leaf(tuple(given))
    text = "\n    ".join(
        [
            "def leaf(sums, action, context, tables):",
            f"rest = sums[{1 + n_sums}] + tables[1][0]",
            "if sums[1] <= 0:",
            "    return (rest,)",
            *lines,
            f"units = floor({found.name} * tables[0][0] - tables[0][1])",
            "return (int(units) + rest,)",
        ]
    )
    names: dict[str, Any] = {
        "__name__": __name__,
        "floor": math.floor,
        "frexp": math.frexp,
        "ldexp": math.ldexp,
    }
    exec(text, names)
    return names["leaf"]


class WrittenDouble:
    """A double in a function that is being written; an operation adds its line."""

    def __init__(self, lines: list[str], text: str) -> None:
        self.lines, self.name = lines, f"x{len(lines)}"
        lines.append(f"{self.name} = {text}")

    def _with(self, other: Any, sign: str, swapped: bool = False) -> WrittenDouble:
        right = other.name if isinstance(other, WrittenDouble) else repr(float(other))
        first, second = (right, self.name) if swapped else (self.name, right)
        return WrittenDouble(self.lines, f"{first} {sign} {second}")

    def __add__(self, other: Any) -> WrittenDouble:
        return self._with(other, "+")

    def __radd__(self, other: Any) -> WrittenDouble:
        return self._with(other, "+", True)

    def __sub__(self, other: Any) -> WrittenDouble:
        return self._with(other, "-")

    def __rsub__(self, other: Any) -> WrittenDouble:
        return self._with(other, "-", True)

    def __mul__(self, other: Any) -> WrittenDouble:
        return self._with(other, "*")

    def __rmul__(self, other: Any) -> WrittenDouble:
        return self._with(other, "*", True)

    def __truediv__(self, other: Any) -> WrittenDouble:
        return self._with(other, "/")

    def __rtruediv__(self, other: Any) -> WrittenDouble:
        return self._with(other, "/", True)

    def __neg__(self) -> WrittenDouble:
        return WrittenDouble(self.lines, f"-{self.name}")

    def split(self, least: int) -> tuple[WrittenDouble, WrittenDouble]:
        """Mantissa and exponent, for the mantissas from a double on; its bits are given."""
        begin = repr(float(np.array([least], dtype=np.int64).view(float)[0]))
        parts = WrittenDouble(self.lines, f"frexp({self.name} if {self.name} > 0.0 else 1.0)").name
        small = f"{parts}[0] < {begin}"
        return (
            WrittenDouble(self.lines, f"{parts}[0] * 2.0 if {small} else {parts}[0]"),
            WrittenDouble(self.lines, f"{parts}[1] - 1.0 if {small} else {parts}[1] + 0.0"),
        )

    def near(self, other: Any, half: int, _every: int) -> tuple[WrittenDouble, WrittenDouble]:
        """The value times a power of two, near another one, and the power (`leaf_functions`).

        The bits of a double are its exponent and mantissa, in units of 2^-52.
        """
        own, goal = (
            WrittenDouble(self.lines, f"frexp({x} if {x} > 0.0 else 1.0)").name
            for x in (self.name, other.name)
        )
        whole = [f"int({part}[0] * {2.0**53!r})" for part in (own, goal)]
        bits = f"({own}[1] - {goal}[1]) * {2**52} + {whole[0]} - {whole[1]}"
        power = WrittenDouble(self.lines, f"({bits} + {half}) >> 52").name
        return (
            WrittenDouble(self.lines, f"ldexp({self.name}, -{power})"),
            WrittenDouble(self.lines, f"{power} + 0.0"),
        )

    def where_positive(self, other: Any) -> WrittenDouble:
        """The value where another one is positive, and otherwise 0."""
        return WrittenDouble(self.lines, f"{self.name} if {other.name} > 0.0 else 0.0")
