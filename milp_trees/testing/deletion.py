"""Deletion of each named constraint of a formulation in turn.

A check must notice the deletion, or the formulation must declare the constraint redundant. If no
check fails, the constraint is either a cut, which the file then declares with a reason, or the
problems here are too easy.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from milp_trees.mip.formulation import Formulation
from milp_trees.problems.problem import Problem
from milp_trees.testing.checks import decoded_fault, optimum_fault
from milp_trees.testing.describe import describe
from milp_trees.testing.sets import tiny_problems
from milp_trees.testing.solve import built, minimise, without


def deletable_constraints(
    formulation: Formulation, problems: Mapping[str, Problem] | None = None
) -> dict[str, str | None]:
    """For each named constraint, what a check reports when it is deleted, or None.

    The report is that of the first problem on which a check fails. The default problems are the
    named and random ones (`tiny_problems`).
    """
    found: dict[str, str | None] = {}
    for problem in (tiny_problems() if problems is None else problems).values():
        if formulation.unsupported(problem):
            continue
        for label in dict.fromkeys(built(formulation, problem).matrix.row_labels):
            if found.get(label) is None:
                found[label] = _noticed(formulation, problem, label)
    return found


def check_deletable_constraints(
    formulation: Formulation, problems: Mapping[str, Problem] | None = None
) -> None:
    """Every deletion of a constraint is noticed, or declared in `redundant`.

    Constraints in `redundant` must exist, and their deletion must not be noticed.

    Raises
    ------
    AssertionError
        Also if the formulation takes none of the problems, so that nothing was checked.
    """
    problems = tiny_problems() if problems is None else problems
    why = {formulation.unsupported(problem) for problem in problems.values()}
    if None not in why:
        raise AssertionError(
            f"{formulation.label} skipped every problem: {'; '.join(sorted(filter(None, why)))}"
        )
    found = deletable_constraints(formulation, problems)
    declared = set(formulation.redundant)
    silent = sorted(
        label for label, message in found.items() if message is None and label not in declared
    )
    if silent:
        raise AssertionError(
            f"{formulation.label}: deleting {', '.join(silent)} is noticed by no check; declare it in `redundant` with the reason, or remove it."
        )
    missed = sorted(label for label in declared if found.get(label) is not None)
    if missed:
        raise AssertionError(
            f"{formulation.label} declares {missed[0]} redundant, but without it: {found[missed[0]]}"
        )
    unknown = sorted(declared - set(found))
    if unknown:
        raise AssertionError(
            f"{formulation.label} declares {', '.join(unknown)} redundant, which no model has."
        )


@lru_cache(maxsize=4096)
def _noticed(formulation: Formulation, problem: Problem, label: str) -> str | None:
    """What a check reports on the model without the constraint called `label`, or None."""
    b = built(formulation, problem)
    point = minimise(without(b.matrix, label), b.separator)
    fault = optimum_fault(formulation, problem, point) or decoded_fault(formulation, problem, point)
    return fault and f"{describe(problem)}: {fault}"
