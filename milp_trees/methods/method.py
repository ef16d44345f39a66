"""`Method`: anything that turns a Problem into a Result.

A formulation with a solver is a method, and so is an engine or a heuristic.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.compiling import interruptible
from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limit, Limits, Stopped
from milp_trees.common.registering import labels, plugins
from milp_trees.methods.callback import Callback, callback_scope
from milp_trees.methods.claims import Claims
from milp_trees.methods.deadline import LATE, within
from milp_trees.methods.dinkelbach import RatioSteps
from milp_trees.methods.finish import Clock, _installed, versions
from milp_trees.methods.front_steps import FrontSteps
from milp_trees.methods.greedy_first import greedy_first
from milp_trees.methods.scores import scores
from milp_trees.methods.start import Start, refusal
from milp_trees.methods.thresholds import is_open, settled_within
from milp_trees.methods.trace import Progress
from milp_trees.methods.unprepared import unprepared
from milp_trees.methods.watch import sigint_scope
from milp_trees.methods.work import Sizes, most_tests, usual_seconds
from milp_trees.models.space import Space, Trees
from milp_trees.problems.problem import Problem
from milp_trees.problems.support import unsupported_reason, unsupported_structure, who_can
from milp_trees.results.result import Result
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.tree import Tree

#: From this product of rows and tests on, a timer also stops an engine that watches the clock.
LARGE = 200_000
#: Share of the limit after which an engine is stopped from outside, if that is more than `LATE`
#: seconds, and the seconds that an engine has for reading its answer after the user's function
#: stopped it.
LATE_SHARE, GRACE = 0.07, 2.0
#: How problems are solved by a method that does not take them as they are.
IN_STEPS = (RatioSteps, FrontSteps)


class Method(ABC):
    """Base of all methods."""

    registry_group: ClassVar[str] = "methods"

    name: str
    title: ClassVar[str] = ""
    #: The space and view it takes (of several views it takes the first that a task offers; a method
    #: of several spaces takes them all), and the questions it answers.
    space: ClassVar[type[Space] | tuple[type[Space], ...]] = Trees
    needs: ClassVar[type | tuple[type, ...]] = CostMatrix
    questions: ClassVar[frozenset[str]] = frozenset({"best"})
    takes_side_rows: ClassVar[bool] = False
    #: Kinds of constraints on the tree itself that it takes (`Structure.kind`).
    takes_structure: ClassVar[frozenset[str]] = frozenset()
    #: Whether it takes problems without a depth limit, with a minimum weight in the leaves, and
    #: with a minimum of rows per treatment in the leaves.
    takes_any_depth: ClassVar[bool] = False
    takes_min_weight: ClassVar[bool] = False
    takes_min_treatment: ClassVar[bool] = False
    #: Rank among the methods that are run when no method is named: the smallest rank that takes the
    #: problem is run. None: the method is run only when it is named.
    default_rank: ClassVar[int | None] = None
    #: Rank among the methods with which answers are compared (`result.agrees`): the smallest rank
    #: that takes the problem is used. None: the method is used only when it is named.
    reference_rank: ClassVar[int | None] = None
    #: Whether its answer may replace that of a stopped run of another method: it is a quick
    #: heuristic.
    is_fallback: ClassVar[bool] = False
    #: Whether it proves what it returns (a heuristic does not).
    exact: bool = True
    #: Whether it takes all thresholds of numeric columns without the pairs of them.
    sorts_columns: ClassVar[bool] = False
    #: Whether it can hand over a proof of its bound (`prove`).
    proves: ClassVar[bool] = False
    #: Distributions that it computes with: with another version of one, a run counts as another
    #: run.
    libraries: ClassVar[tuple[str, ...]] = ("numpy", "numba")
    #: Names of the parts that it shares with other methods. Two methods can confirm each other only
    #: if they have no part in common.
    shared_components: ClassVar[frozenset[str]] = frozenset()
    #: Rank, the cheapest first, in which exact methods are used to derive the optimum of a result
    #: again.
    verification_rank: ClassVar[int] = 50

    @property
    def label(self) -> str:
        """The name with the options that differ from their defaults, such as `dp:order=best-first`.

        Results are stored under the label, and `registry.method` reads it.
        """
        return labels.label(self)

    def software(self) -> dict[str, str]:
        """Versions of everything that can change a run.

        These are this package, Python, the libraries, and the package of a third party's plug-in.
        """
        return dict(versions(**_installed(self.libraries), **plugins.origin(type(self))))

    def unsupported(self, problem: Problem) -> str | None:
        """The sentence that explains why this method cannot take a problem, or None."""
        problem = problem.one_step() if problem.by_steps(self) else problem
        why = unsupported_reason(self, problem)
        if why:
            return why
        view = problem.first_view(self.needs)
        if getattr(view, "side", ()) and not self.takes_side_rows:
            able = who_can(problem, "takes_side_rows")
            return f"{self.name} cannot express side constraints{able}."
        return unsupported_structure(self, problem) or self.unsupported_view(problem)

    def unsupported_view(self, problem: Problem) -> str | None:
        """Further reasons of a method why it cannot take a problem; None if there are none."""
        return None

    def expected_seconds(self, sizes: Sizes) -> float:
        """Estimate of the seconds that a proof takes, from sizes alone (`milp_trees.methods.work`).

        It decides which thresholds the method gets where they are open.
        """
        return usual_seconds(sizes) if self.exact else 0.0

    def most_tests(self, sizes: Sizes) -> int:
        """The number of tests that it can be expected to search to a proof."""
        return most_tests(self.expected_seconds, sizes)

    def warm_up(self) -> None:
        """Compile what needs compiling, before any clock starts."""

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        """A proof of the bound of one of its results, as claims that follow from each other.

        Parameters
        ----------
        problem : Problem
        result : Result
            An answer of this method to the problem.
        limits : Limits
            Limits of the second pass that collects the claims.

        Raises
        ------
        Unsupported
            There is no such proof; the sentence names the reason.
        Stopped
            A limit was reached.
        """
        raise Unsupported(self.unproved(problem) or "")

    def unproved(self, problem: Problem) -> str | None:
        """Why no answer to a problem of this kind has a proof, in a sentence; None if one may."""
        return None if self.proves else f"{self.name} writes no proofs."

    @abstractmethod
    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        """Solve a supported problem.

        Parameters
        ----------
        problem : Problem
            The method supports it.
        limits : Limits
            What is left of the limits after the preparation.
        start : Tree, Ensemble or None
            A feasible predictor to begin with.
        progress : callable or None
            Called with every `TracePoint`.

        Returns
        -------
        Result
        """

    def step(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        """Solve one of the linear problems of a ratio (`milp_trees.methods.dinkelbach`).

        Parameters
        ----------
        problem : Problem
            Its task is a cost matrix.
        limits : Limits
            What is left of the limits of the whole run.
        start : Tree or None
            The best tree so far.
        progress : callable or None
            Called with every `TracePoint`.

        Returns
        -------
        Result
        """
        return self.search(problem, limits, start, progress)

    # -- the one way to run a method -------------------------------------------------------------

    def run(
        self,
        problem: Problem,
        limits: Limits | None = None,
        start: Any = None,
        progress: Progress | None = None,
        test: Dataset | None = None,
    ) -> Result:
        """Solve a problem; every run of a method goes through this function.

        First everything is compiled that has to be, and then the clock starts. The run uses a copy
        of the problem whose views do not exist yet, so that their preparation is timed. The method
        is asked whether it supports the problem, then it searches within what is left of the
        limits, and the result gets the method's label and its scores.

        Parameters
        ----------
        problem : Problem
        limits : Limits, optional
            Default: 60 seconds, one thread.
        start : Tree, Ensemble or Start, optional
            What to begin with. An infeasible one is not used; `result.start` holds the reason.
        progress : callable, optional
            Called with a `TracePoint` at least twice a second; the run stops once it returns True.
        test : Dataset, optional
            Rows left out of the problem, for `result.scores`.

        Returns
        -------
        Result
            Its value is recomputed from the predictor on the data.

        Raises
        ------
        Unsupported
            The method cannot take the problem; the sentence gives the reason.
        DataError
            The start is a tree for other data.
        """
        self.warm_up()
        limits, clock = limits or Limits(), Clock()
        begin = start if isinstance(start, Start) else Start(start)
        requested, tree = problem.without_views(), begin.tree
        with callback_scope(progress) as callback:
            try:
                if is_open(problem):
                    found = settled_within(requested, self, limits, tree, clock)
                    tree = found.start if tree is None else tree
                    if found.limit is not None:
                        raise Stopped(found.limit)
                    problem = requested = found.problem.without_views()
                if tree is None and self.exact:
                    greedy_first(requested, limits, clock)
                result = self._answer(requested, limits, tree, callback, clock)
            except Stopped as stopped:
                result = unprepared(self.name, requested, tree, clock, stopped.limit)
        more: dict[str, Any] = {"problem": problem, "start": begin.describe(result.start)}
        if test is not None and result.predictor is not None:
            apart = scores(problem, result.predictor, test)
            more["scores"] = {**result.scores, **apart}
        return self._signed(result, **more)

    def _answer(
        self,
        problem: Problem,
        limits: Limits,
        start: Any,
        callback: Callback | None,
        clock: Clock,
    ) -> Result:
        """The result of the search, and of the preparation before it.

        Raises
        ------
        Stopped
            A limit ended a part of the run that the method does not watch over itself.
        """
        try:
            with sigint_scope(), interruptible():
                why = self.unsupported_within(limits, problem)
        except KeyboardInterrupt:
            raise Stopped(Limit.INTERRUPTED) from None
        if why:
            raise Unsupported(why)
        refused = refusal(problem, start)
        given = None if refused else start
        prepared = clock.seconds
        left, stated = limits.after(prepared), None if callback is None else callback.point
        try:
            with sigint_scope(), interruptible():
                steps = next((t for t in IN_STEPS if t.accepts(problem, self)), None)
                search = (
                    partial(self.search, problem, left, given, stated)
                    if steps is None
                    else lambda: steps(self, problem, left, given, stated).run()
                )
                result = self._search_within(left, problem, search)
        except RecursionError:
            raise Unsupported(
                f"{self.name} goes deeper here than Python's recursion; give a smaller max_depth (--depth)."
            ) from None
        if "time_limit" in result.options:
            result = replace(result, options={**result.options, "time_limit": limits.time})
        if refused:
            result = replace(result, start={"accepted": False, "reason": refused})
        apart = result.times.get("enumerate", 0.0) + sum(clock.times.values())
        times = {
            **clock.times,
            "prepare": max(0.0, prepared - apart) + result.times.get("prepare", 0.0),
            **{k: v for k, v in result.times.items() if k != "prepare"},
        }
        return replace(result, seconds=result.seconds + prepared, times=times)

    def _signed(self, result: Result, **more: Any) -> Result:
        """The result under the method's full label, with further fields.

        An engine need not know its label: its results may carry its name alone.
        """
        proof, label = result.certificate, self.label
        if proof.proved_by == self.name:
            proof = replace(proof, proved_by=label)
        return replace(
            result,
            method=label,
            certificate=proof,
            versions={**self.software(), **result.versions},
            **more,
        )

    def unsupported_within(self, limits: Limits, problem: Problem) -> str | None:
        """As `unsupported`; for methods that may take long to answer.

        Raises
        ------
        Stopped
            The answer takes longer than the time limit.
        """
        if not _is_large(problem, self.sorts_columns):
            return self.unsupported(problem)
        return within(limits.time and max(limits.time, LATE), lambda: self.unsupported(problem))

    def _search_within(
        self, limits: Limits, problem: Problem, search: Callable[[], Result]
    ) -> Result:
        """The result of a search within the limits.

        An engine stops itself at the limit. Its preparation and its reading of the tree take long
        on large data only; they are stopped from outside a little later.

        Raises
        ------
        Stopped
            The search did not end in time.
        """
        if not _is_large(problem, self.sorts_columns):
            return search()
        most = limits.time and limits.time + max(LATE, LATE_SHARE * limits.time)
        return within(most, search, GRACE)

    def stopped_before(self, problem: Problem, limit: Limit, known: Any = None) -> Result:
        """The answer of a run that a limit ended before it could begin.

        Parameters
        ----------
        problem : Problem
        limit : Limit
        known : Tree, optional
            A model that was found by then.

        Returns
        -------
        Result
        """
        result = unprepared(self.name, problem.without_views(), known, Clock(), limit)
        return self._signed(result, problem=problem)


def _is_large(problem: Problem, sorts_columns: bool) -> bool:
    """Whether preparing the tests, or the columns where these are sorted, may take a moment."""
    data = problem.dataset
    ranked = data.ranked if sorts_columns else None
    width = data.n_features if ranked is None else ranked.codes.shape[1]
    return data.n_rows * width > LARGE or not isinstance(problem.space, Trees)
