"""`solve`, `compare` and `estimate`: the package's work in three calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.errors import DataError, Infeasible, NothingFound, SolverFailure
from milp_trees.limits import MAX_NONZEROS, Limits, check_limits
from milp_trees.methods.finish import Progress
from milp_trees.methods.method import Method
from milp_trees.problem import Problem
from milp_trees.questions import BySize, NearBest
from milp_trees.results.result import Limit, Result, Status
from milp_trees.study import Study
from milp_trees.study.agreement import judge_of, with_agreement
from milp_trees.study.attempt import (
    attempt,
    default_method,
    find_start,
    method_for_sizes,
    named_method,
    run_method,
)
from milp_trees.study.compare import Watcher, compare_problems, method_names

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.dataset import Dataset
    from milp_trees.engines.near.tree_set import TreeSet
    from milp_trees.models.ensemble import Ensemble
    from milp_trees.models.tree import Tree
    from milp_trees.results.size_path import SizePath


def solve(
    problem: Problem,
    method: str | Method | None = None,
    *,
    time_limit: float | None = 60.0,
    start: str | Tree | Ensemble | None = None,
    reference: str | None = None,
    threads: int = 1,
    seed: int = 0,
    memory_mb: int | None = None,
    node_limit: int | None = None,
    max_nonzeros: int | None = MAX_NONZEROS,
    log_file: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    test_data: Dataset | None = None,
    progress: Progress | None = None,
) -> Result:
    """Solve one problem with one method.

    Parameters
    ----------
    problem : Problem
    method : str or Method, optional
        An engine (`dp`, `enumerate`), a heuristic (`cart`), or a formulation with a solver
        (`flow-oct@highs`); by default the engine that takes the task: `dp`, for areas under ROC
        curves `partial-trees`, for metrics such as Matthews' coefficient `pareto`.
    time_limit : float or None, default=60
        Seconds for building and solving.
    start : Tree, Ensemble or str, optional
        A tree (or pruned ensemble) to begin with, or the method that makes one (`"dp"`, `"cart"`);
        its time is not part of the run's.
    reference : str, optional
        Another method that is run too, to fill in `result.agrees`: `"dp"` is the first of dp,
        enumerate, state-flow@highs that can.
    threads, seed, memory_mb, node_limit
        Limits and settings that mean the same for every method.
    max_nonzeros : int or None, default=20 million
        Larger models are not built.
    log_file : path, optional
        Where the solver's log goes as it is written; it is in `result.log` in any case.
    options : mapping, optional
        Options of the solver, by its own names.
    test : Dataset, optional
        Rows left out of the problem, for `result.scores`.
    progress : callable, optional
        Called with every `TracePoint` (seconds, incumbent, bound).

    Returns
    -------
    Result
        Its value is recomputed from the tree; a status that contradicts the recomputation is an
        error result.

    Raises
    ------
    Unsupported
        The method cannot take the problem; the sentence says why and what can.
    SolverUnavailable, SolverFailure, DataError, UnknownName

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.load("planted:rows=60,depth=2"), mt.tasks.Accuracy(), mt.Trees(max_depth=2))
    >>> mt.solve(problem).value
    Value(number=0.0, exact=Fraction(0, 1), unit='errors', sense='min')
    """
    _check(problem)
    limits = make_limits(time_limit, memory_mb, node_limit, threads, seed, log_file, max_nonzeros)
    chosen = named_method(method or default_method(problem), options)
    begin = find_start(problem, start, limits)
    result = run_method(chosen, problem, limits, begin, progress, test_data)
    judge = judge_of(chosen.label, problem, reference)
    if judge is None or result.limit is Limit.INTERRUPTED:
        return result
    return with_agreement(
        result, attempt(named_method(judge), problem, replace(limits, log_file=None))
    )


def compare(
    problem: Problem | Sequence[Problem],
    methods: str | Iterable[str] | None = None,
    *,
    formulations: str | Iterable[str] = "all",
    solvers: str | Iterable[str] = ("highs",),
    start: str | Tree | None = "dp",
    reference: str | None = "dp",
    time_limit: float | None = 60.0,
    seeds: Iterable[int] = (0,),
    store: str | Path | None = None,
    threads: int = 1,
    memory_mb: int | None = None,
    node_limit: int | None = None,
    max_nonzeros: int | None = MAX_NONZEROS,
    log_file: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    test_data: Dataset | None = None,
    progress: bool | Watcher = False,
) -> Study:
    """Let methods compete: every method on every problem with every seed, under the same limits.

    Parameters
    ----------
    problem : Problem or sequence of Problems
    methods : names, optional
        For example `["dp:cache=off", "flow-oct@highs"]`, or a text with commas; without, every
        combination of `formulations` and `solvers`. Rows go by these labels, without options that
        are the default; two labels of the same options are one row.
    start : str, Tree or None, default="dp"
        What formulations begin with.
    reference : str or None, default="dp"
        Who judges the rows (`agrees`); if it cannot take the problem, the next of dp, enumerate,
        state-flow@highs that can.
    store : path, optional
        SQLite file the rows are kept in as each run ends; the same call resumes a killed study. A
        row is served again only for the very same run: label, problem, start, limits, seed, options
        of the solver, test rows, and versions of the software.
    seeds : sequence of int, default=(0,)
        Seeds of solvers; a row for each.
    progress : bool or callable, default=False
        True shows a bar with the live incumbent and gap on standard error; a callable gets every
        `Moment`.

    Returns
    -------
    Study
        An unsupported, failed or timed-out run is a row with a reason.

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.load("planted:rows=40,tests=4,depth=1"), mt.tasks.Accuracy(), mt.Trees(max_depth=1))
    >>> study = mt.compare(problem, ["dp", "enumerate"])
    >>> study.frame()["objective"].tolist()
    [0, 0]
    """
    problems = list(problem) if isinstance(problem, Iterable) else [problem]
    if not problems:
        raise DataError(
            "No problem was given; write mt.compare(problem, …), or a list of problems."
        )
    for each in problems:
        _check(each)
    names = method_names(methods, formulations, solvers, problems)
    limits = make_limits(time_limit, memory_mb, node_limit, threads, 0, log_file, max_nonzeros)
    settings: dict[str, Any] = {
        "limits": limits,
        "start": start,
        "reference": reference,
        "seeds": seeds,
        "store": store,
        "options": options or {},
        "test_data": test_data,
    }
    if progress is True:
        from milp_trees.study.live import Live

        with Live() as live:
            return compare_problems(problems, names, watch=live, **settings)
    return compare_problems(problems, names, watch=progress or None, **settings)


def estimate(problem: Problem, formulations: str | Iterable[str] = "all") -> pd.DataFrame:
    """Sizes and a time class of every formulation before anything is built; what is unsupported has
    its reason.

    Returns
    -------
    DataFrame
        Columns `formulation`, `variables`, `binaries`, `rows`, `nonzeros`, `time_class`, `reason`.
    """
    import pandas as pd

    from milp_trees.study.estimate import estimates

    return pd.DataFrame(estimates(problem, formulations))


def near_best(
    problem: Problem,
    *,
    slack: Any = None,
    relative: Any = None,
    trivial: bool = True,
    equal_tests: str = "all",
    time_limit: float | None = 60.0,
    memory_mb: int | None = None,
) -> TreeSet:
    """All trees within a slack of the optimum, counted exactly: the Rashomon set.

    Parameters
    ----------
    problem : Problem
        Any task that is a sum of exact action costs, without side constraints. Its own question is
        not looked at.
    slack, relative, trivial, equal_tests
        See `NearBest`, which also says what a tree is.
    time_limit : float or None, default=60
        Seconds. A run that is stopped (or interrupted by Ctrl-C) gives the complete set for a
        smaller slack and says so.
    memory_mb : int, optional
        Megabytes for the search, as it estimates them; 2000 by default.

    Returns
    -------
    TreeSet

    Raises
    ------
    Unsupported, DataError
        The problem cannot be taken as it is.
    Infeasible
        No tree is feasible (a DataError).
    NothingFound
        Not even the optimum was found within the limits (a SolverFailure).

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.load("planted:rows=60,depth=2"), mt.tasks.Accuracy(), mt.Trees(max_depth=2))
    >>> trees = mt.near_best(problem, slack=2)
    >>> trees.optimum.number, trees[0].predictor.depth
    (0.0, 2)
    """
    _check(problem)
    asked = replace(problem, question=NearBest(slack, relative, trivial, equal_tests, most=1))
    result = named_method("near-best").run(
        asked, make_limits(time_limit, memory_mb, None, 1, 0, None)
    )
    if result.status is Status.INFEASIBLE:
        raise Infeasible(
            "No tree satisfies the limits: all rows together are fewer than a leaf must hold; lower min_samples_leaf or min_weight_leaf."
        )
    if result.trees is None:
        if result.limit:
            raise NothingFound(f"{result.message} Raise time_limit or memory_mb.")
        raise SolverFailure(result.message)
    return result.trees


def size_path(
    problem: Problem,
    *,
    max_leaves: int,
    method: str | Method | None = None,
    time_limit: float | None = 60.0,
    memory_mb: int | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> SizePath:
    """The best tree of every number of leaves, and the penalties per leaf for which each is the
    best.

    Parameters
    ----------
    problem : Problem
        Its own question is not looked at; its space bounds the sizes too. Without a depth limit the
        leaves bound the depth.
    max_leaves : int
    method : str or Method, optional
        `dp-sizes`, the default for sums of costs, answers all sizes in one run; any other method is
        run once per size, from the tree before. By default that is the engine that takes the task,
        as for `solve`.
    time_limit : float or None, default=60
        Seconds, of each run. What is not proven by then says so (`Point.proven`).
    memory_mb, threads, seed
        As for `solve`.
    progress : callable, optional
        Called with every `TracePoint` of the largest size.

    Returns
    -------
    Path

    Raises
    ------
    Unsupported, DataError
        The method cannot take the problem.
    Infeasible
        No tree is feasible (a DataError).
    NothingFound
        Nothing was found within the limits (a SolverFailure).

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.load("planted:rows=60,depth=2"), mt.tasks.Accuracy(), mt.Trees(max_depth=None))
    >>> path = mt.size_path(problem, max_leaves=5)
    >>> path.at_leaves(5).value.number
    0.0
    """
    from milp_trees.methods.by_size import by_runs

    _check(problem)
    question = BySize(max_leaves)
    limits = make_limits(time_limit, memory_mb, None, threads, seed, None)
    chosen = named_method(method or method_for_sizes(problem, max_leaves))
    if question.name in chosen.questions:
        result = chosen.run(replace(problem, question=question), limits, None, progress)
        if result.status is Status.ERROR:
            raise SolverFailure(f"{chosen.label} failed: {result.message}")
        path: Any = result.path
    else:
        most = (
            max_leaves
            if problem.trees.max_leaf_nodes is None
            else min(max_leaves, problem.trees.max_leaf_nodes)
        )
        path = by_runs(
            problem, most, lambda one, start: chosen.run(one, limits, start, progress), chosen.label
        )
    if path is None or not path.points:
        if path is not None and path.limit is not None:
            raise NothingFound(f"{chosen.label} found no tree within the limits; raise time_limit.")
        raise Infeasible(
            "No tree satisfies the limits; lower min_samples_leaf or loosen the constraints."
        )
    return path


def _check(problem: Any) -> None:
    if not isinstance(problem, Problem):
        raise DataError(
            f"A Problem is needed: mt.Problem(dataset, task, space); got {type(problem).__name__}."
        )


def make_limits(
    time_limit: float | None,
    memory_mb: int | None,
    node_limit: int | None,
    threads: int,
    seed: int,
    log_file: str | Path | None,
    max_nonzeros: int | None = MAX_NONZEROS,
) -> Limits:
    """Limits as they are asked for: `Limits` checks its numbers, and a run of no seconds is none."""
    check_limits(time_limit=time_limit)
    return Limits(
        time=time_limit,
        memory_mb=memory_mb,
        nodes=node_limit,
        threads=threads,
        seed=seed,
        log_file=None if log_file is None else str(log_file),
        nonzeros=max_nonzeros,
    )


__all__ = ["compare", "estimate", "near_best", "size_path", "solve"]
