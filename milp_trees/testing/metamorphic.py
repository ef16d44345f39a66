"""Checks that build a model again, or change the form of a problem.

The model, or its optimum, must stay the same.
"""

from __future__ import annotations

from dataclasses import replace

from milp_trees.mip.formulation import Formulation
from milp_trees.mip.tree_formulation import TreeFormulation
from milp_trees.problems.problem import Problem
from milp_trees.testing import transforms
from milp_trees.testing.checks import Check, check_decoded_value, demand, refuse, slack, solved
from milp_trees.testing.model_text import model_text
from milp_trees.testing.solve import Point, built, minimise

#: Run on the problems of `milp_trees.testing.METAMORPHIC`.
METAMORPHIC_CHECKS: dict[str, Check] = {}


def _metamorphic(name: str, transform: transforms.Transform) -> None:
    def run(formulation: Formulation, problem: Problem) -> None:
        other = transform(problem)
        if other is None or formulation.unsupported(other):
            return
        refuse(
            _different_optimum(formulation, problem, formulation, other, name), formulation, problem
        )

    run.__name__ = f"check_{name}"
    run.__doc__ = f"The optimum does not change: {transform.__doc__}"
    METAMORPHIC_CHECKS[name] = run


for _name, _transform in transforms.EQUAL.items():
    _metamorphic(_name, _transform)


def check_presolve_switches(formulation: Formulation, problem: Problem) -> None:
    """Presolve, on or off, does not change the optimum, and the decoded tree keeps its value.

    Presolve merges rows and drops features.
    """
    for merge, drop in ((False, True), (True, False), (False, False)):
        if not isinstance(formulation, TreeFormulation):
            raise TypeError(
                f"{formulation.name} is no formulation of trees; its checks are those of its own space."
            )
        other = replace(formulation, merge_rows=merge, drop_tests=drop)
        if not other.unsupported(problem):
            refuse(
                _different_optimum(formulation, problem, other, problem, "switching presolve"),
                other,
                problem,
            )
            check_decoded_value(other, problem)


def check_deeper_is_never_worse(formulation: Formulation, problem: Problem) -> None:
    """A larger space has no worse optimum."""
    other = transforms.one_level_deeper(problem)
    if other is None or formulation.unsupported(other):
        return
    here, there = solved(formulation, problem), minimise_problem(formulation, other)
    if here.objective is not None:
        view = formulation.presolved_view(problem)
        value = (
            None
            if there.objective is None
            else float(view.from_value(formulation.presolved_view(other).to_value(there.objective)))
        )
        holds = value is not None and value <= here.objective + slack(view, here.objective)
        demand(
            holds,
            formulation,
            problem,
            f"the optimum is {here.objective:.9g} units, one level deeper {value} ({there.status}).",
        )


def check_repeatable_build(formulation: Formulation, problem: Problem) -> None:
    """Two builds, from views that are made twice, have the same text."""
    from milp_trees.mip.linear.matrix import compile_model

    first = model_text(built(formulation, problem).matrix)
    second = model_text(compile_model(formulation.build(problem.without_views(), incomplete=True)))
    demand(
        first == second,
        formulation,
        problem,
        f"two builds differ: {_first_difference(first, second)}",
    )


METAMORPHIC_CHECKS |= {
    "repeatable_build": check_repeatable_build,
    "presolve_switches": check_presolve_switches,
    "deeper_is_never_worse": check_deeper_is_never_worse,
}


def minimise_problem(formulation: Formulation, problem: Problem) -> Point:
    """Optimum of a problem that occurs only once (not cached)."""
    b = built.__wrapped__(formulation, problem)
    return minimise(b.matrix, b.separator)


def _different_optimum(
    formulation: Formulation, problem: Problem, other: Formulation, changed: Problem, how: str
) -> str | None:
    """How two optima that should be equal differ, or None."""
    here = solved(formulation, problem)
    there = solved(other, changed) if problem is changed else minimise_problem(other, changed)
    if here.objective is None or there.objective is None:
        return (
            None
            if here.status == there.status
            else f"{here.status}, but {there.status} after {how}."
        )
    view, view2 = formulation.presolved_view(problem), other.presolved_view(changed)
    a, b = float(view.to_value(here.objective)), float(view2.to_value(there.objective))
    unit = abs(float(view.scale)) * slack(view, here.objective) + abs(float(view2.scale)) * slack(
        view2, there.objective
    )
    return None if abs(a - b) <= unit else f"the optimum is {a:.9g}, but {b:.9g} after {how}."


def _first_difference(a: str, b: str) -> str:
    pairs = zip(a.splitlines(), b.splitlines(), strict=False)
    return next((f"{x!r} against {y!r}" for x, y in pairs if x != y), "one is longer")
