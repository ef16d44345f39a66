"""Checks for every solver: known optima, limits, and no claim without a proof.

What a solver need not be able to do is checked if its `capabilities` claim it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limit, Limits
from milp_trees.mip.registry import registry
from milp_trees.mip.runner import run
from milp_trees.mip.solver import Job, Solver
from milp_trees.results.result import Status
from milp_trees.testing.matrices import (
    CONTRADICTIONS,
    INFINITY,
    knapsacks,
    least_value,
    market_split,
    model,
    set_cover,
)
from milp_trees.testing.solver_abilities import (
    ends_when_told,
    gaps,
    held_start,
    lazy_rows,
    points_on_the_way,
    repeated_search,
    root_bound,
    rows_of_relaxations,
    start,
    two_threads,
)
from milp_trees.testing.solver_claims import ENOUGH, EXACT, check_claims, demand, near
from milp_trees.testing.suite import Report


def optimum_of_a_set_cover(name: str) -> None:
    """The optimum is found and proven."""
    for seed in range(2):
        m = set_cover(seed)
        answer = check_claims(m, run(name, Job(m, ENOUGH)))
        demand((answer.status, answer.limit) == (Status.OPTIMAL, None), f"Not optimal: {answer}.")
        demand(near(answer.objective, least_value(m)), f"{answer.objective} is not the optimum.")
        # The allowed absolute gap is 0.999, so the bound rounded up is the optimum.
        demand(answer.bound is not None, "An optimum comes with a bound.")
        rounded = math.ceil((answer.bound or 0) - 2.5 - 1e-6) + 2.5
        demand(near(rounded, answer.objective), f"The bound {answer.bound} is no proof.")


def bounds_ranges_free_rows_and_general_integers(name: str) -> None:
    """min -x - 2y over x in [-3, 5], y in [0, 9], 3 <= x + y <= 7, x - y <= 2: x = -2, y = 9."""
    rows = [[1, 1, 0], [1, -1, 0], [1, 1, 1]]
    lower, upper = [3, -INFINITY, -INFINITY], [7, 2, INFINITY]
    m = model([-1, -2, 0], rows, lower, upper, low=[-3, 0, 4], up=[5, 9, 4], offset=-1.25)
    answer = check_claims(m, run(name, Job(m, EXACT)))
    demand(answer.status is Status.OPTIMAL, f"Not optimal: {answer}.")
    demand(answer.x is not None and answer.x.round().tolist() == [-2, 9, 4], f"{answer.x}")
    demand(near(answer.objective, -17.25) and near(answer.bound, -17.25), f"{answer}")


def continuous_and_free_variables(name: str) -> None:
    """min t with t >= x - 0.5, t >= 0.5 - x for a binary x: a half; u is free and equals -t."""
    m = model(
        [0, 1, 0],
        [[-1, 1, 0], [1, 1, 0], [0, 1, 1]],
        [-0.5, 0.5, 0],
        [INFINITY, INFINITY, 0],
        low=[0, 0, -INFINITY],
        up=[1, INFINITY, INFINITY],
        integer=[True, False, False],
    )
    answer = run(name, Job(m, EXACT))
    demand(answer.status is Status.OPTIMAL and answer.x is not None, f"Not optimal: {answer}.")
    demand(np.allclose(answer.x[1:], [0.5, -0.5]), f"{answer.x}")  # type: ignore[index]


def infeasible(name: str) -> None:
    """A program whose relaxation is feasible, and contradictions of all kinds."""
    m = model([1, 1, 1], [[2, 2, 2]], [3], [3])
    demand(check_claims(m, run(name, Job(m, ENOUGH))).status is Status.INFEASIBLE, "3 is odd.")
    for case, rows in CONTRADICTIONS.items():
        answer = run(name, Job(model([1, 2], **rows), ENOUGH))
        demand(answer.status is Status.INFEASIBLE, f"{case}: {answer.status} {answer.message}")
        nothing = (answer.x, answer.objective, answer.limit) == (None, None, None)
        demand(nothing, f"{case}: an infeasible program with a point or a limit.")


def infeasible_relaxation(name: str) -> None:
    """Contradictions that need no integers, of relaxations."""
    for case, rows in CONTRADICTIONS.items():
        if "integer" not in case:
            answer = run(name, Job(model([1, 2], **rows), ENOUGH, relax=True))
            demand(answer.status is Status.INFEASIBLE, f"{case}: {answer.status} {answer.message}")


def unbounded(name: str) -> None:
    """An unbounded program is neither solved nor infeasible."""
    answer = run(name, Job(model([-1], [[1]], [0], [INFINITY], up=[INFINITY]), ENOUGH))
    demand(answer.status not in (Status.OPTIMAL, Status.INFEASIBLE), f"It is {answer.status}.")


def time_limit_with_an_incumbent(name: str) -> None:
    """The best point so far is returned, with the bound."""
    for seconds in (0.6, 2.0, 6.0):  # on a busy machine there is no point at the first of them
        answer = check_claims(knapsacks(), run(name, Job(knapsacks(), Limits(time=seconds))))
        if answer.x is not None:
            break
    demand((answer.status, answer.limit) == (Status.FEASIBLE, Limit.TIME), f"{answer}")
    demand(answer.seconds < seconds + 4, f"It took {answer.seconds:.1f} s.")
    if "trace" in registry.solver(name).capabilities:
        best = min((e.incumbent for e in answer.events if e.incumbent is not None), default=None)
        demand(near(best, answer.objective), "The trace does not end in the answer.")
        demand((answer.bound or 0) < (answer.objective or 0), "There is no gap left to explain.")


def time_limit_without_an_incumbent(name: str) -> None:
    """There is no point, and no value."""
    answer = check_claims(market_split(), run(name, Job(market_split(), Limits(time=0.5))))
    demand((answer.status, answer.limit) == (Status.NO_SOLUTION, Limit.TIME), f"{answer}")
    demand((answer.x, answer.objective) == (None, None), "There is a value without a point.")


def node_limit(name: str) -> None:
    """With few nodes the search ends early."""
    answer = check_claims(knapsacks(), run(name, Job(knapsacks(), Limits(time=20, nodes=3))))
    demand(answer.limit is Limit.NODES and 0 < (answer.nodes or 0) <= 50, f"{answer}")


def memory_limit(name: str) -> None:
    """The process is ended from outside."""
    answer = check_claims(knapsacks(), run(name, Job(knapsacks(), Limits(time=20, memory_mb=20))))
    demand(answer.limit is Limit.MEMORY, f"{answer}")


def unknown_option(name: str) -> None:
    """It is an error that names the option."""
    answer = run(name, Job(set_cover(0), ENOUGH, options={"no_such_option": 1}))
    named = answer.status is Status.ERROR and "no_such_option" in answer.message
    demand(named, f"{answer.status}: {answer.message}")


def relaxation(name: str) -> None:
    """A triangle of edges: one half of each vertex covers them.

    A solver without relaxations must report this.
    """
    rows = [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
    m = model([1, 1, 1], rows, [1, 1, 1], [INFINITY] * 3, offset=1)
    job = Job(m, ENOUGH, relax=True)
    if "lp" not in registry.solver(name).capabilities:
        try:
            run(name, job)
        except Unsupported as why:
            demand(name in str(why), f"The refusal does not name the solver: {why}")
            return
        raise AssertionError("It solves what it says it cannot.")
    answer = run(name, job)
    demand(answer.status is Status.OPTIMAL and answer.x is not None, f"Not optimal: {answer}.")
    demand(np.allclose(answer.x, 0.5), f"{answer.x}")  # type: ignore[arg-type]
    demand(near(answer.objective, 2.5) and near(answer.bound, 2.5), f"{answer}")
    demand(near(run(name, Job(m.relaxed(), ENOUGH)).objective, 2.5), "As continuous variables.")


def duals(name: str) -> None:
    """They are at least 0 where a lower bound binds, and negative where an upper bound does."""
    rows = [[1, 1, 0], [0, 1, 1], [1, 0, 1], [0, 0, 0]]
    covers = model([1, 1, 1], rows, [1, 1, 1, -1], [INFINITY] * 4)
    packs = model([-1, -2], [[2, 1]], [-INFINITY], [2])
    for m, expected in ((covers, [0.5, 0.5, 0.5, 0]), (packs, [-0.5])):
        answer = run(name, Job(m, ENOUGH, relax=True))
        given = answer.duals is not None and np.allclose(answer.duals, expected)
        demand(given, f"{answer.duals} where {expected} is the dual solution.")


#: Claim → its check, and the capability without which it is not checked.
SOLVER_CHECKS: dict[str, tuple[Callable[[str], None], str | None]] = {
    "optimum of a set cover": (optimum_of_a_set_cover, None),
    "bounds, ranges, free rows and general integers": (
        bounds_ranges_free_rows_and_general_integers,
        "general-integers",
    ),
    "continuous and free variables": (continuous_and_free_variables, "continuous"),
    "infeasible": (infeasible, None),
    "infeasible relaxation": (infeasible_relaxation, "lp"),
    "unbounded": (unbounded, None),
    "time limit with an incumbent": (time_limit_with_an_incumbent, None),
    "time limit without an incumbent": (time_limit_without_an_incumbent, None),
    "node limit": (node_limit, "nodes"),
    "memory limit": (memory_limit, None),
    "unknown option": (unknown_option, None),
    "relaxation": (relaxation, None),
    "duals": (duals, "duals"),
    "ends when told": (ends_when_told, None),
    "two threads": (two_threads, None),
    "gaps": (gaps, "gap"),
    "start": (start, "start"),
    "start that is held": (held_start, "start"),
    "root bound": (root_bound, "root-bound"),
    "repeated search": (repeated_search, "seed"),
    "rows found on the way": (lazy_rows, "lazy"),
    "rows of relaxations": (rows_of_relaxations, "lp-cuts"),
    "points found on the way": (points_on_the_way, "points"),
}


def left_out(solver: Solver, claim: str) -> str | None:
    """Why a check is not made of a solver, or None."""
    check, capability = SOLVER_CHECKS[claim]
    if capability is not None and capability not in solver.capabilities:
        return f"{solver.name} does not have the capability {capability!r}."
    return (solver.cannot_stop or None) if check is ends_when_told else None


def check_solver(name: str) -> Report:
    """Run every check of solvers on a registered solver that is installed.

    Parameters
    ----------
    name : str
        Name of the solver.

    Raises
    ------
    AssertionError
        For the first check that fails, or if the solver is not installed.
    """
    solver, report = registry.solver(name), Report()
    found = solver.availability()
    demand(found.found, f"{name} is not here: {found.reason}")
    for claim, (check, _) in SOLVER_CHECKS.items():
        if why := left_out(solver, claim):
            report.skipped[claim] = why
            continue
        try:
            check(name)
        except AssertionError as wrong:
            raise AssertionError(f"{name}, {claim}: {wrong}") from wrong
        report.passed.append((claim, name))
    return report
