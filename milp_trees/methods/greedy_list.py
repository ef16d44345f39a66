"""A greedy rule list: each rule is the one that lowers the objective most.

It is the engine `greedy`, and the answer of a run that is stopped before it has found a list.
"""

from __future__ import annotations

import numpy as np

from milp_trees.limits import NEVER, Deadline
from milp_trees.models.rule_list import Rule, RuleList
from milp_trees.spaces.rule_lists import RuleLists
from milp_trees.tasks.views import CostMatrix

#: Entries of the 0/1 matrix that are converted to doubles at a time.
AS_DOUBLES = 4_000_000


def greedy_list(view: CostMatrix, space: RuleLists, deadline: Deadline = NEVER) -> RuleList:
    """The greedy list of a view, without regard to its side rows.

    Rules are added at the end of the list, each with its cheapest action, until none lowers the
    objective. Of rules that lower it equally, the first antecedent is taken.

    Parameters
    ----------
    view : CostMatrix
        Reduced or not.
    space : RuleLists
    deadline : Deadline, optional
        From this time on, no rule is added.

    Returns
    -------
    RuleList
    """
    values = np.column_stack([view.regret, view.counts]).astype(float)
    free = np.ones(view.n_rows, dtype=bool)
    held = _sums(view.X, values)  # of the free rows on which each antecedent holds
    total = values.sum(axis=0)  # of all free rows
    prices = view.split_costs + view.leaf_cost
    rules: list[Rule] = []
    longest = space.longest(view)
    while len(rules) < longest and not deadline.passed:
        rest = total - held
        cost = held[:, :-1].min(axis=1) + rest[:, :-1].min(axis=1) + prices
        cost[(held[:, -1] < space.min_samples_rule) | (rest[:, -1] < 1)] = np.inf
        j = int(cost.argmin())
        if not cost[j] < total[:-1].min():
            break
        rules.append(Rule(view.antecedents[j], int(held[j, :-1].argmin())))
        here = free & (view.outcome(j) == 1)
        free &= ~here
        held -= _sums(view.X[here], values[here])
        total = total - values[here].sum(axis=0)
    return RuleList(tuple(rules), int(total[:-1].argmin()), view.actions)


def _sums(X: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums of rows' values (n, S) over the rows on which each column of X is 1, shape (M, S).

    They are exact, because the values are whole numbers and sums are below 2^53.
    """
    out = np.empty((X.shape[1], values.shape[1]))
    block = max(1, AS_DOUBLES // max(1, len(X)))
    for k in range(0, X.shape[1], block):
        out[k : k + block] = X[:, k : k + block].astype(float).T @ values
    return out
