"""Trees and rule lists that violate a limit by very little.

None of them may be a feasible point of the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from milp_trees.data.dataset import Dataset
from milp_trees.mip.formulation import Formulation
from milp_trees.models.space import Trees
from milp_trees.models.tree import Routes, Tree
from milp_trees.problems.problem import Problem
from milp_trees.testing.checks import check, decoded, demand, encoded
from milp_trees.testing.describe import expression
from milp_trees.testing.family_suites import models_of
from milp_trees.testing.generate import SHAPES, any_tree
from milp_trees.testing.solve import FEASIBLE, built

#: Number of random trees that are drawn, and number of trees that are kept per limit: those that
#: violate it by least.
TREES, OF_EACH = 150, 2


@check
def check_limits_are_kept(formulation: Formulation, problem: Problem) -> None:
    """A tree that violates a limit is refused by `encode`, or encoded as an infeasible point.

    That a point is cut off counts as infeasible, for models that are completed by cuts.
    Limits are those on leaves and their rows, and side rows.
    """
    b = built(formulation, problem)
    for tree in just_beyond(problem):
        try:
            x = encoded(formulation, problem, tree)
        except Exception:  # a model that cannot represent such a tree may raise any error
            continue
        if b.matrix.violation(x) > FEASIBLE:
            continue
        if b.separator is not None and len(b.separator.separate(x, True)[1]):
            continue
        kept = problem.space.pruned(decoded(formulation, problem, x), problem.dataset)
        wrong = problem.violations(kept)
        demand(
            not wrong,
            formulation,
            problem,
            f"the tree {expression(tree)} is encoded as a feasible point: {' '.join(wrong)}",
        )


def just_beyond(problem: Problem, seed: int = 0) -> list[Any]:
    """Random trees (or lists) without empty leaves that violate limits.

    For each limit they are the trees that violate it by least.
    """
    if not _limited(problem):
        return []
    rng = np.random.default_rng(seed)
    deep = isinstance(problem.space, Trees) and problem.space.depth > 1
    shapes = [None, *SHAPES.values()] if deep else [None]
    trees = dict.fromkeys(any_tree(problem, rng, shapes[k % len(shapes)]) for k in range(TREES))
    found: dict[Any, list[tuple[float, Tree]]] = {}
    for tree in trees:
        for limit, excess in _excess(problem, tree):
            if excess > 0:
                found.setdefault(limit, []).append((excess, tree))
    kept = [
        tree
        for broken in found.values()
        for _, tree in sorted(broken, key=lambda pair: pair[0])[:OF_EACH]
    ]
    return list(dict.fromkeys(kept))


def _limited(problem: Problem) -> bool:
    if models := models_of(problem.space):
        limited = models.is_limited(problem.space)
    else:
        trees = problem.trees
        limited = bool(trees.limits_leaves or trees.min_samples_leaf > 1 or trees.min_weight_leaf)
    return limited or bool(getattr(problem.scale, "side", ()))


def _excess(problem: Problem, tree: Any) -> Iterator[tuple[Any, float]]:
    """Pairs of a limit and the amount by which a tree violates it (negative if it does not)."""
    data, routes = problem.dataset, tree.routes(problem.dataset)
    if models := models_of(problem.space):
        yield from models.excess(problem.space, tree, routes)
    else:
        yield from _of_trees(problem.trees, tree, routes, data)
    scale: Any = problem.scale
    for j, row in enumerate(getattr(scale, "side", ())):
        total = int(row.coefs[np.arange(data.n_rows), routes.action].sum())
        yield (j, "below"), total - (total if row.upper is None else row.upper)
        yield (j, "above"), (total if row.lower is None else row.lower) - total


def _of_trees(
    space: Trees, tree: Tree, routes: Routes, data: Dataset
) -> Iterator[tuple[str, float]]:
    yield "leaves", tree.n_leaves - (space.max_leaf_nodes or tree.n_leaves)
    yield "rows", space.min_samples_leaf - int(np.bincount(routes.leaf).min())
    yield (
        "weight",
        float(space.min_weight_leaf)
        - float(np.bincount(routes.leaf, weights=data.row_weights).min())
        - 1e-9,
    )
