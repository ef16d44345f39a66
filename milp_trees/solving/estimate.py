"""Sizes and a time class of every formulation, from formulas, before anything is built.

The time class is a rough guide from measurements with HiGHS on one core. A model whose relaxation
is integral takes a linear programme, whose time grows with its nonzeros. A model with a block per
row has a weak relaxation, and only small models of that kind are proven within minutes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from milp_trees.common.errors import Unsupported
from milp_trees.common.registering.labels import split_labels
from milp_trees.mip.formulation import Formulation
from milp_trees.mip.open_thresholds import for_models
from milp_trees.mip.registry import registry
from milp_trees.problems.problem import Problem

CLASSES = ("under a second", "seconds", "minutes", "probably only a bound")
#: Largest numbers of nonzeros of a model in the first, second and third class.
INTEGRAL = (200_000, 3_000_000, 30_000_000)
ROW_BLOCKS = (1_500, 6_000, 20_000)


def estimates(problem: Problem, formulations: str | Iterable[str] = "all") -> list[dict[str, Any]]:
    """A row per formulation: sizes and time class, or the reason why it cannot take the problem.

    For a ratio, these are the sizes and the class of one step.
    """
    problem = for_models(problem)
    if formulations == "all":
        names = registry.formulations_for(problem)
    else:
        names = split_labels(formulations) if isinstance(formulations, str) else list(formulations)
    return [estimated(named_formulation(name), problem) for name in names]


def named_formulation(name: str) -> Formulation:
    """The formulation of that name with its options (`flow-oct:merge_rows=off`)."""
    formulation: Formulation = registry.spelled("formulations", name)
    return formulation


def estimated(formulation: Formulation, problem: Problem) -> dict[str, Any]:
    """The row of one formulation: sizes and time class, or the reason why not."""
    problem = problem.one_step()
    row: dict[str, Any] = {
        "formulation": formulation.label,
        "variables": None,
        "binaries": None,
        "rows": None,
        "nonzeros": None,
    }
    why = formulation.unsupported(problem)
    if why:
        return {**row, "time_class": None, "reason": why}
    try:
        sizes = formulation.model_size(formulation.presolved_view(problem), problem.space)
    except Unsupported as too_many:  # known only when it is counted
        return {**row, "time_class": None, "reason": str(too_many)}
    view: Any = problem.first_view(formulation.needs)
    side = bool(getattr(view, "side", ())) or getattr(view, "budget", None) is not None
    return {
        **row,
        **sizes._asdict(),
        "time_class": time_class(formulation, sizes.nonzeros, side),
        "reason": None,
    }


def time_class(formulation: Formulation, nonzeros: int, side: bool) -> str:
    """The class of a model with so many nonzeros, as the module explains."""
    limits = INTEGRAL if formulation.integral_relaxation else ROW_BLOCKS
    place = sum(nonzeros > limit for limit in limits) + int(
        formulation.integral_relaxation and side
    )
    return CLASSES[min(place, len(CLASSES) - 1)]
