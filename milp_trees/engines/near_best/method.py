"""`near-best`: all trees within a slack of the optimum, counted exactly: the Rashomon set.

The idea is that of Xin et al. (2022, *TreeFARMS*).

Optimal values of sets of rows bound which trees can be within the slack; the hypergraph of the
remaining states holds every such tree. With the numbers of trees per value at each state, the set
can be counted, listed in order, and sampled. Where leaves cost a function of sums, values are
rationals (`exact_losses`), or, if the function takes logarithms, whole units. The slack is raised in steps, so that a run that is
stopped keeps the complete set for a smaller slack.
"""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from milp_trees.common.errors import Unsupported
from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.compile import compile_once, tiny_view
from milp_trees.engines.kit.run import Run, infeasible, wrong_value
from milp_trees.engines.near_best.tree_set import TreeSet
from milp_trees.methods.claims import Claims
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.models.tree import Tree
from milp_trees.problems.questions import NearBest
from milp_trees.results.result import Result, Solution, Status
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.engines.near_best.exact_losses import ExactLosses
    from milp_trees.engines.near_best.graph import TreeGraph
    from milp_trees.problems.problem import Problem

log = logging.getLogger("milp_trees")

#: Memory for the hypergraph, if no limit is given.
MEMORY_MB = 2000


@register
class NearBestTrees(Method):
    """Exact search that keeps every tree within the slack."""

    name = "near-best"
    title: ClassVar[str] = "All trees within a slack of the optimum (Rashomon set), counted"
    shared_components: ClassVar[frozenset[str]] = frozenset({"dp", "state-flow"})
    verification_rank: ClassVar[int] = 90
    questions: ClassVar[frozenset[str]] = frozenset({"best", "near-best"})
    needs: ClassVar[type | tuple[type, ...]] = (CostMatrix, LeafSums)
    takes_any_depth: ClassVar[bool] = True
    default_rank: ClassVar[int | None] = 86
    takes_min_weight: ClassVar[bool] = True
    takes_min_treatment: ClassVar[bool] = True
    proves: ClassVar[bool] = True

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.first_view(self.needs)
        if view.leaf_cost < 0 or (view.split_costs < 0).any():
            return "near-best takes penalties and test costs of at least 0; some are negative."
        measured = isinstance(view, CostMatrix) and not view.exact
        if isinstance(problem.question, NearBest) and measured:
            return "near-best counts trees by their exact values, and this task's costs are measured floats; round them, for example to 4 digits."
        return self._too_large(problem, view)

    def _too_large(self, problem: Problem, view: LeafSums) -> str | None:
        """The sentence that pair sums, costs or the depth are too large, or None."""
        from milp_trees.engines.dp.arrays import UNLIMITED, prepare, surely_fits

        depth = problem.trees.max_depth
        if surely_fits(view) and (depth or 0) < UNLIMITED:
            return None
        if depth is not None and depth < UNLIMITED:
            depth = None
        try:
            prepare(problem.presolved_view(), replace(problem.trees, max_depth=depth))
        except Unsupported as why:
            return str(why)
        return None

    def warm_up(self) -> None:
        """Compile the kernels, once per process; later processes read them from a cache."""

        def value_tiny() -> None:
            from milp_trees.engines.dp.arrays import INFINITY
            from milp_trees.engines.near_best.states import RowSets
            from milp_trees.models.space import Trees

            sets = RowSets(tiny_view(), Trees(2), None, 2**30)
            sets.levels(sets.all_rows)
            sets.value(sets.all_rows, 2, INFINITY)

        compile_once("near-best", value_tiny)

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        """Claims that prove the optimum, and with which `check_count` counts all trees again.

        The notes have the entry `count`: the allowance in units of the view, the number of trees,
        and what counts as different.
        """
        trees, question, space = result.trees, problem.question, problem.trees
        if why := self.unproved(problem):
            raise Unsupported(why)
        assert isinstance(question, NearBest)
        if trees is None:
            raise Unsupported("near-best had no set of trees yet; give it more time.")
        from milp_trees.engines.near_best.proof import CountClaims

        given, view = problem.view(CostMatrix), problem.presolved_view()
        base = int(view.base.sum())
        allowance = given.objective(trees[0].predictor) + int(trees.covered / abs(view.scale))
        bytes_ = (limits.memory_mb or MEMORY_MB) * 2**20
        claims = CountClaims(given, view, space, space.max_depth, Watch(limits), bytes_)
        count = {
            "allowance": allowance,
            "count": trees.count,
            "trivial": question.trivial,
            "equal_tests": question.equal_tests,
        }
        return Claims(claims.collect(allowance - base), notes={"count": count})

    def unproved(self, problem: Problem) -> str | None:
        if not problem.task.offers(CostMatrix):
            return "near-best writes no proofs for leaves that cost a function of sums."
        if isinstance(problem.question, NearBest):
            return None
        return "near-best proves numbers of trees; ask for all trees within a slack."

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        if problem.trees.limits_leaves:
            _warm_up_dp()
        clock = Clock()
        with clock("prepare"):
            run = NearBestRun(self.label, problem, limits, progress, clock)
            run.prepare()
        if not run.feasible:
            return infeasible(self.label, problem, clock)
        with clock("solve"):
            run.attempt(run.search)
        optimum, bound, base = run.optimum, None, run.view.fixed_cost
        if optimum is not None:
            bound = run.view.to_bound(optimum + base)
        if run.graph is None or optimum is None:
            return run.result(
                start,
                bound,
                proven=False,
                proved_by=None if optimum is None else self.label,
                limit=run.limit,
                message="The run was stopped before there was a set of trees.",
            )
        with clock("list"):
            trees = TreeSet(
                problem,
                run.graph,
                offset=base,
                optimum=run.graph.best,
                asked=run.asked,
                covered=run.covered,
                limit=run.limit,
            )
            first = trees[0].predictor
            run.confirm(trees[0])
        sizes = {
            "states": len(run.graph.states),
            "splits": sum(len(s.edges) for s in run.graph.states),
            "calls": run.sets.calls,
        }
        message = run.grain
        if not trees.complete:
            message = f"The set is complete only up to a slack of {float(trees.covered):g}; {float(trees.slack):g} was asked for. {message}".strip()
        result = run.result(
            first,
            bound,
            proven=True,
            limit=run.limit,
            model_size=sizes,
            message=message,
            watch=None,
        )
        if not isinstance(problem.question, NearBest) or result.status is not Status.OPTIMAL:
            return result
        listed = tuple(
            Solution(s.predictor, problem.value(s.predictor))
            for s in trees[: problem.question.most]
        )
        status = Status.OPTIMAL if trees.complete else Status.FEASIBLE
        return replace(result, solutions=listed, trees=trees, status=status)


def _warm_up_dp() -> None:
    """Compile what finds the optimum under a limit on leaves; no run is charged for it."""

    def solve_tiny() -> None:
        from milp_trees.engines.dp.method import solve_view
        from milp_trees.models.space import Trees

        solve_view(tiny_view(), Trees(2, max_leaf_nodes=3))

    compile_once("the optimum of near-best", solve_tiny)


class NearBestRun(Run):
    """One run: the optimum, and hypergraphs for a rising slack."""

    def prepare(self) -> None:
        """Make the sets of rows of the presolved view."""
        from milp_trees.engines.near_best.exact_losses import ExactLosses
        from milp_trees.engines.near_best.states import RowSets

        self.view, self.space = self.problem.presolved_view(), self.problem.trees
        memory = (self.limits.memory_mb or MEMORY_MB) * 2**20
        self.sets = RowSets(self.view, self.space, self.watch, memory)
        self.most_leaves = self.space.max_leaf_nodes if self.space.limits_leaves else None
        question = self.problem.question
        self.question = question if isinstance(question, NearBest) else NearBest(slack=0)
        self.optimum: int | None = None
        #: The requested slack, in natural units, and the slack that was reached, in integer units;
        #: the latter is None if all of the requested slack was reached.
        self.asked = Fraction(0)
        self.covered: Fraction | None = Fraction(0)
        self.graph: TreeGraph | None = None
        #: Exact values of leaves that cost a function of sums, if they have them.
        self.exact: ExactLosses | None = None
        given = self.problem.first_view((CostMatrix, LeafSums))
        if isinstance(given, LossSums):
            self.exact = ExactLosses.of(self.problem, given)

    @property
    def feasible(self) -> bool:
        """Whether there are enough rows for a leaf."""
        return self.view.total_rows >= self.space.min_samples_leaf and all(
            int(amounts.sum()) >= least for amounts, least in self.view.leaf_minima
        )

    def search(self) -> None:
        """Find the optimum, then all trees within a rising slack."""
        self.optimum = self._best()
        value = self.view.to_value(self.optimum + self.view.fixed_cost)
        self.note(None, value)  # there is no tree of this value yet
        if self.exact is not None:
            self._search_exactly()
            return
        self.asked = self.question.allowance(value)
        last = int(self.asked / abs(self.view.scale))  # no tree has a value between two integers
        # Sums of rounded leaves may differ by some units where losses do not.
        pad = self.view.slack if isinstance(self.view, LossSums) else 0
        depth = self._depth(self.optimum + last + pad)
        for slack in sorted({0, last // 4, last // 2, last}):
            self.graph = self._graph(depth, slack + pad)
            self.covered = Fraction(slack) if slack < last else None
            self.note(value, value)

    def _search_exactly(self) -> None:
        """The same where units are rounded: the best tree of all that may be is the optimum."""
        assert self.exact is not None
        unit, done = abs(self.view.scale), Fraction(-1)
        parts = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(1)]
        for part in parts:
            slack = part * self.asked
            if slack > done:
                exact, units = self.exact.within(slack), math.ceil(slack / unit)
                allowance = units + exact.pad
                assert self.optimum is not None
                depth = self._depth(self.optimum + allowance)
                self.graph, done = self._graph(depth, allowance, exact), slack
            assert self.graph is not None
            assert self.graph.exact is not None
            value = self.graph.exact.natural(self.graph.best)
            if not part:
                self.asked = self.question.allowance(value)
            self.covered = slack / unit if slack < self.asked else None
            self.note(value, value)

    def _graph(self, depth: int, slack: int, exact: ExactLosses | None = None) -> TreeGraph:
        """All trees of the optimum's units and some more."""
        from milp_trees.engines.near_best.graph import TreeGraph

        assert self.optimum is not None
        return TreeGraph(
            self.sets,
            self.problem.first_view((CostMatrix, LeafSums)),
            depth,
            self.optimum + slack,
            self.most_leaves,
            self.question.trivial,
            self.question.equal_tests == "one",
            exact,
        )

    @property
    def grain(self) -> str:
        """A sentence where trees are counted by rounded values."""
        if isinstance(self.view, CostMatrix) or self.exact is not None:
            return ""
        off = float(2 * self.view.rounding * abs(self.view.scale))
        return f"Trees are counted by values that are off by at most {off:.3g}: one so close to the edge of the slack may be counted or left out."

    def confirm(self, best: Solution) -> None:
        """Compare the exact value of the best tree with what its task says."""
        value = self.problem.value(best.predictor).exact
        if self.exact is None or value is None or best.value.exact is None:
            return
        if abs(value - best.value.exact) > self.view.tolerance * abs(self.view.scale):
            raise wrong_value(self.label, float(best.value.exact), float(value))

    def _best(self) -> int:
        """The least regret of a tree of the space."""
        sets = self.sets
        if self.most_leaves is None:
            return sets.value(
                sets.all_rows, self._depth(sets.levels(sets.all_rows, two=False).leaf), 2**59
            )
        from milp_trees.engines.dp.method import solve_view

        deepest = (
            self.most_leaves - 1
            if self.space.max_depth is None
            else min(self.space.max_depth, self.most_leaves - 1)
        )
        Z, _ = solve_view(self.view, replace(self.space, max_depth=deepest), self.watch)
        assert Z is not None
        return Z - self.view.fixed_cost

    def _depth(self, allowance: int) -> int:
        """The depth limit, or the number of rows if the limit forbids no tree.

        In the latter case, states with equal rows become one state.
        """
        view, most = self.view, self.space.max_depth
        each = self.sets.leaf_cost + (int(self.sets.split.min()) if view.n_features else 0)
        splits = allowance // each if each else view.n_rows
        free = max(0, min(view.n_features, view.n_rows - 1, splits))
        return max(0, view.n_rows - 1) if most is None or most >= free else int(most)
