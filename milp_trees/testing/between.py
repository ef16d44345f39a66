"""Checks of the points between two trees, for models that are too large to be solved here.

A constraint that is missing for one node, action or row shows where the model has freedom that it
should not have. So two trees that differ below one node are encoded; the integer variables that are
equal in both points are fixed, and the rest is optimised. The objective of the result must not be
larger than the cost of the better tree, and the result must decode to a tree that costs no more
than this objective.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from milp_trees.mip.formulation import Formulation
from milp_trees.models.nodes import Branch, Node
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.testing.checks import decoded, demand, encoded, refuse, sample_trees, slack
from milp_trees.testing.describe import expression
from milp_trees.testing.generate import choices, grow
from milp_trees.testing.solve import built, minimise

#: Nodes of each search; if a search is stopped, its best point is checked.
FEW_NODES = 50


def check_between_trees(formulation: Formulation, problem: Problem) -> None:
    """The best point between two trees has the value of a tree, and costs no more than either."""
    view, b = formulation.presolved_view(problem), built(formulation, problem)
    for one, other in pairs_of_trees(problem):
        ends = [encoded(formulation, problem, tree) for tree in (one, other)]
        fixed = b.matrix.integer & (ends[0] == ends[1])
        lower, upper = (
            np.where(fixed, ends[0], bound) for bound in (b.matrix.lower, b.matrix.upper)
        )
        point = minimise(replace(b.matrix, lower=lower, upper=upper), b.separator, nodes=FEW_NODES)
        where = f"between the trees {expression(one)} and {expression(other)}"
        better = min(view.objective(one), view.objective(other))
        if point.x is None or point.objective is None:
            demand(
                point.status == "stopped",
                formulation,
                problem,
                f"{where} the model is {point.status}.",
            )
            continue
        far = point.status == "optimal" and point.objective > better + slack(view, better)
        demand(
            not far,
            formulation,
            problem,
            f"{where} the optimum is {point.objective:.9g} units, but one of them has {better}.",
        )
        refuse(
            _too_cheap(formulation, problem, point.x, point.objective, where), formulation, problem
        )


def _too_cheap(
    formulation: Formulation, problem: Problem, x: np.ndarray, objective: float, where: str
) -> str | None:
    """The reason why a point is cheaper than the tree that it decodes to, or None."""
    view = formulation.presolved_view(problem)
    tree = problem.space.pruned(decoded(formulation, problem, x), problem.dataset)
    wrong, Z = problem.violations(tree), view.objective(tree)
    if wrong:
        return f"{where} a point decodes to {expression(tree)}, which is not feasible: {' '.join(wrong)}"
    if objective + slack(view, Z) < Z:
        return f"{where} the model claims {objective:.9g} units; {expression(tree)}, which it decodes to, has {Z}."
    return None


def pairs_of_trees(problem: Problem, n: int = 6, seed: int = 0) -> list[tuple[Tree, Tree]]:
    """Pairs of each sampled tree with itself, and with a feasible neighbour.

    In the neighbour another subtree replaces one node.

    Parameters
    ----------
    problem : Problem
        The problem of the trees.
    n : int, default=6
        Number of trees.
    seed : int, default=0
        Seed of the random numbers.

    Returns
    -------
    list of (Tree, Tree)
    """
    rng = np.random.default_rng(seed)
    trees = sorted(sample_trees(problem), key=lambda tree: -tree.n_leaves)[:n]
    out = []
    for tree in trees:
        out.append((tree, tree))
        for _ in range(20):
            other = _neighbour(problem, tree, rng)
            if other != tree and not problem.violations(other):
                out.append((tree, other))
                break
    return out


def _neighbour(problem: Problem, tree: Tree, rng: np.random.Generator) -> Tree:
    """The tree with one node replaced by a random subtree that the depth allows.

    It has no empty leaves.
    """
    tests, actions = choices(problem)

    def change(node: Node, levels: int) -> Node:
        if not isinstance(node, Branch) or rng.random() < 0.2:
            return grow(tests, len(actions), levels, rng, stop=0.3)
        if rng.random() < 0.5:
            return Branch(node.test, change(node.left, levels - 1), node.right)
        return Branch(node.test, node.left, change(node.right, levels - 1))

    changed = Tree(change(tree.root, problem.trees.depth), tree.actions)
    return problem.space.pruned(changed, problem.dataset)
