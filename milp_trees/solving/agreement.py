"""Whether a result agrees with a reference, which is another method's result for the problem."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

from milp_trees.methods.work import ENOUGH, sizes_of
from milp_trees.mip.registry import registry
from milp_trees.problems.support import may_take
from milp_trees.results.front import place
from milp_trees.results.result import Result, Status, bound_of
from milp_trees.solving.attempt import AUTO
from milp_trees.tasks.comparing import crosses, equal

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem


def references(problem: Problem) -> Iterator[str]:
    """Methods with which answers are compared, by the `reference_rank` that they declare.

    Some of those that cannot take the problem are left out.
    """
    return (name for name, _ in registry.ranked("reference_rank", problem))


def choose_reference(
    problem: Problem,
    wanted: str | None = AUTO,
    without: tuple[str, ...] = (),
    models: bool = True,
    quick: bool = False,
) -> str | None:
    """Name of the first method that supports a problem and may be the reference."""
    if wanted is None:
        return None
    named = () if wanted == AUTO else (wanted,)
    excluded = {base_name(name) for name in without}
    for name in chain(named, (name for name in references(problem) if name not in named)):
        method = registry.method(name)  # an unknown name is an error
        if base_name(name) in excluded or not (models or registry.is_engine(name)):
            continue
        if quick and name not in named and method.expected_seconds(sizes_of(problem)) > ENOUGH:
            continue
        if registry.is_engine(name) and not may_take(method, problem):
            continue  # no sentence is composed for it
        if method.unsupported(problem) is None:
            return name
    return None


def base_name(method: str) -> str:
    """The plain name in a label: `flow-oct` of `flow-oct:merge_rows=off@highs`."""
    return method.partition(":")[0].partition("@")[0]


def built_on(method: str) -> frozenset[str]:
    """Names of the parts that a method is built on.

    Two methods are independent if they have no part in common.
    """
    base, solver = base_name(method), method.partition("@")[2]
    plugin: Any = registry.find("formulations" if solver else "methods", base)
    parts = {base, *getattr(plugin, "shared_components", ())}
    if solver:
        named = registry.find("solvers", solver)
        parts |= {f"@{solver}", *(f"@{name}" for name in getattr(named, "shared_components", ()))}
    return frozenset(parts)


def reference_of(
    method: str, problem: Problem, wanted: str | None = AUTO, quick: bool = False
) -> str | None:
    """The reference for one method.

    The reference for an engine that is itself a reference is another engine or none, since a second
    run that costs as much is not worth it.
    """
    if wanted is None:
        return None
    engine: Any = registry.find("methods", base_name(method))
    of_engines = engine is not None and engine.reference_rank is not None
    return choose_reference(problem, wanted, (method,), not (of_engines or quick), quick)


def with_agreement(result: Result, reference: Result | None) -> Result:
    """The result with `agrees`, `derived_by` and `reference` filled in.

    True: both are proven and equal. False: both are proven and different, or the bound or incumbent
    of one contradicts the other. None: none of these.
    """
    if reference is None:
        return replace(result, agrees=None, derived_by=None, reference=None)
    agrees = agreement(result, reference)
    alone = agrees and not built_on(result.method) & built_on(reference.method)
    derived_by = reference.method if alone else None
    return replace(result, agrees=agrees, derived_by=derived_by, reference=reference.method)


def with_wish(result: Result, wanted: str | None, reference: str | None) -> Result:
    """The result whose message says why a reference that was named did not judge it."""
    if wanted in (None, AUTO, reference):
        return result
    assert wanted is not None
    why = registry.method(wanted).unsupported(result.problem)
    if base_name(wanted) == base_name(result.method):
        why = f"{base_name(wanted)} made this answer."
    elif why is None:
        why = "an engine is judged by engines only."
    did = "nothing judged it" if reference is None else f"{reference} did"
    message = f"The reference {wanted} did not judge this answer, and {did}: {why}"
    return replace(result, message=f"{result.message} {message}".strip())


def agreement(result: Result, reference: Result) -> bool | None:
    """Whether two results agree; see `with_agreement`.

    Exact values and bounds are compared exactly, and others to the tolerance of the scale
    (`tasks.comparing`).
    """
    if result.complete and reference.complete:
        return _points(result) == _points(reference)
    scale, pair = result.problem.scale, (result, reference)
    empty = [r for r in pair if r.status is Status.INFEASIBLE]
    if empty and any(r.value is not None for r in pair):
        return False
    if len(empty) == 2:
        return True
    if empty:
        return None
    mine, other = bound_of(result), bound_of(reference)
    if crosses(mine, reference.value, scale) or crosses(other, result.value, scale):
        return False
    if result.optimal and reference.optimal:
        assert result.value is not None
        assert reference.value is not None
        return equal(result.value, reference.value, scale)
    return None


def _points(result: Result) -> list[tuple[Fraction, ...]]:
    """The coordinates of all models of a front, sorted."""
    return sorted(place(solution.coordinates) for solution in result.solutions)
