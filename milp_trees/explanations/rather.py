"""Why not another model: what it violates or costs, and what would make it the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from typing import Any

from milp_trees.common.errors import MilpTreesError
from milp_trees.common.limits import Limit, Limits
from milp_trees.explanations.penalty import PenaltyRange, penalty_range
from milp_trees.explanations.weights import WeightChange, least_change
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import Best
from milp_trees.results.gap import Gap
from milp_trees.results.json import json_safe
from milp_trees.results.result import Result
from milp_trees.solving.gap import gap_of
from milp_trees.solving.solve import answer
from milp_trees.tasks.base import Value


@dataclass(frozen=True, eq=False)
class WhyNotModel:
    """Why a given model is not the answer of a problem; `why_not(problem, tree=…)` makes it.

    Parameters
    ----------
    gap : Gap
        The value of the model, what it violates, and how far it is from the best one.
    penalty : PenaltyRange or None
        The penalties per leaf at which it is optimal.
    weights : WeightChange or None
        The least change of row weights after which it is optimal.
    notes : mapping of str
        For `penalty` and `weights`, why there is no answer.
    seconds : float
        Time of all runs.
    """

    gap: Gap
    penalty: PenaltyRange | None
    weights: WeightChange | None
    notes: Mapping[str, str]
    seconds: float = 0.0

    @property
    def problem(self) -> Problem:
        return self.gap.problem

    @property
    def model(self) -> Any:
        """The given model, with the actions of the problem."""
        return self.gap.model

    @property
    def violations(self) -> tuple[str, ...]:
        """A sentence per limit or constraint that the model violates."""
        return self.gap.violations

    @property
    def value(self) -> Value:
        """The value of the model, recomputed on the data."""
        return self.gap.value

    @property
    def cost(self) -> Fraction | float | None:
        """How much worse the model is than the best one; None if that is unknown.

        It is negative if a model that violates constraints is better than all that satisfy them.
        """
        return self.gap.absolute if self.gap.exact is None else self.gap.exact

    @property
    def limit(self) -> Limit | None:
        """The limit that ended the first run, which proves what the best model is."""
        return self.gap.result.limit

    @property
    def optimal(self) -> bool:
        """Whether the model is as good as the best one: then there is nothing to explain."""
        return self.gap.optimal

    def to_json(self) -> dict[str, Any]:
        """The object that `milp-trees why-not --tree FILE --json` prints."""
        plain: dict[str, Any] = json_safe(
            {
                "schema": "milp-trees/why-not-tree/1",
                **self.gap.to_json(),
                "penalty": None if self.penalty is None else self.penalty.to_json(),
                "weights": None if self.weights is None else self.weights.to_json(),
                "notes": dict(self.notes),
                "seconds": self.seconds,
            }
        )
        return plain

    def to_text(self) -> str:
        """What the model violates or costs, and what would make it optimal, a line each."""
        lines = [self.gap.to_text(), ""] if not self.optimal else [self.gap.to_text()]
        for name, found in (("penalty", self.penalty), ("weights", self.weights)):
            lines.append(f"{name:<9} {self.notes[name] if found is None else found}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.to_text())}</pre>"

    def __repr__(self) -> str:
        if self.violations:
            return f"<WhyNotModel: it violates {len(self.violations)} constraints>"
        return f"<WhyNotModel: {self.gap!r:.200}>"


def why_not_model(
    problem: Problem,
    model: Any,
    *,
    method: str | Method | None = None,
    limits: Limits,
    progress: Progress | None = None,
) -> WhyNotModel:
    """Why a given model is not the answer of a problem, and what would make it one.

    Parameters
    ----------
    problem : Problem
        The question of the problem is ignored.
    model : Tree, RuleList, fitted estimator or str
        As for `milp_trees.gap_of`.
    method : str or Method, optional
        What solves the problems; by default the first method that takes each.
    limits : Limits
        The time limit is that of all runs together.
    progress : callable, optional
        Called with every `TracePoint` of the first run.

    Returns
    -------
    WhyNotModel
    """
    clock = Clock()

    def left() -> Limits:
        return limits.after(clock.seconds)

    def solve(step: Problem, start: Any) -> Result:
        return answer(step, method, left(), start=start)

    gap = gap_of(model, problem, method=method, limits=limits, progress=progress)
    notes: dict[str, str] = {}
    if gap.violations:
        why = "a model that violates constraints is optimal at none"
        notes = {"penalty": why, "weights": why}
    # Where thresholds were open, what follows is about those that the first run chose.
    known = replace(gap.result.problem, question=Best())
    penalty: PenaltyRange | None = None
    weights: WeightChange | None = None
    if not notes:
        fitting = known.space.candidate(gap.model, known)
        try:
            penalty = penalty_range(known, fitting, solve)
        except MilpTreesError as why_none:
            notes["penalty"] = str(why_none)
        try:
            weights = least_change(known, fitting, solve)
        except MilpTreesError as why_none:
            notes["weights"] = str(why_none)
    return WhyNotModel(gap, penalty, weights, notes, clock.seconds)


__all__ = ["WhyNotModel", "why_not_model"]
