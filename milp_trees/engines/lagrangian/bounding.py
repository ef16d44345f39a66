"""What a reduction begins with: multipliers with their bound, and a feasible tree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.limits import Limits
from milp_trees.engines.dp.method import solve_view
from milp_trees.engines.lagrangian.dual import Dual
from milp_trees.engines.lagrangian.incumbent import Incumbent
from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.methods.trace import Trace
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.loss_sums import LossSums
from milp_trees.tasks.structure import FeatureUse
from milp_trees.tasks.views import CostMatrix, LeafSums

#: Columns that are chosen one after the other, where a constraint counts what a tree tests.
MOST_COLUMNS = 5


class Bounding(NamedTuple):
    """The result of the Lagrangian bound of a view.

    `bound` is a lower bound on the objective, None if no tree satisfies the side rows; `tree` is
    the best feasible tree (or rule list) that was met, with its objective `value`. No tree costs
    more than `most`; objectives differ by multiples of `unit`.
    """

    multipliers: Multipliers
    bound: int | None
    tree: Any
    value: int | None
    most: int
    unit: int


def bounding(view: CostMatrix | LossSums, space: Trees) -> Bounding:
    """The best multipliers, the bound, and the best feasible tree that the search for them meets.

    Constraints on the tree itself and largest numbers of leaves do not enter the bound, which stays
    valid without them. A tree is only kept if it satisfies them.
    """
    free = Trees(space.max_depth, None, space.min_samples_leaf)
    if isinstance(view, LossSums):
        return _of_losses(view, space, free)
    incumbent = Incumbent(view, Trace(None), run_clock())
    view.keep_incumbent(incumbent)  # for a run that is stopped before the model is complete
    dual = Dual(view, free, incumbent, Watch(Limits(time=None)))
    if view.side:
        dual.maximise()
    else:
        least, tree = solve_view(replace(view, structure=()), free)
        dual.infeasible, incumbent.tree = tree is None, tree
        dual.bound = None if least is None else Fraction(least)
        if least is not None:
            incumbent.raise_bound(int(least))
    trees = [t for t in (incumbent.tree, *dual.planes.values()) if t is not None]
    multipliers = dual.best or Multipliers.none(len(view.side))
    if view.structure and not dual.infeasible:
        trees += [Tree(Leaf(k), view.actions) for k in range(view.n_actions)]
        priced = replace(multipliers.view_at(view), structure=())
        for tree in _of_few_columns(view, priced, free) if _counts_features(view) else ():
            incumbent.value = incumbent.tree = None
            if view.side:
                incumbent.offer(tree)
            trees += [tree, incumbent.tree or tree]
    found = [t for t in trees if feasible(t, view, space)]
    best = incumbent.tree = min(found, key=view.objective, default=None)
    return Bounding(
        multipliers,
        None if dual.infeasible or dual.bound is None else math.ceil(dual.bound),
        best,
        None if best is None else view.objective(best),
        dual.most,
        incumbent.unit,
    )


def _of_losses(view: LossSums, space: Trees, free: Trees) -> Bounding:
    """The optimum without a largest number of leaves, where no side row has a multiplier.

    Objectives of trees that cost the same differ by rounding, which is part of the largest value.
    """
    least, best = solve_view(replace(view, structure=()), free)
    # A single leaf gives all groups one prediction.
    known = [] if best is None else [best, view.decided(Tree(Leaf(0), (None,)))]
    tree = next((t for t in known if feasible(t, view, space)), None)
    splits = max(0, min(view.most_leaves, view.n_rows) - 1)
    dearest = splits * int(view.split_costs.max(initial=0))
    most = math.ceil(view.size) + view.leaf_cost * (splits + 1) + dearest + view.rounding
    value = None if tree is None else view.objective(tree) + view.rounding
    return Bounding(Multipliers.none(0), least, tree, value, most, 1)


def _counts_features(view: CostMatrix) -> bool:
    return any(isinstance(part, FeatureUse) for part in view.structure)


def _of_few_columns(view: CostMatrix, priced: CostMatrix, space: Trees) -> Iterator[Tree]:
    """Best trees at some prices on the tests of few columns, chosen one after the other."""
    chosen: list[str] = []
    best: int | None = None
    left = list(dict.fromkeys(t.column for t in view.features))
    while left and len(chosen) < MOST_COLUMNS:
        found = []
        for column in left:
            keep = [f for f, t in enumerate(view.features) if t.column in (*chosen, column)]
            part = replace(
                priced,
                X=np.ascontiguousarray(priced.X[:, keep]),
                features=tuple(priced.features[f] for f in keep),
                split_costs=priced.split_costs[keep],
            )
            Z, tree = solve_view(part, space)
            if Z is not None and tree is not None:
                yield tree
                found.append((Z, column))
        if not found or (best is not None and min(found)[0] >= best):
            return
        best, column = min(found)
        chosen.append(column)
        left.remove(column)


def feasible(tree: Tree, view: LeafSums, space: Trees) -> bool:
    """Whether a tree satisfies all constraints of a view, and the limits of a space."""
    tree = view.canonical(tree).prune_empty(view)
    routes = tree.routes(view)
    minima = [(view.counts, space.min_samples_leaf), *view.leaf_minima]
    for amounts, least in minima:
        if np.bincount(routes.leaf, amounts, routes.n_leaves).min() < least:
            return False
    return (
        (space.max_leaf_nodes is None or tree.n_leaves <= space.max_leaf_nodes)
        and (not isinstance(view, CostMatrix) or _keeps_rows(tree, view))
        and all(part.holds(routes, view) for part in view.structure)
    )


def _keeps_rows(tree: Tree, view: CostMatrix) -> bool:
    """Whether a tree satisfies all side rows."""
    return all(r.holds(t) for r, t in zip(view.side, view.side_totals(tree), strict=True))
