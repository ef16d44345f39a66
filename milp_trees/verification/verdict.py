"""`Verification`: the outcome of verifying a result, with one of three verdicts.

A result that does not hold is an error and has no verdict.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from milp_trees.verification.statement import Statement


class Verdict(enum.Enum):
    """How far a result was checked; the strongest verdict is the first."""

    #: A proof file was checked: its claims hold for the problem of the result, rule by rule.
    PROVED = "proved"
    #: Its optimum (or bound) was derived again by a method that has no part in common with the one
    #: that made it.
    DERIVED = "derived"
    #: Its value, limits and scores were recomputed. It claims no more than these, or its claim was
    #: derived again only by the same method.
    RECOMPUTED = "recomputed"
    #: Its value was recomputed, but no method here derived the optimality or the bound that it
    #: claims.
    CLAIMED = "claimed"

    def as_strong_as(self, other: Verdict) -> bool:
        """Whether this verdict is at least as strong as another."""
        order = list(Verdict)
        return order.index(self) <= order.index(other)


@dataclass(frozen=True)
class Verification(Sequence[str]):
    """What `verify` found; as a sequence and as text it consists of its sentences.

    Parameters
    ----------
    verdict : Verdict
    claim : {"optimal", "bound", "infeasible", "curve", "front", "count", ""}
        What the result claims besides the value of its predictor; empty if nothing.
    method : str
        The method that made the result, as the result states; this cannot be checked here.
    derived_by : str or None
        The method that derived the claim again, or the file that proves it.
    sentences : tuple of str
        A sentence per check; the last one states the verdict with its reason.
    not_verified : tuple of str
        Fields whose values make sense but were not recomputed; a name includes everything below it.
    problem : Statement
        Which problem the result answers.
    """

    verdict: Verdict
    claim: str
    method: str
    derived_by: str | None
    sentences: tuple[str, ...]
    not_verified: tuple[str, ...]
    problem: Statement

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self.sentences[index]

    def __len__(self) -> int:
        return len(self.sentences)

    def __str__(self) -> str:
        return "\n".join([*self.problem.lines(), "", *self.sentences])

    @property
    def words(self) -> str:
        """The verdict with the file or the method that it rests on.

        It is "proved by file NAME", "derived again by METHOD", "recomputed" or "claimed by METHOD".
        """
        return {
            Verdict.PROVED: f"proved by file {self.derived_by}",
            Verdict.DERIVED: f"derived again by {self.derived_by}",
            Verdict.RECOMPUTED: "recomputed",
            Verdict.CLAIMED: f"claimed by {self.method}",
        }[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Plain data.

        The keys are `verdict`, `words`, `claim`, `method`, `derived_by`, `checked` (the sentences),
        `not_verified` and `problem`.
        """
        return {
            "verdict": self.verdict.value,
            "words": self.words,
            "claim": self.claim or None,
            "method": self.method,
            "derived_by": self.derived_by,
            "checked": list(self.sentences),
            "not_verified": list(self.not_verified),
            "problem": self.problem.to_json(),
        }
