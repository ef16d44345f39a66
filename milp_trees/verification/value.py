"""Checks of a stored predictor: it is one of its problem, feasible, with the stated value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import VerificationError
from milp_trees.data.dataset import BinaryFeature
from milp_trees.models.shown import Shown
from milp_trees.models.tree import Tree
from milp_trees.results.json import json_safe
from milp_trees.verification.claims import as_fraction

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problems.problem import Problem


def read_predictor(stored: Any, problem: Problem) -> Any:
    """The stored predictor, if it belongs to the problem and does not contradict itself."""
    space = problem.space
    try:
        predictor = space.read(stored)
    except (KeyError, TypeError, ValueError) as error:
        if not space.damaged:
            raise
        raise VerificationError(f"The predictor is damaged: {space.damaged}") from error
    if isinstance(predictor, Shown):
        _same_actions(predictor.actions, problem)
        if isinstance(predictor, Tree):
            _same_labels(stored["root"], predictor.actions)
        if strange := space.strange_question(predictor, problem.dataset):
            raise VerificationError(strange)
    if json_safe(predictor.to_json()) != stored:
        raise VerificationError(
            "The predictor holds something that no predictor has, or a number or name in another form."
        )
    return predictor


def check_value(data: Mapping[str, Any], problem: Problem) -> list[str]:
    """Check that the predictor belongs to this problem, is feasible, and has the stated value."""
    same("unit", data["unit"], problem.task.unit)
    same("sense", data["sense"], problem.task.sense)
    if data["predictor"] is None:
        for name in ("objective", "exact"):
            if data[name] is not None:
                raise VerificationError(
                    f"The result states {name} {data[name]!r} but holds no predictor."
                )
        return []
    predictor = read_predictor(data["predictor"], problem)
    wrong = problem.violations(predictor)
    if wrong:
        raise VerificationError(f"The predictor is not feasible: {wrong[0]}")
    value = problem.value(predictor)
    exact = None if data["exact"] is None else as_fraction(data["exact"], "exact")
    if value.exact is not None or exact is not None:
        same(
            "exact",
            data["exact"],
            None if value.exact is None else f"{value.exact.numerator}/{value.exact.denominator}",
        )
    if data["objective"] is None or not near(data["objective"], value.number, 1e-12):
        raise VerificationError(
            f"The result states the objective {data['objective']!r}, but its predictor has {value.number!r} {value.unit}."
        )
    return [
        f"The predictor keeps every limit and side constraint, and its recomputed value is {value}."
    ]


def check_scores(
    data: Mapping[str, Any], problem: Problem, test: Dataset | None
) -> tuple[list[str], tuple[str, ...]]:
    """Check that every stated score exists and is that of the predictor."""
    from milp_trees.methods.scores import scores

    stated = data["scores"]
    if data["predictor"] is None:
        if stated:
            raise VerificationError(
                f"The result states the score {next(iter(stated))} but holds no predictor."
            )
        return [], ()
    predictor = problem.space.read(data["predictor"])
    own = problem.extra_scores(predictor)
    both = scores(problem, predictor, problem.dataset if test is None else test)
    known = (
        {**own, **both} if set(stated) - set(own) else own
    )  # a run without test rows states scores of its own rows only
    for name in sorted(set(stated) - set(known)):
        raise VerificationError(
            f"The result states the score {name!r}, which it cannot have; it has {', '.join(known) or 'none'}."
        )
    loose = tuple(
        name for name in known if test is None and name in both and name.startswith("test")
    )
    for name, value in known.items():
        if name not in stated:
            raise VerificationError(
                f"The result does not state the score {name}; recomputed it is {value!r}."
            )
        if name not in loose and not near(stated[name], value, 1e-9):
            raise VerificationError(
                f"The stated score {name} is {stated[name]!r}; recomputed it is {value!r}."
            )
    sure = [name for name in known if name not in loose]
    return ([f"The scores {', '.join(sure)} were recomputed."] if sure else []), tuple(
        f"scores.{name}" for name in loose
    )


def _same_labels(node: Mapping[str, Any], actions: tuple[Any, ...]) -> None:
    """Refuse nodes that state twice, and differently, what they choose or test."""
    if "action" in node:
        k = int(node["action"])
        if not 0 <= k < len(actions) or node.get("label") != json_safe(actions[k]):
            raise VerificationError(
                f"A leaf of the predictor is labelled {node.get('label')!r}, but its action {k} is another."
            )
        return
    if node.get("name") != BinaryFeature(**node["test"]).name:
        raise VerificationError(
            f"A node of the predictor is called {node.get('name')!r}, but it tests {BinaryFeature(**node['test']).name!r}."
        )
    _same_labels(node["false"], actions)
    _same_labels(node["true"], actions)


def _same_actions(actions: tuple[Any, ...], problem: Problem) -> None:
    """Refuse a predictor whose actions are not those of the problem."""
    strange = problem.task.unknown_actions(actions, problem.dataset)
    named = problem.task.actions(
        problem.dataset
    )  # none if decisions are not listed: then the task reads the labels itself
    if not strange and named and json_safe(list(actions)) != json_safe(list(named)):
        strange = "its actions are of other types, such as text for numbers."
    if strange:
        raise VerificationError(f"The predictor is for another problem: {strange}")


def near(stated: Any, value: float, share: float) -> bool:
    """Whether a stated number equals a recomputed one, up to the rounding of sums."""
    return abs(float(stated) - value) <= share * max(1.0, abs(value))


def same(name: str, stated: Any, expected: Any) -> None:
    """Refuse a statement that differs from what was recomputed."""
    if stated != expected:
        raise VerificationError(
            f"The result states {name} {stated!r}; recomputed it is {expected!r}."
        )
