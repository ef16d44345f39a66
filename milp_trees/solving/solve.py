"""The common part of calls, estimators and commands: one method answers one question.

The limits are made once by the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import Infeasible, NothingFound, SolverFailure
from milp_trees.common.limits import Limit, Limits
from milp_trees.methods import by_size
from milp_trees.methods.callback import callback_scope
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.start import Start
from milp_trees.methods.thresholds import Settled, settled_within
from milp_trees.methods.trace import Progress
from milp_trees.mip.registry import registry
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import BySize
from milp_trees.results.result import Result, Status
from milp_trees.solving.agreement import reference_of, with_agreement, with_wish
from milp_trees.solving.attempt import (
    AUTO,
    attempt,
    default_method,
    default_start,
    find_start,
    method_for_sizes,
    named_method,
    start_from,
)
from milp_trees.solving.thresholds import with_greedy

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.mip.formulation import Formulation
    from milp_trees.results.size_path import SizePath

#: Largest share of the time limit of a run for the start that "auto" makes.
STARTING = 0.25
#: The name of no start and of no reference, as on the command line.
NONE = "none"


def answer(
    problem: Problem,
    method: str | Method | Formulation | None,
    limits: Limits,
    *,
    start: Any = None,
    reference: str | None = None,
    reference_engines: bool = False,
    options: Mapping[str, Any] | None = None,
    test_data: Dataset | None = None,
    progress: Progress | None = None,
) -> Result:
    """The answer of one method, compared with a reference if wanted; see `milp_trees.solve`."""
    start, reference = (
        None if isinstance(name, str) and name == NONE else name for name in (start, reference)
    )
    chosen, clock = named_method(method or default_method(problem), options), Clock()
    if method is None:
        problem.hand_over()
    with callback_scope(progress):
        found = settled_within(problem, chosen, limits, start, clock)
        if found.limit is not None:
            result = chosen.stopped_before(problem, found.limit, found.start)
            return _with_times(result, clock)
        problem, modelled = found.problem, not registry.is_engine(chosen.label)
        begin, helper = _begin(problem, start, found, modelled, limits)
        if begin.limit is not None:
            known = begin.tree or found.start
            return _with_times(chosen.stopped_before(problem, begin.limit, known), clock)
        used = sum(clock.times.values()) + (0.0 if helper is None else begin.seconds)
        result = chosen.run(problem, limits.after(used), begin, progress, test_data)
        result = _with_times(result, clock)
        if result.limit is not None and result.limit.by_user:
            return result
        if result.changed is not None:  # others answer the problem, and not the changed model
            return result
        oracle = None
        if modelled or reference != AUTO or (reference_engines and chosen.reference_rank is None):
            oracle = reference_of(chosen.label, problem, reference, quick=not modelled)
        if oracle is not None:
            if helper is None or helper.method != oracle:
                helper = attempt(named_method(oracle), problem, replace(limits, log_file=None))
            result = with_agreement(result, helper)
        result = with_wish(result, reference, oracle)
        # A tree with other thresholds is none of a model that was built before.
        if start != AUTO or found.grown or hasattr(chosen, "built"):
            return result
        return with_greedy(result, limits, test_data)


def _begin(
    problem: Problem, start: Any, found: Settled, modelled: bool, limits: Limits
) -> tuple[Start, Result | None]:
    """What a run begins with; with "auto" also the run that made it, which may judge the answer.

    Trees that were found while thresholds were chosen cost nothing more.
    """
    if start != AUTO:
        return find_start(problem, start, limits), None
    name = default_start(problem) if modelled else None
    if name is None:
        return Start(found.start), None
    share = replace(limits, time=limits.time and STARTING * limits.time, log_file=None)
    made = attempt(named_method(name), problem, share, Start(found.start))
    return start_from(made), made


def _with_times(result: Result, clock: Clock) -> Result:
    """The result with the seconds that were spent before its run."""
    if not clock.times:
        return result
    before = sum(clock.times.values())
    times = {**clock.times, **result.times}
    return replace(result, times=times, seconds=result.seconds + before)


def path_of_sizes(
    problem: Problem,
    max_leaves: int,
    method: str | Method | None,
    limits: Limits,
    progress: Progress | None = None,
) -> SizePath:
    """The best tree of every number of leaves; see `milp_trees.size_path`."""
    question = BySize(max_leaves)
    chosen = named_method(method or method_for_sizes(problem, max_leaves))
    if question.name in chosen.questions:
        result = chosen.run(replace(problem, question=question), limits, None, progress)
        if result.status is Status.ERROR:
            raise SolverFailure(f"{chosen.label} failed: {result.message}")
        path: Any = result.curve
        ended = result.limit if path is None else path.limit
    else:
        limit = getattr(problem.space, "max_leaf_nodes", problem.space.most_leaves)
        most = min(max_leaves, limit or max_leaves)
        sizes = by_size.BySize(problem, most, chosen.label)
        path = sizes.solve(lambda step: chosen.run(step.problem, limits, step.start, progress))
        ended = path.limit
    if path is None or not path.points:
        if ended is Limit.INTERRUPTED:  # before there was a model to keep
            raise KeyboardInterrupt
        if ended is not None:
            raise NothingFound(
                f"{chosen.label} found no {problem.space.noun} within the limits; raise time_limit."
            )
        raise Infeasible(
            f"No {problem.space.noun} satisfies the limits; lower the smallest number of rows in a leaf or rule, or loosen the constraints."
        )
    return path
