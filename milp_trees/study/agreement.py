"""Whether a result agrees with an reference: the one place where two methods' answers to one problem
are compared.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from milp_trees.by_name import registry
from milp_trees.results.result import Result, Status
from milp_trees.tasks.base import Value
from milp_trees.tasks.views import Scale

if TYPE_CHECKING:
    from milp_trees.problem import Problem

#: Methods that may judge others, best first: exact, and sharing as little as possible with what
#: they judge.
ORACLES = (
    "dp",
    "dp-reference",
    "enumerate",
    "min-cut",
    "enumerate-prunings",
    "state-flow@highs",
    "enumerate-counts",
)
#: Relative slack for bounds, which solvers compute in floating point.
BOUND_SLACK = 1e-6


def choose_reference(
    problem: Problem, wanted: str | None = "dp", without: tuple[str, ...] = ()
) -> str | None:
    """Name of the first reference that supports a problem, `wanted` first; None if none does or none
    is wanted.

    Parameters
    ----------
    without : tuple of str
        Methods that must not judge (because they are judged); a formulation is excluded with every
        solver and option.

    Raises
    ------
    UnknownName
        There is no method `wanted`.
    """
    if wanted is None:
        return None
    registry.method(wanted)  # an unknown name is an error
    excluded = {base_name(name) for name in without}
    for name in dict.fromkeys((wanted, *ORACLES)):
        if base_name(name) in excluded or not _known(name):
            continue
        if registry.method(name).unsupported(problem) is None:
            return name
    return None


def base_name(method: str) -> str:
    """`flow-oct` of `flow-oct:merge_rows=off@highs`."""
    return method.partition(":")[0].partition("@")[0]


def judge_of(method: str, problem: Problem, wanted: str | None = "dp") -> str | None:
    """Who judges one method. The dynamic programme itself is judged by the enumerator or by nobody:
    a second run of equal cost is not asked for.
    """
    without = (method, "state-flow@highs") if base_name(method) in ORACLES[:5] else (method,)
    return choose_reference(problem, wanted, without)


def _known(name: str) -> bool:
    if registry.is_engine(name):
        return True
    solver = name.rpartition("@")[2]
    return base_name(name) in registry.classes("formulations") and solver in registry.classes(
        "solvers"
    )


def with_agreement(result: Result, reference: Result | None) -> Result:
    """The result with `agrees` filled in.

    True: both proven and equal. False: both proven and different, or a bound or an incumbent of one
    crosses the other's. None: neither.
    """
    return replace(result, agrees=None if reference is None else agreement(result, reference))


def agreement(result: Result, reference: Result) -> bool | None:
    """See `with_agreement`. Values are compared as exact rationals, inexact ones with the scale's
    tolerance, in its units.
    """
    scale = result.problem.scale
    mine, other = _interval(result, scale), _interval(reference, scale)
    if crosses(mine[0], other[1], scale) or crosses(other[0], mine[1], scale):
        return False
    if result.status is Status.INFEASIBLE and reference.status is Status.INFEASIBLE:
        return True
    if result.optimal and reference.optimal:
        assert mine[1] is not None
        assert other[1] is not None
        return abs(mine[1] - other[1]) <= scale.tolerance
    return None


def _interval(result: Result, scale: Scale) -> tuple[Fraction | float | None, Fraction | None]:
    """(bound, incumbent) in units of the scale, always minimised; an infeasible problem has the
    bound infinity.
    """
    incumbent = None if result.value is None else units(result.value, scale)
    if result.status is Status.INFEASIBLE:
        return float("inf"), incumbent
    exact = result.certificate.bound_exact
    bound = exact if exact is not None else result.bound
    return (None if bound is None else scale.from_value(bound)), incumbent


def units(value: Value, scale: Scale) -> Fraction:
    """A value in the units of a scale."""
    return scale.from_value(value.exact if value.exact is not None else value.number)


def crosses(bound: Fraction | float | None, incumbent: Fraction | None, scale: Scale) -> bool:
    """Whether an incumbent is better than a bound says is possible, beyond rounding."""
    if bound is None or incumbent is None:
        return False
    return bool(
        bound - incumbent > max(scale.tolerance, BOUND_SLACK * max(1.0, abs(float(incumbent))))
    )
