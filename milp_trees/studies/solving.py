"""The common part of calls, estimators and commands: one method answers one question.

The limits are made once by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from milp_trees.errors import Infeasible, NothingFound, SolverFailure
from milp_trees.limits import Limits
from milp_trees.methods.by_size import by_runs
from milp_trees.methods.callback import heard
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.problem import Problem
from milp_trees.questions import BySize
from milp_trees.results.result import Result, Status
from milp_trees.studies.agreement import judge_of, with_agreement
from milp_trees.studies.attempt import (
    attempt,
    default_method,
    find_start,
    method_for_sizes,
    named_method,
)

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.results.size_path import SizePath


def answer(
    problem: Problem,
    method: str | Method | None,
    limits: Limits,
    *,
    start: Any = None,
    reference: str | None = None,
    options: Mapping[str, Any] | None = None,
    test_data: Dataset | None = None,
    progress: Progress | None = None,
) -> Result:
    """The answer of one method, compared with a reference if one is wanted; see `milp_trees.solve`.

    Parameters
    ----------
    problem : Problem
    method : str, Method or None
        None: the default method of the problem.
    limits : Limits
    start : Tree, Ensemble, str or None
        A predictor, or the method that makes it.
    reference : str or None
        Name of the reference, or "auto".
    options : mapping, optional
        Options of the solver, by its own names.
    test_data : Dataset, optional
        Rows left out of the problem, for `result.scores`.
    progress : callable, optional
        Called with every `TracePoint`; it may also stop the start's and the reference's run.

    Returns
    -------
    Result
    """
    chosen = named_method(method or default_method(problem), options)
    with heard(progress):
        begin = find_start(problem, start, limits)
        result = chosen.run(problem, limits, begin, progress, test_data)
        judge = judge_of(chosen.label, problem, reference)
        if judge is None or (result.limit is not None and result.limit.by_user):
            return result
        of_judge = attempt(named_method(judge), problem, replace(limits, log_file=None))
    return with_agreement(result, of_judge)


def path_of_sizes(
    problem: Problem,
    max_leaves: int,
    method: str | Method | None,
    limits: Limits,
    progress: Progress | None = None,
) -> SizePath:
    """The best tree of every number of leaves; see `milp_trees.size_path`.

    Parameters
    ----------
    problem : Problem
    max_leaves : int
        Largest number of leaves.
    method : str, Method or None
        None: the default method for sizes.
    limits : Limits
        For each run.
    progress : callable, optional
        Called with every `TracePoint` of the largest size, or of each size that is run alone.

    Returns
    -------
    SizePath

    Raises
    ------
    Infeasible, NothingFound, SolverFailure
        There is no feasible tree, none was found within the limits, or a run failed.
    """
    question = BySize(max_leaves)
    chosen = named_method(method or method_for_sizes(problem, max_leaves))
    if question.name in chosen.questions:
        result = chosen.run(replace(problem, question=question), limits, None, progress)
        if result.status is Status.ERROR:
            raise SolverFailure(f"{chosen.label} failed: {result.message}")
        path: Any = result.curve
    else:
        limit = getattr(problem.space, "max_leaf_nodes", problem.space.most_leaves)
        most = min(max_leaves, limit or max_leaves)
        path = by_runs(
            problem, most, lambda one, start: chosen.run(one, limits, start, progress), chosen.label
        )
    if path is None or not path.points:
        if path is not None and path.limit is not None:
            raise NothingFound(
                f"{chosen.label} found no {problem.space.noun} within the limits; raise time_limit."
            )
        raise Infeasible(
            f"No {problem.space.noun} satisfies the limits; lower the smallest number of rows in a leaf or rule, or loosen the constraints."
        )
    return path
