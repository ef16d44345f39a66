"""The least to which each demand would have to be loosened alone, all others being kept.

A model that keeps all other demands says which number is enough. The interval between that number
and the one that was stated is halved, and every model that is found shortens it to what it needs. It ends with a proof that nothing tighter than the last number is enough: the amounts that
models need are whole numbers, or fractions that cannot be arbitrarily close.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from milp_trees.explanations.demands import Demand
from milp_trees.explanations.feasible import Answer, Feasibility

#: Intervals of amounts that may be as close as they like are halved so often.
HALVINGS = 20


@dataclass(frozen=True)
class Loosened:
    """What one demand would have to be loosened to.

    Parameters
    ----------
    at : int
        Position of the demand.
    demand : Demand
    level : number or None
        The tightest number that is known to be enough; None if no number is, or if the demand has
        no number.
    least : bool
        Whether it is proven that nothing tighter is enough.
    enough : bool or None
        Whether a model keeps all other demands; None if that is open.
    tree : Tree, RuleList or None
        Such a model, which keeps the demand with the new number.
    by : str
        Who proved that nothing tighter, or that no number, is enough.
    """

    at: int
    demand: Demand
    level: Any
    least: bool
    enough: bool | None
    tree: Any = None
    by: str = ""

    @property
    def words(self) -> str:
        """The new number in words."""
        one = self.demand
        if self.enough is False:
            return f"{one.name}: not enough alone"
        if self.enough is None:
            return f"{one.name}: open"
        if self.level is None:
            return f"without {one.name}"
        about = "" if self.least else "about "
        return f"{one.parameter} from {shown(one.level)} to {about}{shown(self.level)}"


def shown(number: Any) -> str:
    """A number with at most four significant digits after its whole part."""
    if isinstance(number, Fraction):
        return str(number.numerator) if number.denominator == 1 else f"{float(number):.4g}"
    return str(number)


def loosened(ask: Feasibility, at: int) -> Loosened:
    """How far one demand must be loosened.

    Parameters
    ----------
    ask : Feasibility
    at : int
        Position of the demand.
    """
    demand, everything = ask.demands.all[at], range(len(ask.demands))
    free = ask.ask(frozenset(everything) - {at}, share=0.5)
    if free.witness is None:
        return Loosened(at, demand, None, False, False if free.impossible else None, by=free.by)
    level = free.witness.levels[at]
    if demand.limit is None or level is None:
        return Loosened(at, demand, None, demand.limit is None, True, free.witness.tree, free.by)
    return _narrowed(ask, at, level, free)


def _narrowed(ask: Feasibility, at: int, enough: Fraction, known: Answer) -> Loosened:
    """Narrow the interval between a number that is enough and the one that was stated.

    Every other question is whether anything tighter is enough at all, which ends the search.
    """
    demand, everything = ask.demands.all[at], range(len(ask.demands))
    assert known.witness is not None
    tree, little, least, by = known.witness.tree, Fraction(demand.level), False, ""
    steps = 0
    while not least:
        tighter = ask.demands.tighter(at, enough)
        if tighter is not None and demand.allows(little, tighter):
            least = True  # nothing lies between
            break
        if tighter is None and steps >= HALVINGS:
            break
        tried = _middle(demand, little, enough, tighter) if steps % 2 == 0 else tighter
        steps += 1
        if tried is None:
            continue
        found = ask.ask(everything, {at: tried}, share=0.5)
        if found.witness is not None:
            level = found.witness.levels[at]
            assert level is not None
            enough, tree = level, found.witness.tree
        elif found.impossible:
            by, least, little = found.by, tried == tighter, tried
        else:
            break
    return Loosened(at, demand, demand.number(enough), least, True, tree, by)


def _middle(demand: Demand, little: Fraction, enough: Fraction, tighter: Any) -> Fraction:
    """The middle of an interval, or the tightest number that is of interest."""
    middle = (little + enough) / 2
    if demand.whole:
        middle = Fraction(math.floor(middle) if demand.larger else math.ceil(middle))
    return tighter if tighter is not None and demand.allows(middle, tighter) else middle
