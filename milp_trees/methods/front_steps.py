r"""The front of a task's value against what a side constraint limits, by any method that takes it.

Let :math:`f(\varepsilon)` be the best value of all trees whose amount (the largest disparity, the
number of treated rows) is at most :math:`\varepsilon`. The function falls in steps, and its corners
are the front. Each *step* here lets the method solve the problem with one limit
:math:`\varepsilon`, exactly: it finds a tree with the value :math:`v=f(\varepsilon)` and some amount
:math:`a\le\varepsilon`, so :math:`f=v` on the whole interval :math:`[a,\varepsilon]`.

The first step has no limit. The next limit is always the largest one that excludes the amount of
the last tree. If the value stays the same, the last tree was no corner, and the new one takes its
place; if the value gets worse, :math:`(v,a)` is a corner, and that is its proof. When many trees
share a value, every second limit halves the interval in which the corner lies. The last corner is
proven by the fact that no limit below it leaves a tree.

All amounts, values and limits are rationals, and every tree's are recomputed.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import Deadline, Limit, Limits, Stopped
from milp_trees.methods.dinkelbach import Stepper
from milp_trees.methods.finish import Clock
from milp_trees.methods.front import finish_front
from milp_trees.methods.trace import Progress, Trace
from milp_trees.problems.problem import Problem
from milp_trees.results.result import Result, Status
from milp_trees.tasks.comparing import exact_value
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.models.tree import Tree
    from milp_trees.tasks.constraints import Constraint

#: Trees with the same value in a row, after which intervals are halved.
TIES = 2


class Asked(Stepper, Protocol):
    """What a method must offer so that fronts can be found in steps; `Method` offers it."""

    def unsupported(self, problem: Problem) -> str | None:
        """The sentence that explains why a problem cannot be solved, or None."""


def search(
    method: Asked, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
) -> Result:
    """Answer the question `front` against a side constraint, in steps.

    Parameters
    ----------
    method : Asked
        Solves the problem of every limit.
    problem : Problem
        Its question is a `Front` with `against`.
    limits : Limits
        For all steps together.
    start : Tree or None
        A feasible tree to begin with.
    progress : callable or None
        Called with every `TracePoint`.

    Returns
    -------
    Result
        All corners, or those that were proven within the limits.
    """
    return _Run(method, problem, limits, progress).solve(start)


class _Point(NamedTuple):
    """A tree; its value in the units of the scale, which are minimised; its amount."""

    tree: Tree
    value: Fraction
    amount: Fraction


class _Run:
    """One run: the corners so far, and what the solved limits say about other limits."""

    def __init__(
        self, method: Asked, problem: Problem, limits: Limits, progress: Progress | None
    ) -> None:
        self.method, self.problem, self.limits = method, problem, limits
        self.clock, self.trace = Clock(), Trace(progress)
        assert problem.rule is not None
        self.rule: Constraint = problem.rule
        self.scale = problem.scale
        self.corners: list[_Point] = []
        self.seen: list[_Point] = []
        #: Solved limits: no tree with an amount up to the first is better than the point.
        self.solved: list[tuple[Fraction, _Point]] = []
        self.limited: Problem | None = None
        self.steps, self.nodes = 0, 0
        #: Seconds in which the values and amounts of all trees so far were read.
        self.reading = 0.0
        self.stopped: Limit | None = None
        self.failed: Result | None = None
        self.last: Result | None = None
        self.message, self.prover = "", method.label

    def solve(self, start: Tree | None) -> Result:
        """From no limit to the tightest one that leaves a tree, or as far as the limits allow."""
        complete, point = False, None
        try:
            if start is not None:
                self.seen.append(self._point(start))
            point = self._at(None)
            if point is not None:
                self.trace.add(self.clock.seconds, *[self.problem.value(point.tree).number] * 2)
            complete = point is not None and self._follow(point)
        except KeyboardInterrupt:
            self.stopped = Limit.INTERRUPTED
        infeasible = point is None and self.stopped is None and self.failed is None
        return self._result(complete or infeasible, infeasible)

    def _follow(self, point: _Point) -> bool:
        """Walk down from the tree of no limit; True if every corner is proven."""
        most, ties, worse = self.problem.question.most, 0, Fraction(0)
        while most is None or len(self.corners) < most:
            tighter = self.rule.below(point.amount, self.problem.dataset)
            found = None if tighter is None else self._at(tighter, point.value)
            if not self._running:
                self._say_what_is_proven(point)
                return False
            if found is None:  # no limit below, or no tree within it
                self.corners.append(point)
                return True
            if self._same(found.value, point.value):
                point, ties = found, ties + 1
                if ties >= TIES:
                    point, worse = self._halve(point, worse)
                continue
            self.corners.append(point)
            point, ties, worse = found, 0, Fraction(0)
        return False

    def _halve(self, point: _Point, worse: Fraction) -> tuple[_Point, Fraction]:
        """Try the middle between a limit at which the value is worse, and the point's amount."""
        middle = (worse + point.amount) / 2
        found = self._at(middle, point.value)
        if not self._running or found is None:
            return point, max(worse, middle)
        return (found, worse) if self._same(found.value, point.value) else (point, middle)

    @property
    def _running(self) -> bool:
        return self.stopped is None and self.failed is None

    def _same(self, a: Fraction, b: Fraction) -> bool:
        """Whether two values are equal, up to the tolerance of measured numbers."""
        return abs(a - b) <= self.scale.tolerance

    def _point(self, tree: Tree) -> _Point:
        began = run_clock()
        value, amount = self.problem.coordinates(tree)
        self.reading += run_clock() - began
        return _Point(tree, self.scale.from_value(exact_value(value)), exact_value(amount))

    # -- one step ------------------------------------------------------------------------------------------------

    def _at(self, limit: Fraction | None, value: Fraction | None = None) -> _Point | None:
        """The best tree with an amount up to the limit.

        `value` is the best value under a larger limit, so a tree with that value is optimal. None
        if no tree is feasible, or if the run must end.
        """
        within = [p for p in self.seen if limit is None or p.amount <= limit]
        if limit is not None:
            known = [p for top, p in self.solved if p.amount <= limit <= top]
            known += [p for p in within if value is not None and self._same(p.value, value)]
            if known:
                return known[0]
        result = self._step(limit, min(within, key=lambda p: p.value).tree if within else None)
        if result is None or result.tree is None:
            return None
        point = self._point(result.tree)
        self.seen.append(point)
        if result.status is not Status.OPTIMAL:
            return None
        if limit is not None:
            self.solved.append((limit, point))
        return point

    def _step(self, limit: Fraction | None, start: Tree | None) -> Result | None:
        """Let the method solve the problem with a limit; None if there is no time for it."""
        left = Deadline.after(self.limits.time, self.clock.begin).left
        if left is not None:
            # At the end all trees are read again, for values, coordinates and violations.
            left -= 3 * self.reading
            if left <= 0:
                self.stopped = Limit.TIME
                return None
        inner = self._inner(limit)
        try:
            result = self.method.step(inner, replace(self.limits, time=left), start, None)
        except Stopped as stopped:
            self.stopped = stopped.limit
            return None
        self.steps, self.last = self.steps + 1, result
        self.nodes += result.nodes or 0
        for stage, seconds in result.times.items():
            self.clock.times[stage] = self.clock.times.get(stage, 0.0) + seconds
        self.prover = result.certificate.proved_by or self.prover
        if result.status in (Status.ERROR, Status.UNSUPPORTED):
            self.failed = result
        elif result.status not in (Status.OPTIMAL, Status.INFEASIBLE):
            self.stopped = result.limit
            if result.limit is None:
                self.failed = result
        return result

    def _inner(self, limit: Fraction | None) -> Problem:
        """The problem with a limit, with the views that an earlier step with a limit made.

        They differ in the bounds of the side rows only.
        """
        inner = self.problem.under(None if limit is None else self.rule.up_to(limit))
        if limit is None:
            return self.problem.one_step() if self.method.unsupported(inner) else inner
        if self.limited is None:
            self.limited = inner
            return inner
        task: Any = inner.task
        sides = task.side_rows(inner.dataset) if hasattr(task, "side_rows") else ()
        for key, view in self.limited._views.items():
            if isinstance(view, CostMatrix) and len(view.side) == len(sides):
                bounds = zip(view.side, sides, strict=True)
                side = tuple(replace(r, lower=s.lower, upper=s.upper) for r, s in bounds)
                inner._views[key] = replace(view, side=side)
        return inner

    # -- the answer ----------------------------------------------------------------------------------------------

    def _say_what_is_proven(self, point: _Point) -> None:
        """Keep the last point, and say what is proven about a front that a limit cut off at it.

        No larger amount gives a better value than the point's, which may still be possible with a
        smaller amount: then the point is no corner.
        """
        value, amount = self.problem.coordinates(point.tree)
        self.corners.append(point)
        self.message = f"Proven for every limit on {amount.unit} of at least {amount.exact} (about {amount.number:.4g}), at which the best value is {value.number:.10g} {value.unit}; with a smaller limit it is no better."

    def _result(self, complete: bool, infeasible: bool) -> Result:
        first = self.corners[0] if self.corners else None
        last = self.last
        bound = None if first is None else exact_value(self.problem.value(first.tree))
        result = finish_front(
            self.problem,
            self.method.label,
            [p.tree for p in (*self.corners, *self.seen)],
            complete=complete,
            proved_by=self.prover,
            clock=self.clock,
            bound=bound,
            limit=self.stopped,
            infeasible=infeasible,
            trace=self.trace,
            nodes=self.nodes or None,
            model_size={"steps": self.steps, **(last.model_size if last else {})},
            message=self.message,
            **({} if last is None else {"options": last.options, "versions": last.versions}),
        )
        if self.failed is not None:
            status, message = self.failed.status, self.failed.message
            return replace(result, status=status, message=message, complete=False)
        return result
