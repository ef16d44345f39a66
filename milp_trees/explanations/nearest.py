"""The nearest model: one that violates as little as possible.

*Nearest* is measured so: rates and shares by their difference, other numbers by their difference
divided by the larger one. Of the demands that suffice alone, the one with the smallest change is
loosened. If none does, as few demands as possible are given up. Of the models that violate no more
than that, the nearest one is the best for the task, as far as the time allows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from milp_trees.explanations.demands import Demand
from milp_trees.explanations.feasible import Feasibility
from milp_trees.explanations.loosen import Loosened, shown
from milp_trees.results.result import Status
from milp_trees.solving.solve import answer
from milp_trees.tasks.base import Value


@dataclass(frozen=True, eq=False)
class Nearest:
    """The nearest model.

    Parameters
    ----------
    predictor : Tree, RuleList or Ensemble
    value : Value
        The task's value of it.
    violated : tuple of (Demand, number or None)
        The demands that it violates, and the number that each of them would need; None if it has
        none.
    distance : Fraction or None
        The change of the only demand that is violated, in the measure of this module; None if
        several are, or if one has no number.
    best : bool
        Whether it is proven to be the best for the task among those that violate no more.
    """

    predictor: Any
    value: Value
    violated: tuple[tuple[Demand, Any], ...]
    distance: Fraction | None
    best: bool

    @property
    def words(self) -> str:
        """Its value, and what it would need."""
        needs = " and ".join(
            f"that {demand.words} is left out"
            if level is None
            else f"{demand.parameter} {shown(level)} instead of {shown(demand.level)}"
            for demand, level in self.violated
        )
        best = "; no better one needs no more" if self.best else ""
        return f"{self.value} that needs {needs}{best}"


def distance(demand: Demand, level: Any, dataset: Any) -> Fraction:
    """How far a number is from the one that was stated."""
    stated, other = Fraction(demand.level), Fraction(level)
    away = abs(stated - other)
    if not away or (demand.rule is not None and demand.rule.widest(dataset) == 1):
        return away
    return away / max(abs(stated), abs(other))


def nearest(ask: Feasibility, known: Iterable[Loosened]) -> Nearest | None:
    """The nearest model; None if none is known."""
    data = ask.demands.problem.dataset
    alone = [one for one in known if one.enough and one.tree is not None]
    numbers = [
        (distance(one.demand, one.level, data), one) for one in alone if one.level is not None
    ]
    if numbers:
        _, one = min(numbers, key=lambda found: found[0])
        return _best(ask, (one.at,), one.tree)
    if alone:
        return _best(ask, (alone[0].at,), alone[0].tree)
    everything = frozenset(range(len(ask.demands)))
    for size in range(1, len(everything) + 1):
        for given_up in combinations(sorted(everything), size):
            found = ask.ask(everything - set(given_up), share=0.25)
            if found.witness is not None:
                return _best(ask, given_up, found.witness.tree)
    return None


def _best(ask: Feasibility, given_up: tuple[int, ...], tree: Any) -> Nearest:
    """The best model for the task that violates no more than a known one."""
    demands, everything = ask.demands, frozenset(range(len(ask.demands)))
    problem, needed, best = demands.problem, demands.needed(tree), False
    levels = {i: needed.levels[i] for i in given_up if needed.levels[i] is not None}
    left = ask.deadline.left
    if left is None or left > 0:
        allowed = demands.keeping(everything - (set(given_up) - set(levels)), levels)
        if allowed.space.is_bounded or not problem.space.is_bounded:
            result = answer(allowed, None, replace(ask.limits, time=left), start=tree)
            ask.heed(result)
            found = result.predictor
            if result.status in (Status.OPTIMAL, Status.FEASIBLE) and found is not None:
                tree, needed, best = found, demands.needed(found), result.optimal
    violated = tuple(
        (demand, level if level is None else demand.number(level))
        for demand, kept, level in zip(demands.all, needed.kept, needed.levels, strict=True)
        if not kept
    )
    one = violated[0] if len(violated) == 1 else None
    away = None if one is None or one[1] is None else distance(*one, problem.dataset)
    return Nearest(tree, problem.value(tree), violated, away, best)
