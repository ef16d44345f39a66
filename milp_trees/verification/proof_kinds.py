"""Kinds of proof files that families add, found among the parts `proofs` of families."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.registering import families
from milp_trees.results.json import ratio_text

if TYPE_CHECKING:
    from milp_trees.methods.claims import Claims
    from milp_trees.problems.problem import Problem
    from milp_trees.results.result import Result
    from milp_trees.verification.derive import Derivation


@dataclass(frozen=True)
class Checked:
    """What a checker found in a proof that holds.

    Parameters
    ----------
    proved : bool
        Whether the model of the file is proved to be optimal; otherwise a bound is.
    bound, value : int, Fraction or None
        The bound on all models, and the value of the file's model, in units of the costs; natural
        values of a squared error, which are fractions.
    sentence : str
    """

    proved: bool
    bound: int | Fraction | None
    value: int | Fraction | None
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """The fields by name; fractions as numbers, and exactly in fields of their own."""
        plain: dict[str, Any] = asdict(self)
        for name in ("bound", "value"):
            number = plain[name]
            if isinstance(number, Fraction):
                plain |= {name: float(number), f"{name}_exact": ratio_text(number)}
        return plain


class ProofKind:
    """A kind of proof file. Kinds without a space only check files."""

    #: Name of the space whose results have such proofs.
    space: ClassVar[str | None] = None

    def takes(self, stated: dict[str, Any]) -> bool:
        """Whether a file is of this kind, by its statement (or content, if it is one object)."""
        raise NotImplementedError

    def check(
        self, proof: str | Path, stated: dict[str, Any], data: str | Path | None, slowly: bool
    ) -> Checked:
        """Check a file, with the arguments of `check_file`, which words the errors of checkers."""
        raise NotImplementedError

    def statement(self, problem: Problem, result: Result, claims: Claims) -> dict[str, Any]:
        """The first line of a proof about a result."""
        raise NotImplementedError

    def proved_by(self, result: Result, proof: str | Path) -> Derivation | str:
        """As `proved.proved_by`, which has refused what no proof file is about."""
        raise NotImplementedError


def kind_of(problem: Problem) -> ProofKind | None:
    """The kind of the proofs about a problem; None for claims about costs of actions."""
    kinds: tuple[ProofKind, ...] = families.parts("proofs")
    return next((kind for kind in kinds if kind.space == problem.space.name), None)
