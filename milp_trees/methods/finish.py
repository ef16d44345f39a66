"""Results: the value is recomputed, and a claim that contradicts it becomes an error."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import cache
from importlib import metadata
from numbers import Rational
from typing import TYPE_CHECKING, Any

from milp_trees.common.compiling import run_clock
from milp_trees.methods.simplest import incumbent_or_trivial
from milp_trees.problems.problem import Problem
from milp_trees.problems.questions import Best, Front
from milp_trees.results.result import Certificate, Limit, Result, Solution, Status, TracePoint
from milp_trees.tasks.base import Value
from milp_trees.tasks.comparing import Number, crosses, exact_value, meets, units

if TYPE_CHECKING:
    from milp_trees.methods.watch import Watch
    from milp_trees.models.ensemble import Ensemble
    from milp_trees.models.shown import Shown


class Clock:
    """Named stages of a run: `with clock("build"): …`; `times` holds their seconds."""

    def __init__(self) -> None:
        self.begin = run_clock()
        self.times: dict[str, float] = {}
        self._stage: tuple[str, float] | None = None

    def __call__(self, stage: str) -> Clock:
        self._stage = stage, run_clock()
        return self

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: Any) -> None:
        assert self._stage is not None
        stage, began = self._stage
        self.times[stage] = self.times.get(stage, 0.0) + run_clock() - began

    @property
    def seconds(self) -> float:
        return run_clock() - self.begin


def finish(
    problem: Problem,
    method: str,
    tree: Shown | Ensemble | None,
    *,
    bound: Fraction | float | None,
    claims_optimal: bool,
    proved_by: str | None,
    clock: Clock,
    limit: Limit | None = None,
    infeasible: bool = False,
    watch: Watch | None = None,
    trace: Iterable[TracePoint] = (),
    **more: Any,
) -> Result:
    """Make a Result: the value is recomputed from the tree, and contradicting claims become errors.

    Parameters
    ----------
    problem : Problem
    method : str
        Label of the method.
    tree : Tree, RuleList, Ensemble or None
        Incumbent, with tests of the problem's dataset.
    bound : number in natural units, or None
        A float is a bound up to rounding. A Fraction is kept as an exact bound, if the task's
        values are exact.
    claims_optimal, proved_by
        Whether the tree is claimed to be optimal, and the name of the method that claims it. The
        bound must say so too: it is the recomputed value, to the tolerance of the problem's scale.
        For the question `best` a tree whose value meets the bound is optimal without such a claim,
        and no limit of time or size has cut anything off.
    clock : Clock
        Times of the stages, in seconds.
    limit : Limit, optional
        The limit that ended the run.
    infeasible : bool, default=False
        Whether it is claimed that no predictor is feasible.
    watch : Watch, optional
        The watch of a run that was stopped: its greedy tree is the answer if the run has no better
        one.
    trace : iterable of TracePoint, optional
        Incumbents and bounds of the run, with the second at which each was found.
    more
        Further fields of Result (`sizes`, `nodes`, …).

    Returns
    -------
    Result
        With the status ERROR if a claim contradicts the recomputed value.
    """
    scale, asks_front = problem.scale, isinstance(problem.question, Front)
    checked: list[str] = []
    message = more.pop("message", "")
    status = Status.NO_SOLUTION
    solutions: tuple[Solution, ...] = ()
    if watch is not None and limit is not None and not claims_optimal:
        tree = watch.better(tree)
        trace = watch.traced(tuple(trace))
    if tree is not None:
        value = problem.value(tree)
        wrong = problem.violations(tree)
        more.setdefault("scores", problem.extra_scores(tree))
        noun = problem.space.noun
        checked.append(f"value recomputed from the {noun}")
        checked.append(f"limits and side constraints checked on the {noun}")
        solutions = (Solution(tree, value),)
        if wrong:
            status, message = (
                Status.ERROR,
                f"{method} returned an infeasible {noun}: {' '.join(wrong)}",
            )
        elif bound is not None and crosses(bound, value, scale):
            status, message = (
                Status.ERROR,
                f"{method} claims the bound {_shown(bound)}, but its own {noun} has {_shown(value)}.",
            )
        elif (
            claims_optimal
            and not asks_front
            and (bound is None or not (meets(bound, value, scale) or _rounds(scale)))
        ):
            proved = "no bound" if bound is None else f"the bound {_shown(bound)}"
            status, message = (
                Status.ERROR,
                f"{method} calls its {noun} of {_shown(value)} optimal, but proves {proved}.",
            )
        else:
            if (
                claims_optimal
                and not asks_front
                and bound is not None
                and not meets(bound, value, scale)
            ):
                claims_optimal = False
                message = f"{method} found no better {noun}, but the numbers of the data differ so much that rounding leaves its bound at {_shown(bound)}. Rescale weights and targets, or drop outliers."
            reached = bound is not None and units(bound, scale) >= units(value, scale)
            if isinstance(problem.question, Best) and (reached or claims_optimal):
                claims_optimal = True
                limit = limit if limit is not None and limit.by_user else None
            status = Status.OPTIMAL if claims_optimal else Status.FEASIBLE
            if reached:  # no tree is better than itself, so its value is a valid bound
                assert bound is not None
                bound = _value_as_bound(value, bound, scale)
    elif infeasible and (known := incumbent_or_trivial(problem)) is not None:
        status, message = (
            Status.ERROR,
            f"{method} claims that no {problem.space.noun} is feasible, but one of {problem.value(known)} is.",
        )
    elif infeasible:
        status = Status.INFEASIBLE
    holds = scale.exact or _rounds(scale)
    exact_bound = Fraction(bound) if isinstance(bound, Rational) and holds else None
    certificate = Certificate(
        None if bound is None else float(bound),
        exact_bound,
        proved_by if bound is not None or infeasible else None,
        tuple(checked),
    )
    return Result(
        problem,
        method,
        status,
        limit,
        solutions,
        certificate,
        clock.seconds,
        dict(clock.times),
        trace=tuple(trace),
        message=message,
        versions=more.pop("versions", versions()),
        **more,
    )


def _value_as_bound(value: Value, bound: Fraction | float, scale: Any) -> Fraction | float:
    """The bound of a model that is as good as a bound allows, with a rational that holds."""
    if _rounds(scale) and isinstance(bound, Rational):
        return min(Fraction(bound), exact_value(value))
    return exact_value(value) if scale.exact else value.number


def _rounds(scale: Any) -> bool:
    """Whether bounds are rationals that hold whatever was rounded."""
    return bool(getattr(scale, "rational_bounds", False))


def _shown(number: Number) -> str:
    """A number for a sentence, whole if it is a whole number."""
    exact = exact_value(number)
    return str(exact.numerator) if exact.denominator == 1 else f"{float(exact):.12g}"


def versions(**more: str) -> Mapping[str, str]:
    """Versions that a result is stored with."""
    return {**_own_versions(), **more}


@cache
def _own_versions() -> Mapping[str, str]:
    return {"milp-trees": _version("milp-trees"), "python": platform.python_version()}


@cache
def _version(distribution: str) -> str:
    """The version of an installed distribution; empty if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _installed(distributions: tuple[str, ...]) -> dict[str, str]:
    """Versions of those distributions that are installed."""
    return {name: found for name in distributions if (found := _version(name))}
