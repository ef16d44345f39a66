"""`Method`: anything that turns a Problem into a Result. A formulation with a solver is one; so is
an engine or a heuristic.
"""

from __future__ import annotations

import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from importlib import metadata
from numbers import Rational
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees import labels
from milp_trees.compiling import interruptible
from milp_trees.errors import DataError, Unsupported
from milp_trees.methods.deadline import TimeUp, within
from milp_trees.methods.watch import hearing
from milp_trees.mip.solver import Limits
from milp_trees.problem import Problem, mismatch
from milp_trees.registry import registry
from milp_trees.results.result import Certificate, Limit, Result, Solution, Status, TracePoint
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.base import Value
from milp_trees.tasks.views import CostMatrix, Scale

if TYPE_CHECKING:
    from milp_trees.methods.watch import Watch
    from milp_trees.models.tree import Tree

#: Rows times tests from which on a timer watches an engine that watches the clock itself.
LARGE = 200_000
#: Seconds after the limit, at least and as a share of it, at which an engine is stopped from
#: outside.
LATE, LATE_SHARE = 0.3, 0.07
#: Seconds that the predictors which take no search may take, when there is nothing else.
LOOKING = 0.05

#: Called with every new (seconds, incumbent, bound) of a run, natural units.
Progress = Callable[[TracePoint], None]


class Method(ABC):
    """Base of all methods."""

    registry_group: ClassVar[str] = "methods"

    name: str
    title: ClassVar[str] = ""
    #: Space and view it takes (of several views the first that a task offers), and the questions it
    #: answers.
    space: ClassVar[type] = Trees
    needs: ClassVar[type | tuple[type, ...]] = CostMatrix
    questions: ClassVar[frozenset[str]] = frozenset({"best"})
    takes_side_rows: ClassVar[bool] = False
    #: Whether it can do without a depth limit, and with a minimum weight in the leaves.
    takes_any_depth: ClassVar[bool] = False
    takes_min_weight: ClassVar[bool] = False
    #: Place among the methods for problems that nobody named one for: the smallest number that
    #: takes it is run. None: run only when named.
    default_rank: ClassVar[int | None] = None
    #: Whether it proves what it returns (a heuristic does not).
    exact: bool = True
    #: Distributions that it computes with: a run by another version of one is another run.
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "numba")
    #: Names of the parts that it shares with other methods. Two methods can confirm each other if
    #: they have none in common.
    shares: ClassVar[frozenset[str]] = frozenset()
    #: Rank among exact methods, the cheapest first, in which they are asked to derive a result
    #: again.
    effort: ClassVar[int] = 50

    @property
    def label(self) -> str:
        """The name with the options that differ from their defaults, `dp:order=best-first`: results
        go by it, and `registry.method` reads it.
        """
        return labels.label(self)

    def software(self) -> dict[str, str]:
        """Versions of everything that can change a run: this package, Python, the libraries, and
        the package that a plug-in is from.
        """
        return dict(versions(**_installed(self.libraries), **registry.origin(type(self))))

    def unsupported(self, problem: Problem) -> str | None:
        """The sentence why this method cannot take a problem, or None."""
        from milp_trees.methods.dinkelbach import by_steps, one_step

        problem = one_step(problem) if by_steps(self, problem) else problem
        why = mismatch(self, problem)
        if why:
            return why
        if getattr(problem.first_view(self.needs), "side", ()) and not self.takes_side_rows:
            return f"{self.name} cannot express side constraints; the formulations flow-oct and state-flow can."
        return self.unsupported_view(problem)

    def unsupported_view(self, problem: Problem) -> str | None:
        """Further reasons of a method; None if there is none."""
        return None

    def warm_up(self) -> None:
        """Compile what needs compiling, before any clock starts."""

    @abstractmethod
    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        """Solve a problem that is known to be supported."""

    def run(
        self,
        problem: Problem,
        limits: Limits | None = None,
        start: Tree | None = None,
        progress: Progress | None = None,
    ) -> Result:
        """Solve a problem.

        Parameters
        ----------
        limits : Limits, optional
            Default: 60 seconds, one thread.
        start : Tree, optional
            A tree to begin with. One that is not feasible is left aside; `result.start` says why.
        progress : callable, optional
            Called with every improvement.

        Raises
        ------
        Unsupported
            With the sentence why.
        DataError
            The start is a tree for other data.
        """
        from milp_trees.methods import dinkelbach

        self.warm_up()
        limits, clock = limits or Limits(), Clock()
        fresh = (
            problem.fresh()
        )  # so that the preparation of the data is part of every method's time
        try:
            why = self._unsupported_within(limits, fresh)
        except TimeUp:
            return self._signed(self._unprepared(problem, start, clock))
        if why:
            raise Unsupported(why)
        refused = None if start is None else _refused(fresh, start)
        search = (
            partial(dinkelbach.search, self) if dinkelbach.by_steps(self, fresh) else self.search
        )
        prepared = clock.seconds
        given, left = None if refused else start, limits.after(prepared)
        try:
            with hearing(), interruptible():
                result = self._search_within(
                    left, fresh, lambda: search(fresh, left, given, progress)
                )
        except TimeUp:
            return self._signed(replace(self._unprepared(fresh, given, clock), problem=problem))
        except RecursionError:
            raise Unsupported(
                f"{self.name} goes deeper here than Python's recursion; give a smaller max_depth (--depth)."
            ) from None
        if "time_limit" in result.options:
            result = replace(result, options={**result.options, "time_limit": limits.time})
        if refused:
            result = replace(result, start={"accepted": False, "reason": refused})
        apart = result.times.get("enumerate", 0.0)
        times = {
            "prepare": max(0.0, prepared - apart) + result.times.get("prepare", 0.0),
            **{k: v for k, v in result.times.items() if k != "prepare"},
        }
        return self._signed(
            replace(result, problem=problem, seconds=result.seconds + prepared, times=times)
        )

    def _signed(self, result: Result) -> Result:
        """The result under the method's label; engines need not know of it, and may sign with their
        name alone.
        """
        proof = result.certificate
        if proof.proved_by == self.name:
            proof = replace(proof, proved_by=self.label)
        return replace(
            result,
            method=self.label,
            certificate=proof,
            versions={**self.software(), **result.versions},
        )

    def _unsupported_within(self, limits: Limits, problem: Problem) -> str | None:
        """As `unsupported`; for methods that may take long to answer.

        Raises
        ------
        TimeUp
            Longer than the time limit.
        """
        if limits.time is None or not _is_large(problem):
            return self.unsupported(problem)
        return within(max(limits.time, LATE), lambda: self.unsupported(problem))

    def _search_within(
        self, limits: Limits, problem: Problem, search: Callable[[], Result]
    ) -> Result:
        """What a search returns. An engine stops itself at the limit; its preparation and its
        reading of the tree, which take long on large data only, are stopped from outside a little
        later.

        Raises
        ------
        TimeUp
            It did not end in time.
        """
        if limits.time is None or not _is_large(problem):
            return search()
        return within(limits.time + max(LATE, LATE_SHARE * limits.time), search)

    def _unprepared(self, problem: Problem, start: Tree | None, clock: Clock) -> Result:
        """The answer of a run that had to be ended from outside: the start, if it is feasible, or
        what takes no search.
        """
        refused = None if start is None else _refused(problem, start)
        known = None if start is None or refused else start
        if known is None:
            known = _simplest(problem)
        watch = problem.watch
        said = (
            {}
            if start is None
            else {"accepted": False, "reason": refused}
            if refused
            else {"accepted": None, "value": problem.value(start).number}
        )
        message = "The time limit ended while the data were being prepared, or the answer read; raise --time-limit."
        return finish(
            problem,
            self.name,
            known,
            bound=None,
            claims_optimal=False,
            proved_by=None,
            clock=clock,
            limit=Limit.TIME,
            start=said,
            message=message,
            watch=watch if watch is not None and watch.fallback is not None else None,
        )


def _is_large(problem: Problem) -> bool:
    """Whether preparing a problem may take a moment."""
    data = problem.dataset
    return data.n_rows * data.n_tests > LARGE or not isinstance(problem.space, Trees)


def _simplest(problem: Problem) -> Any:
    """The best of the predictors that take no search, of those that a moment is enough to look at;
    None if none is feasible.
    """
    until, best = time.perf_counter() + LOOKING, None
    for predictor in problem.space.simplest(problem.task.actions(problem.dataset)):
        if not problem.violations(predictor):
            value = problem.value(predictor)
            if best is None or value.better_than(best[0]):
                best = value, predictor
        if time.perf_counter() > until:
            break
    return None if best is None else best[1]


def _refused(problem: Problem, start: Tree) -> str | None:
    """Why a start cannot be used, or None.

    Raises
    ------
    DataError
        It is a tree for other data: its tests or actions are not the problem's.
    """
    strange = problem.task.strange_actions(start.actions, problem.dataset)
    if strange:
        raise DataError(f"The start is for another problem: {strange}")
    wrong = problem.violations(start)
    return f"The start is not feasible: {wrong[0]}" if wrong else None


class Clock:
    """Named stages of a run: `with clock("build"): …`; `times` holds their seconds."""

    def __init__(self) -> None:
        self.begin = time.perf_counter()
        self.times: dict[str, float] = {}
        self._stage: tuple[str, float, float] | None = None

    def __call__(self, stage: str) -> Clock:
        self._stage = (stage, time.perf_counter(), self.begin)
        return self

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: Any) -> None:
        assert self._stage is not None
        stage, began, begin = self._stage
        apart = self.begin - begin  # compilation during the stage, which a run is not charged
        self.times[stage] = self.times.get(stage, 0.0) + max(
            0.0, time.perf_counter() - began - apart
        )

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begin


def finish(
    problem: Problem,
    method: str,
    tree: Tree | None,
    *,
    bound: Fraction | float | None,
    claims_optimal: bool,
    proved_by: str | None,
    clock: Clock,
    limit: Limit | None = None,
    infeasible: bool = False,
    watch: Watch | None = None,
    **more: Any,
) -> Result:
    """The one way to a Result: the value is recomputed from the tree, and claims that contradict it
    become errors.

    Parameters
    ----------
    tree : Tree or None
        Incumbent in terms of the dataset's tests.
    bound : number in natural units, or None
        A float is a bound up to rounding; a Fraction is kept as an exact one, if the task's values
        are exact.
    claims_optimal, proved_by
        Whether and by whom the tree is called optimal.
    watch : Watch, optional
        Of a run that was stopped: its greedy tree is the answer if the run has no better one.
    more
        Further fields of Result (`sizes`, `trace`, `nodes`, …).
    """
    scale = problem.scale
    checked: list[str] = []
    message = more.pop("message", "")
    status = Status.NO_SOLUTION
    solutions: tuple[Solution, ...] = ()
    if watch is not None and limit is not None and not claims_optimal:
        tree = watch.better(tree)
        more["trace"] = watch.traced(more.get("trace", ()))
    if tree is not None:
        value = problem.value(tree)
        wrong = problem.violations(tree)
        more.setdefault("scores", problem.beside(tree))
        checked.append("value recomputed from the tree")
        checked.append("limits and side constraints checked on the tree")
        solutions = (Solution(tree, value),)
        if wrong:
            status, message = (
                Status.ERROR,
                f"{method} returned an infeasible tree: {' '.join(wrong)}",
            )
        elif bound is not None and _crosses(
            scale, value.exact if value.exact is not None else Fraction(value.number), bound
        ):
            status, message = (
                Status.ERROR,
                f"{method} claims the bound {float(bound):.12g}, but its own tree has {value.number:.12g}.",
            )
        else:
            status = Status.OPTIMAL if claims_optimal else Status.FEASIBLE
            bound = None if bound is None else _not_above(scale, value, bound)
    elif infeasible:
        status = Status.INFEASIBLE
    exact_bound = Fraction(bound) if isinstance(bound, Rational) and scale.exact else None
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
        message=message,
        versions=more.pop("versions", versions()),
        **more,
    )


def _not_above(scale: Scale, value: Value, bound: Fraction | float) -> Fraction | float:
    """The bound, or the tree's own value where rounding has put the bound on its other side: no
    tree is better than itself.
    """
    own = value.exact if value.exact is not None else Fraction(value.number)
    if scale.from_value(bound) <= scale.from_value(own):
        return bound
    return own if scale.exact else value.number


def _crosses(scale: Scale, value: Fraction, bound: Fraction | float) -> bool:
    """Whether a value is better than a bound says is possible, beyond rounding."""
    slack = float(scale.from_value(bound) - scale.from_value(value))
    return slack > max(scale.tolerance, 1e-6 * max(1.0, abs(float(scale.from_value(value)))))


def versions(**more: str) -> Mapping[str, str]:
    """Versions that a result is stored with."""
    from milp_trees import __version__

    return {"milp-trees": __version__, "python": platform.python_version(), **more}


@cache
def _version(distribution: str) -> str:
    """Of an installed distribution; empty where it is absent."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _installed(distributions: tuple[str, ...]) -> dict[str, str]:
    """Versions of those distributions that are installed."""
    return {name: found for name in distributions if (found := _version(name))}
