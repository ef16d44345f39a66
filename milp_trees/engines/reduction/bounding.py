"""What a reduction begins with: multipliers with their bound, and a feasible tree."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from milp_trees.engines.dp import solve_view
from milp_trees.engines.lagrangian.dual import Dual
from milp_trees.engines.lagrangian.incumbent import Incumbent
from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.limits import Limits
from milp_trees.methods.trace import Trace
from milp_trees.methods.watch import Watch
from milp_trees.models.tree import Tree
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.views import CostMatrix


class Bounding(NamedTuple):
    """The result of the Lagrangian bound of a view.

    `bound` is a lower bound on the objective, None if no tree satisfies the side rows; `tree` is
    the best feasible tree that was met, with its objective `value`. No tree costs more than `most`;
    objectives differ by multiples of `unit`.
    """

    multipliers: Multipliers
    bound: int | None
    tree: Tree | None
    value: int | None
    most: int
    unit: int


def bounding(view: CostMatrix, space: Trees) -> Bounding:
    """The best multipliers, the bound, and the best feasible tree that the search for them meets.

    Constraints on the tree itself and largest numbers of leaves do not enter the bound, which stays
    valid without them. A tree is only kept if it satisfies them.
    """
    free = Trees(space.max_depth, None, space.min_samples_leaf)
    incumbent = Incumbent(view, Trace(None), time.perf_counter())
    dual = Dual(view, free, incumbent, Watch(Limits(time=None)))
    if view.side:
        dual.maximise()
    else:
        least, tree = solve_view(replace(view, structure=()), free)
        dual.infeasible, incumbent.tree = tree is None, tree
        dual.bound = None if least is None else Fraction(least)
    trees = [t for t in (incumbent.tree, *dual.planes.values()) if t is not None]
    found = [t for t in trees if feasible(t, view, space)]
    best = min(found, key=view.objective, default=None)
    return Bounding(
        dual.best or Multipliers.none(len(view.side)),
        None if dual.infeasible or dual.bound is None else math.ceil(dual.bound),
        best,
        None if best is None else view.objective(best),
        dual.most,
        incumbent.unit,
    )


def feasible(tree: Tree, view: CostMatrix, space: Trees) -> bool:
    """Whether a tree satisfies all constraints of a view, and the limits of a space.

    Parameters
    ----------
    tree : Tree
        Within the depth limit.
    view : CostMatrix
    space : Trees

    Returns
    -------
    bool
    """
    tree = view.canonical(tree).prune_empty(view)
    routes = tree.routes(view)
    minima = [(view.counts, space.min_samples_leaf), *view.leaf_minima]
    for amounts, least in minima:
        if np.bincount(routes.leaf, amounts, routes.n_leaves).min() < least:
            return False
    return (
        (space.max_leaf_nodes is None or tree.n_leaves <= space.max_leaf_nodes)
        and all(r.holds(t) for r, t in zip(view.side, view.side_totals(tree), strict=True))
        and all(part.holds(routes, view) for part in view.structure)
    )
