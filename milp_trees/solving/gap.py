"""The gap of any given predictor: of a heuristic, of another program, or typed in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, SolverFailure
from milp_trees.common.limits import Limits
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.models.read_tree import is_sklearn_tree, read_sklearn_tree
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import Best
from milp_trees.results.gap import Gap
from milp_trees.results.result import Status, bound_of
from milp_trees.results.strict_json import read_json
from milp_trees.solving.solve import answer
from milp_trees.solving.stored_model import read_result
from milp_trees.tasks.comparing import crosses

if TYPE_CHECKING:
    from milp_trees.models.ensemble import Ensemble
    from milp_trees.models.shown import Shown


def gap_of(
    model: Shown | Ensemble | str | Any,
    problem: Problem,
    *,
    method: str | Method | None = None,
    time_limit: float | None = 60.0,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Gap:
    """How far a given predictor is from the best one, with a proof.

    The value of the predictor is recomputed on the data, and a method proves how good a predictor
    of the problem can be. It begins with the given one.

    Parameters
    ----------
    model : Tree, RuleList, Ensemble, fitted estimator or str
        Any predictor: of a heuristic, of another package, or typed in. A text is a rule list in the
        form of `RuleList.to_text`; an estimator is one of this package, or a decision tree of
        scikit-learn that was fitted on the columns of the data. It may violate the limits of the
        problem; `Gap.violations` says so.
    problem : Problem
        The question of the problem is ignored.
    method : str or Method, optional
        What proves the bound; by default the first method that takes the problem.
    time_limit : float or None, default=60
        Seconds. When they are over, the gap to the bound that is proven by then is given.
    limits : Limits, optional
        All limits of the run, in place of `time_limit`.
    progress : callable, optional
        Called with every `TracePoint`.

    Returns
    -------
    Gap

    Raises
    ------
    DataError
        The predictor is of another kind than those of the problem, or names features or actions
        that the data do not have.
    Unsupported
        The method cannot take the problem.
    SolverFailure
        The method failed, or the predictor is better than it proves.

    Examples
    --------
    >>> import milp_trees as mt
    >>> data = mt.Dataset([[0, 0], [0, 1], [1, 0], [1, 1]], [mt.BinaryFeature("a"), mt.BinaryFeature("b")], y=["no", "yes", "no", "no"])
    >>> problem = mt.Problem(data, mt.Accuracy(), mt.RuleLists(max_length=2))
    >>> gap = mt.gap_of("if a: no\\nelse: yes", problem)
    >>> gap.value.number, gap.bound, gap.absolute
    (1.0, 0.0, 1.0)
    """
    problem = replace(problem, question=Best())
    if isinstance(model, str):
        model = problem.space.read_text(model, problem)
    if is_sklearn_tree(model):
        model = read_sklearn_tree(model, problem.dataset, problem.task.predicts_numbers)
    model = getattr(getattr(model, "result_", None), "predictor", model)
    if not isinstance(model, problem.space.predictor()):
        raise DataError(
            f"The problem is about models of the kind {problem.space.noun}, and a {type(model).__name__} was given; state a problem with the space of the model, or give another model."
        )
    fitting = model
    if not problem.task.predicts_numbers:
        fitting = _with_actions(model, problem.task.actions(problem.dataset))
    elif why := problem.task.unknown_actions(model.actions, problem.dataset):
        raise DataError(f"The model does not fit the problem: {why}")
    value, candidate = problem.value(fitting), problem.space.candidate(fitting, problem)
    wrong = problem.violations(candidate)
    start = None if wrong else candidate
    limits = limits or Limits.asked(time_limit=time_limit)
    result = answer(problem, method, limits, start=start, progress=progress)
    if result.status is Status.ERROR:
        raise SolverFailure(f"{result.method} failed: {result.message}")
    if not wrong and crosses(bound_of(result), value, problem.scale):
        # Rows may answer thresholds that are none of the problem's tests.
        strange = problem.space.strange_question(candidate, result.problem.dataset)
        wrong = [strange] if strange else []
    if not wrong and crosses(bound_of(result), value, problem.scale):
        raise SolverFailure(
            f"{result.method} proves that no model is better than {result.bound:.12g}, but the given one has {value}. Please report this problem."
        )
    return Gap(problem, fitting, value, tuple(wrong), result)


def read_model(path: str | Path, problem: Problem) -> Any:
    """The predictor in a file, for `gap_of`."""
    remedy = (
        "give a result that was written with --out, a predictor's JSON, or the text of a rule list"
    )
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}); {remedy}.") from None
    if text.lstrip()[:1] not in ("{", "["):
        return problem.space.read_text(text, problem)
    stored = read_json(path, remedy)
    if not isinstance(stored, dict) or "kind" not in stored:
        stored = read_result(path)["predictor"]
    try:
        return problem.space.read(stored)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path} holds no {problem.space.noun}, which the problem is about, or a damaged one ({type(error).__name__}: {error}); {remedy}."
        ) from error


def _with_actions(model: Any, actions: tuple[Any, ...]) -> Any:
    """The predictor with the actions of the task, which it may name in another order."""
    own = [str(a) for a in model.actions] if hasattr(model, "actions") else []
    known = [str(a) for a in actions]
    if own == known or not own:
        return model
    strange = [name for name in own if name not in known]
    if strange:
        raise DataError(
            f"The model chooses {', '.join(map(repr, strange))}; the actions of the problem are {', '.join(known)}."
        )
    return model.with_actions([known.index(name) for name in own], actions)
