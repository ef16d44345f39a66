"""`enumerate-lists`: the oracle for tiny problems, which writes down every rule list.

It is as simple as possible, and slow.

Every sequence of antecedents in which each captures enough rows and leaves some is one list, with
the cheapest action per rule; with side constraints it is one list per choice of actions. Nothing is
bounded, merged or cut. It works on the problem as the task gives it, without presolve, and shares
no code with other methods.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.lists.rule_list import Rule, RuleList
from milp_trees.lists.space import RuleLists
from milp_trees.methods.finish import Clock, finish
from milp_trees.methods.method import Method
from milp_trees.methods.trace import Progress
from milp_trees.methods.watch import Watch
from milp_trees.results.result import Result
from milp_trees.tasks.views import CostMatrix

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Largest number of lists that are written down: seconds, not minutes.
MOST_LISTS = 500_000


class Written(NamedTuple):
    """A list: its cost, and the numbers of its antecedents and actions, the default one last."""

    cost: int
    antecedents: tuple[int, ...]
    actions: tuple[int, ...]


@register
class ListEnumerator(Method):
    """All rule lists of a tiny problem."""

    name = "enumerate-lists"
    title: ClassVar[str] = "Enumeration of all rule lists, for tiny problems"
    space = RuleLists
    verification_rank: ClassVar[int] = 5
    default_rank: ClassVar[int | None] = 90
    reference_rank: ClassVar[int | None] = 30
    takes_side_rows = True
    takes_structure: ClassVar[frozenset[str]] = frozenset(
        {"feature use", "node rates", "default rule only"}
    )

    def unsupported_view(self, problem: Problem) -> str | None:
        view = problem.view(CostMatrix)
        longest = problem.space_as(RuleLists).longest(view)
        lists = sum(math.perm(view.n_features, k) for k in range(longest + 1))
        if view.side or view.structure:
            lists *= view.n_actions ** (longest + 1)
        if lists <= MOST_LISTS:
            return None
        here = str(lists) if lists < 10**12 else f"about 10^{len(str(lists)) - 1}"
        return f"{self.name} is for tiny problems of at most {MOST_LISTS:,} lists; here it would write down {here}. Lower max_length, or take fewer antecedents."

    def search(
        self, problem: Problem, limits: Limits, start: Any, progress: Progress | None
    ) -> Result:
        clock = Clock()
        view, space = problem.view(CostMatrix), problem.space_as(RuleLists)
        watch = Watch(limits, clock.begin, problem)
        n_lists, best = 0, None

        def look() -> bool:
            nonlocal n_lists, best
            longest, least = space.longest(view), space.min_samples_rule
            for one in all_lists(view, longest, least, watch.check):
                n_lists += 1
                if (best is None or one.cost < best.cost) and _holds(one, view):
                    best = one
            return True

        with clock("solve"):
            done, limit = watch.until(look)
        bound: Fraction | None = view.to_value(view.unavoidable)
        if done:
            bound = None if best is None else view.to_value(best.cost)
        return finish(
            problem,
            self.name,
            start if best is None else _rule_list(best, view),
            bound=bound,
            claims_optimal=bool(done) and best is not None,
            proved_by=self.name,
            clock=clock,
            limit=limit,
            watch=watch,
            infeasible=bool(done) and best is None,
            model_size={"lists": n_lists},
        )


def all_lists(
    view: CostMatrix,
    longest: int,
    least: int = 1,
    check: Callable[[], None] = lambda: None,
) -> Iterator[Written]:
    """All lists in which every rule captures enough rows and the default rule at least one.

    A set of rows is an integer with a bit per row.
    """
    costs, counts = view.costs.tolist(), view.counts.tolist()
    members = [
        sum(1 << i for i in range(view.n_rows) if view.X[i, j]) for j in range(view.n_features)
    ]
    free_choice = bool(view.side or view.structure)

    @cache
    def sums(rows: int) -> list[int]:
        here = [i for i in range(view.n_rows) if rows >> i & 1]
        return [sum(costs[i][k] for i in here) for k in range(view.n_actions)]

    @cache
    def size(rows: int) -> int:
        return sum(counts[i] for i in range(view.n_rows) if rows >> i & 1)

    def written(antecedents: tuple[int, ...], leaves: tuple[int, ...]) -> Iterator[Written]:
        check()
        price = view.leaf_cost * len(leaves) + sum(int(view.split_costs[j]) for j in antecedents)
        each = [sums(rows) for rows in leaves]
        if not free_choice:
            yield Written(
                price + sum(map(min, each)), antecedents, tuple(s.index(min(s)) for s in each)
            )
            return
        for actions in product(range(view.n_actions), repeat=len(leaves)):
            cost = price + sum(s[k] for s, k in zip(each, actions, strict=True))
            yield Written(cost, antecedents, actions)

    def longer(
        antecedents: tuple[int, ...], captured: tuple[int, ...], rest: int
    ) -> Iterator[Written]:
        yield from written(antecedents, (*captured, rest))
        if len(antecedents) == longest:
            return
        for j, rows in enumerate(members):
            here = rest & rows
            if here and here != rest and size(here) >= least:
                yield from longer((*antecedents, j), (*captured, here), rest & ~rows)

    yield from longer((), (), (1 << view.n_rows) - 1)


def _rule_list(one: Written, view: CostMatrix) -> RuleList:
    rules = (
        Rule(view.antecedents[j], k) for j, k in zip(one.antecedents, one.actions, strict=False)
    )
    return RuleList(tuple(rules), one.actions[-1], view.actions)


def _holds(one: Written, view: CostMatrix) -> bool:
    """Whether a list satisfies the constraints of a view."""
    if not (view.side or view.structure):
        return True
    routes = _rule_list(one, view).routes(view)
    totals = (sum(row.coefs[i, k] for i, k in enumerate(routes.action)) for row in view.side)
    return all(row.holds(int(total)) for row, total in zip(view.side, totals, strict=True)) and all(
        part.holds(routes, view) for part in view.structure
    )
