"""`Verification`: what the check of a result came to. Three verdicts; a result that does not hold
is an error, not a verdict.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from milp_trees.verification.statement import Statement


class Verdict(enum.Enum):
    """How far a result was checked; the strongest first."""

    #: Its optimum (or bound) was derived again by a method that shares nothing with the one that
    #: made it.
    DERIVED = "derived"
    #: Its value, limits and scores were recomputed, and it claims no more, or what it claims comes
    #: again from the same method run anew.
    RECOMPUTED = "recomputed"
    #: Its value was recomputed, but the optimality or bound that it claims was not derived by any
    #: method here.
    CLAIMED = "claimed"

    def as_strong_as(self, other: Verdict) -> bool:
        """Whether this verdict says at least as much as another."""
        order = list(Verdict)
        return order.index(self) <= order.index(other)


@dataclass(frozen=True)
class Verification(Sequence[str]):
    """What `verify` found. As a sequence and as text it is its sentences.

    Parameters
    ----------
    verdict : Verdict
    claim : {"optimal", "bound", "infeasible", "curve", ""}
        What the result claims beyond the value of its predictor; empty if nothing.
    method : str
        Who made the result, as the result says; nothing here can check that.
    derived_by : str or None
        Which method derived the claim again.
    sentences : tuple of str
        A sentence per check; the last one says the verdict and why.
    not_verified : tuple of str
        Fields whose values make sense, but which were not recomputed; a name stands for all that is
        below it.
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

    def to_json(self) -> dict[str, Any]:
        """Plain data: `verdict`, `claim`, `method`, `derived_by`, `checked` (the sentences),
        `not_verified`, `problem`.
        """
        return {
            "verdict": self.verdict.value,
            "claim": self.claim or None,
            "method": self.method,
            "derived_by": self.derived_by,
            "checked": list(self.sentences),
            "not_verified": list(self.not_verified),
            "problem": self.problem.to_json(),
        }
