"""`separable`: exact search for any separable task, from its six parts.

This is the general dynamic programme of van der Linden, de Weerdt, Demirović (2023, *Necessary and
sufficient conditions for optimal decision trees using dynamic programming*), equations (3) to (8)
and (50). The best values of a state are those that no other is better than, of all leaves and of all
pairs of values of the two sides of a split that the constraint allows. A total order leaves one
value, which answers the question `best`. A partial order leaves a front: it answers the question
`front`, and for `best` its value with the smallest number of units is taken.

States are remembered by rows and context. The last two levels are made from the sums of all pairs
of tests in one compiled call. The parts of a task are compiled if numba can compile them; otherwise
they run as they are, and the result says so. If values are single numbers that only add up and none
is negative, a part is searched only below what is left of the best value so far.

Tasks whose leaves cost a function of sums are stated in parts here (`losses`): the value of a set
of rows is a number of whole units.

Whether a task is separable is its author's promise; `milp_trees.testing.check_separable` tries to
refute it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.compiling import compiling
from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.run import Run
from milp_trees.engines.separable.losses import states_of
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.models.space import full_leaves
from milp_trees.models.tree import Tree
from milp_trees.problems.questions import Front
from milp_trees.results.result import Result
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.states_view import Integers, States

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

log = logging.getLogger("milp_trees")


@register
@dataclass(frozen=True)
class SeparableStates(Method):
    """Exact search over states for any task that is stated by its six parts.

    Parameters
    ----------
    compiled : bool, default=True
        Whether the parts of the task are compiled if they can be; the answer does not depend on it.
    """

    name: ClassVar[str] = "separable"  # type: ignore[misc]
    title: ClassVar[str] = "Search over the states of any separable task, from its six parts"
    needs: ClassVar[tuple[type, ...]] = (States, LeafSums)
    questions: ClassVar[frozenset[str]] = frozenset({"best", "front"})
    shared_components: ClassVar[frozenset[str]] = frozenset({"fronts"})
    verification_rank: ClassVar[int] = 45
    default_rank: ClassVar[int | None] = 95
    reference_rank: ClassVar[int | None] = 60

    compiled: bool = True

    def unsupported_view(self, problem: Problem) -> str | None:
        if getattr(problem.question, "against", None) is not None:
            return "separable finds the front of a task's own values, not one against another quantity; leave out against= (--against)."
        if not problem.task.offers(States) and isinstance(problem.question, Front):
            return (
                f"The task {problem.task.name} has one value, so there is no front of its values."
            )
        return None

    def search(
        self, problem: Problem, limits: Limits, start: Tree | None, progress: Progress | None
    ) -> Result:
        clock = Clock()
        # No greedy tree is made beside the search: the task may offer nothing but its parts.
        run = SeparableRun(self.label, problem, limits, progress, clock, fallback=False)
        with clock("prepare"):
            run.prepare(self.compiled)
        with clock("solve"):
            run.solve(start)
        given: dict[str, Any] = {
            "bound": run.bound if run.trees else None,
            "model_size": {"states": len(run.states.memo), "calls": run.states.calls},
            "message": run.message,
        }
        if isinstance(problem.question, Front):
            infeasible = run.limit is None and not run.trees
            return run.front(run.trees, infeasible=infeasible, **given)
        return run.result(run.trees[0] if run.trees else None, **given)


class SeparableRun(Run):
    """One run: the trees so far and the bound."""

    message = ""
    best = Fraction(0)

    def prepare(self, compiled: bool) -> None:
        """Make the search."""
        space = self.problem.trees
        found = self.problem.first_view(SeparableStates.needs)
        #: The loss, where leaves cost a function of sums.
        self.losses: LossSums | None = None if isinstance(found, States) else found
        self.view: States = found if self.losses is None else states_of(self.losses)
        self.trees: list[Tree] = []
        size = max(1, space.min_samples_leaf)
        # More levels than features or than rows less one are never used.
        self.depth = min(space.depth, self.view.n_features, max(0, self.view.n_rows - 1))
        limited = space.max_leaf_nodes
        self.most = None if limited is None or limited >= full_leaves(self.depth) else limited
        self.states = self._prepared(size, compiled)
        #: No tree is better than this; None if nothing is known.
        self.bound: Fraction | None = None
        if self.view.nonnegative and self.view.units is None:
            self.bound = self._bound_at(0)

    def _prepared(self, size: int, compiled: bool) -> Any:
        """The search, compiled if numba can compile the parts of the task."""
        from milp_trees.engines.fronts.rows import warm_up
        from milp_trees.engines.separable.fronts import StateFronts
        from milp_trees.engines.separable.parts import not_compiled
        from milp_trees.engines.separable.search import TotalSearch

        kind = TotalSearch if self.view.total else StateFronts
        with compiling("the parts of the task"):
            why = not_compiled(self.view) if compiled else ""
        found = kind(self.view, size, compiled and not why, self.check)
        with compiling("the search with the parts"):
            found.warm_up()
            warm_up()
        if why:
            self.message = f"The parts of the task run as plain Python, which is slow: {why}"
            log.info(self.message)
        return found

    def solve(self, start: Tree | None) -> None:
        """Search level by level, so that a run that is stopped has the trees of the last one."""
        if start is not None:
            self.trees = [start]
            self.note(self.problem.value(start).number, self.bound)
        self.attempt(self._search)
        if self.limit is None and self.trees:
            self.bound = self.best
            self.note(self._incumbent(), self.bound)

    def _search(self) -> None:
        for depth in sorted({0, min(self.depth, 2), self.depth}):
            self.states.run(depth, self.most, self.keep)

    def keep(self, nodes: list[Any], value: Integers) -> None:
        """Take better trees than before: one, or a front whose first tree has the best value."""
        if self.losses is None:
            self.trees = [Tree(node, self.view.actions) for node in nodes]
        else:
            self.trees = [self.losses.tree_of(node) for node in nodes]
        self.best = self._bound_at(self.view.units_of(value))
        self.note(self._incumbent(), self.bound)

    def _incumbent(self) -> Any:
        """The value of the first tree, in natural units."""
        return self.best if self.losses is None else self.problem.value(self.trees[0]).number

    def _bound_at(self, units: Any) -> Fraction:
        """The value that no tree is better than, if none has fewer units."""
        one = self.view if self.losses is None else self.losses
        return one.to_value(units) if isinstance(one, States) else one.to_bound(units)
