"""What families add to the checks: problems, models and definitions of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from milp_trees.common.registering import families

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation
    from milp_trees.problems.problem import Problem


@dataclass(frozen=True)
class Suite:
    """The problems of a family, a part of the kind `suites`.

    Parameters
    ----------
    name : str
        What the problems are called in golden files.
    problems : callable () → mapping of name to Problem
        The problems whose methods are listed in `taken.json`.
    tiny : callable () → iterable of Problem
        Problems that are solved in a moment, for compiling ahead.
    golden : callable (formulation) → Problem or None
        The problem of the golden file of a formulation, if it is one of this family.
    models : callable (problem) → iterator of predictors, or None
        All models of a problem, if it is of a space of this family.
    """

    name: str
    problems: Callable[[], Mapping[str, Problem]]
    tiny: Callable[[], Iterable[Problem]]
    golden: Callable[[Formulation], Problem | None]
    models: Callable[[Problem], Iterator[Any] | None] = lambda problem: None


def suites() -> tuple[Suite, ...]:
    """The suites of all families."""
    return families.parts("suites")
