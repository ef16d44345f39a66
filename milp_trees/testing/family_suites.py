"""What families add to the checks: problems, models and definitions of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from milp_trees.common.registering import families
from milp_trees.models.space import Trees

if TYPE_CHECKING:
    import numpy as np

    from milp_trees.mip.formulation import Formulation
    from milp_trees.models.space import Space
    from milp_trees.problems.problem import Problem


class Models:
    """What the checks ask about the models of a space that a family declares."""

    space: type[Space]

    def every(self, problem: Problem) -> Iterator[Any]:
        """All models of a problem, feasible or not."""
        raise NotImplementedError

    def count(self, problem: Problem) -> float:
        """Their number; 0 if the oracle scores them all, however many they are."""
        return 0

    def best(self, problem: Problem) -> Any:
        """The best feasible model for a cost matrix, or None, where there are too many to score."""
        raise NotImplementedError

    def drawn(self, problem: Problem, rng: np.random.Generator) -> Any:
        """A random model within the limits on its size, feasible or not, without empty leaves."""
        raise NotImplementedError

    def is_limited(self, space: Any) -> bool:
        """Whether the space has limits that a model may violate by little."""
        return False

    def excess(self, space: Any, model: Any, routes: Any) -> Iterator[tuple[str, float]]:
        """Pairs of a limit and the amount by which a model violates it."""
        return iter(())

    def larger(self, space: Any) -> Any:
        """The space of slightly larger models, or None if those would be too large to try."""
        return None

    def problems(self, level: str) -> dict[str, Problem]:
        """The problems of a level on which methods for this space are checked, by name."""
        return {}


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
    models : Models, optional
        About the models of the family's own space.
    """

    name: str
    problems: Callable[[], Mapping[str, Problem]]
    tiny: Callable[[], Iterable[Problem]]
    golden: Callable[[Formulation], Problem | None]
    models: Models | None = None


def suites() -> tuple[Suite, ...]:
    """The suites of all families."""
    return families.parts("suites")


def models_of(space: Space) -> Models | None:
    """What a family declares about the models of a space; None for trees."""
    found = (suite.models for suite in suites() if not isinstance(space, Trees))
    return next((one for one in found if one and isinstance(space, one.space)), None)
