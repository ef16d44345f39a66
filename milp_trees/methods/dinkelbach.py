r"""Exact maximisation of ratios of linear counts, by any method for cost matrices.

See Dinkelbach (1967, *On nonlinear fractional programming*). All numbers are exact rationals.

A tree has a ratio :math:`N/D>q` exactly if :math:`N-qD>0`. A *step* lets the method maximise
:math:`N-qD`, a `CostMatrix` task, at the ratio q of the best tree so far. If the maximum is 0, that
tree is optimal; else the new tree is better and gives the next q. Between steps the reduced data
are kept, and the best tree is the start of the next.

**Bound.** If a step proves :math:`N-qD\le u` for all trees, then :math:`N/D\le q+\max(u,0)/D_q`
where no tree with a ratio above q has a denominator below :math:`D_q` (`Ratio.least_denominator`).
So every bound of an unfinished step is a bound on the ratio.

**Penalty per leaf.** To beat the loss :math:`L=\lambda h-\rho` of the best tree, a tree with h
leaves needs :math:`\rho>\lambda h-L`.

1. Relaxation: such a tree has :math:`N+LD-\lambda D_qh>0` with :math:`q=\lambda-L`, because
   :math:`D\ge D_q`: a cost matrix with a cost per leaf. If its maximum u is not positive, nothing
   beats L; in general no loss is below :math:`L-\max(u,0)/D_q`.
2. Otherwise, a step at :math:`q=\lambda H-L` for each leaf budget H = 1, 2, … in turn, until that q
   reaches what no tree's ratio exceeds.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from milp_trees.common.limits import Limits
from milp_trees.methods.finish import finish
from milp_trees.methods.trace import Progress
from milp_trees.methods.transformation import MethodSteps, Part, Step, Stepper, Steps
from milp_trees.methods.watch import GREEDY, GREEDY_SHARE
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.results.result import Result, Status, TracePoint
from milp_trees.tasks.ratio_view import Ratio


class _Claim(NamedTuple):
    """A bound u means: no loss is below level - max(u, 0) / least, or `beyond` if that is less."""

    level: Fraction
    least: int
    beyond: Fraction | None = None

    def bound(self, u: Fraction) -> Fraction:
        low = self.level - max(u, Fraction(0)) / self.least
        return low if self.beyond is None else min(low, self.beyond)


class RatioSteps(MethodSteps):
    """One run: best tree, its loss (leaf penalty · leaves - ratio), lower bound on all losses."""

    title = "ratio steps"

    def __init__(
        self,
        method: Stepper,
        problem: Problem,
        limits: Limits,
        start: Tree | None = None,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(method, problem, limits, start, progress)
        with self.clock("prepare"):
            self.ratio = problem.view(Ratio)
            self.small = self.ratio.reduce()
            self.penalty = self.ratio.leaf_penalty
            #: No tree's ratio exceeds this.
            self.ceiling = self.small.ceiling
        self.tree: Tree | None = None
        self.loss = Fraction(0)
        #: The largest ratio of a tree seen, which under a penalty need not be the best tree's.
        self.highest = Fraction(0)
        self.bound = self.penalty - self.ceiling
        self.prover = "the data (an action of its own for every row)"
        self.infeasible, self.proven = False, False
        self.reductions = {(True, True)}

    @classmethod
    def accepts(cls, problem: Problem, taker: Any) -> bool:
        return problem.rule is None and problem.by_steps(taker)

    @property
    def running(self) -> bool:
        return self.stopped is None and self.failed is None and not self.infeasible

    # -- the course of a run -------------------------------------------------------------------------------------

    def apply(self) -> Steps:
        """From a good start to the proof."""
        with self.clock("start"):
            self._begin(self.start)
        if self.tree is None:
            least = self.small.least_denominator(Fraction(0))
            yield from self._step(Fraction(0), _Claim(self.penalty, least))
        if self.tree is None:
            return
        if self.penalty:
            self.proven = (yield from self._relaxed()) or (yield from self._by_leaves())
        else:
            self.proven = yield from self._plain()
        if self.proven:
            by = self.results[-1].certificate.proved_by or self.method.label
            self.bound, self.prover = self.loss, by
            self._record()

    def _begin(self, start: Tree | None) -> None:
        """Begin with the given tree, single leaves, and greedy models for the growing ratio."""
        from milp_trees.methods.greedy import greedy_model

        space = self.problem.space
        simplest = space.simplest(self.small.frame.actions)
        for tree in ([start] if start is not None else []) + simplest:
            self._offer(tree)
        until = self.deadline.share(GREEDY_SHARE, GREEDY)
        grown: Tree | None = None
        while self.tree is not None and (grown is None or self._offer(grown)) and not until.passed:
            q = -self.loss
            grown = greedy_model(
                self.small.matrix(q, self.penalty * self.small.least_denominator(q)), space, until
            )
            if grown is None:
                break
        self._record()

    def _plain(self) -> Part[bool]:
        """Take steps until the ratio does not grow; True if it is proven that it cannot grow."""
        while self.running:
            q = -self.loss
            better, u = yield from self._step(q, _Claim(self.loss, self.small.least_denominator(q)))
            if not better:
                return u is not None and u <= 0
        return False

    def _relaxed(self) -> Part[bool]:
        """Steps of the relaxation, with a cost per leaf; True if its maximum is not positive."""
        while self.running:
            q = self.penalty - self.loss
            if q < 0 and not self.small.least:
                return False  # trees with the ratio 0/0 might be better; no step finds them
            least = self.small.least_denominator(q)
            better, u = yield from self._step(
                -self.loss, _Claim(self.loss, least), leaf_cost=self.penalty * least
            )
            if not better:
                return u is not None and u <= 0
        return False

    def _by_leaves(self) -> Part[bool]:
        """Try every number of leaves in turn; True if it is proven that no tree is better."""
        most = self.problem.space.most_leaves
        if self.problem.space.is_bounded:
            yield from self._lower_ceiling()
        leaves = 1
        while self.running and (most is None or leaves <= most):
            q = self.penalty * leaves - self.loss
            if q >= self.ceiling:
                return True  # trees with more leaves cannot be better either
            if q < 0 and not self.small.least:
                return False
            beyond = self.penalty * (leaves + 1) - self.ceiling
            claim = _Claim(self.loss, self.small.least_denominator(q), beyond)
            better, u = yield from self._step(q, claim, most_leaves=leaves)
            if not better:
                if u is None or u > 0:
                    return False
                leaves += 1
        return self.running

    def _lower_ceiling(self) -> Part[None]:
        """Lower the bound on the ratio of any tree of the space, without the penalty."""
        while self.running:
            q = self.highest
            least = self.small.least_denominator(q)
            _, u = yield from self._step(q, _Claim(self.loss, least, self.bound))
            if u is not None:
                self.ceiling = min(self.ceiling, q + max(u, Fraction(0)) / least)
            if self.highest <= q:
                return

    # -- one step ------------------------------------------------------------------------------------------------

    def _step(
        self,
        q: Fraction,
        claim: _Claim,
        leaf_cost: Fraction = Fraction(0),
        most_leaves: int | None = None,
    ) -> Part[tuple[bool, Fraction | None]]:
        """Let the method maximise N - q·D - leaf_cost · leaves.

        `claim` is what a bound on that maximum implies for all losses. Returns whether the best
        tree changed, and a proven bound on the maximum or None.
        """
        inner = self._inner(q, leaf_cost, most_leaves)
        start = (
            self.tree
            if self.tree is not None and (most_leaves is None or self.tree.n_leaves <= most_leaves)
            else None
        )

        def watch(point: TracePoint) -> None:
            if point.bound is not None and self.method.exact:
                self._record(claim.bound(-Fraction(point.bound)))

        result = yield Step(inner, start, watch)
        if result is None:
            return False, None
        self.reductions |= {key for key in inner._views if isinstance(key, tuple)}
        self.stopped = result.limit
        return self._learn(result, claim, most_leaves)

    def _inner(self, q: Fraction, leaf_cost: Fraction, most_leaves: int | None) -> Problem:
        """The linear problem of a step, with the views that an earlier step reduced."""
        space = self.problem.space
        if most_leaves is not None:
            space = space.with_leaves(most_leaves)
        inner = Problem(self.problem.dataset, self.ratio.at(q, leaf_cost), space)
        inner._views.update(
            {key: self.ratio.reduce(*key).matrix(q, leaf_cost) for key in self.reductions}
        )
        return inner

    def _learn(
        self, result: Result, claim: _Claim, most_leaves: int | None
    ) -> tuple[bool, Fraction | None]:
        """Keep what a step found and proved."""
        if result.status in (Status.ERROR, Status.UNSUPPORTED):
            self.failed = result
            return False, None
        if result.status is Status.INFEASIBLE:
            if most_leaves is None and self.tree is not None:
                message = f"{self.method.label} says that nothing is feasible, but a feasible tree is known."
                self.failed = replace(result, status=Status.ERROR, message=message)
            self.infeasible = most_leaves is None
            return False, Fraction(0)
        better = result.tree is not None and self._offer(result.tree)
        u: Fraction | None = None
        if self.method.exact and result.bound is not None:
            exactly = result.certificate.bound_exact
            u = -(exactly if exactly is not None else Fraction(result.bound))
            if claim.bound(u) > self.bound:
                self.bound, self.prover = (
                    claim.bound(u),
                    result.certificate.proved_by or self.method.label,
                )
        self._record()
        return better, u

    def _offer(self, tree: Tree) -> bool:
        """Keep a tree if it is feasible and better."""
        ratio = self.small.of(tree)
        loss = self.penalty * tree.n_leaves - ratio
        if self.tree is not None and loss >= self.loss and ratio <= self.highest:
            return False
        if self.problem.violations(tree):
            return False
        self.highest = max(self.highest, ratio)
        if self.tree is not None and loss >= self.loss:
            return False
        self.tree, self.loss = tree, loss
        return True

    def _record(self, bound: Fraction | None = None) -> None:
        """Add a moment of the run, in natural units, to the trace, and report it to `progress`."""
        low = self.bound if bound is None else max(self.bound, bound)
        if self.tree is not None:
            low = min(low, self.loss)
        incumbent = None if self.tree is None else float(self.ratio.to_value(self.loss))
        known = float(self.ratio.to_value(low)) if self.method.exact else None
        self.trace.add(self.clock.seconds, incumbent, known)

    # -- the answer ----------------------------------------------------------------------------------------------

    def invert(self) -> Result:
        last = self.results[-1] if self.results else None
        more: dict[str, Any] = {} if last is None else {"message": last.message}
        if self.start is not None and self.results and self.results[0].start:
            more["start"] = {
                **self.results[0].start,
                "value": self.problem.value(self.start).number,
            }
        bound = None
        # Only the last step proves that no tree divides by zero.
        certain = self.proven or not self.small.may_divide_by_zero
        if self.method.exact and not self.infeasible and certain:
            bound = self.ratio.to_value(
                self.bound if self.tree is None else min(self.bound, self.loss)
            )
        return finish(
            self.problem,
            self.method.label,
            self.tree,
            bound=bound,
            claims_optimal=self.proven,
            infeasible=self.infeasible and self.failed is None,
            proved_by=self.prover,
            log="\n".join(r.log for r in self.results if r.log),
            **self.about_the_steps(),
            **more,
        )
