"""For which penalties per leaf a given model is optimal: an interval with exact ends.

A model with k leaves and the loss L costs L + λk at the penalty λ. Another model, with l leaves and
the loss M, costs less exactly if λ(k - l) > M - L. So each other model bounds the penalties from
one side, or excludes all of them, and the penalties at which the given model is optimal are an
interval. Its ends are found by Newton's method on the least cost, which is concave and piecewise
linear in λ (Dinkelbach 1967, *On nonlinear fractional programming*): where a problem at an end
has a better model, that model moves the end, and where it has none, the end is proven.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from milp_trees.common.errors import NoView, Unsupported
from milp_trees.common.limits import Limit
from milp_trees.common.plurals import counted
from milp_trees.problems.problem import Problem
from milp_trees.results.json import json_safe, ratio_text
from milp_trees.results.result import Result, Status
from milp_trees.tasks.comparing import exact_value, meets

#: Solves one problem from a start, under what is left of the limits.
Solve = Callable[[Problem, Any], Result]

#: Rationals with a larger denominator are shown as decimals alone.
LONGEST = 10**6


@dataclass(frozen=True)
class Rival:
    """A model that bounds the penalties at which the given one is optimal, or excludes them all."""

    model: Any
    leaves: int
    loss: Fraction


@dataclass(frozen=True, eq=False)
class PenaltyRange:
    """The penalties per leaf at which a model is optimal; `penalty_range` makes it.

    Parameters
    ----------
    least, most : Fraction or None
        Ends of the interval, which belong to it. None for `most` is no upper end. Both are of the
        parameter `leaf_penalty` of the task, which is added per leaf on the scale of a rate.
    current : Fraction
        The penalty of the problem.
    proven : bool
        Whether the model is proven to be optimal at both ends. Otherwise a limit was reached, and
        all that is known is that it is not optimal outside of the interval.
    empty : bool
        Whether the model is optimal at no penalty.
    rivals : tuple of Rival
        The models at the lower and the upper end, or those that leave no penalty.
    exact : bool
        Whether losses are exact; otherwise costs were measured and rounded to a grid.
    note : str
        Why the range is not proven, if it is not.
    """

    least: Fraction
    most: Fraction | None
    current: Fraction
    proven: bool
    empty: bool
    rivals: tuple[Rival, ...] = ()
    exact: bool = True
    note: str = ""

    def __contains__(self, penalty: Any) -> bool:
        above = Fraction(penalty) >= self.least
        return not self.empty and above and (self.most is None or Fraction(penalty) <= self.most)

    @property
    def nearest(self) -> Fraction | None:
        """The penalty of the range that is the nearest to the present one; None if it is empty."""
        if self.empty:
            return None
        least = max(self.current, self.least)
        return least if self.most is None else min(least, self.most)

    def to_json(self) -> dict[str, Any]:
        """Plain data; fractions are "p/q"."""
        plain: dict[str, Any] = json_safe(
            {
                "least": None if self.empty else ratio_text(self.least),
                "most": None if self.empty else ratio_text(self.most),
                "current": ratio_text(self.current),
                "nearest": ratio_text(self.nearest),
                "empty": self.empty,
                "proven": self.proven,
                "exact": self.exact,
                "note": self.note,
                "rivals": [
                    {"leaves": r.leaves, "loss": ratio_text(r.loss), "model": r.model.to_json()}
                    for r in self.rivals
                ],
            }
        )
        return plain

    def __str__(self) -> str:
        if self.empty:
            return f"optimal at no penalty per leaf: {self._excluded()}"
        known = "" if self.proven else f" (not proven: {self.note})"
        least, most = _shown(self.least), "" if self.most is None else _shown(self.most)
        upto = f"between {least} and {most}" if most else f"of at least {least}"
        if self.least == self.most:
            upto = f"of {least} alone"
        if self.current in self:
            return f"optimal at penalties per leaf {upto}{known}, and the penalty is {_shown(self.current)}"
        assert self.nearest is not None
        change, way = abs(self.nearest - self.current), "higher"
        if self.nearest < self.current:
            way = "lower"
        return f"optimal at penalties per leaf {upto}{known}; the penalty is {_shown(self.current)} and would have to be {_shown(change)} {way}"

    def _excluded(self) -> str:
        """The models that leave no penalty, in words."""
        said = [
            f"a loss of {_shown(r.loss)} with {counted(r.leaves, 'leaf', 'leaves')}"
            for r in self.rivals
        ]
        if len(said) == 1:
            return f"another model has {said[0]}"
        return f"of two others, one has {said[0]} and is better at low penalties, and one has {said[1]} and is better at high ones"


def _shown(number: Fraction) -> str:
    """A rational with its decimal form; without the rational where that is one of many digits."""
    decimal = f"{float(number):.6g}"
    if number.denominator > LONGEST:
        return decimal
    return decimal if Fraction(decimal) == number else f"{number} ({decimal})"


def loss_of(problem: Problem, model: Any) -> Fraction:
    """What a model costs if leaves are free: a rate, or one minus a score."""
    task: Any = problem.task
    value = replace(task, leaf_penalty=Fraction(1)).value(problem.routes(model), problem.dataset)
    return exact_value(value) - model.n_leaves


def penalty_range(problem: Problem, model: Any, solve: Solve) -> PenaltyRange:
    """The penalties per leaf at which a model is optimal among all models of a problem.

    Parameters
    ----------
    problem : Problem
        The model satisfies its limits and constraints.
    model : Tree or RuleList
    solve : callable
        Solves one problem from a start.

    Returns
    -------
    PenaltyRange

    Raises
    ------
    NoView
        The task has no penalty per leaf.
    """
    if not hasattr(problem.task, "leaf_penalty"):
        raise NoView(f"The task {problem.task.name} has no penalty per leaf.")
    return _Search(problem, model, solve).run()


class _Search:
    """The search for both ends of the interval."""

    def __init__(self, problem: Problem, model: Any, solve: Solve) -> None:
        self.problem, self.model, self.solve = problem, model, solve
        task: Any = problem.task
        self.task: Any = task
        self.current: Fraction = task.leaf_penalty
        self.k, self.loss = model.n_leaves, loss_of(problem, model)
        self.least, self.most = Fraction(0), None
        self.below: Rival | None = None
        self.above: Rival | None = None
        self.excluding: tuple[Rival, ...] = ()
        self.note = ""

    def run(self) -> PenaltyRange:
        lower, upper = self._lower_end(), self._upper_end()
        ends = tuple(r for r in (self.below, self.above) if r is not None)
        return PenaltyRange(
            self.least,
            self.most,
            self.current,
            proven=(lower and upper) or bool(self.excluding),
            empty=bool(self.excluding),
            rivals=self.excluding or ends,
            exact=self.problem.scale.exact,
            note=self.note,
        )

    def _lower_end(self) -> bool:
        """Raise the lower end until nothing is better there; whether that is proven."""
        while not self.excluding:
            try:
                better = self._better_at(self.least, self.problem.space)
            except Unsupported as why:  # free leaves, and nothing else limits the size
                self.note = str(why)
                return False
            if not isinstance(better, Rival):
                return bool(better)
            self._take(better)
        return True

    def _upper_end(self) -> bool:
        """Lower the upper end until nothing is better there; whether that is proven."""
        if self.excluding or self.k == 1:
            return True
        smaller = self.problem.space.with_leaves(self.k - 1)
        best = self._run(self.least, smaller)
        if best.status is Status.INFEASIBLE:
            return True
        if best.predictor is None:
            return self._stopped(best)
        self._take(self._rival(best.predictor))
        while not self.excluding and self.most is not None:
            better = self._better_at(self.most, smaller)
            if not isinstance(better, Rival):
                return bool(better)
            self._take(better)
        return True

    def _run(self, penalty: Fraction, space: Any) -> Result:
        """The best model of a space at a penalty."""
        task = replace(self.task, leaf_penalty=penalty)
        start = self.model if space is self.problem.space else None
        return self.solve(Problem(self.problem.dataset, task, space), start)

    def _better_at(self, penalty: Fraction, space: Any) -> Rival | bool:
        """A model that costs less at a penalty; True if there is none, False if that is unknown."""
        result = self._run(penalty, space)
        if result.predictor is not None:
            rival, scale = self._rival(result.predictor), result.problem.scale
            own, others = self.loss + penalty * self.k, rival.loss + penalty * rival.leaves
            value = result.problem.value(result.predictor)
            equal = scale.exact or meets(value, result.problem.value(self.model), scale)
            if others < own and (scale.exact or not equal):
                return rival
        return True if result.optimal else self._stopped(result)

    def _stopped(self, result: Result) -> bool:
        """Keep the reason why a run proved nothing."""
        limit = f"{result.limit.value} limit" if isinstance(result.limit, Limit) else ""
        self.note = limit or result.message or result.status.value
        return False

    def _rival(self, model: Any) -> Rival:
        return Rival(model, model.n_leaves, loss_of(self.problem, model))

    def _take(self, rival: Rival) -> None:
        """Exclude the penalties at which a model costs less."""
        more = rival.leaves - self.k
        if not more:
            if rival.loss < self.loss:
                self.excluding = (rival,)
            return
        bound = (self.loss - rival.loss) / more
        if more > 0 and bound > self.least:
            self.least, self.below = bound, rival
        if more < 0 and bound < 0:
            self.excluding = (rival,)
            return
        if more < 0 and (self.most is None or bound < self.most):
            self.most, self.above = bound, rival
        ends = tuple(r for r in (self.below, self.above) if r is not None)
        if self.most is not None and self.least > self.most:
            self.excluding = ends
