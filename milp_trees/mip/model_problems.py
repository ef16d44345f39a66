"""Small problems on which the model of a formulation is looked at; families declare theirs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from milp_trees.common.registering import families

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation
    from milp_trees.models.space import Space
    from milp_trees.problems.problem import Problem


@dataclass(frozen=True)
class ModelProblems:
    """Problems of a space, a part of the kind `model problems`.

    Parameters
    ----------
    space : type of Space
    noun : str
        What is searched, in the plural.
    options : tuple of str
        Options of `of_table` beside `target` and `depth`.
    of_table : callable (data, **options) → (Problem, sentences)
        A problem on a table, and a sentence about each of its parts.
    examples : mapping of name to callable () → Problem
        Small problems by name.
    fitting : callable (formulation, problem) → (Problem, sentence)
        A variant that the formulation takes, and what was changed; by default the problem itself.
    """

    space: type[Space]
    noun: str
    options: tuple[str, ...]
    of_table: Callable[..., tuple[Problem, list[str]]]
    examples: Mapping[str, Callable[[], Problem]]
    fitting: Callable[[Formulation, Problem], tuple[Problem, str]] = lambda _, problem: (
        problem,
        "",
    )


def of_families() -> tuple[ModelProblems, ...]:
    """The problems of all families."""
    return families.parts("model problems")


def fitted(formulation: Any, problem: Problem) -> tuple[Problem, str]:
    """A problem as a formulation takes it, and a sentence on what was changed; or as it is."""
    for one in of_families():
        if isinstance(problem.space, one.space):
            return one.fitting(formulation, problem)
    return problem, ""
