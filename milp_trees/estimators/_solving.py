"""The run of a `fit`: a model within every limit, and a warning that says what is not proven."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.exceptions import ConvergenceWarning

from milp_trees.common.errors import Infeasible, NothingFound, NotInTime, SolverFailure
from milp_trees.common.limits import Deadline, Limit, Limits
from milp_trees.estimators._repeated import stop_repeated
from milp_trees.estimators._warning import warn_user
from milp_trees.explanations.reasons import with_reasons
from milp_trees.methods.by_size import BySize
from milp_trees.methods.callback import current_progress
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.greedy import greedy_for
from milp_trees.results.result import Result, Status

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem
    from milp_trees.results.size_path import SizePath

#: Seconds that a greedy model may take after a run that has found none.
FALLBACK = 0.25


def solved(
    problem: Problem, method: str | None, limits: Limits, start: Any, reference: str | None = None
) -> Result:
    """Run a method and return its result, which contains a model.

    A `ConvergenceWarning` says that an exact method stopped before its model was proven optimal. A
    method that is stopped before it has found a model leaves a greedy one.
    """
    from milp_trees.solving.solve import answer

    try:
        result = answer(
            problem,
            method,
            limits,
            start=start,
            reference=reference,
            progress=current_progress(),
        )
    except NotInTime as refused:
        result = greedy_result(problem, str(method), str(refused))
    stop_repeated(result)
    if result.status is Status.INFEASIBLE:
        remedy = "ask for fewer rows per leaf, loosen the constraints or allow a larger model."
        reasons = with_reasons(result, limits).message
        raise Infeasible(f"No model satisfies the limits; {remedy}\n{reasons}".strip())
    if result.status is Status.ERROR:
        raise SolverFailure(result.message or f"{result.method} failed.")
    if result.predictor is None:
        result = greedy_result(problem, result.method, result.message, result.limit)
    if result.predictor is None:
        raise NothingFound(
            result.message
            or f"{result.method} found no model ({result.status.value}); raise time_limit, or loosen the constraints."
        )
    if result.limit is not None and not result.optimal:
        warn_user(unproven(result, limits), ConvergenceWarning)
    if result.agrees is False:
        raise SolverFailure(
            f"{result.method} and its reference contradict each other: its value is {result.value}, its bound {result.bound}. Please report this problem."
        )
    if result.found_by:
        warn_user(result.message, UserWarning)
    if result.start.get("accepted") is False:
        why = result.start.get("reason", "the method does not take it.")
        warn_user(f"The start was not used: {why}", UserWarning)
    return result


def sizes_of(problem: Problem, most: int, method: str | None, limits: Limits) -> SizePath:
    """The size path of a method; greedy trees of every size if it ends before it has any."""
    from milp_trees.solving.solve import path_of_sizes

    try:
        path = path_of_sizes(problem, most, method, limits, current_progress())
        stop_repeated(path)
        return path
    except (NotInTime, NothingFound) as stopped:
        label, why = str(method), str(stopped)
        sizes = BySize(problem, most, label)
        path = sizes.solve(lambda step: greedy_result(step.problem, label, why))
        if not path.points:
            raise NothingFound(why) from None
        return path


def greedy_result(
    problem: Problem, method: str, why: str, limit: Limit | None = Limit.TIME
) -> Result:
    """The result of a run that ended without a model: a greedy model, if one is feasible."""
    return finish(
        problem,
        method,
        greedy_for(problem, Deadline.after(FALLBACK)),
        bound=None,
        claims_optimal=False,
        proved_by=None,
        clock=Clock(),
        limit=limit or Limit.TIME,
        message=why,
    )


def unproven(result: Result, limits: Limits) -> str:
    """The warning of a run that ended at a limit: value, bound, gap, and what to do."""
    noun = result.problem.space.noun
    if result.limit is not None and result.limit.by_user:
        ended = f"{result.method} was stopped by the user"
    elif result.limit is Limit.TIME:
        allowed = "" if limits.time is None else f" of {limits.time:g} s"
        ended = f"{result.method} reached its time limit{allowed}"
    else:
        ended = f"{result.method} reached its {getattr(result.limit, 'value', '')} limit"
    return (
        f"{ended} without a proof: the {noun} has {result.value}, {known_gap(result)}. The {noun}"
        " is kept and may be optimal. For a proof raise time_limit, or make the problem smaller:"
        f" a smaller {'max_literals' if noun == 'rule list' else 'max_depth'} or n_bins, fewer columns."
    )


def known_gap(result: Result) -> str:
    """`no tree is better than 3 (gap 40 %)`, or that nothing is known."""
    if result.bound is None:
        return "and no bound is known"
    gap = "" if result.gap is None else f" (gap {100 * result.gap:.3g} %)"
    return f"and none is better than {result.bound:.10g}{gap}"
