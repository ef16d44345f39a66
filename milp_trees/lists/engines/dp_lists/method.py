"""`dp-lists`: the best rule list, by a dynamic programme over the rows that no rule captures yet.

The best completion of a prefix depends on the set U of rows that its rules leave, and on nothing
else (with a limit on the length, also on the number of rules):

    V(U) = min(default(U), min over antecedents a of price_a + best action(U & a) + V(U - a)).

So prefixes that leave the same rows are one state, of which the cheapest prefix is kept. States are
searched best-first (`kernels`), with lower bounds from the exact solution of the same
problem on a few rows (`tables`). Rows are those of the presolved view: equal rows are
merged, and the cheapest cost of a class of equal rows is paid by every list (the equivalent-points
bound of Angelino et al. 2018, *CORELS*).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.engines.kit.run import Run, wrong_value
from milp_trees.lists.engines.dp_lists.switches import LARGEST, TOO_LARGE, DpListsSwitches
from milp_trees.lists.greedy import greedy_list
from milp_trees.lists.rule_list import RuleList
from milp_trees.lists.space import RuleLists
from milp_trees.methods.claims import Claims
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.problems.questions import BySize
from milp_trees.results.result import Limit, Result, Solution
from milp_trees.results.size_path import Point, SizePath
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.lists.engines.dp_lists.lengths import Lengthening
    from milp_trees.problems.problem import Problem

#: Bytes of the prefixes when the caller gives no memory limit.
MEMORY = 2**32


@register
@dataclass(frozen=True)
class DynamicProgrammeOfLists(DpListsSwitches, Method):
    """Exact search for rule lists over sets of uncaptured rows.

    Parameters
    ----------
    tables, rows, share, dive
        See `switches.DpListsSwitches`; the optimum does not depend on them.
    """

    name: ClassVar[str] = "dp-lists"  # type: ignore[misc]
    title: ClassVar[str] = "Exact search for rule lists over sets of uncaptured rows, compiled"
    space: ClassVar[type] = RuleLists
    questions: ClassVar[frozenset[str]] = frozenset({"best", "by-size"})
    verification_rank: ClassVar[int] = 10
    default_rank: ClassVar[int | None] = 20
    reference_rank: ClassVar[int | None] = 10
    proves: ClassVar[bool] = True

    def warm_up(self) -> None:
        from milp_trees.lists.engines.dp_lists.search import warm_up

        warm_up()

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.view(CostMatrix)
        if view.n_features and view.leaf_cost + int(view.split_costs.min()) < 0:
            return (
                "dp-lists takes rules that cost at least 0; some antecedents have a negative price."
            )
        if sum(map(int, view.regret.max(axis=1, initial=0))) >= LARGEST:
            return TOO_LARGE
        return None

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            run = DpListsRun(self.name, problem, limits, progress, clock)
            run.prepare(self, start)
        with clock("solve"):
            if isinstance(problem.question, BySize):
                run.by_size(problem.question.max_leaves)
            else:
                run.best(problem.space_as(RuleLists).max_length)
        return run.end()

    def prove(self, problem: Problem, result: Result, limits: Limits) -> Claims:
        from milp_trees.lists.engines.dp_lists.proofs import list_claims

        return list_claims(problem, result, limits)


class DpListsRun(Run):
    """One run: incumbent, bound, history."""

    def prepare(self, method: DynamicProgrammeOfLists, start: Any) -> None:
        """Begin with the better one of the greedy list and a given one."""
        problem = self.problem
        self.method, self.view = method, problem.presolved_view()
        self.list: Any = None
        self.bound = int(self.view.base.sum()) + self.view.leaf_cost
        self.counters: dict[str, int] = {}
        self.history: dict[str, list[Any]] = {}
        self.points: list[Point] = []
        self.keep(greedy_list(self.view, problem.space_as(RuleLists), self.watch.deadline))
        if start is not None:
            self.keep(self.view.canonical(start))
        # This list may have more rules than a path that is asked for.
        self.watch.has_answer(None if isinstance(problem.question, BySize) else self.list)

    def keep(self, found: RuleList) -> None:
        if self.list is None or self.view.objective(found) < self.view.objective(self.list):
            self.list = found

    # -- the search --------------------------------------------------------------------------------

    def best(self, longest: int | None, told: bool = True) -> int:
        """Search for the best list of at most so many rules; returns a bound on all of them.

        `told` says whether the search has a place in the trace.
        """
        from milp_trees.lists.engines.dp_lists.lengths import SHARE, Lengthening
        from milp_trees.lists.engines.dp_lists.search import ListSearch

        memory = self.memory(MEMORY)
        least = self.problem.space_as(RuleLists).min_samples_rule

        def make(length: int | None, part: int) -> ListSearch:
            return ListSearch(self.view, length, least, self.method, memory // part)

        # A path has all shorter lists already.
        search = Lengthening(make, longest, shorter=not isinstance(self.problem.question, BySize))
        search.offer(self.view.objective(self.list))

        def between() -> Limit | None:
            if told and self.is_news(search):
                self.add_point(search)
            return self.watch.over()

        began, deadline = self.watch.began, self.watch.deadline
        late = began + (deadline.at - began) / SHARE
        ended = self.attempt(lambda: search.run(between, self.limits.nodes, deadline, late))
        self.limit = ended or self.limit
        if told:
            self.add_point(search)
        found = search.found
        if found is not None:
            if self.view.objective(found) > search.value:
                raise wrong_value(self.label, search.value, self.view.objective(found), "list")
            self.keep(found)
        self.watch.has_answer(self.list)
        self.bound = search.bound if self.limit else search.value
        self.counters = search.counters
        return self.bound

    def is_news(self, search: Lengthening) -> bool:
        """Whether the search has a better list, or a hundredth of its time has passed."""
        if not self.history:
            return True
        last = self.history["seconds"][-1]
        better = float(self.view.to_value(search.value)) != self.history["incumbent"][-1]
        return better or self.seconds > 1.01 * last + 0.01

    def add_point(self, search: Lengthening) -> None:
        """Add a point to the trace and to the history."""
        to_value, counters = self.view.to_value, search.counters
        value, bound = float(to_value(search.value)), float(to_value(search.bound))
        self.note(value, bound)
        known = self.list if search.best_length < 0 else None
        now = {
            "seconds": self.seconds,
            "incumbent": value,
            "bound": bound,
            "prefixes": counters["prefixes"],
            "queue": counters["waiting"],
            "map": counters["sets"],
            "longest": counters["longest"],
            "best_length": search.best_length if known is None else known.length,
        }
        for name, entry in now.items():
            self.history.setdefault(name, []).append(entry)

    def by_size(self, max_leaves: int) -> None:
        """The best lists of at most 0, 1, … rules, each from its own search."""
        view, longest = self.view, self.problem.space_as(RuleLists).longest(self.view)
        given, self.list = (
            self.list,
            RuleList((), int(view.costs.sum(axis=0).argmin()), view.actions),
        )
        last = min(max_leaves - 1, longest)
        for leaves in range(1, max_leaves + 1):
            if given.n_leaves <= leaves:
                self.keep(given)
            if self.limit is None and leaves - 1 <= last:
                bound = self.best(leaves - 1, told=leaves - 1 == last)
            elif self.limit is not None:
                bound = int(view.base.sum()) + view.leaf_cost
            self.points.append(Point.of(self.problem, leaves, self.list, view.to_value(bound)))
        self.bound = bound

    # -- the answer --------------------------------------------------------------------------------

    def end(self) -> Result:
        """The best list, or the best ones of every size."""
        result = self.result(
            self.list,
            self.view.to_value(self.bound),
            model_size=self.counters,
            nodes=self.counters.get("prefixes"),
            # A list beside a path may have more rules than the path.
            watch=None if self.points else self.watch,
            history=self.history,
        )
        if not self.points:
            return result
        path = SizePath(self.problem, tuple(self.points), self.label, self.limit, self.seconds)
        return replace(
            result,
            curve=path,
            solutions=tuple(Solution(p.predictor, p.value) for p in reversed(path.improving)),
        )
