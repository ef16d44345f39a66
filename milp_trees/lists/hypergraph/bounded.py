"""The lists that state-flow needs: those that cost no more than a list that is known."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from milp_trees.engines.hypergraph.parts import alive
from milp_trees.lists.hypergraph.beam import Beam, Listed
from milp_trees.lists.hypergraph.graph import Chains, enumerate_chains, merges
from milp_trees.lists.hypergraph.levels import Rules
from milp_trees.lists.rule_list import Rule, RuleList
from milp_trees.lists.space import RuleLists
from milp_trees.tasks.captured_share import DefaultOnly
from milp_trees.tasks.views import CostMatrix


class KnownList(NamedTuple):
    """A list and a bound that are known before the states are enumerated."""

    tree: RuleList
    bound: int
    prover: str


def bounded_chains(view: CostMatrix, space: RuleLists, max_states: int, max_columns: int) -> Chains:
    """The hypergraph of the lists that cost no more than one that a beam search finds.

    Where there is no limit on the length, the cost U of that list gives one: a list with L rules
    costs at least the cheapest action of every row, L + 1 leaves and L times the lowest price of an
    antecedent, so L is at most the quotient of what U leaves and the price of a rule.
    """
    rules = limits(view, space)
    best = searched(view, rules).best
    rules = shortened(rules, view, best)
    most = None if best is None else best.cost
    chains = enumerate_chains(view, rules, most, None, max_states, max_columns, merges(view))
    chains = replace(chains, known=None if best is None else as_rule_list(best, view))
    found: Chains = alive(chains, np.ones(chains.n_columns, dtype=bool))  # type: ignore[assignment]
    return found


def limits(view: CostMatrix, space: RuleLists) -> Rules:
    """The limits on lists of a space that hold whatever they cost."""
    only = [part.action for part in view.structure if isinstance(part, DefaultOnly)]
    return Rules(space.longest(view), space.min_samples_rule, *only[:1])


def shortened(rules: Rules, view: CostMatrix, best: Listed | None) -> Rules:
    """The same with the length of lists that cost no more than a known one."""
    price = view.leaf_cost + (int(view.split_costs.min()) if view.n_features else 0)
    if best is None or price <= 0:
        return rules
    return rules._replace(length=min(rules.length, (best.cost - view.leaf_cost) // price))


def longest(view: CostMatrix, space: RuleLists) -> int:
    """The limit on the length, or the one that follows from the cost of a list that is known."""
    rules = limits(view, space)
    if space.max_length is not None:
        return rules.length
    return shortened(rules, view, searched(view, rules).best).length


def searched(view: CostMatrix, rules: Rules) -> Beam:
    """A beam search for lists that satisfy all constraints of a view, once per limits."""
    if ("beam", rules) not in view.memo:

        def note(found: Listed) -> None:
            view.keep_incumbent(
                KnownList(as_rule_list(found, view), int(view.unavoidable), "the data")
            )

        beam = Beam(view, rules, lambda found: _holds(found, view), note)
        beam.search()
        view.memo["beam", rules] = beam
    found: Beam = view.memo["beam", rules]
    return found


def as_rule_list(found: Listed, view: CostMatrix) -> RuleList:
    """A list of the beam search as a predictor."""
    rules = tuple(Rule(view.antecedents[j], k) for j, k in found.rules)
    return RuleList(rules, found.default, view.actions)


def _holds(found: Listed, view: CostMatrix) -> bool:
    """Whether a list satisfies the constraints that are no side rows."""
    if merges(view):
        return True  # the search takes care of an action for the default rule alone
    routes = as_rule_list(found, view).routes(view)
    return all(part.holds(routes, view) for part in view.structure)
