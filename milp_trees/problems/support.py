"""Who can solve a problem, and the sentences of those who cannot."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import NoView
from milp_trees.models.space import space_names
from milp_trees.problems.questions import BySize, Front
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem
    from milp_trees.tasks.base import Task


def unsupported_reason(taker: Any, problem: Problem) -> str | None:
    """The reason why a method or formulation cannot take a problem, or None.

    The reason follows from what the taker declares (`space`, `questions`, `needs`).
    """
    if not isinstance(problem.space, taker.space):
        return f"{taker.name} searches {space_names(taker.space)}, not {problem.space.name}."
    if problem.question.name not in taker.questions:
        return f"{taker.name} answers {', '.join(sorted(taker.questions))}, not {problem.question.name}{who_can(problem)}."
    if not offers_what(taker, problem.task):
        return _no_view(taker, problem)
    space = problem.space
    if getattr(space, "max_depth", 0) is None and not getattr(taker, "takes_any_depth", False):
        return f"{taker.name} needs a depth limit; give max_depth (--depth)."
    if getattr(space, "min_weight_leaf", 0) and not getattr(taker, "takes_min_weight", False):
        return f"{taker.name} cannot express a minimum weight in the leaves{who_can(problem, 'takes_min_weight')}."
    if getattr(space, "min_samples_treatment", 0) and not getattr(
        taker, "takes_min_treatment", False
    ):
        return f"{taker.name} cannot express a minimum of rows per treatment in the leaves{who_can(problem, 'takes_min_treatment')}."
    try:
        view = problem.first_view(taker.needs)
    except NoView as why:
        return str(why)
    sized = problem.question.name == BySize.name or not isinstance(view, CostMatrix)
    return None if sized else space.unbounded(view)


def unsupported_structure(taker: Any, problem: Problem) -> str | None:
    """The sentence that a method or formulation cannot express a constraint on the tree itself.

    It declares the kinds that it takes (`takes_structure`).
    """
    for part in getattr(problem.first_view(taker.needs), "structure", ()):
        if part.kind not in taker.takes_structure:
            others = who_can(problem, partial(_takes_kind, part.kind))
            return f"{taker.name} cannot express the constraint {part.name}, which is about the tree itself{others}."
    return None


def _takes_kind(kind: str, taker: Any) -> bool:
    """Whether a method or formulation takes a kind of constraint on the tree itself."""
    return kind in getattr(taker, "takes_structure", ())


def offers_what(taker: Any, task: Task) -> bool:
    """Whether a task offers a view that a method or formulation needs."""
    return any(
        task.offers(kind)
        for kind in (taker.needs if isinstance(taker.needs, tuple) else (taker.needs,))
    )


def may_take(taker: Any, problem: Problem) -> bool:
    """Whether a method or formulation declares that it takes such problems at all.

    It says no where `unsupported_reason` gives a reason, but composes no sentence.
    """
    steps = problem.by_steps(taker)
    return (
        isinstance(problem.space, taker.space)
        and (problem.question.name in taker.questions or steps)
        and (offers_what(taker, problem.task) or steps)
    )


def able(
    problem: Problem,
    flag: str | Callable[[Any], bool] = "",
    groups: tuple[str, ...] = ("methods", "formulations"),
) -> list[str]:
    """Names of the methods and formulations for a problem, those that run by default first."""
    from milp_trees.common.registering import plugins

    found: list[tuple[int, str]] = []
    for group in groups:
        classes: dict[str, Any] = plugins.classes(group)
        found += [
            (cls.verification_rank + 1000 if cls.default_rank is None else cls.default_rank, name)
            for name, cls in classes.items()
            if may_take(cls, problem)
            and (not flag or (flag(cls) if callable(flag) else getattr(cls, flag, False)))
            and _declares(cls, problem)
        ]
    return [name for _, name in sorted(found)]


def _declares(taker: Any, problem: Problem) -> bool:
    """Whether a class declares all that the limits and constraints of a problem ask for."""
    space = problem.space
    requested = {
        "takes_any_depth": getattr(space, "max_depth", 0) is None,
        "takes_min_weight": getattr(space, "min_weight_leaf", 0),
        "takes_min_treatment": getattr(space, "min_samples_treatment", 0),
    }
    if any(wanted and not getattr(taker, flag, False) for flag, wanted in requested.items()):
        return False
    if getattr(space, "min_samples_leaf", 1) > 1 and not getattr(taker, "takes_min_leaf", True):
        return False
    if not getattr(problem.task, "constraints", ()) or not offers_what(taker, problem.task):
        return True
    try:
        view = problem.first_view(taker.needs)
    except NoView:
        return False
    kinds = {part.kind for part in getattr(view, "structure", ())}
    side = getattr(view, "side", ()) and not taker.takes_side_rows
    return not side and kinds <= set(getattr(taker, "takes_structure", ()))


def who_can(problem: Problem, flag: str | Callable[[Any], bool] = "") -> str:
    """The end of a sentence, such as `; a, b and c can`, that names all methods with an ability.

    It follows a statement that another method lacks this ability (`flag`); empty if all do.
    """
    names = able(problem, flag)
    return (
        f"; {' and '.join(filter(None, [', '.join(names[:-1]), names[-1]]))} can" if names else ""
    )


def _no_view(taker: Any, problem: Problem) -> str:
    """The sentence that a method or formulation cannot take a task, with methods that can."""
    task = problem.task
    if problem.question.name == Front.name and problem.rule is None and task.without_front:
        return task.without_front
    offered = ", ".join(kind.__name__ for kind in task.view_makers) or "none"
    names = able(problem, groups=("methods",)) or able(problem)
    remedy = f"; {', '.join(names)} can" if names else ""
    return f"{taker.name} cannot take the task {task.name} (views it offers: {offered}){remedy}."
