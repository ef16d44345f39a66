"""`Transformation`: a problem that is solved by solving others.

It *accepts* a problem or not; it is *applied*, which gives the other problems one after the other,
each made from the answers so far; and it is *inverted*: the answers become that to the problem. The
words are those of Agrawal, Verschueren, Diamond, Boyd (2018, *A rewriting system for convex
optimization problems*), where a problem becomes one other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, TypeVar

from milp_trees.common.limits import Deadline, Limit, Limits, Stopped
from milp_trees.methods.finish import Clock
from milp_trees.methods.trace import Progress, Trace
from milp_trees.problems.problem import Problem
from milp_trees.results.result import Result


@dataclass(frozen=True)
class Step:
    """One of the problems, with what the run that solves it is given.

    Parameters
    ----------
    problem : Problem
    start : predictor, optional
        A model to begin with.
    progress : callable, optional
        Called with every `TracePoint` of its run.
    reserved : float, default=0
        Seconds of the limits that are kept for what comes after the last step.
    """

    problem: Problem
    start: Any = None
    progress: Progress | None = None
    reserved: float = 0.0


T = TypeVar("T")
#: Yields problems and is sent their results, or None if a limit ended the run; ends with a value.
Part = Generator[Step, Any, T]
Steps = Part[None]


class Transformation(ABC):
    """A way to solve one problem by others; one object serves one run.

    `title` stands in the result (`Result.transformation`).
    """

    title: ClassVar[str]

    @abstractmethod
    def apply(self) -> Steps:
        """The problems to be solved, each made from the results of those before it."""

    @abstractmethod
    def invert(self) -> Any:
        """The answer to the problem, from the results so far."""

    def solve(self, solve: Callable[[Step], Any]) -> Any:
        """Apply it, let `solve` find the result of every step, and invert it."""
        steps = self.apply()
        step = next(steps, None)
        while step is not None:
            result = solve(step)
            try:
                step = steps.send(result)
            except StopIteration:
                step = None
        return self.invert()


class Stepper(Protocol):
    """What a method must offer so that problems can be solved in steps; `Method` offers it."""

    exact: bool

    @property
    def label(self) -> str:
        """The name with the options that differ from their defaults."""

    def step(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        """Solve one of the problems; as `Method.step`."""

    def unsupported(self, problem: Problem) -> str | None:
        """The sentence that explains why a problem cannot be solved, or None."""


class MethodSteps(Transformation):
    """A transformation whose steps one method solves, within the limits of one run.

    Parameters
    ----------
    method : Stepper
    problem : Problem
    limits : Limits
        For all steps together.
    start : predictor or None
        A feasible one to begin with.
    progress : callable or None
        Called with every `TracePoint`.
    """

    def __init__(
        self,
        method: Stepper,
        problem: Problem,
        limits: Limits,
        start: Any = None,
        progress: Progress | None = None,
    ) -> None:
        self.method, self.problem, self.limits, self.start = method, problem, limits, start
        self.clock, self.trace = Clock(), Trace(progress)
        self.results: list[Result] = []
        self.stopped: Limit | None = None
        self.failed: Result | None = None
        #: What the method keeps between the steps, such as a model that stays built.
        self.kept: dict[str, Any] = {}

    @classmethod
    @abstractmethod
    def accepts(cls, problem: Problem, taker: Any) -> bool:
        """Whether a method has to solve this problem so."""

    @property
    def deadline(self) -> Deadline:
        """When the run ends; compilation during a step moves it."""
        return Deadline.after(self.limits.time, self.clock.begin)

    def run(self) -> Result:
        """The answer to the problem, as far as the limits allow."""
        try:
            result: Result = self.solve(self._result_of)
        except KeyboardInterrupt:
            self.stopped = Limit.INTERRUPTED
            result = self.invert()
        if self.failed is not None:
            result = replace(result, status=self.failed.status, message=self.failed.message)
        return replace(result, transformation=self.title)

    def _result_of(self, step: Step) -> Result | None:
        """The result of a step; None if there is no time for it, or a limit ended it."""
        left = self.deadline.left
        if left is not None and left - step.reserved <= 0:
            self.stopped = Limit.TIME
            return None
        limits = replace(self.limits, time=left and left - step.reserved)
        step.problem.keep_in(self.kept)
        try:
            result = self.method.step(step.problem, limits, step.start, step.progress)
        except Stopped as stopped:
            self.stopped = stopped.limit
            return None
        for stage, seconds in result.times.items():
            self.clock.times[stage] = self.clock.times.get(stage, 0.0) + seconds
        self.results.append(result)
        return result

    def about_the_steps(self) -> dict[str, Any]:
        """What an answer says of its steps, as arguments of `finish`."""
        last = self.results[-1] if self.results else None
        nodes = [r.nodes for r in self.results if r.nodes is not None]
        more = {} if last is None else {"options": last.options, "versions": last.versions}
        sizes = {} if last is None else last.model_size
        return {
            "clock": self.clock,
            "limit": self.stopped,
            "trace": self.trace,
            "nodes": sum(nodes) or None,
            "model_size": {"steps": len(self.results), **sizes},
            **more,
        }
