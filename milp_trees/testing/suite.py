"""The whole suite for one formulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from milp_trees.formulation import Formulation
from milp_trees.problem import Problem
from milp_trees.testing.checks import CHECKS, Check
from milp_trees.testing.metamorphic import METAMORPHIC_CHECKS
from milp_trees.testing.problems import METAMORPHIC
from milp_trees.testing.sets import default_problems


@dataclass
class Report:
    """What ran: pairs of (check, problem), and the sentences of the problems that were skipped."""

    passed: list[tuple[str, str]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


def check_formulation(
    formulation: Formulation,
    problems: Mapping[str, Problem] | None = None,
    checks: Mapping[str, Check] | None = None,
    metamorphic: bool = True,
) -> Report:
    """Run every check on every problem that the formulation supports.

    Parameters
    ----------
    problems : mapping of name to Problem, optional
        Default: all named and random tiny problems.
    checks : mapping of name to check, optional
        Default: `CHECKS`.
    metamorphic : bool, default=True
        Also the checks that change the problem.

    Raises
    ------
    AssertionError
        The first check that fails, or the fact that every problem was skipped.
    """
    report = Report()
    for name, problem in (default_problems() if problems is None else problems).items():
        why = formulation.unsupported(problem)
        if why:
            report.skipped[name] = why
            continue
        todo = dict(CHECKS if checks is None else checks)
        if metamorphic and (problems is not None or name in METAMORPHIC):
            todo |= METAMORPHIC_CHECKS
        for claim, run in todo.items():
            run(formulation, problem)
            report.passed.append((claim, name))
    if not report.passed:
        raise AssertionError(f"{formulation.label} skipped every problem: {'; '.join(sorted(set(report.skipped.values())))}")
    return report
