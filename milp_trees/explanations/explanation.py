"""`Explanation`: why a problem has no answer, what would help, and the nearest model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from milp_trees.common.limits import Limit, Limits
from milp_trees.explanations.conflict import Conflict, smallest_conflict
from milp_trees.explanations.demands import Demand, Demands
from milp_trees.explanations.feasible import PATIENCE, TIMES, Feasibility
from milp_trees.explanations.loosen import Loosened, loosened
from milp_trees.explanations.nearest import Nearest, nearest
from milp_trees.explanations.pool import Pool, pool_of
from milp_trees.methods.finish import Clock
from milp_trees.problems.questions import Best
from milp_trees.results.result import Result, Status
from milp_trees.solving.solve import answer

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.problems.problem import Problem

#: Version of the JSON form.
SCHEMA = "milp-trees/why-not/1"


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a problem has no answer.

    Parameters
    ----------
    result : Result
        The answer of the problem as it was stated.
    demands : tuple of Demand
        All constraints that the user stated: side constraints, each with one limit, and the
        parameters of the space that exclude models.
    found : Conflict or None
        The smallest conflict; None if the problem has an answer, or if none was found.
    changes : tuple of Loosened
        For each demand that conflicts, what it would have to be loosened to.
    nearest : Nearest or None
        The nearest model; None if the problem has an answer, or if none was found.
    seconds : float
        Time of everything, without the first answer.
    runs : int
        Number of searches, without the first answer.
    limit : Limit or None
        `Limit.INTERRUPTED` if Ctrl-C ended the first answer or the questions that follow it; what
        was found by then is kept.
    """

    result: Result
    demands: tuple[Demand, ...]
    found: Conflict | None
    changes: tuple[Loosened, ...]
    nearest: Nearest | None
    seconds: float
    runs: int
    limit: Limit | None = None

    @property
    def conflict(self) -> tuple[Demand, ...]:
        """The demands that conflict; none if the problem has an answer."""
        return () if self.found is None else tuple(self.demands[i] for i in self.found.members)

    @property
    def loosened(self) -> pd.DataFrame:
        """What each demand that conflicts would have to be loosened to, alone.

        Returns
        -------
        DataFrame
            A row per demand: its `constraint` in words, its `parameter`, the number `stated`, the
            number `needed`, whether nothing tighter is `least`, and whether that is `enough` (None:
            open).
        """
        import pandas as pd

        columns = ["constraint", "parameter", "stated", "needed", "least", "enough"]
        rows = [
            (c.demand.words, c.demand.limit, c.demand.level, c.level, c.least, c.enough)
            for c in self.changes
        ]
        return pd.DataFrame(rows, columns=columns, dtype=object)

    def to_text(self) -> str:
        """Three lines: the conflict, what would help, and the nearest model."""
        noun = self.result.problem.space.noun
        if self.result.predictor is not None:
            return f"Nothing conflicts: a {noun} of {self.result.value} keeps all constraints."
        if self.result.status is not Status.INFEASIBLE:
            why = self.result.message or f"{self.result.method} found no {noun} in time"
            return f"It is not known whether a {noun} keeps all constraints: {why}"
        if self.found is None:
            ended = "the search was interrupted" if self.limit else "there was no time"
            return (
                f"No {noun} keeps all constraints. Which of them conflict was not found: {ended}."
            )
        return "\n".join([self._conflicts(noun), self._helps(noun), self._near(noun)])

    def _conflicts(self, noun: str) -> str:
        """The line on the conflict."""
        assert self.found is not None
        if not self.conflict:
            return f"Conflict: no {noun} exists even without any of the constraints (proved by {self.found.by})."
        words = _and([demand.words for demand in self.conflict])
        least = "no smaller set conflicts" if self.found.smallest else "a smaller set may conflict"
        together = "together " if len(self.conflict) > 1 else ""
        return f"Conflict: no {noun} keeps {together}{words}; {least} (proved by {self.found.by})."

    def _helps(self, noun: str) -> str:
        """The line on what would help."""
        if not self.conflict:
            return "Loosen one: none of them would help."
        helps = [one.words for one in self.changes if one.enough]
        others = [one for one in self.changes if not one.enough]
        text = f"Loosen one: {'; '.join(helps)}." if helps else ""
        if any(one.enough is None for one in others):
            text += f" Open: {_and([one.demand.name for one in others if one.enough is None])}."
        if any(one.enough is False for one in others):
            text += f" Not enough alone: {_and([one.demand.name for one in others if one.enough is False])}."
        return text.strip() or "Loosen one: none of them was looked at in time."

    def _near(self, noun: str) -> str:
        """The line on the nearest model."""
        if not self.conflict:
            return "Nearest: there is none."
        if self.nearest is None:
            return "Nearest: none was found in time."
        return f"Nearest: a {noun} of {self.nearest.words}."

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints: plain, with exact numbers as texts."""
        near, found = self.nearest, self.found
        return {
            "schema": SCHEMA,
            "status": self.result.status.value,
            "message": self.to_text(),
            "demands": [_demand_json(demand) for demand in self.demands],
            "conflict": None
            if found is None
            else {
                "members": [_demand_json(demand) for demand in self.conflict],
                "proved_by": found.by,
                "smallest": found.smallest,
                "open": [[self.demands[i].words for i in one] for one in found.open],
            },
            "loosened": [
                {
                    **_demand_json(one.demand),
                    "needed": _plain(one.level),
                    "least": one.least,
                    "enough": one.enough,
                    "proved_by": one.by or None,
                }
                for one in self.changes
            ],
            "nearest": None
            if near is None
            else {
                "violated": [
                    {**_demand_json(demand), "needed": _plain(level)}
                    for demand, level in near.violated
                ],
                "distance": _plain(near.distance),
                "best": near.best,
                "objective": near.value.number,
                "unit": near.value.unit,
                "predictor": near.predictor.to_json(),
            },
            "seconds": self.seconds,
            "runs": self.runs,
            "result": self.result.to_json(),
        }


def explain(problem: Problem, limits: Limits, result: Result | None = None) -> Explanation:
    """Explain why a problem has no answer; `result` is its answer, if it is known."""
    if result is None:
        result = answer(replace(problem, question=Best()), None, limits)
        limits = limits.after(result.seconds)
    clock, demands = Clock(), Demands(result.problem)
    ask = Feasibility(demands, limits)
    limit = result.limit if result.limit is Limit.INTERRUPTED else None
    found, near = None, None
    changes: list[Loosened] = []
    try:
        if result.status is Status.INFEASIBLE:
            found = smallest_conflict(ask, begin(ask, result))
            for at in found.members if found else ():
                changes.append(loosened(ask, at))
            near = nearest(ask, changes) if found else None
    except KeyboardInterrupt:  # between two searches, which have their own answer to it
        ask.interrupted = True
    if ask.interrupted:
        limit = Limit.INTERRUPTED
    parts = found, tuple(changes), near, clock.seconds, ask.runs, limit
    return Explanation(result, demands.all, *parts)


def begin(ask: Feasibility, result: Result) -> Pool | None:
    """Tell the questions what is known from the answer that nothing is feasible."""
    ask.patience = max(PATIENCE, TIMES * result.seconds)
    everything = range(len(ask.demands))
    ask.rule_out(everything, {}, result.certificate.proved_by or result.method)
    ask.learn(result.problem.space.simplest(_actions(result.problem)))
    pool = pool_of(ask)
    if pool is not None:
        pool.draw()
    return pool


def _actions(problem: Problem) -> tuple[Any, ...]:
    """The actions of a task that chooses among them."""
    return () if problem.task.predicts_numbers else problem.task.actions(problem.dataset)


def _and(parts: list[str]) -> str:
    """Parts of a sentence, the last after `and`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]]) if len(parts) > 1 else "".join(parts)


def _demand_json(demand: Demand) -> dict[str, Any]:
    """A demand as plain data."""
    return {
        "name": demand.name,
        "parameter": demand.limit,
        "stated": _plain(demand.level),
        "words": demand.words,
    }


def _plain(number: Any) -> Any:
    """A number as JSON has it; a fraction as text."""
    if isinstance(number, Fraction):
        return str(number)
    return int(number) if isinstance(number, int) else number
