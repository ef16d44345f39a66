"""`Cells`: the parts of a column between which a model does not tell, and where leaves reach.

The values of a column fall into cells: intervals between neighbouring thresholds, or categories. A
leaf of a tree reaches a set of cells of each column, and a missing value or not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from milp_trees.embedding.forest import TEXT, Forest, Question, Split

#: What rows of columns of real and of whole numbers are divided by at most.
MOST_DIVISOR, MOST_DIVISOR_OF_WHOLE = 1e6, 1e4


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of one column.

    Parameters
    ----------
    column : str
    holds : str
        What the column holds.
    low, high : float arrays of shape (cells,)
        Least and largest value of each interval in a model, the margin above thresholds included;
        empty for categories.
    start : float array of shape (cells,)
        Least value that is in the interval, without a margin.
    place : mapping of value to int
        For intervals, the number of intervals at or below each threshold; for categories, the
        number of the category.
    missing : bool
        Whether a value may be missing.
    margin : float
        Largest margin above a threshold; 0 for whole numbers and categories.
    """

    column: str
    holds: str
    low: np.ndarray
    high: np.ndarray
    start: np.ndarray
    place: dict[Any, int]
    missing: bool = False
    margin: float = 0.0
    n_categories: int = 0

    @property
    def n(self) -> int:
        """Number of cells."""
        return self.n_categories if self.holds == TEXT else len(self.low)

    @property
    def ordered(self) -> bool:
        """Whether the cells are intervals of numbers."""
        return self.holds != TEXT

    @property
    def width(self) -> float:
        """What rows of a column of numbers are divided by: the width of its bounds, or 1.

        A solver's tolerance for rows is then relative to the width, as the margins are. Of very wide
        columns it is less: whole numbers are told apart by one, and a solver drops the coefficient
        of a variable that becomes too small.
        """
        most = MOST_DIVISOR if self.margin else MOST_DIVISOR_OF_WHOLE
        return min(max(1.0, float(self.high[-1] - self.low[0])), most)

    @property
    def everything(self) -> int:
        """The set of all cells, and of a missing value if there may be one."""
        return (1 << self.n + self.missing) - 1

    @property
    def absent(self) -> int:
        """The set of a missing value alone; 0 if no value may be missing."""
        return 1 << self.n if self.missing else 0

    def yes(self, question: Question) -> int:
        """The set of cells that answer yes; a missing value is the cell after the others."""
        if question.value is None:
            return self.absent
        if self.ordered:
            inside = (1 << self.place[question.value]) - 1
        else:
            inside = 1 << self.place[question.value] if question.value in self.place else 0
        return inside | (self.absent if question.missing else 0)

    def span(self, cells: int) -> tuple[int, int] | None:
        """First and last interval of a set of cells; None if it has none."""
        cells &= ~self.absent
        return ((cells & -cells).bit_length() - 1, cells.bit_length() - 1) if cells else None


def intervals(
    column: str,
    holds: str,
    thresholds: Any,
    bounds: tuple[float, float],
    *,
    whole: bool,
    missing: bool,
    tolerance: float,
) -> Cells:
    """The cells of a column of numbers between bounds.

    Parameters
    ----------
    column, holds : str
    thresholds : iterable of float
        Largest values that answer yes.
    bounds : tuple of two floats
        Least and largest value of the column.
    whole : bool
        Whether the values are whole numbers.
    missing : bool
        Whether a value may be missing.
    tolerance : float
        Largest violation that a solver allows, of rows and of integers: an interval begins above a
        threshold by twice as much, relative to the size of the threshold and to the width of the
        bounds; where the next threshold is nearer than that, at the next threshold.

    Returns
    -------
    Cells
    """
    least, most = (math.ceil(bounds[0]), math.floor(bounds[1])) if whole else bounds
    given = sorted(set(thresholds))
    at = {t: float(math.floor(t)) if whole and math.isfinite(t) else float(t) for t in given}
    inner = sorted({v for v in at.values() if least <= v < most})
    high = np.array([*inner, most], dtype=float)
    if whole:
        start = np.array([least, *(v + 1 for v in inner)], dtype=float)
        low, margin = start, 0.0
    else:
        start = np.array([least, *(np.nextafter(v, np.inf) for v in inner)], dtype=float)
        gaps = [2 * tolerance * max(1.0, abs(v), most - least) for v in inner]
        low = np.array([least, *(v + g for v, g in zip(inner, gaps, strict=True))], dtype=float)
        low, margin = np.minimum(low, high), max(gaps, default=0.0)
    places = np.searchsorted(np.array(inner, dtype=float), list(at.values()), side="right").tolist()
    place = {
        t: len(high) if v >= most else int(k) for (t, v), k in zip(at.items(), places, strict=True)
    }
    return Cells(column, holds, low, high, start, place, missing, margin)


def categories(column: str, names: Any, missing: bool) -> Cells:
    """The cells of a column of categories, each of which is one."""
    empty = np.zeros(0)
    place = {name: k for k, name in enumerate(names)}
    return Cells(column, TEXT, empty, empty, empty, place, missing, n_categories=len(place))


@dataclass(frozen=True)
class Box:
    """A product of sets of cells that is a leaf, or a part of one.

    Parameters
    ----------
    leaf : int
    reach : mapping of str to int
        The set of cells of each column, a bit each, a missing value last; everything of a column
        that is not named.
    """

    leaf: int
    reach: dict[str, int]


def boxes_of(
    forest: Forest, cells: dict[str, Cells], tree: int, most: int = 10**6
) -> list[Box] | None:
    """The boxes of a tree, which are disjoint and cover everything; None if they are too many.

    A leaf of a tree is one box. What is left by a rule with several conditions is the union of one
    box per condition.
    """
    out: list[Box] = []
    yes: dict[Question, int] = {}
    everything = {column: one.everything for column, one in cells.items()}

    def cut(reach: dict[str, int], question: Question, answer: bool) -> dict[str, int] | None:
        """The part of a box with an answer to a question; None if it is empty."""
        if question not in yes:
            yes[question] = cells[question.column].yes(question)
        column = question.column
        side = yes[question] if answer else everything[column] & ~yes[question]
        part = reach.get(column, everything[column]) & side
        return {**reach, column: part} if part else None

    stack: list[tuple[Any, dict[str, int]]] = [(forest.roots[tree], {})]
    while stack:
        node, reach = stack.pop()
        if not isinstance(node, Split):
            out.append(Box(int(node), reach))
            if len(out) > most:
                return None
            continue
        held: dict[str, int] | None = reach
        follows: list[tuple[Any, dict[str, int]]] = []
        for question, answer in node.literals:
            assert held is not None
            failed = cut(held, question, not answer)
            if failed is not None:
                follows.append((node.no, failed))
            held = cut(held, question, answer)
            if held is None:
                break
        if held is not None:
            follows.append((node.yes, held))
        stack += follows
    return out
