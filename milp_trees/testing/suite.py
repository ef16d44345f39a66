"""The whole suite for one formulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from milp_trees.mip.formulation import Formulation
from milp_trees.problems.problem import Problem
from milp_trees.testing import limits  # noqa: F401  (registers its check)
from milp_trees.testing.between import check_between_trees
from milp_trees.testing.checks import CHECKS, SOLVING, Check, solved
from milp_trees.testing.metamorphic import METAMORPHIC_CHECKS
from milp_trees.testing.problems import METAMORPHIC
from milp_trees.testing.sets import MOST_NONZEROS, is_wide, problems_of

#: A model that is completed by cuts is solved many times, so each of its possible entries counts as
#: this number of entries.
CUT_WEIGHT = 3


@dataclass
class Report:
    """What was run, as pairs of (check, problem), and what was not.

    Parameters
    ----------
    skipped : mapping of problem to sentence
        Problems that are not supported.
    unsolved : mapping of problem to sentence
        Problems whose model is too large to be solved here, or whose search was stopped; the other
        checks were run.
    """

    passed: list[tuple[str, str]] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    unsolved: dict[str, str] = field(default_factory=dict)


def check_formulation(
    formulation: Formulation,
    problems: Mapping[str, Problem] | None = None,
    checks: Mapping[str, Check] | None = None,
    metamorphic: bool = True,
    *,
    level: str = "quick",
) -> Report:
    """Run every check on every problem that the formulation supports.

    Parameters
    ----------
    formulation : Formulation
        The formulation.
    problems : mapping of name to Problem, optional
        By default those of the level in the spaces that it declares (`problems_of`).
    checks : mapping of name to check, optional
        By default `CHECKS`.
    metamorphic : bool, default=True
        Whether to run also the checks that change the problem.
    level : {"quick", "thorough"}
        `quick` takes a minute or two; `thorough` draws more problems and solves larger models. For
        default problems, models with more nonzeros than `MOST_NONZEROS[level]` are not solved; but
        trees are encoded and decoded, and the model is solved between pairs of them.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        For the first check that fails, or if every problem was skipped.
    """
    report = Report()
    for name, problem in (
        problems_of(formulation.space, level) if problems is None else problems
    ).items():
        why = formulation.unsupported(problem)
        if why:
            report.skipped[name] = why
            continue
        large = too_large(formulation, problem, level) if problems is None else None
        for claim, run in checks_for(
            name,
            checks,
            metamorphic and (problems is not None or name in METAMORPHIC),
            large is not None,
        ).items():
            run(formulation, problem)
            report.passed.append((claim, name))
        if (
            large is None
            and any((claim, name) in report.passed for claim in SOLVING)
            and solved(formulation, problem).status == "stopped"
        ):
            large = "The search was stopped; its bound and its best tree were checked."
        if large is not None:
            report.unsolved[name] = large
    if not report.passed:
        raise AssertionError(
            f"{formulation.label} skipped every problem: {'; '.join(sorted(set(report.skipped.values())))}"
        )
    return report


def checks_for(
    name: str,
    checks: Mapping[str, Check] | None = None,
    metamorphic: bool = False,
    large: bool = False,
) -> dict[str, Check]:
    """The checks for a problem.

    A large model is not solved; for a wide problem the points between trees are checked too.

    Parameters
    ----------
    name : str
        Name of the problem.
    checks : mapping of name to check, optional
        By default `CHECKS`.
    metamorphic : bool, default=False
        Whether to add the checks that change the problem.
    large : bool, default=False
        Whether the model is too large to be solved.

    Returns
    -------
    dict
        Checks by name.
    """
    todo = dict(CHECKS if checks is None else checks)
    if large:
        todo = {claim: run for claim, run in todo.items() if claim not in SOLVING}
    if is_wide(name) and (checks is None or any(claim in SOLVING for claim in checks)):
        todo["between_trees"] = check_between_trees
    return todo | (METAMORPHIC_CHECKS if metamorphic else {})


def too_large(formulation: Formulation, problem: Problem, level: str = "quick") -> str | None:
    """The reason why a model is not solved at a level, or None.

    Parameters
    ----------
    formulation : Formulation
        The formulation.
    problem : Problem
        The problem.
    level : {"quick", "thorough"}
        The level.

    Returns
    -------
    str or None
    """
    view = formulation.presolved_view(problem)
    nonzeros = int(formulation.model_size(view, problem.space).nonzeros)
    if not formulation.complete:  # the number of all its possible cuts
        nonzeros += CUT_WEIGHT * view.n_rows * view.n_features * 2**problem.trees.depth
    if nonzeros <= MOST_NONZEROS[level]:
        return None
    return f"{formulation.label} has {nonzeros:,} nonzeros here; at the level {level} models of at most {MOST_NONZEROS[level]:,} are solved."
