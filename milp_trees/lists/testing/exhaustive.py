"""The oracle of rule lists: every list, and a recursion over sets of rows where there are too many.

Nothing is bounded, merged or cut, and no code is shared with the engines. The tests compare the
recursion with the scores of all lists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import permutations, product

from milp_trees.lists.rule_list import Rule, RuleList
from milp_trees.lists.space import RuleLists
from milp_trees.problems.problem import Problem
from milp_trees.tasks.views import CostMatrix

#: Totals of the side rows → (cost, rules as pairs (antecedent, action), action of the default rule).
Achieved = dict[tuple[int, ...], tuple[int, tuple[tuple[int, int], ...], int]]


def longest(problem: Problem) -> int:
    """Largest number of rules; a rule with an antecedent of an earlier rule captures no row."""
    M, most = (
        len(problem.space_as(RuleLists).table(problem.dataset).antecedents),
        problem.space_as(RuleLists).max_length,
    )
    return M if most is None else min(M, most)


def n_lists(problem: Problem) -> int:
    """Number of lists of different antecedents, with each choice of actions."""
    M = len(problem.space_as(RuleLists).table(problem.dataset).antecedents)
    K = max(1, len(problem.task.actions(problem.dataset)))
    return sum(math.perm(M, k) * K ** (k + 1) for k in range(longest(problem) + 1))


def all_rule_lists(problem: Problem) -> Iterator[RuleList]:
    """Every list of different antecedents with every choice of actions, feasible or not."""
    antecedents = problem.space_as(RuleLists).table(problem.dataset).antecedents
    actions = problem.task.actions(problem.dataset)
    for length in range(longest(problem) + 1):
        for chosen in permutations(antecedents, length):
            for message in product(range(len(actions)), repeat=length + 1):
                rules = tuple(map(Rule, chosen, message))
                yield RuleList(rules, message[-1], actions)


def best_list(problem: Problem) -> RuleList | None:
    """The cheapest feasible list of a task that offers a cost matrix, or None.

    What can follow some rules depends on the rows that they leave and on the number of rules that
    may follow. Of all completions with the same totals of the side rows the cheapest one is kept.
    The task may have no constraints on the list itself.
    """
    search = _Search(problem)
    found = search.completions((1 << search.view.n_rows) - 1, longest(problem))
    feasible = [one for totals, one in found.items() if search.allows(totals)]
    if not feasible:
        return None
    _, rules, default = min(feasible, key=lambda one: one[0])
    view = search.view
    named = tuple(Rule(view.antecedents[j], k) for j, k in rules)
    return RuleList(named, default, view.actions)


class _Search:
    """Sets of rows are integers with a bit per row."""

    def __init__(self, problem: Problem) -> None:
        view = self.view = problem.view(CostMatrix)
        self.least = problem.space_as(RuleLists).min_samples_rule
        self.held = [
            sum(1 << i for i in range(view.n_rows) if view.X[i, j]) for j in range(view.n_features)
        ]
        self.costs, self.counts = view.costs.tolist(), view.counts.tolist()
        self.coefs = [row.coefs.tolist() for row in view.side]
        self.known: dict[tuple[int, int], Achieved] = {}

    def allows(self, totals: tuple[int, ...]) -> bool:
        return all(row.holds(t) for row, t in zip(self.view.side, totals, strict=True))

    def leaves(self, rows: int) -> list[tuple[tuple[int, ...], int]]:
        """Totals and cost of a rule that captures these rows, for each action."""
        here = [i for i in range(self.view.n_rows) if rows >> i & 1]
        return [
            (
                tuple(sum(coefs[i][k] for i in here) for coefs in self.coefs),
                sum(self.costs[i][k] for i in here) + int(self.view.leaf_cost),
            )
            for k in range(self.view.n_actions)
        ]

    def completions(self, rows: int, left: int) -> Achieved:
        """The cheapest ways to treat the rows that are left, with at most `left` rules."""
        key = rows, min(left, rows.bit_count())
        if key not in self.known:
            found: Achieved = {}
            for k, (totals, cost) in enumerate(self.leaves(rows)):
                if totals not in found or cost < found[totals][0]:
                    found[totals] = cost, (), k
            for j, held in enumerate(self.held if left else ()):
                self._begin(found, j, rows & held, rows & ~held, left - 1)
            self.known[key] = found
        return self.known[key]

    def _begin(self, found: Achieved, j: int, here: int, rest: int, left: int) -> None:
        """Add the lists that begin with antecedent j, which captures the rows `here`."""
        size = sum(n for i, n in enumerate(self.counts) if here >> i & 1)
        if not here or size < self.least:
            return
        price = int(self.view.split_costs[j])
        for k, (totals, cost) in enumerate(self.leaves(here)):
            for more, (after, rules, default) in self.completions(rest, left).items():
                both = tuple(a + b for a, b in zip(totals, more, strict=True))
                total = price + cost + after
                if both not in found or total < found[both][0]:
                    found[both] = total, ((j, k), *rules), default
