"""`Start`: a predictor to begin with, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError

if TYPE_CHECKING:
    from milp_trees.common.limits import Limit
    from milp_trees.problems.problem import Problem


@dataclass(frozen=True)
class Start:
    """A tree to begin with and where it comes from.

    Parameters
    ----------
    tree : Tree, Ensemble or None
    method : str
        The method that made it; `given` for a tree of the user; empty if there is nothing to
        report.
    seconds : float
        Seconds that making it took; they are not part of the run that begins with it.
    reason : str
        Why there is no tree although one was requested.
    limit : Limit or None
        How the user ended the run that made it; the run that would begin with it ends, too.
    """

    tree: Any = None
    method: str = ""
    seconds: float = 0.0
    reason: str = ""
    limit: Limit | None = None

    def describe(self, of_run: Mapping[str, Any]) -> dict[str, Any]:
        """The field `start` of a result: what the run reports about acceptance, and this start."""
        if not self.method:
            return dict(of_run)
        out: dict[str, Any] = {
            "method": self.method,
            "accepted": False if self.tree is None else None,
            "seconds": round(self.seconds, 6),
        }
        if self.reason:
            out["reason"] = self.reason
        return {**out, **of_run}


def _other_thresholds(problem: Problem, tree: Any) -> list[Any]:
    """The tests of a tree on columns of the data that are no features of theirs."""
    data = problem.dataset
    other = [t for t in tree.splits if t not in data.index]
    columns = {t.column for t in data.features} if other else set()
    return [t for t in other if t.column in columns]


def refusal(problem: Problem, tree: Any) -> str | None:
    """The reason why a run cannot begin with a tree; None if it can, or if there is no tree."""
    if tree is None:
        return None
    noun = getattr(tree, "noun", "pruned ensemble")
    if noun != problem.space.noun:
        raise DataError(
            f"The start is a {noun}; the models of the space {problem.space.name} are others, so it cannot begin with it."
        )
    if problem.space.noun == "tree" and (absent := _other_thresholds(problem, tree)):
        return f"The start tests {absent[0].name}, which is not among the tests of this problem."
    strange = problem.task.unknown_actions(tree.actions, problem.dataset)
    if strange:
        raise DataError(f"The start is for another problem: {strange}")
    wrong = problem.violations(tree)
    return f"The start is not feasible: {wrong[0]}" if wrong else None
