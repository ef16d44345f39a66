"""Rule lists within a bound: multipliers, the bound, and the hypergraph that they leave over.

The hypergraph of all lists that cost at most U at some multipliers holds every feasible list of
objective at most U. On it the Lagrangian function is a dynamic programme over the states, so its
maximum (Kelley 1960, *The cutting-plane method*) takes one pass over the columns per multiplier.
That maximum, or U if it is smaller, bounds the problem from below.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from milp_trees.engines.hypergraph.parts import NONE, least_below
from milp_trees.engines.hypergraph.shrink import most_at, shrink
from milp_trees.engines.lagrangian.bounding import Bounding
from milp_trees.engines.lagrangian.incumbent import unit_of
from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.lists.hypergraph.bounded import (
    as_rule_list,
    limits,
    searched,
    shortened,
)
from milp_trees.lists.hypergraph.graph import Chains, enumerate_chains, merges
from milp_trees.lists.hypergraph.prices import best_prices
from milp_trees.lists.space import RuleLists
from milp_trees.tasks.views import CostMatrix

#: Passes of the search for multipliers per side row.
PASSES = 30
#: States and columns that are enumerated before the reduction.
MOST_STATES, MOST_COLUMNS = 2_000_000, 10_000_000


def bounded_lists(view: CostMatrix, space: RuleLists) -> tuple[Bounding, Chains]:
    """The best multipliers, the bound, a feasible list, and the lists that cost no more than it."""
    rules = limits(view, space)
    beam = searched(view, rules)
    rules, base = shortened(rules, view, beam.best), int(view.base.sum())
    known = None if beam.best is None else as_rule_list(beam.best, view)
    value = None if beam.best is None else base + beam.best.cost
    longest = rules.length * int(view.split_costs.max(initial=0))
    dearest = int(view.costs.max(axis=1).sum()) + view.leaf_cost * (rules.length + 1) + longest
    multipliers = beam.multipliers
    priced = multipliers.view_at(view)
    upper = dearest if value is None else value
    most = None if value is None else most_at(multipliers, view, upper) - int(priced.base.sum())
    chains = enumerate_chains(view, rules, most, priced, MOST_STATES, MOST_COLUMNS, merges(view))
    chains = replace(chains, known=known)
    none = np.zeros((0, 1 + len(view.side)), dtype=np.int64)
    reached = np.concatenate([none, *beam.planes])
    multipliers, bound = _maximised(chains, view, multipliers, reached)
    lowest = dearest + 1 if bound is None else math.ceil(bound)
    if value is not None:
        lowest = min(lowest, value)
        chains = shrink(chains, view, [multipliers], upper)  # type: ignore[assignment]
    found = lowest if lowest <= dearest else None
    return Bounding(multipliers, found, known, value, dearest, unit_of(view)), chains


def _maximised(
    h: Chains, view: CostMatrix, multipliers: Multipliers, planes: np.ndarray
) -> tuple[Multipliers, Fraction | None]:
    """The best multipliers for the lists of a hypergraph, and their bound; None without a list."""
    best: Fraction | None = None
    found, requested = multipliers, set()
    for _ in range(1 + PASSES * len(view.side)):
        requested.add(found)
        plane, value = _lowest(h, found)
        if plane is None:
            return multipliers, None
        bound = found.bound(value, view)
        if best is None or bound > best:
            best, multipliers = bound, found
        planes = np.concatenate([planes, plane[None]])
        better = best_prices(planes, view)
        if better is None or better in requested:
            break
        found = better
    return multipliers, best


def _lowest(h: Chains, multipliers: Multipliers) -> tuple[np.ndarray | None, int]:
    """Cost and side totals of the lowest list at prices, and its cost at prices."""
    if not h.n_columns:
        return None, 0
    whole = multipliers.denominator * h.cost
    if h.side.shape[1]:
        whole = whole + h.side @ np.array(multipliers.numerators, dtype=np.int64)
    whole, value = least_below(h, whole)
    if value[0] >= NONE:
        return None, 0
    plane, s = np.zeros(1 + h.side.shape[1], dtype=np.int64), 0
    while s >= 0:
        here = h.columns_of(s)
        c = here.start + int(whole[here].argmin())
        plane += np.concatenate([h.cost[c : c + 1], h.side[c]])
        s = int(h.child_left[c])
    return plane, int(value[0])
