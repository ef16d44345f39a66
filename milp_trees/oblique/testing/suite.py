"""Oblique trees in the checks of this package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import space_classes
from milp_trees.oblique.oblique_tree import ObliqueTree
from milp_trees.oblique.space import ObliqueTrees
from milp_trees.oblique.testing.exhaustive import (
    Splits,
    all_oblique_trees,
    best_oblique_tree,
    n_oblique_trees,
)
from milp_trees.oblique.testing.problems import (
    oblique_problems,
    points,
    random_oblique_problem,
)
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import Accuracy
from milp_trees.testing.family_suites import Models, Suite

if TYPE_CHECKING:
    from milp_trees.mip.formulation import Formulation


class Oblique(Models):
    """All oblique trees of a problem, one for every way to send its rows to leaves."""

    space = ObliqueTrees

    def every(self, problem: Problem) -> Iterator[ObliqueTree]:
        return all_oblique_trees(problem)

    def count(self, problem: Problem) -> float:
        return n_oblique_trees(problem)

    def best(self, problem: Problem) -> ObliqueTree | None:
        return best_oblique_tree(problem)

    def drawn(self, problem: Problem, rng: np.random.Generator) -> ObliqueTree:
        splits, actions = Splits(problem), problem.task.actions(problem.dataset)

        def node(rows: frozenset[int], depth: int) -> Node:
            known = splits.of(rows) if depth and len(rows) > 1 and rng.random() < 0.8 else []
            if not known:
                return Leaf(int(rng.integers(len(actions))))
            below, above, test = known[int(rng.integers(len(known)))]
            asked: Any = test
            return Branch(asked, node(above, depth - 1), node(below, depth - 1))

        everything = frozenset(range(problem.dataset.n_rows))
        root = node(everything, problem.space_as(ObliqueTrees).depth)
        return ObliqueTree(root, actions, tuple(problem.dataset.columns or ()))

    def is_limited(self, space: ObliqueTrees) -> bool:
        return space.limits_leaves or space.min_samples_leaf > 1

    def excess(
        self, space: ObliqueTrees, model: ObliqueTree, routes: Any
    ) -> Iterator[tuple[str, float]]:
        if space.limits_leaves:
            yield "leaves", model.n_leaves - (space.most_leaves or model.n_leaves)
        sizes = np.bincount(routes.leaf, minlength=routes.n_leaves)
        yield "rows", space.min_samples_leaf - int(sizes.min())

    def larger(self, space: ObliqueTrees) -> ObliqueTrees | None:
        return replace(space, max_depth=space.max_depth + 1) if space.max_depth < 2 else None

    def problems(self, level: str) -> dict[str, Problem]:
        found = {f"oblique-{name}": one for name, one in oblique_problems().items()}
        for seed in range(6 if level == "quick" else 30):
            rng = np.random.default_rng(seed)
            found[f"oblique-random-{seed}"] = random_oblique_problem(rng, 5)
        return found


def _golden(formulation: Formulation) -> Problem | None:
    """Four rows of two columns."""
    if ObliqueTrees not in space_classes(formulation.space):
        return None
    data = points([[0, 0], [1, 1], [0, 1], [2, 1]], y=[0, 0, 1, 1])
    return Problem(data, Accuracy(), ObliqueTrees(1))


SUITE = Suite(
    "oblique",
    oblique_problems,
    lambda: [oblique_problems()["diagonal"]],
    _golden,
    Oblique(),
)
