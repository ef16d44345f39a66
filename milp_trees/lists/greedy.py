"""A greedy rule list: each rule is the one that lowers the objective most; and its improvement.

It is the engine `greedy`, and the answer of a run that is stopped before it has found a list.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.limits import NEVER, Deadline
from milp_trees.lists.rule_list import Rule, RuleList
from milp_trees.tasks.views import CostMatrix

#: Entries of the 0/1 matrix that are converted to doubles at a time.
AS_DOUBLES = 4_000_000


def greedy_list(
    view: CostMatrix, space: Any, deadline: Deadline = NEVER, improve: bool = False
) -> RuleList:
    """The greedy list of a view, without regard to its side rows.

    Rules are added at the end of the list, each with its cheapest action, until none lowers the
    objective. Of rules that lower it equally, the first antecedent is taken.
    """
    search = _Search(view, space)
    found = search.lengthened(search.valued(()), deadline)
    while improve and not deadline.passed:
        better = search.best_neighbour(found, deadline)
        if better.cost >= found.cost:
            break
        found = better
    return search.rule_list(found.antecedents)


class _Found(NamedTuple):
    """The cost of a list, above what is unavoidable, and the numbers of its antecedents."""

    cost: float
    antecedents: tuple[int, ...]


class _Search:
    """Costs of lists that differ in one rule.

    Sums are doubles; they are exact, because costs are whole numbers and sums are below 2^53.
    """

    def __init__(self, view: CostMatrix, space: Any) -> None:
        self.view, self.least, self.longest = view, space.min_samples_rule, space.longest(view)
        #: Per row the regret of every action, and the number of original rows.
        self.values = np.column_stack([view.regret, view.counts]).astype(float)
        self.prices = view.split_costs + view.leaf_cost

    def leaves(self, antecedents: tuple[int, ...]) -> np.ndarray:
        """The rule that captures every row, the default rule being the last."""
        leaf = np.full(self.view.n_rows, len(antecedents))
        for k, j in reversed([*enumerate(antecedents)]):
            leaf[self.view.outcome(j) == 1] = k
        return leaf

    def sums(self, antecedents: tuple[int, ...]) -> np.ndarray:
        """Sums of the values of the rows that every rule captures, shape (rules + 1, K + 1)."""
        out = np.zeros((len(antecedents) + 1, self.values.shape[1]))
        np.add.at(out, self.leaves(antecedents), self.values)
        return out

    def valued(self, antecedents: tuple[int, ...]) -> _Found:
        """A list with its cost, which is infinite if a rule captures too few rows."""
        sums = self.sums(antecedents)
        few = (sums[:-1, -1] < self.least).any() or sums[-1, -1] < min(1, len(antecedents))
        cost = sums[:, :-1].min(axis=1).sum() + self.prices[list(antecedents)].sum()
        return _Found(np.inf if few else float(cost), antecedents)

    def lengthened(self, found: _Found, deadline: Deadline) -> _Found:
        """The list with rules added at its end, as long as that lowers the cost."""
        free = self.leaves(found.antecedents) == len(found.antecedents)
        held = _sums(self.view.X[free], self.values[free])
        total = self.values[free].sum(axis=0)
        while len(found.antecedents) < self.longest and not deadline.passed:
            rest = total - held
            change = held[:, :-1].min(axis=1) + rest[:, :-1].min(axis=1) - total[:-1].min()
            change += self.prices
            change[(held[:, -1] < self.least) | (rest[:, -1] < 1)] = np.inf
            j = int(change.argmin())
            if not change[j] < 0:
                break
            found = _Found(found.cost + float(change[j]), (*found.antecedents, j))
            here = free & (self.view.outcome(j) == 1)
            free &= ~here
            held -= _sums(self.view.X[here], self.values[here])
            total = total - self.values[here].sum(axis=0)
        return found

    def best_neighbour(self, found: _Found, deadline: Deadline) -> _Found:
        """The cheapest list after at most one rule is removed and at most one is put anywhere."""
        own = found.antecedents
        bases = [own, *(own[:k] + own[k + 1 :] for k in range(len(own)))]
        best = found
        for base in bases:
            best = min(best, self.valued(base))
            for place in range(len(base) + 1 if len(base) < self.longest else 0):
                if deadline.passed:
                    return best
                best = min(best, self.best_at(base, place))
        return best

    def best_at(self, base: tuple[int, ...], place: int) -> _Found:
        """The cheapest list with one more rule, at a place (from 0) of a list."""
        leaf, later = self.leaves(base), len(base) - place + 1
        sums = self.sums(base)
        free = leaf >= place
        # Of the free rows on which an antecedent holds: sums over those that each later rule of
        # the base captures.
        apart = np.zeros((int(free.sum()), later, self.values.shape[1]))
        apart[np.arange(len(apart)), leaf[free] - place] = self.values[free]
        held = _sums(self.view.X[free], apart.reshape(len(apart), -1))
        held = held.reshape(-1, later, self.values.shape[1])
        rest, here = sums[place:] - held, held.sum(axis=1)
        cost = here[:, :-1].min(axis=1) + rest[:, :, :-1].min(axis=2).sum(axis=1) + self.prices
        few = (rest[:, :-1, -1] < self.least).any(axis=1) | (rest[:, -1, -1] < 1)
        cost[few | (here[:, -1] < self.least)] = np.inf
        j = int(cost.argmin())
        before = sums[:place, :-1].min(axis=1).sum() + self.prices[list(base)].sum()
        return _Found(float(cost[j] + before), (*base[:place], j, *base[place:]))

    def rule_list(self, antecedents: tuple[int, ...]) -> RuleList:
        """The list of antecedents, with the cheapest action for every rule."""
        *actions, default = self.sums(antecedents)[:, :-1].argmin(axis=1).tolist()
        rules = (
            Rule(self.view.antecedents[j], k) for j, k in zip(antecedents, actions, strict=True)
        )
        return RuleList(tuple(rules), default, self.view.actions)


def _sums(X: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums of rows' values (n, S) over the rows on which each column of X is 1, shape (M, S)."""
    out = np.empty((X.shape[1], values.shape[1]))
    block = max(1, AS_DOUBLES // max(1, len(X)))
    for k in range(0, X.shape[1], block):
        out[k : k + block] = X[:, k : k + block].astype(float).T @ values
    return out
