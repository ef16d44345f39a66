"""One run: a method on a problem from a start; every failure becomes a row with the reason."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import (
    DataError,
    MilpTreesError,
    SolverUnavailable,
    UnknownName,
    Unsupported,
)
from milp_trees.common.limits import Limits, Stopped
from milp_trees.methods.callback import callback_scope
from milp_trees.methods.deadline import within
from milp_trees.methods.finish import versions
from milp_trees.methods.method import Method
from milp_trees.methods.start import Start
from milp_trees.methods.thresholds import is_open, some_thresholds
from milp_trees.methods.trace import Progress
from milp_trees.methods.work import ENOUGH, sizes_of
from milp_trees.mip.registry import registry
from milp_trees.models.ensemble import Ensemble
from milp_trees.models.shown import Shown
from milp_trees.problems.questions import BySize
from milp_trees.problems.support import offers_what
from milp_trees.results.result import Result, Status

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.mip.formulation import Formulation
    from milp_trees.problems.problem import Problem


#: Stands for the choice that the package makes.
AUTO = "auto"
#: Seconds in which a formulation must find out whether it takes a problem, to be chosen early.
CHOOSING = 0.4
#: Expected seconds of a proof over all thresholds that leave no wish for a quicker engine.
AT_ONCE = 0.1
#: From this `default_rank` on, a method is chosen only if no formulation before it asked for longer.
LAST_RESORT = 100


def default_method(problem: Problem) -> str:
    """The method for a problem when none is named.

    It is the first that takes the problem. If none does, it is the first for such spaces, questions
    and tasks, so that its sentence explains why not.
    """
    chosen = first_that_takes(problem)
    if chosen is not None:
        return chosen
    ranked = list(registry.ranked("default_rank"))
    of_space = [entry for entry in ranked if isinstance(problem.space, entry[1].space)]
    fitting = list(_fitting(problem)) or of_space or ranked
    offering = [name for name, cls in fitting if offers_what(cls, problem.task)]
    return [*offering, *(name for name, _ in fitting)][0]


def first_that_takes(problem: Problem) -> str | None:
    """The first method by `default_rank` that takes a problem; None if none does.

    No time limit holds yet, so a formulation that must enumerate for long to find out whether it
    takes the problem comes last. Where thresholds are open, or all of them are given, an engine that
    can be expected to prove the optimum over all of them comes first.
    """
    open_, ranked = is_open(problem), problem.dataset.ranked
    every = ranked is not None and ranked.codes.shape[1] < len(ranked.column)
    if (open_ or every) and (whole := _over_all_thresholds(problem)) is not None:
        return whole
    slow: list[str] = []
    for name, cls in _offered(problem):
        if slow and cls.default_rank >= LAST_RESORT:
            break
        if not offers_what(cls, problem.task) and not problem.by_steps(cls):
            continue  # it would only say so, in a sentence that takes longer than a small search
        method = registry.method(name)
        try:
            if _taken_by(method, some_thresholds(problem, method) if open_ else problem):
                return name
        except Stopped:
            slow.append(name)
    return slow[0] if slow else None


def _over_all_thresholds(problem: Problem) -> str | None:
    """The engine that is expected to prove the optimum over all thresholds; None if none is.

    It is the first by `default_rank` that is expected to do so at once, or else the quickest.
    """
    sizes, found = sizes_of(problem), []
    for name, _ in _offered(problem, models=False):
        method = registry.method(name)
        seconds = method.expected_seconds(sizes)
        if method.exact and seconds <= ENOUGH and method.unsupported(problem) is None:
            if seconds <= AT_ONCE:
                return name
            found.append((seconds, name))
    return min(found)[1] if found else None


def _offered(problem: Problem, models: bool = True) -> Iterator[tuple[str, Any]]:
    """The methods for such spaces, questions and tasks, by their `default_rank`.

    First the declarations of the classes are read. A method is made, and asked about the data, only
    if it can take such problems at all.
    """
    for name, cls in _fitting(problem, problem, models):
        if offers_what(cls, problem.task) or problem.by_steps(cls):
            yield name, cls


def _fitting(
    problem: Problem, unless: Problem | None = None, models: bool = True
) -> Iterator[tuple[str, Any]]:
    """The methods for such spaces and questions, by their `default_rank`.

    Those that are known to be unable to take the problem `unless` are left out.
    """
    for name, cls in registry.ranked("default_rank", unless, models):
        answers = problem.question.name in cls.questions or problem.by_steps(cls)
        if isinstance(problem.space, cls.space) and answers:
            yield name, cls


def _taken_by(method: Method, problem: Problem) -> bool:
    """Whether a method takes a problem."""
    if not hasattr(method, "formulation"):
        return method.unsupported(problem) is None
    method.formulation.warm_up(problem.space)  # the first call includes loading modules
    return within(CHOOSING, lambda: method.unsupported(problem) is None)


def method_for_sizes(problem: Problem, max_leaves: int) -> str:
    """The method for the best tree of every size when none is named.

    It answers all sizes at once, or is run for every size.
    """
    at_once = first_that_takes(replace(problem, question=BySize(max_leaves)))
    if at_once is not None:
        return at_once
    space = problem.space
    most = min(max_leaves, space.most_leaves or max_leaves)
    return default_method(replace(problem, space=space.with_leaves(most)))


def named_method(
    name: str | Method | Formulation, options: Mapping[str, Any] | None = None
) -> Method:
    """The method of that name, with solver options; a formulation gets the default solver."""
    method = registry.method(name) if isinstance(name, str) else _with_solver(name)
    if options is not None and not isinstance(options, Mapping):
        raise DataError(
            f"options is a mapping of a solver's option names to values, such as {{'presolve': 'off'}}; got {options!r}."
        )
    if options:
        if not hasattr(method, "options"):
            raise DataError(
                f"{method.label} takes no solver options; only a formulation with a solver does, such as flow-oct@highs."
            )
        method.options = {**method.options, **options}
    return method


def _with_solver(given: Any) -> Method:
    """A method itself, or a formulation with the default solver."""
    from milp_trees.mip.formulation import Formulation
    from milp_trees.mip.method import FormulationMethod

    if isinstance(given, Formulation):
        return FormulationMethod(given, registry.solver(registry.default_solver))
    if not isinstance(given, Method):
        what = f"the class {given.__name__}" if isinstance(given, type) else repr(given)
        raise DataError(
            f"A method is a name such as 'dp', a Method, or a formulation such as mt.registry.formulation('flow-oct'); got {what}."
        )
    return given


def find_start(problem: Problem, start: str | Shown | Ensemble | None, limits: Limits) -> Start:
    """The start that was requested."""
    if start is None:
        return Start()
    if isinstance(start, (Shown, Ensemble)):
        return Start(start, "given")
    if start == AUTO:
        start = default_start(problem)
        if start is None:
            return Start()
    if not isinstance(start, str):
        raise DataError(
            f"start must be a Tree, a RuleList, a pruned Ensemble, the name of a method such as 'dp' or 'cart', or None; got {type(start).__name__}."
        )
    return start_from(attempt(named_method(start), problem, limits))


def default_start(problem: Problem) -> str | None:
    """The engine that makes a start when none is named.

    It is the default method, if that needs no solver; otherwise None.
    """
    name = default_method(problem)
    return name if registry.is_engine(name) else None


def start_from(result: Result) -> Start:
    """A Start with the predictor of a result."""
    reason = (
        ""
        if result.predictor is not None
        else result.message or f"{result.method} found no {result.problem.space.noun}."
    )
    ended = result.limit if result.limit is not None and result.limit.by_user else None
    return Start(result.predictor, result.method, result.seconds, reason, ended)


def attempt(
    method: Method,
    problem: Problem,
    limits: Limits,
    start: Start | None = None,
    progress: Progress | None = None,
    test_data: Dataset | None = None,
) -> Result:
    """Run a method like `method.run`, but turn failures into results that hold the reason.

    So a failure costs a study one row and nothing else.
    """
    with callback_scope(
        progress
    ):  # raises what the user's function raised, which is no failure of a run
        try:
            return method.run(problem, limits, start, progress, test_data)
        except (Unsupported, SolverUnavailable) as why:
            return failed(problem, method.label, Status.UNSUPPORTED, str(why))
        except (DataError, UnknownName):
            raise
        except MilpTreesError as why:
            return failed(problem, method.label, Status.ERROR, str(why))
        except Exception as error:
            return failed(problem, method.label, Status.ERROR, f"{type(error).__name__}: {error}")


def failed(problem: Problem, method: str, status: Status, message: str) -> Result:
    """The result of a run without an answer."""
    return Result(problem, method, status, message=message, versions=versions())
