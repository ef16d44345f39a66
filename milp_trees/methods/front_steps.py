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
from typing import TYPE_CHECKING, Any, NamedTuple

from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import Limits
from milp_trees.methods.front import finish_front
from milp_trees.methods.trace import Progress
from milp_trees.methods.transformation import MethodSteps, Part, Step, Stepper, Steps
from milp_trees.problems.problem import Problem
from milp_trees.results.result import Result, Status
from milp_trees.tasks.comparing import exact_value
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.models.tree import Tree
    from milp_trees.tasks.constraints import Constraint

#: Trees with the same value in a row, after which intervals are halved.
TIES = 2


class _Point(NamedTuple):
    """A tree; its value in the units of the scale, which are minimised; its amount; its value."""

    tree: Tree
    value: Fraction
    amount: Fraction
    natural: Fraction


class FrontSteps(MethodSteps):
    """One run: the corners so far, and what the solved limits say about other limits."""

    title = "front steps"

    def __init__(
        self,
        method: Stepper,
        problem: Problem,
        limits: Limits,
        start: Tree | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(method, problem, limits, start, progress)
        assert problem.rule is not None
        self.rule: Constraint = problem.rule
        self.scale = problem.scale
        self.corners: list[_Point] = []
        self.seen: list[_Point] = []
        #: Solved limits: no tree with an amount up to the first is better than the point.
        self.solved: list[tuple[Fraction, _Point]] = []
        self.limited: Problem | None = None
        #: Seconds in which the values and amounts of all trees so far were read.
        self.reading = 0.0
        self.complete = False
        self.point: _Point | None = None
        self.message, self.prover = "", method.label

    @classmethod
    def accepts(cls, problem: Problem, taker: Any) -> bool:
        return problem.rule is not None and problem.by_steps(taker)

    def apply(self) -> Steps:
        """From no limit to the tightest one that leaves a tree."""
        if self.start is not None:
            self.seen.append(self._point(self.start))
        self.point = yield from self._at(None)
        if self.point is not None:
            value = self.problem.value(self.point.tree).number
            self.trace.add(self.clock.seconds, value, value)
            self.complete = yield from self._follow(self.point)

    def _follow(self, point: _Point) -> Part[bool]:
        """Walk down from the tree of no limit; True if every corner is proven."""
        most, ties, worse = self.problem.question.most, 0, Fraction(0)
        while most is None or len(self.corners) < most:
            tighter = self.rule.below(point.amount, self.problem.dataset)
            found = None if tighter is None else (yield from self._at(tighter, point))
            if not self._running:
                self._say_what_is_proven(point)
                return False
            if found is None:  # no limit below, or no tree within it
                self.corners.append(point)
                return True
            if self._same(found.value, point.value):
                point, ties = found, ties + 1
                if ties >= TIES:
                    point, worse = yield from self._halve(point, worse)
                continue
            self.corners.append(point)
            point, ties, worse = found, 0, Fraction(0)
        return False

    def _halve(self, point: _Point, worse: Fraction) -> Part[tuple[_Point, Fraction]]:
        """Try the middle between a limit at which the value is worse, and the point's amount."""
        middle = (worse + point.amount) / 2
        found = yield from self._at(middle, point)
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
        natural = exact_value(value)
        return _Point(tree, self.scale.from_value(natural), exact_value(amount), natural)

    # -- one step ------------------------------------------------------------------------------------------------

    def _at(self, limit: Fraction | None, wider: _Point | None = None) -> Part[_Point | None]:
        """The best tree with an amount up to the limit.

        `wider` is the best tree under a larger limit, so a tree with its value is optimal. None
        if no tree is feasible, or if the run must end.
        """
        within = [p for p in self.seen if limit is None or p.amount <= limit]
        if limit is not None:
            known = [p for top, p in self.solved if p.amount <= limit <= top]
            known += [p for p in within if wider is not None and self._same(p.value, wider.value)]
            if known:
                return known[0]
        best = min(within, key=lambda p: p.value).tree if within else None
        result = yield from self._step(limit, best, wider)
        if result is None or result.tree is None:
            return None
        point = self._point(result.tree)
        self.seen.append(point)
        if result.status is not Status.OPTIMAL:
            return None
        if limit is not None:
            self.solved.append((limit, point))
        return point

    def _step(
        self, limit: Fraction | None, start: Tree | None, wider: _Point | None
    ) -> Part[Result | None]:
        """Let the method solve the problem with a limit; None if there is no time for it.

        No tree is better than `wider`, the best one under a larger limit.
        """
        inner = self._inner(limit)
        if wider is not None:
            inner.know(wider.natural, self.prover)
        # At the end all trees are read again, for values, coordinates and violations.
        result = yield Step(inner, start, reserved=3 * self.reading)
        if result is None:
            return None
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

    def invert(self) -> Result:
        infeasible = self.point is None and self.stopped is None and self.failed is None
        first = self.corners[0] if self.corners else None
        bound = None if first is None else exact_value(self.problem.value(first.tree))
        return finish_front(
            self.problem,
            self.method.label,
            [p.tree for p in (*self.corners, *self.seen)],
            complete=self.failed is None and (self.complete or infeasible),
            proved_by=self.prover,
            bound=bound,
            infeasible=infeasible,
            message=self.message,
            **self.about_the_steps(),
        )
