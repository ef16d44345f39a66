"""`near-best-lists`: all rule lists within a slack of the optimum, permutations counted once.

Mata, Kanamori, Arimura (2022, *Computing the collection of good models for rule lists*) enumerate
such lists. Here the search goes over sets of rows that no rule has captured yet: a set is a state,
whichever rules captured the other rows. Lower bounds limit the states, then exact values of what
can follow each of them leave only rules that are part of a list within the slack, and the lists are
read off. The slack is raised in steps, so that a run that is stopped keeps the complete set for a
smaller slack.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from milp_trees.common.limits import Limits, Stopped
from milp_trees.common.registering import register
from milp_trees.engines.kit.compile import compile_once, tiny_view
from milp_trees.engines.kit.run import Run
from milp_trees.lists.engines.dp_lists.switches import LARGEST, DpListsSwitches
from milp_trees.lists.engines.near_best_lists.list_set import RuleListSet
from milp_trees.lists.rule_list import RuleList
from milp_trees.lists.space import RuleLists
from milp_trees.methods.finish import Clock
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.problems.questions import NearBest
from milp_trees.results.result import Result, Solution, Status
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.lists.engines.near_best_lists.graph import Listed, NearBestListsSearch
    from milp_trees.problems.problem import Problem

#: Memory for the search, if no limit is given.
MEMORY_MB = 2000


@register
class NearBestLists(Method):
    """Exact search that keeps every rule list within the slack."""

    name = "near-best-lists"
    title: ClassVar[str] = "All rule lists within a slack of the optimum (Rashomon set), counted"
    space = RuleLists
    shared_components: ClassVar[frozenset[str]] = frozenset({"dp-lists"})
    verification_rank: ClassVar[int] = 90
    questions: ClassVar[frozenset[str]] = frozenset({"best", "near-best"})
    default_rank: ClassVar[int | None] = 86

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.view(CostMatrix)
        if (view.split_costs + view.leaf_cost < 0).any():
            return f"{self.name} takes prices of rules of at least 0; some are negative."
        if isinstance(problem.question, NearBest) and not view.exact:
            return f"{self.name} counts lists by their exact values, and this task's costs are measured floats; round them, for example to 4 digits."
        price = int(view.split_costs.max(initial=0)) + view.leaf_cost
        if view.spread + problem.space_as(RuleLists).longest(view) * price >= LARGEST // 4:
            return f"{self.name} sums costs in 64 bits, and those of this problem are too large; take larger units."
        return None

    def warm_up(self) -> None:
        """Compile the kernels."""
        compile_once(self.name, _search_tiny)

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        clock = Clock()
        with clock("prepare"):
            # Equal antecedents make different lists, so none is dropped.
            view = problem.presolved_view(drop_tests=False)
            run = NearBestListsRun(self.name, problem, limits, progress, clock)
            run.prepare(view, start)
        with clock("solve"):
            run.attempt(run.find)
        if run.listed is None or run.optimum is None:
            message = "The run was stopped before there was a set of lists."
            return run.result(run.found, view.to_value(run.best.bound), message=message)
        with clock("list"):
            lists = RuleListSet(
                problem,
                run.listed,
                view,
                offset=run.best.constant,
                optimum=run.optimum,
                asked=run.asked,
                covered=run.covered,
                limit=run.limit,
            )
            # Where rules must capture several rows, every optimal list may have a rule too many.
            first = lists[0].predictor if lists.count else run.found
        message = (
            ""
            if lists.complete
            else f"The set is complete only up to a slack of {float(lists.covered):g}; {float(lists.slack):g} was asked for."
        )
        result = run.result(
            first,
            view.to_value(run.best.value),
            proven=True,
            limit=run.limit,
            model_size=run.search.sizes,
            message=message,
        )
        question = problem.question
        if not isinstance(question, NearBest) or result.status is not Status.OPTIMAL:
            return result
        listed = tuple(
            Solution(s.predictor, problem.value(s.predictor)) for s in lists[: question.most]
        )
        status = Status.OPTIMAL if lists.complete else Status.FEASIBLE
        return replace(result, solutions=listed, trees=lists, status=status)


class NearBestListsRun(Run):
    """The optimum, and the lists for a rising slack."""

    def prepare(self, view: CostMatrix, start: RuleList | None) -> None:
        """Make both searches."""
        from milp_trees.lists.engines.near_best_lists.graph import Budget, NearBestListsSearch
        from milp_trees.lists.engines.near_best_lists.instance import WholeSearch, data_of

        question, limits = self.problem.question, self.limits
        self.question = question if isinstance(question, NearBest) else NearBest(slack=0)
        self.view, self.space, self.start = view, self.problem.space_as(RuleLists), start
        memory = (limits.memory_mb or MEMORY_MB) * 2**20
        one, least = self.question.equal_tests == "one", self.space.min_samples_rule
        #: The search for the best list; its constant is what every list costs besides the prices of
        #: its rules and its regret.
        self.best = WholeSearch(view, self.space.max_length, least, DpListsSwitches(), memory // 2)
        data = data_of(self.best, least, self.space.longest(view), one)
        self.search: NearBestListsSearch = NearBestListsSearch(
            self.best, data, Budget(self.watch.check, memory)
        )
        self.optimum: int | None = None
        self.found: RuleList | None = start
        #: The requested slack, in natural units, and the slack that was reached, in integer units;
        #: the latter is None if all of the requested slack was reached.
        self.asked = Fraction(0)
        self.covered: int | None = 0
        self.listed: Listed | None = None

    def find(self) -> None:
        """Find the best list, and then the lists within one slack after the other."""
        from milp_trees.lists.greedy import greedy_list

        best, view = self.best, self.view
        known = [greedy_list(view, self.space), *([] if self.start is None else [self.start])]
        self.found = min(known, key=view.objective)
        best.offer(view.objective(self.found))
        limit = best.run(self.watch.over)
        self.found = best.found or self.found
        if limit is not None:
            raise Stopped(limit)
        self.optimum = best.value - best.constant
        value = view.to_value(best.value)
        self.note(value, value)
        self.asked = self.question.allowance(value)
        last = int(self.asked / abs(view.scale))  # no list is between two integers
        dearest = view.spread + self.search.data.most * int(self.search.data.price.max(initial=0))
        for slack in sorted({0, last // 4, last // 2, last}):
            allowance = min(self.optimum + slack, dearest)  # every list costs at most the latter
            self.listed = self.search.lists(allowance, self.question.trivial)
            self.covered = slack if slack < last else None


def _search_tiny() -> None:
    """All lists within a slack for a tiny problem, with compiled code."""
    from milp_trees.lists.engines.near_best_lists.graph import Budget, NearBestListsSearch
    from milp_trees.lists.engines.near_best_lists.instance import WholeSearch, data_of

    best = WholeSearch(tiny_view(price=1), 2, 1, DpListsSwitches(), 2**20)
    best.run(lambda: None)
    NearBestListsSearch(best, data_of(best, 1, 2, True), Budget(lambda: None, 2**30)).lists(
        9, False
    )
