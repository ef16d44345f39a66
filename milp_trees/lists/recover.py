"""The rule list behind a value: an engine knows its antecedents, and the data its actions."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from milp_trees.lists.rule_list import Rule, RuleList
from milp_trees.tasks.views import CostMatrix


def cheapest_list(view: CostMatrix, antecedents: Iterable[int]) -> RuleList:
    """The list with these antecedents in which every rule has its cheapest action."""
    free, rules = np.ones(view.n_rows, dtype=bool), []
    for a in antecedents:
        here = free & (view.X[:, a] == 1)
        rules.append(Rule(view.antecedents[a], int(view.costs[here].sum(axis=0).argmin())))
        free &= ~here
    return RuleList(tuple(rules), int(view.costs[free].sum(axis=0).argmin()), view.actions)
