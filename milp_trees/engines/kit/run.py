"""`Run`: the base of an engine's run, from its limits to its result.

An engine makes one `Run`, or an object of a subclass, does its work within `attempt`, notes better
values and bounds, and returns `result`. Limits, Ctrl-C and a lack of memory end the work inside
`attempt`; `limit` then says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import SolverFailure
from milp_trees.common.limits import Limit, Limits, Stopped
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.front import finish_front
from milp_trees.methods.trace import Progress, Trace
from milp_trees.methods.watch import Watch
from milp_trees.problems.questions import Front
from milp_trees.results.result import Result

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

T = TypeVar("T")


class Run:
    """One run: clock, watch, trace, and the limit that ended the work.

    Parameters
    ----------
    label : str
        Label of the method, in the result and in messages.
    problem : Problem or None
        None for a run that has no result, such as a part of another one.
    limits : Limits
    progress : callable, optional
        Called with every point of the trace.
    clock : Clock
        Began with the run.
    fallback : bool, default=True
        Whether a greedy predictor is made beside a search that takes longer than a moment, for a
        run that is stopped.
    """

    def __init__(
        self,
        label: str,
        problem: Problem | None,
        limits: Limits,
        progress: Progress | None,
        clock: Clock,
        fallback: bool = True,
    ) -> None:
        self.label, self.limits, self.clock = label, limits, clock
        self.problem = cast("Problem", problem)
        self.watch = Watch(limits, clock.begin, problem if fallback else None)
        self.trace = Trace(progress)
        #: The limit that ended the work; None if it ended by itself.
        self.limit: Limit | None = None
        self._attempting = False

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return run_clock() - self.clock.begin

    # -- work ----------------------------------------------------------------------------------------

    def check(self) -> None:
        """Raise `Stopped` where a limit of time, memory or the user has been reached."""
        self.watch.check()

    def check_nodes(self, nodes: int) -> None:
        """Raise `Stopped` if so many nodes are as many as the run may have."""
        if self.limits.nodes is not None and nodes >= self.limits.nodes:
            raise Stopped(Limit.NODES)

    def memory(self, default: int) -> int:
        """Bytes of a table: half of what the run may take, or the default without a limit."""
        return default if self.limits.memory_mb is None else int(self.limits.memory_mb * 2**19)

    def attempt(self, work: Callable[[], T]) -> T | None:
        """`work()`, or None where a limit ended it; `work` must call `check` often."""
        self._attempting = True
        try:
            value, limit = self.watch.until(work)
        finally:
            self._attempting = False
        self.limit = limit or self.limit
        return value

    def note(self, incumbent: Any, bound: Any) -> None:
        """Add a point to the trace, in natural units; None is no incumbent or no bound yet.

        Ctrl-C meanwhile ends the work: outside of `attempt` at its next `check`, so that what is
        known is kept.
        """
        try:
            self.trace.add(
                self.seconds,
                None if incumbent is None else float(incumbent),
                None if bound is None else float(bound),
            )
        except KeyboardInterrupt:
            if self._attempting:
                raise
            # `sigint_scope` has counted it, or the callback has its limit; the watch looks at both.

    # -- the end -------------------------------------------------------------------------------------

    def result(self, predictor: Any, bound: Any, proven: bool | None = None, **more: Any) -> Result:
        """The result of the run.

        Parameters
        ----------
        predictor : Tree, RuleList or None
            The incumbent. None at the end of a run that no limit ended: no predictor is feasible.
        bound : number in natural units, or None
        proven : bool, optional
            Whether the predictor is optimal; by default it is if no limit ended the run.
        more
            Further arguments of `finish`.

        Returns
        -------
        Result
        """
        infeasible = predictor is None and self.limit is None
        optimal = self.limit is None if proven is None else proven
        given = {
            "proved_by": self.label,
            "limit": None if proven else self.limit,
            "infeasible": infeasible,
            "trace": self.trace,
            "watch": self.watch,
            **more,
        }
        return finish(
            self.problem,
            self.label,
            predictor,
            bound=None if infeasible else bound,
            claims_optimal=optimal and not infeasible,
            clock=self.clock,
            **given,
        )

    def front(self, predictors: Iterable[Any], **more: Any) -> Result:
        """The result for the question `front`, complete unless a limit ended the run."""
        given = {"proved_by": self.label, "limit": self.limit, "trace": self.trace, **more}
        return finish_front(
            self.problem,
            self.label,
            predictors,
            complete=self.limit is None,
            clock=self.clock,
            **given,
        )


def infeasible(label: str, problem: Problem, clock: Clock, **more: Any) -> Result:
    """The result of a method that has found, before any search, that no predictor is feasible."""
    given = {"proved_by": label, "clock": clock, "infeasible": True, **more}
    if isinstance(problem.question, Front):
        return finish_front(problem, label, (), complete=True, **given)
    return finish(problem, label, None, bound=None, claims_optimal=False, **given)


def wrong_value(label: str, found: Any, value: Any, noun: str = "tree") -> SolverFailure:
    """The error that a predictor does not have the value that the search found for it."""
    return SolverFailure(
        f"{label} found the value {found}, but its {noun} has {value}. Please report this problem."
    )
