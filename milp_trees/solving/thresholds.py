"""Thresholds chosen for a user, and the greedy tree over all of them beside an answer over some.

No answer is worse than the greedy tree of the same space: whatever thresholds were stated, that tree
is an incumbent.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from milp_trees.common.errors import DataError
from milp_trees.common.limits import Deadline, Limits
from milp_trees.common.registering.labels import split_labels
from milp_trees.methods.scores import scores
from milp_trees.methods.threshold_sources import GREEDY as OWN
from milp_trees.methods.thresholds import best_of, greedy_over_all, number_of, settled
from milp_trees.mip.open_thresholds import for_models
from milp_trees.mip.registry import registry
from milp_trees.problems.problem import Problem
from milp_trees.results.result import Certificate, Result, Solution, Status, TracePoint

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: Seconds that the greedy tree may take at least, and its share of the time limit if that is more.
SECONDS, SHARE = 2.0, 0.25


def choose_thresholds(problem: Problem, methods: str | Iterable[str] | None = None) -> Problem:
    """The problem with the thresholds that a run of some methods would get.

    `solve` and `compare` choose by themselves. This is for models that are built by hand, and for
    several calls that shall search the same tests.

    Parameters
    ----------
    problem : Problem
        Its thresholds are open (`Binarizer(kind="auto")`, the default of `load`); otherwise it is
        returned as it is.
    methods : names of methods, optional
        All of them get as many tests as the slowest is expected to search to a proof; by default
        as many as formulations get.

    Returns
    -------
    Problem
        Its dataset says how the thresholds were chosen: `dataset.source["thresholds"]`.

    Raises
    ------
    UnknownName
        A method is not registered.

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.load("iris"), mt.Accuracy(), mt.Trees(max_depth=2))
    >>> mt.choose_thresholds(problem).dataset.source["thresholds"]["used"]
    40
    """
    if not isinstance(problem, Problem):
        raise DataError(
            f"A Problem is needed: mt.Problem(dataset, task, space); got {type(problem).__name__}."
        )
    if methods is None:
        return for_models(problem)
    names = split_labels(methods) if isinstance(methods, str) else list(methods)
    return settled(problem, [registry.method(name) for name in names]).problem


def with_greedy(result: Result, limits: Limits, test_data: Dataset | None = None) -> Result:
    """The result, or a greedy tree over all thresholds if that is better.

    Greedy trees are our own and that of scikit-learn.
    """
    # A contradiction between a run and its reference must stay in sight.
    if result.status in (Status.ERROR, Status.UNSUPPORTED) or result.agrees is False:
        return result
    problem, counts = result.problem, result.problem.dataset.source.get("thresholds", {})
    deadline = Deadline.after(limits.time).share(SHARE, SECONDS)
    found = greedy_over_all(problem, deadline)
    best = None if found is None else best_of((one.tree for one in found[1]), found[0])
    if found is None or best is None:
        return result
    whole, (value, tree) = found[0], best
    if result.value is not None and not value.better_than(result.value):
        own = [whole.value(one.tree) for one in found[1] if one.name == OWN]
        if not own or deadline.passed:
            return result
        stated = {**counts, "greedy_tree": number_of(own[0])}
        source = {**problem.dataset.source, "thresholds": stated}
        return replace(result, problem=_with_source(problem, source))
    name = next(one.name for one in found[1] if one.tree is tree)
    who = f"{name} over all thresholds"
    more = {} if test_data is None else scores(whole, tree, test_data)
    return replace(
        result,
        problem=whole,
        status=Status.FEASIBLE,
        solutions=(Solution(tree, value),),
        certificate=Certificate(None, None, None, result.certificate.checked),
        scores={**whole.extra_scores(tree), **more},
        agrees=None,
        derived_by=None,
        reference=None,
        found_by=who,
        trace=_trace(result, value.number),
        root_bound=None,
        message=f"{_said(who, result, counts)} {result.message}".strip(),
    )


def _trace(result: Result, number: float) -> tuple[TracePoint, ...]:
    """The trace of the run without its bounds, which hold for the chosen thresholds alone."""
    points = [point._replace(bound=None) for point in result.trace]
    kept = [p for i, p in enumerate(points) if not i or p[1:] != points[i - 1][1:]]
    return (*kept, TracePoint(result.seconds, number, None))


def _said(who: str, result: Result, counts: dict[str, int]) -> str:
    """The sentence that the answer is a greedy tree, and what the run found."""
    some = f"{counts['used']} of {counts['of']} thresholds"
    how = "proved" if result.optimal else "found"
    known = "nothing" if result.value is None else f"{result.value}"
    compared = " (the reference agrees)" if result.agrees else ""
    return (
        f"This is {who}: {result.method} {how} {known} over {some}{compared},"
        " which is worse. Leave out the choice of thresholds (--binarize) for a proof over all of"
        " them, or the incumbent (start none) for the best tree over the chosen ones."
    )


def _with_source(problem: Problem, source: dict[str, object]) -> Problem:
    """The problem whose data have another description."""
    return replace(problem, dataset=problem.dataset.with_(source=source))
