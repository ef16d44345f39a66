"""Conformance checks: what every formulation must satisfy.

They are functions that raise `AssertionError` with a message that reproduces the failure.

    from milp_trees.testing import check_formulation
    check_formulation(MyFormulation())

runs all of them on all named and random tiny problems. Problems that a formulation declares
unsupported are skipped with its sentence; skipping everything is a failure. The checks solve with
SciPy, so that an error of a solver adapter cannot hide one of the formulation; `check_solver_pair`
runs a formulation with a registered solver.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from milp_trees.mip.formulation import Formulation, ModelSize
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.views import CostMatrix
from milp_trees.testing.describe import describe, expression
from milp_trees.testing.generate import SHAPES, choices, random_tree
from milp_trees.testing.oracle import brute_force
from milp_trees.testing.solve import FEASIBLE, Point, built, minimise, worst_violation
from milp_trees.testing.weights import misread_test

Check = Callable[[Formulation, Problem], None]

#: Checks that a formulation must pass on every problem it supports.
CHECKS: dict[str, Check] = {}
#: Checks that solve the model, which takes too long for a large model.
SOLVING = ("optimum_equals_oracle", "decoded_value")


def check(function: Check) -> Check:
    """Add a check to `CHECKS`."""
    CHECKS[function.__name__.removeprefix("check_")] = function
    return function


def demand(holds: bool, formulation: Formulation, problem: Problem, claim: str) -> None:
    """Raise AssertionError with a message that reproduces the failure, if a claim is false.

    Parameters
    ----------
    holds : bool
        Whether the claim is true.
    formulation : Formulation
        The formulation.
    problem : Problem
        The problem.
    claim : str
        The end of the message, a sentence about the failure.
    """
    if not holds:
        raise AssertionError(f"{formulation.label} on {describe(problem)}: {claim}")


def refuse(fault: str | None, formulation: Formulation, problem: Problem) -> None:
    """Raise AssertionError for a fault.

    Parameters
    ----------
    fault : str or None
        The fault as a sentence; None if there is none.
    formulation : Formulation
        The formulation.
    problem : Problem
        The problem.
    """
    demand(fault is None, formulation, problem, fault or "")


def slack(view: CostMatrix, Z: float) -> float:
    """Difference of two integer objectives that the tolerance of a solver explains."""
    return 2.0 * view.tolerance if not view.exact else min(0.4, 1e-5 * max(1.0, abs(Z)))


@lru_cache(maxsize=256)
def solved(formulation: Formulation, problem: Problem) -> Point:
    """The model's optimum, solved once for all checks."""
    b = built(formulation, problem)
    return minimise(b.matrix, b.separator)


# -- the model as an object ------------------------------------------------------------------------


@check
def check_components_documented(formulation: Formulation, problem: Problem) -> None:
    """Every variable, constraint and the objective has a name of its own and a doc string."""
    import pyomo.environ as pyo

    model = built(formulation, problem).model
    for kind in (pyo.Var, pyo.Constraint, pyo.Objective):
        for component in model.component_objects(kind):
            demand(
                bool(component.doc),
                formulation,
                problem,
                f"{component.name} has no doc=; give its meaning or its equation's number.",
            )
            demand(
                "_index" not in component.name,
                formulation,
                problem,
                f"{component.name} has no name of its own.",
            )
    demand(
        model.component("objective") is not None,
        formulation,
        problem,
        "the objective must be called `objective`.",
    )


@check
def check_sizes(formulation: Formulation, problem: Problem) -> None:
    """`model_size` gives the size of the model without building it."""
    matrix = built(formulation, problem).matrix
    actual = ModelSize(
        matrix.n_variables, int(matrix.integer.sum()), matrix.n_rows, int(matrix.A.count_nonzero())
    )
    stated = ModelSize(
        *map(int, formulation.model_size(formulation.presolved_view(problem), problem.space))
    )
    demand(
        stated == actual, formulation, problem, f"sizes() says {stated}; the model has {actual}."
    )


# -- its optimum -----------------------------------------------------------------------------------


@check
def check_optimum_equals_oracle(formulation: Formulation, problem: Problem) -> None:
    """The model's optimum is the value of the best of all trees.

    It is infeasible iff no tree is feasible.
    """
    refuse(optimum_fault(formulation, problem, solved(formulation, problem)), formulation, problem)


@check
def check_decoded_value(formulation: Formulation, problem: Problem) -> None:
    """The decoded tree is feasible, and the task gives it the value that the model claims."""
    refuse(decoded_fault(formulation, problem, solved(formulation, problem)), formulation, problem)


def optimum_fault(formulation: Formulation, problem: Problem, point: Point) -> str | None:
    """What is wrong with a claimed optimum, or None.

    For a search that was stopped, its bound and its best point are checked.

    Parameters
    ----------
    formulation : Formulation
        The formulation.
    problem : Problem
        The problem.
    point : Point
        The claimed optimum.

    Returns
    -------
    str or None
    """
    best, view = brute_force(problem), formulation.presolved_view(problem)
    point = point.times(formulation.objective_unit(view))
    got = f"the model is {point.status} with {point.objective}"
    if best is None:
        return (
            None
            if point.status == "infeasible" or (point.status == "stopped" and point.x is None)
            else f"expected infeasible; {got}."
        )
    Z = view.objective(best[0])
    if point.status == "stopped":
        crossed = point.bound is not None and point.bound > Z + slack(view, Z)
        below = point.objective is not None and point.objective < Z - slack(view, Z)
        return (
            f"expected {Z} units; {got} and the bound {point.bound}." if crossed or below else None
        )
    if point.objective is not None and abs(point.objective - Z) <= slack(view, Z):
        return None
    return f"expected {Z} units ({best[1]} by {expression(best[0])}); {got}."


def decoded_fault(formulation: Formulation, problem: Problem, point: Point) -> str | None:
    """What is wrong with the tree that a point decodes to, or None.

    Parameters
    ----------
    formulation : Formulation
        The formulation.
    problem : Problem
        The problem.
    point : Point
        The point.

    Returns
    -------
    str or None
    """
    if point.x is None or point.objective is None:
        return None
    view = formulation.presolved_view(problem)
    point = point.times(formulation.objective_unit(view))
    assert point.x is not None
    assert point.objective is not None
    try:
        tree = decoded(formulation, problem, point.x)
    except Exception as broken:  # `decode` may raise any error for a point that is no tree
        return f"the model claims {point.objective:.9g} units; decode raised {type(broken).__name__}: {broken}"
    kept = problem.space.pruned(tree, problem.dataset)
    wrong = problem.violations(kept)
    if wrong:
        return f"the decoded tree {expression(tree)} is not feasible: {' '.join(wrong)}"
    Z = view.objective(kept)
    scored = float(view.from_value(_exact(problem, kept)))
    # The best point of a search that was stopped may have splits that no row needs.
    worth = (
        Z - point.objective <= slack(view, Z)
        if point.status == "stopped"
        else abs(Z - point.objective) <= slack(view, Z)
    )
    if worth and abs(scored - Z) <= slack(view, Z):
        return None
    return f"the model claims {point.objective:.9g} units; the decoded tree {expression(tree)} has {Z}, scored by the task {scored:.9g}."


def decoded(formulation: Formulation, problem: Problem, x: np.ndarray) -> Any:
    """The tree that a point of the model decodes to.

    Parameters
    ----------
    formulation : Formulation
        The formulation.
    problem : Problem
        The problem.
    x : array of shape (number of columns,)
        The point.

    Returns
    -------
    Tree
    """
    b = built(formulation, problem)
    b.matrix.load(x)
    return formulation.decode(b.model)


def _exact(problem: Problem, tree: Tree) -> Any:
    value = problem.value(tree)
    return value.exact if value.exact is not None else value.number


# -- trees go in -----------------------------------------------------------------------------------


@check
def check_every_tree_can_be_encoded(formulation: Formulation, problem: Problem) -> None:
    """Feasible trees are feasible points that cost no more than the tree.

    They decode to a tree of the same value.
    """
    b, view = built(formulation, problem), formulation.presolved_view(problem)
    for tree in sample_trees(problem):
        Z = view.objective(tree)
        what = f"the tree {expression(tree)} of {Z} units"
        x = encoded(formulation, problem, tree)
        if b.matrix.violation(x) > FEASIBLE:
            refuse(
                f"{what} is encoded as an infeasible point: {worst_violation(b.matrix, x)}",
                formulation,
                problem,
            )
        cost = b.matrix.objective(x) * formulation.objective_unit(view)
        demand(
            cost <= Z + slack(view, Z),
            formulation,
            problem,
            f"{what} is encoded as a point of objective {cost:.9g}.",
        )
        if b.separator is not None:
            cut = len(b.separator.separate(x, True)[1])
            demand(not cut, formulation, problem, f"{what} is cut off by {cut} separated rows.")
        refuse(misread_test(formulation, b.model, tree), formulation, problem)
        back = problem.space.pruned(formulation.decode(b.model), problem.dataset)
        again = view.objective(back)
        same = again <= Z + slack(view, Z) and not problem.violations(back)
        demand(
            same, formulation, problem, f"{what} is decoded as {expression(back)} of {again} units."
        )


def encoded(formulation: Formulation, problem: Problem, tree: Tree) -> np.ndarray:
    """The point as which a tree is encoded; every variable must be set.

    Parameters
    ----------
    formulation : Formulation
        The formulation.
    problem : Problem
        The problem.
    tree : Tree
        The tree.

    Returns
    -------
    array of shape (number of columns,)
    """
    b = built(formulation, problem)
    for v in b.matrix.columns:  # no value of a previous check may remain
        v.set_value(None, skip_validation=True)
    try:
        formulation.encode(tree, b.model)
        return b.matrix.values()
    except (LookupError, ValueError) as wrong:  # no place in the model, or a variable without value
        raise AssertionError(
            f"{formulation.label} on {describe(problem)}: the tree {expression(tree)}: {wrong}"
        ) from None


def sample_trees(problem: Problem, n: int = 8, seed: int = 0) -> list[Any]:
    """Feasible trees or rule lists of the space, each once.

    They are the oracle's one, single leaves, full and lopsided trees, and random ones.

    Parameters
    ----------
    problem : Problem
        The problem.
    n : int, default=8
        Number of random trees.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    list of Tree or RuleList
    """
    shaped = isinstance(problem.space, Trees) and problem.trees.depth > 1
    rng = np.random.default_rng(seed)
    best = brute_force(problem)
    found = [] if best is None else [problem.space.pruned(best[0], problem.dataset)]
    found += problem.space.simplest(choices(problem)[1])
    if best is not None:
        found += [
            t
            for grow in SHAPES.values()
            if shaped and (t := random_tree(problem, rng, 10, grow)) is not None
        ]
        found += [t for _ in range(n) if (t := random_tree(problem, rng)) is not None]
    if best is not None and not problem.space.is_bounded:
        # A model without a limit need not hold predictors that cost too much to be optimal.
        found = [t for t in found if t.n_leaves <= best[0].n_leaves]
    return [t for t in dict.fromkeys(found) if not problem.violations(t)]


# -- bounds ----------------------------------------------------------------------------------------


@check
def check_relaxation_is_a_bound(formulation: Formulation, problem: Problem) -> None:
    """The linear relaxation is feasible if a tree is, and not above the optimum.

    This is checked with and without separated cuts. A relaxation that is said to be integral has the
    optimum.
    """
    best, view, b = (
        brute_force(problem),
        formulation.presolved_view(problem),
        built(formulation, problem),
    )
    if best is None:
        return
    Z = view.objective(best[0])
    for separator in [None] if b.separator is None else [None, b.separator]:
        point = minimise(b.matrix, separator, relax=True)
        point = point.times(formulation.objective_unit(view))
        if point.status == "unbounded":  # the bound is infinitely weak, but it is a bound
            continue
        holds = point.objective is not None and point.objective <= Z + slack(view, Z)
        demand(
            holds,
            formulation,
            problem,
            f"the relaxation is {point.status} with {point.objective}; the optimum is {Z} units.",
        )
    tight = point.objective is not None and point.objective >= Z - slack(view, Z)
    demand(
        tight or not formulation.has_integral_relaxation(view, problem.space),
        formulation,
        problem,
        f"the relaxation is {point.objective} and said to be integral; the optimum is {Z} units.",
    )
