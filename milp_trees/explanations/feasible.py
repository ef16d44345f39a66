"""Is there a model that keeps some of the demands? Every answer has a witness or a prover.

Models that are known answer without a run, and so do sets of demands that are proven to conflict.
Otherwise the default method of the problem searches, and stops at the first model. The costs of
actions do not matter for this question, so they are left out where the task allows it; then no
method looks for a better model than the first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from milp_trees.common.limits import Deadline, Limit, Limits
from milp_trees.explanations.deep import PROVER, deep_trees
from milp_trees.explanations.demands import Demands, Needed
from milp_trees.problems.problem import Problem
from milp_trees.results.result import Result, Status
from milp_trees.solving.solve import answer
from milp_trees.tasks.action_costs import ActionCosts
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.results.result import TracePoint

#: Levels that are tried beyond a limit on depth or length that is left out.
BEYOND = 2
#: Seconds for one search among models that are larger than the problem allows; at least so many
#: times the seconds of the first answer.
PATIENCE, TIMES = 1.0, 2.0


@dataclass(frozen=True)
class FreeOfCosts(ActionCosts):
    """A task with the actions and constraints of another one, for which all models are equal.

    Parameters
    ----------
    leaf_penalty, split_penalty, feature_costs, constraints
        See `ActionCosts`.
    task : ActionCosts, optional
        The other task.
    """

    name: ClassVar[str] = "free-of-costs"
    takes_counts: ClassVar[bool] = True

    task: Any = None

    @property
    def of_classes(self) -> bool:  # type: ignore[override]
        """Whether actions are classes, as of the other task."""
        return bool(self.task.of_classes)

    def actions(self, dataset: Dataset) -> tuple[Any, ...]:
        actions: tuple[Any, ...] = self.task.actions(dataset)
        return actions

    def costs(self, dataset: Dataset) -> np.ndarray:
        return np.zeros((dataset.n_rows, len(self.actions(dataset))), dtype=np.int64)


class Proven(NamedTuple):
    """Demands that no model keeps together: their numbers where they differ, and who proved it."""

    kept: frozenset[int]
    levels: Mapping[int, Any]
    by: str


class Answer(NamedTuple):
    """Whether there is a model: with a witness, or with the prover that there is none.

    If neither is known, there was no time, or no method that could tell; `why` says which.
    """

    witness: Needed | None = None
    by: str = ""
    why: str = ""

    @property
    def impossible(self) -> bool:
        """Whether it is proven that there is no model."""
        return self.witness is None and bool(self.by)


class Feasibility:
    """Questions about the demands of one problem, with all that is known from earlier ones.

    Parameters
    ----------
    demands : Demands
    limits : Limits
        Memory and threads; `time` is the time for all questions together.
    """

    def __init__(self, demands: Demands, limits: Limits) -> None:
        self.demands, self.limits = demands, limits
        self.deadline = Deadline.after(limits.time)
        self.witnesses: list[Needed] = []
        self._bare = demands.keeping(())
        self.proven: list[Proven] = []
        self.runs = 0
        #: Whether Ctrl-C ended a search, and with it all questions.
        self.interrupted = False
        self.levels = demands.problem.space.levels or 0
        #: Most seconds for one search among models that are larger than the problem allows.
        self.patience = PATIENCE
        task = demands.problem.task
        #: A task whose view is made otherwise may have constraints of its own.
        plain = isinstance(task, ActionCosts) and all(
            getattr(type(task), name) is getattr(ActionCosts, name)
            for name in ("side_rows", "structure", "cost_matrix", "violations")
        )
        self._free = FreeOfCosts(task=task) if plain else None

    def learn(self, trees: Iterable[Any]) -> None:
        """Remember models, which may be witnesses.

        One that a task refuses for a reason which is no demand (a floor of recall) is none.
        """
        for tree in trees:
            if not self._bare.violations(tree):
                self.witnesses.append(self.demands.needed(tree))

    def rule_out(self, kept: Collection[int], levels: Mapping[int, Any], by: str) -> None:
        """Remember that no model keeps these demands."""
        self.proven.append(Proven(frozenset(kept), dict(levels), by))

    def ask(
        self,
        kept: Collection[int],
        levels: Mapping[int, Any] | None = None,
        share: float = 1.0,
    ) -> Answer:
        """Whether a model keeps these demands.

        Parameters
        ----------
        kept : collection of int
            Positions of the demands.
        levels : mapping, optional
            Other numbers for some of them.
        share : float, default=1
            Largest share of the remaining time.
        """
        kept, levels = frozenset(kept), dict(levels or {})
        known = self._known(kept, levels)
        if known is not None:
            return known
        deep = self._deep(kept, levels)
        if deep is not None:
            return deep
        why = ""
        for problem, whole in self._problems(kept, levels):
            left = self.deadline.share(share).left
            if left is not None and left <= 0:
                return Answer(why="the time was over")
            if not (problem.space.levels or 0) <= self.levels:
                left = self.patience if left is None else min(left, self.patience)
            result = self._run(problem, left)
            tree = result.predictor
            if tree is not None and not problem.violations(tree):
                self.learn([tree])
                if self.witnesses and self.witnesses[-1].keeps(kept, levels):
                    return Answer(self.witnesses[-1])
            if result.status is Status.INFEASIBLE:
                why = "larger models were not tried"
                if whole:
                    by = result.certificate.proved_by or result.method
                    self.rule_out(kept, levels, by)
                    return Answer(by=by)
            else:
                why = result.message or f"{result.method} found no answer in time"
        return Answer(why=why)

    def _deep(self, kept: frozenset[int], levels: Mapping[int, Any]) -> Answer | None:
        """The answer of trees of any depth, if depth is limited and that limit is left out."""
        problem = self.demands.keeping(kept, levels)
        if problem.space.is_bounded or not self.demands.problem.space.is_bounded:
            return None
        for tree in deep_trees(problem, self.deadline):
            if tree is None:
                self.rule_out(kept, levels, PROVER)
                return Answer(by=PROVER)
            self.learn([tree])
            if self.witnesses and self.witnesses[-1].keeps(kept, levels):
                return Answer(self.witnesses[-1])
        return None

    def _known(self, kept: frozenset[int], levels: Mapping[int, Any]) -> Answer | None:
        """The answer that follows from earlier ones."""
        for needed in self.witnesses:
            if needed.keeps(kept, levels):
                return Answer(needed)
        for proven in self.proven:
            if proven.kept <= kept and all(
                self._at_least_as_tight(i, levels, proven.levels) for i in proven.kept
            ):
                return Answer(by=proven.by)
        return None

    def _at_least_as_tight(
        self, i: int, mine: Mapping[int, Any], theirs: Mapping[int, Any]
    ) -> bool:
        demand = self.demands.all[i]
        a, b = mine.get(i, demand.level), theirs.get(i, demand.level)
        return a is b or a == b or demand.allows(b, a)

    def _problems(
        self, kept: frozenset[int], levels: Mapping[int, Any]
    ) -> Iterable[tuple[Problem, bool]]:
        """The problems to search, and whether one that has no model proves that there is none.

        Without its limit on depth or length a problem is searched one level after the other, up to
        the size beyond which no model has another partition of the rows.
        """
        problem = self.demands.keeping(kept, levels)
        bounded = self.demands.problem.space.is_bounded
        stated = self._free if self._free is not None and bounded else None
        problem = self.demands.keeping(kept, levels, stated)
        missing = [
            i
            for i, demand in enumerate(self.demands.all)
            if i not in kept
            and demand.rule is None
            and demand.limit is not None
            and self.demands.problem.space.limits[demand.limit] is None
        ]
        if problem.space.is_bounded or not bounded or not missing:
            yield problem, True
            return
        (at,) = (i for i in missing if _bounds(problem, self.demands.all[i].limit))
        first, most = int(self.demands.all[at].level), most_levels(problem)
        for level in range(first + 1, min(most, first + BEYOND) + 1) or (most,):
            yield (
                self.demands.keeping(kept | {at}, {**levels, at: level}, stated),
                level >= most,
            )

    def _run(self, problem: Problem, seconds: float | None) -> Result:
        """Search until there is a model."""
        self.runs += 1

        def found(point: TracePoint) -> bool:
            return point.incumbent is not None

        result = answer(problem, None, replace(self.limits, time=seconds), progress=found)
        self.heed(result)
        return result

    def heed(self, result: Result) -> None:
        """Ctrl-C ends all questions, not one."""
        if result.limit is Limit.INTERRUPTED:
            self.interrupted, self.deadline = True, Deadline.after(0.0)


def _bounds(problem: Problem, limit: str | None) -> bool:
    """Whether a parameter of the space is what bounds the size of its models."""
    return replace(problem.space, **{str(limit): 1}).is_bounded  # type: ignore[type-var]


def most_levels(problem: Problem) -> int:
    """Levels beyond which no model is of use that the space without a limit on them allows.

    A tree has a row in every leaf, and asks no feature twice on a path; so has a rule list.
    """
    space, data = problem.space, problem.dataset
    kinds: list[int] = [data.n_rows, data.n_features]
    if problem.task.offers(CostMatrix) or problem.task.offers(LeafSums):
        view = problem.presolved_view()
        kinds = [int(view.n_rows), int(view.n_features)]
    leaves = min(kinds[0], max(1, int(data.total_rows) // max(1, space.least_rows)))
    if space.most_leaves is not None:
        leaves = min(leaves, space.most_leaves)
    return max(0, min(leaves - 1, kinds[1]))
