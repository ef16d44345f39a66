"""Checks of whole methods: a formulation with a solver, an engine, a heuristic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from milp_trees.common.limits import Limits
from milp_trees.results.result import Result, Status
from milp_trees.testing.describe import describe, expression
from milp_trees.testing.generate import random_tree
from milp_trees.testing.oracle import brute_force
from milp_trees.testing.sets import PAIR_PROBLEMS, get, problems_of
from milp_trees.testing.solve import built, minimise
from milp_trees.testing.suite import Report

if TYPE_CHECKING:
    from milp_trees.methods.method import Method
    from milp_trees.mip.formulation import Formulation
    from milp_trees.models.tree import Tree
    from milp_trees.problems.problem import Problem

#: Limits of the many solves of tiny problems.
LIMITS = Limits(time=60.0)
#: Number of problems that `check_method` also solves with the best start.
STARTED = 3


def check_result(method: Method, problem: Problem, start: Tree | None = None) -> Result:
    """One run, whose claims must agree with the oracle.

    An exact method proves the oracle's value; a heuristic is feasible and not better than it. No
    bound may contradict the oracle's value.

    Parameters
    ----------
    method : Method
        The method.
    problem : Problem
        The problem.
    start : Tree, optional
        A start for the method.

    Returns
    -------
    Result

    Raises
    ------
    AssertionError
        A claim is wrong.
    """
    return reference(method, problem, method.run(problem, LIMITS, start=start))


def reference(method: Method, problem: Problem, result: Result) -> Result:
    """Compare the claims of a result with the oracle.

    Parameters
    ----------
    method : Method
        The method that gave the result.
    problem : Problem
        Its problem.
    result : Result
        The result.

    Returns
    -------
    Result
        The same result.

    Raises
    ------
    AssertionError
        A claim is wrong.
    """
    best, scale, where = (
        brute_force(problem),
        problem.scale,
        f"{method.name} on {describe(problem)}",
    )

    def units(value: float) -> float:
        return float(scale.from_value(value))

    if best is None:
        allowed = {Status.INFEASIBLE} if method.exact else {Status.INFEASIBLE, Status.NO_SOLUTION}
        if result.status not in allowed:
            raise AssertionError(
                f"{where}: no tree is feasible, but the status is {result.status.value} ({result.message})."
            )
        return result
    near = 1e-6 * max(1.0, abs(units(best[1].number))) + scale.tolerance
    message = f"{result.status.value}, value {result.objective}, bound {result.bound}, {result.message or 'no message'}"
    expected = f"{best[1]} by {expression(best[0])}"
    if method.exact and result.status is not Status.OPTIMAL:
        raise AssertionError(f"{where}: expected a proof of {expected}; got {message}.")
    if result.status is Status.ERROR or result.predictor is None or result.objective is None:
        raise AssertionError(f"{where}: expected a tree no better than {expected}; got {message}.")
    away = units(result.objective) - units(best[1].number)
    if away < -near or (method.exact and away > near):
        raise AssertionError(
            f"{where}: expected {expected}; got {message}, tree {expression(result.predictor)}."
        )
    wrong = problem.violations(result.predictor)
    if wrong or problem.value(result.predictor).number != result.objective:
        has = f"has {problem.value(result.predictor)} and breaks {wrong}"
        raise AssertionError(
            f"{where}: the tree {expression(result.predictor)} {has}; got {message}."
        )
    for name, bound in {"bound": result.bound, "root bound": result.root_bound}.items():
        if bound is not None and units(bound) > units(best[1].number) + near:
            raise AssertionError(f"{where}: the {name} {bound} is crossed by the tree {expected}.")
    return result


def check_method(
    method: Method,
    problems: Mapping[str, Problem] | None = None,
    planted: Mapping[str, Problem] | None = None,
    *,
    level: str = "quick",
) -> Report:
    """Run `check_result` on every problem that a method takes, and on a few with the best start.

    Parameters
    ----------
    method : Method
        The method.
    problems : mapping of name to Problem, optional
        By default those of the level in the spaces that it declares (`problems_of`).
    planted : mapping of name to Problem, optional
        Problems with a perfect tree, which an exact method must find.
    level : {"quick", "thorough"}
        The level.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        A claim is wrong, or the method takes no problem.
    """
    report = Report()
    for name, problem in (
        problems_of(method.space, level) if problems is None else problems
    ).items():
        why = method.unsupported(problem)
        if why:
            report.skipped[name] = why
            continue
        check_result(method, problem)
        if len(report.passed) < STARTED:
            check_result(method, problem, best_start(problem))
        report.passed.append((method.name, name))
    for name, problem in (planted or {}).items():
        if method.unsupported(problem):
            continue
        result = method.run(problem, LIMITS)
        if method.exact and result.objective != 0:
            raise AssertionError(
                f"{method.name} on {name}: a perfect tree was planted; got {result!r}."
            )
        report.passed.append((method.name, name))
    if not report.passed:
        raise AssertionError(
            f"{method.name} skipped every problem: {'; '.join(sorted(set(report.skipped.values())))}"
        )
    return report


def check_solver_pair(
    formulation: str, solver: str, problems: Mapping[str, Problem] | None = None
) -> Report:
    """A registered formulation with a registered solver, without and with a start.

    The starts are the oracle's tree and a random one. A solver that declares that it takes starts
    must accept them, unless the relaxation is the optimum already: then a solver ends before it
    reads a start. A solver may refuse a model once it is built; the report is empty if it refuses
    all. An unavailable solver skips all problems, with the reason.

    Parameters
    ----------
    formulation, solver : str
        Registered names; a formulation may have options (`flow-oct:sinks=multi`).
    problems : mapping of name to Problem, optional
        By default `PAIR_PROBLEMS`, small ones with an answer of each kind.

    Returns
    -------
    Report

    Raises
    ------
    AssertionError
        A claim of a result is wrong, or a start was not accepted.
    """
    import numpy as np

    from milp_trees.mip.registry import registry

    method = registry.method(f"{formulation}@{solver}")
    model: Formulation = method.formulation  # type: ignore[attr-defined]
    takes_starts = "start" in registry.solver(solver).capabilities
    report, problems = (
        Report(),
        {name: get(name) for name in PAIR_PROBLEMS} if problems is None else problems,
    )
    found = registry.solver(solver).availability()
    if not found.found:
        return Report(skipped=dict.fromkeys(problems, found.reason))
    for name, problem in problems.items():
        why = model.unsupported(problem)
        if why:
            report.skipped[name] = why
            continue
        best = best_start(problem)
        other = None if best is None else random_tree(problem, np.random.default_rng(0))
        for start in dict.fromkeys([None, best, other]):
            result = method.run(problem, LIMITS, start=start)
            if (
                result.status is Status.UNSUPPORTED and result.message
            ):  # known only after the model is built
                report.skipped[name] = result.message
                break
            reference(method, problem, result)
            if (
                start is not None
                and takes_starts
                and result.start.get("accepted") is not True
                and ("reason" in result.start or not relaxation_is_tight(model, problem))
            ):
                raise AssertionError(
                    f"{method.name} on {describe(problem)}: the start {expression(start)} was not accepted: {dict(result.start)}."
                )
            report.passed.append((method.name, name))
    if not report.passed and all(model.unsupported(p) for p in problems.values()):
        raise AssertionError(
            f"{method.name} skipped every problem: {'; '.join(sorted(set(report.skipped.values())))}"
        )
    return report


def best_start(problem: Problem) -> Any:
    """The oracle's predictor without parts that no row reaches; None if there is none."""
    best = brute_force(problem)
    if best is None:
        return None
    prune = getattr(best[0], "prune_empty", None)  # a pruning has no such parts
    return best[0] if prune is None else problem.space.pruned(best[0], problem.dataset)


def relaxation_is_tight(formulation: Formulation, problem: Problem) -> bool:
    """Whether the value of the linear relaxation is the optimum."""
    best, b = brute_force(problem), built(formulation, problem)
    Z = minimise(b.matrix, b.separator, relax=True).objective
    return best is None or (
        Z is not None and abs(Z - formulation.presolved_view(problem).objective(best[0])) < 1e-6
    )
