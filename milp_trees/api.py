"""`solve`, `compare` and `estimate`: the package's work in three calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, Infeasible, NothingFound, SolverFailure
from milp_trees.common.limits import MAX_NONZEROS, Limits
from milp_trees.explanations.reasons import with_reasons
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import NearBest
from milp_trees.results.result import Result, Status
from milp_trees.solving.built import asked
from milp_trees.solving.solve import answer, path_of_sizes
from milp_trees.studies import Study
from milp_trees.studies.compare import Watcher, compare_problems, method_names
from milp_trees.verification.proof_files import prove, prover
from milp_trees.verification.proof_folder import ProofFolder

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.dataset import Dataset
    from milp_trees.mip.built import Built
    from milp_trees.mip.formulation import Formulation
    from milp_trees.models.ensemble import Ensemble
    from milp_trees.models.tree import Tree
    from milp_trees.results.model_set import ModelSet
    from milp_trees.results.size_path import SizePath


def solve(
    problem: Problem | Built,
    method: str | Method | Formulation | None = None,
    *,
    solver: str | None = None,
    time_limit: float | None = 60.0,
    start: str | Tree | Ensemble | None = "auto",
    reference: str | None = "auto",
    threads: int = 1,
    seed: int = 0,
    memory_mb: int | None = None,
    node_limit: int | None = None,
    max_nonzeros: int | None = MAX_NONZEROS,
    log_file: str | Path | None = None,
    options: Mapping[str, Any] | None = None,
    test_data: Dataset | None = None,
    progress: Progress | None = None,
    proof: str | Path | None = None,
) -> Result:
    """Solve one problem with one method, or a built model with a solver.

    Parameters
    ----------
    problem : Problem or Built
        What is claimed about a model that was changed after `mt.build` is in `result.changed`.
    method : str, Method or Formulation, optional
        An engine (`dp`), a heuristic (`cart`), or a formulation, with a solver (`flow-oct@highs`)
        or the default one (a `Formulation`). By default the first by `default_rank` that fits.
    solver : str, optional
        The solver of a built model.
    time_limit : float or None, default=60
        Seconds for building and solving.
    start : Tree, Ensemble, str or None, default="auto"
        A model to begin with, or the method that makes one (`"dp"`, `"cart"`), whose time does not
        count as time of the run. `"auto"`: an integer program begins with the default engine's
        model, and the greedy tree over all thresholds is the answer if no other is as good.
        `"model"`: a built model begins with the values of its variables.
    reference : str or None, default="auto"
        Another method, which fills in `result.agrees`; if it cannot take the problem, the first by
        `reference_rank` that can. `"auto"` is that one, and judges integer programs only.
    threads, seed, memory_mb, node_limit
        Limits and settings that mean the same for every method.
    max_nonzeros : int or None, default=20 million
        Larger models are not built.
    log_file : path, optional
        File to which the solver's log is written while it runs; `result.log` holds the log too.
    options : mapping, optional
        Options of the solver, by its own names.
    test_data : Dataset, optional
        Rows left out of the problem, for `result.scores`.
    progress : callable, optional
        Called with a `TracePoint` (seconds, incumbent, bound) whenever something is new, and at
        least about twice a second. If it returns True, the run stops with what it has, and
        `result.limit` is `Limit.CALLBACK`. What it raises reaches the caller when nothing runs.
    proof : path, optional
        File for a proof of the bound; the message of the result says why if there is none.

    Returns
    -------
    Result
        Its value is recomputed from the tree; a status that contradicts the recomputation is an
        error result. If nothing is feasible, the message says which constraints conflict, what
        would help, and which tree is nearest; that may take a quarter of the time limit.

    Raises
    ------
    Unsupported
        The method cannot take the problem; the sentence says why and what can.
    SolverUnavailable, SolverFailure, DataError, UnknownName

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.load("planted:rows=60,depth=2"), mt.Accuracy(), mt.Trees(max_depth=2))
    >>> mt.solve(problem).value
    Value(number=0.0, exact=Fraction(0, 1), unit='errors', sense='min')
    """
    problem, method, start, options = asked(problem, solver, method, start, options, proof)
    _check(problem)
    limits = Limits.asked(
        time_limit=time_limit,
        memory_mb=memory_mb,
        node_limit=node_limit,
        threads=threads,
        seed=seed,
        log_file=log_file,
        max_nonzeros=max_nonzeros,
    )
    method = method if proof is None else prover(method, problem, proof)
    result = answer(
        problem,
        method,
        limits,
        start=start,
        reference=reference,
        options=options,
        test_data=test_data,
        progress=progress,
    )
    result = with_reasons(result, limits)
    return result if proof is None else prove(method, result.problem, result, proof, limits)


def compare(
    problem: Problem | Sequence[Problem],
    methods: str | Iterable[str] | None = None,
    *,
    formulations: str | Iterable[str] = "all",
    solvers: str | Iterable[str] = "auto",
    start: str | Tree | None = "auto",
    reference: str | None = "auto",
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
    proofs: str | Path | None = None,
) -> Study:
    """Let methods compete: every method on every problem with every seed, under the same limits.

    Parameters
    ----------
    problem : Problem or sequence of Problems
    methods : names, optional
        For example `["dp:cache=off", "flow-oct@highs"]`, or a text with commas. By default every
        combination of `formulations` and `solvers`. Rows carry these labels without default
        options; equal ones give one row.
    formulations, solvers : names, "all", or "auto"
        `"all"` solvers are those installed, `"auto"` is the one that comes with the package.
    start : str, Tree or None, default="auto"
        What formulations begin with; `"auto"`: the tree of the default method, if it needs no solver.
    reference : str or None, default="auto"
        The method with which answers are compared (column `agrees`). If it cannot take the problem,
        and for `"auto"`, it is the first method by `reference_rank` that can.
    time_limit : float or None, default=60
        Seconds for each run.
    seeds : sequence of int, default=(0,)
        Seeds of solvers; every seed gives a row.
    store : path, optional
        SQLite file to which a row is written as each run ends; the same call resumes a killed
        study. A stored row is used again only for exactly the same run: label, problem, start,
        limits, seed, options of the solver, test rows, and versions of the software.
    threads, memory_mb, node_limit, max_nonzeros, log_file, options, test_data
        As for `solve`, the same for every run.
    progress : bool or callable, default=False
        True shows a bar with incumbent and gap on standard error; a callable is called with every
        `Moment`. If it returns True, the run and the study stop with the rows so far.
    proofs : path, optional
        Folder for proof files, one per run whose method proves such answers. Each is checked.
        Writing and checking have the limit of the run each, and do not count as its time.

    Returns
    -------
    Study
        An unsupported, failed or timed-out run is a row with a reason.

    Raises
    ------
    DataError
        No problem was given, or an argument is not a Problem.
    UnknownName
        A method, formulation or solver is not registered.

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.load("planted:rows=40,tests=4,depth=1"), mt.Accuracy(), mt.Trees(max_depth=1))
    >>> study = mt.compare(problem, ["dp", "enumerate"])
    >>> study.frame()["objective"].tolist()
    [0, 0]
    """
    problems = list(problem) if isinstance(problem, Iterable) else [problem]
    if not problems:
        raise DataError("No problem was given; write mt.compare(problem, …), or give a list.")
    for each in problems:
        _check(each)
    names = method_names(methods, formulations, solvers, problems)
    limits = Limits.asked(
        time_limit=time_limit,
        memory_mb=memory_mb,
        node_limit=node_limit,
        threads=threads,
        log_file=log_file,
        max_nonzeros=max_nonzeros,
    )
    watching: Any = nullcontext(progress or None)
    if progress is True:
        from milp_trees.studies.live import Live

        watching = Live()
    with watching as watch:
        return compare_problems(
            problems,
            names,
            limits,
            start=start,
            reference=reference,
            seeds=seeds,
            store=store,
            options=options,
            test_data=test_data,
            progress=watch,
            prove=None if proofs is None else ProofFolder(proofs),
        )


def estimate(problem: Problem, formulations: str | Iterable[str] = "all") -> pd.DataFrame:
    """Sizes and a time class of every formulation, before anything is built.

    An unsupported formulation has a row with the reason.

    Parameters
    ----------
    problem : Problem
    formulations : names or "all", default="all"

    Returns
    -------
    DataFrame
        Columns `formulation`, `variables`, `binaries`, `rows`, `nonzeros`, `time_class`, `reason`.
    """
    import pandas as pd

    from milp_trees.solving.estimate import estimates

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
    progress: Progress | None = None,
) -> ModelSet:
    """All models within a slack of the optimum, counted exactly: the Rashomon set.

    Parameters
    ----------
    problem : Problem
        Trees or rule lists, and any task that is a sum of exact action costs, without side
        constraints. The question of the problem is ignored.
    slack, relative, trivial, equal_tests
        See `NearBest`, which also defines which trees and which rule lists count as different.
    time_limit : float or None, default=60
        Seconds. A run that is stopped gives the complete set for a smaller slack and says so.
    memory_mb : int, optional
        Estimated megabytes that the search may use; 2000 by default.
    progress : callable, optional
        As for `solve`.

    Returns
    -------
    TreeSet or RuleListSet

    Raises
    ------
    Unsupported, DataError
        The problem cannot be taken as it is.
    Infeasible
        No model is feasible (a DataError).
    NothingFound
        Not even the optimum was found within the limits (a SolverFailure).

    Examples
    --------
    >>> import milp_trees as mt
    >>> problem = mt.Problem(mt.load("planted:rows=60,depth=2"), mt.Accuracy(), mt.Trees(max_depth=2))
    >>> trees = mt.near_best(problem, slack=2)
    >>> trees.optimum.number, trees[0].predictor.depth
    (0.0, 2)
    """
    _check(problem)
    requested = replace(problem, question=NearBest(slack, relative, trivial, equal_tests, most=1))
    limits = Limits.asked(time_limit=time_limit, memory_mb=memory_mb)
    result = answer(requested, None, limits, progress=progress)
    if result.status is Status.INFEASIBLE:
        raise Infeasible(
            "No tree satisfies the limits: all rows together are fewer than a leaf must hold; lower min_samples_leaf, min_weight_leaf or min_samples_treatment."
        )
    if result.trees is None:
        if result.limit:
            remedy = "" if result.limit.by_user else " Raise time_limit or memory_mb."
            raise NothingFound(f"{result.message}{remedy}")
        raise SolverFailure(result.message)
    return result.trees


def size_path(
    problem: Problem,
    *,
    max_leaves: int | None = None,
    max_length: int | None = None,
    method: str | Method | None = None,
    time_limit: float | None = 60.0,
    memory_mb: int | None = None,
    threads: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> SizePath:
    """The best model of every size, and for which penalties per leaf or rule each is the best.

    Parameters
    ----------
    problem : Problem
        Trees or rule lists. The question of the problem is ignored; its space bounds the sizes too.
        Without a depth limit, the number of leaves bounds the depth.
    max_leaves : int, optional
        Largest number of leaves.
    max_length : int, optional
        Largest number of rules of rule lists, which have one leaf more; give one of the two.
    method : str or Method, optional
        A method that answers all sizes is run once. Any other method is run once per size and
        starts from the tree of the size before. By default the first method that takes the
        problem, as for `solve`.
    time_limit : float or None, default=60
        Seconds for each run. A size that is not proven by then is marked (`Point.proven`).
    memory_mb, threads, seed
        As for `solve`.
    progress : callable, optional
        As for `solve`. A method that answers all sizes at once tells about the largest; one that is
        run for every size tells about each.

    Returns
    -------
    SizePath

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
    >>> problem = mt.Problem(mt.load("planted:rows=60,depth=2"), mt.Accuracy(), mt.Trees(max_depth=None))
    >>> path = mt.size_path(problem, max_leaves=5)
    >>> path.at_leaves(5).value.number
    0.0
    """
    _check(problem)
    if (max_leaves is None) == (max_length is None):
        raise DataError("Give max_leaves, or max_length for rule lists, and not both.")
    if max_length is not None and not problem.space.counts_rules:
        raise DataError(
            f"max_length counts rules, and the problem is about {problem.space.name}; give max_leaves."
        )
    most = max_leaves if max_length is None else max_length + 1
    limits = Limits.asked(time_limit=time_limit, memory_mb=memory_mb, threads=threads, seed=seed)
    return path_of_sizes(problem, most, method, limits, progress)  # type: ignore[arg-type]


def _check(problem: Any) -> None:
    if not isinstance(problem, Problem):
        raise DataError(f"A Problem is needed, mt.Problem(…); got a {type(problem).__name__}.")


__all__ = ["compare", "estimate", "near_best", "size_path", "solve"]
