"""One run: a method on a problem from a start, with every failure turned into a row that says why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from milp_trees.by_name import registry
from milp_trees.errors import DataError, MilpTreesError, SolverUnavailable, UnknownName, Unsupported
from milp_trees.limits import Limits
from milp_trees.methods.deadline import TimeUp, within
from milp_trees.methods.finish import Progress, versions
from milp_trees.methods.method import Method
from milp_trees.models.ensemble import Ensemble
from milp_trees.models.tree import Tree
from milp_trees.problem import offers_what
from milp_trees.questions import BySize
from milp_trees.results.result import Result, Status
from milp_trees.spaces.trees import Trees

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problem import Problem


@dataclass(frozen=True)
class Start:
    """A tree to begin with and where it is from.

    Parameters
    ----------
    tree : Tree, Ensemble or None
    method : str
        Who made it; `given` for a tree of the user's; empty if no start was asked for.
    seconds : float
        What it cost; not part of the run that begins with it.
    reason : str
        Why there is no tree although one was asked for.
    """

    tree: Any = None
    method: str = ""
    seconds: float = 0.0
    reason: str = ""

    def describe(self, of_run: Mapping[str, Any]) -> dict[str, Any]:
        """The `start` of a result: what the run says about acceptance, and this."""
        if not self.method:
            return dict(of_run)
        out: dict[str, Any] = {
            "method": self.method,
            "accepted": False if self.tree is None else None,
            "seconds": round(self.seconds, 6),
        }
        if self.reason:
            out["reason"] = self.reason
        return {**out, **of_run}


#: Who solves a formulation that nobody named a solver for: the solver that comes with the
#: installation.
DEFAULT_SOLVER = "highs"
#: Seconds in which a formulation must know whether it takes a problem, to be chosen before others.
CHOOSING = 0.4


def default_method(problem: Problem) -> str:
    """The method for a problem when none is named: of those that declare a `default_rank` the first
    that takes it; if none does, the first for such tasks, to say why not. No time limit holds yet:
    a formulation that must enumerate for long to know whether it takes the problem comes last.
    """
    slow: list[str] = []
    ranked: list[tuple[int, str, Any]] = []
    for group, solver in (("methods", ""), ("formulations", f"@{DEFAULT_SOLVER}")):
        classes: dict[str, Any] = registry.classes(group)
        ranked += [
            (cls.default_rank, name + solver, cls)
            for name, cls in classes.items()
            if cls.default_rank is not None
        ]
    ranked.sort(key=lambda entry: entry[:2])
    for _, name, cls in ranked:
        # What a class declares is looked at first: a method is made, and asked about the data, only
        # if it can take such problems at all.
        if not isinstance(problem.space, cls.space) or problem.question.name not in cls.questions:
            continue
        try:
            if _taken_by(registry.method(name), problem):
                return name
        except TimeUp:
            slow.append(name)
    if slow:
        return slow[0]
    names = [name for _, name, cls in ranked if offers_what(cls, problem.task)] or [
        name for _, name, _ in ranked
    ]
    return names[0]


def _taken_by(method: Method, problem: Problem) -> bool:
    """Whether a method takes a problem.

    Raises
    ------
    TimeUp
        It is a formulation, and does not know within a moment.
    """
    if not hasattr(method, "formulation"):
        return method.unsupported(problem) is None
    method.formulation.warm_up()  # what is loaded for the first time takes longer
    return within(CHOOSING, lambda: method.unsupported(problem) is None)


def method_for_sizes(problem: Problem, max_leaves: int) -> str:
    """The method for the best tree of every size when none is named: one that answers all sizes at
    once, or one to be run for every size.
    """
    asked = replace(problem, question=BySize(max_leaves))
    at_once = default_method(asked)
    if registry.method(at_once).unsupported(asked) is None:
        return at_once
    space: Any = problem.space
    most = min(max_leaves, getattr(space, "max_leaf_nodes", None) or max_leaves)
    return default_method(
        replace(problem, space=replace(space, max_leaf_nodes=most))
        if isinstance(space, Trees)
        else problem
    )


def named_method(name: str | Method, options: Mapping[str, Any] | None = None) -> Method:
    """The method of that name, with solver options.

    Raises
    ------
    UnknownName
    DataError
        Options for a method that takes none.
    """
    method = registry.method(name) if isinstance(name, str) else name
    if options is not None and not isinstance(options, Mapping):
        raise DataError(
            f"options is a mapping of a solver's option names to values, such as {{'presolve': 'off'}}; got {options!r}."
        )
    if options:
        if not hasattr(method, "options"):
            raise DataError(
                f"{method.label} takes no solver options; only a formulation with a solver does, for example flow-oct@highs."
            )
        method.options = {**method.options, **options}
    return method


def find_start(problem: Problem, start: str | Tree | Ensemble | None, limits: Limits) -> Start:
    """The start that was asked for: a tree, or the answer of a method (`dp`, `cart`, …)."""
    if start is None:
        return Start()
    if isinstance(start, (Tree, Ensemble)):
        return Start(start, "given")
    if not isinstance(start, str):
        raise DataError(
            f"start must be a Tree, a pruned Ensemble, the name of a method such as 'dp' or 'cart', or None; got {type(start).__name__}."
        )
    return start_from(attempt(named_method(start), problem, limits))


def start_from(result: Result) -> Start:
    """The start that a result gives."""
    reason = (
        "" if result.predictor is not None else result.message or f"{result.method} found no tree."
    )
    return Start(result.predictor, result.method, result.seconds, reason)


def run_method(
    method: Method,
    problem: Problem,
    limits: Limits,
    start: Start | None = None,
    progress: Progress | None = None,
    test_data: Dataset | None = None,
) -> Result:
    """Run a method on a problem it has never seen (views are made anew, so that preparation is
    timed); errors are raised.

    Raises
    ------
    Unsupported, SolverUnavailable, SolverFailure
    """
    start = start or Start()
    method.warm_up()
    result = method.run(problem.without_views(), limits, start.tree, progress)
    result = replace(result, problem=problem, start=start.describe(result.start))
    return with_scores(result, test_data)


def attempt(
    method: Method,
    problem: Problem,
    limits: Limits,
    start: Start | None = None,
    progress: Progress | None = None,
    test_data: Dataset | None = None,
) -> Result:
    """Like `run_method`, but whatever goes wrong becomes a result that says so: a study loses one
    row and nothing else.
    """
    try:
        return run_method(method, problem, limits, start, progress, test_data)
    except (Unsupported, SolverUnavailable) as why:
        return failed(problem, method.label, Status.UNSUPPORTED, str(why))
    except (DataError, UnknownName):
        raise  # the question is wrong, not the method
    except MilpTreesError as why:
        return failed(problem, method.label, Status.ERROR, str(why))
    except Exception as error:
        return failed(problem, method.label, Status.ERROR, f"{type(error).__name__}: {error}")


def failed(problem: Problem, method: str, status: Status, message: str) -> Result:
    return Result(problem, method, status, message=message, versions=versions())


def with_scores(result: Result, test_data: Dataset | None) -> Result:
    """The result with train and test scores: the task's value on both, and the share of rows
    classified correctly where there are classes.
    """
    if test_data is None or result.predictor is None:
        return result
    return replace(
        result, scores={**result.scores, **scores(result.problem, result.predictor, test_data)}
    )


def scores(problem: Problem, tree: Tree, test_data: Dataset) -> dict[str, float]:
    """`train` and `test`: the task's value; `train_accuracy` and `test_accuracy`; `train_rows` and
    `test_rows`.
    """
    out: dict[str, float] = {}
    for name, data in (("train", problem.dataset), ("test", test_data)):
        routes = tree.routes(data)
        out[name] = problem.task.value(routes, data).number
        out |= {f"{name}_{k}": v for k, v in problem.task.extra_scores(routes, data).items()}
        if (
            data.y is not None
            and data.classes is not None
            and tuple(tree.actions) == tuple(data.classes)
        ):
            out[f"{name}_accuracy"] = float((routes.action == data.y).mean())
        out[f"{name}_rows"] = data.n_rows
    return out
