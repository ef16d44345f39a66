"""Texts for failure messages, sufficient to reproduce a problem and a tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.models.nodes import Leaf, Node
from milp_trees.models.shown import Shown
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.views import CostMatrix


def describe(problem: Problem) -> str:
    """The problem's name or generator, or, if it has none, its arrays."""
    known = problem.dataset.source.get("testing")
    space = problem.space.spec()
    limits = ", ".join(
        f"{k}={v}"
        for k, v in space.items()
        if k != "name" and v not in (None, False) and (k, v) != ("min_samples_leaf", 1)
    )
    if known:
        return f"{known} ({limits})"
    data = problem.dataset
    if data.n_rows > 16:
        arrays = repr(data)
    elif problem.task.offers(CostMatrix):
        view = problem.view(CostMatrix)
        arrays = f"X={np.asarray(view.X).tolist()}, costs={view.costs.tolist()}"
    else:
        arrays = f"X={np.asarray(data.X).tolist()}, y={None if data.y is None else data.y.tolist()}, weights={data.row_weights.tolist()}"
    return f"{problem.task.spec()} ({limits}) with {arrays}"


def expression(tree: Any) -> str:
    """A tree on one line: `[x: left | right]`, left if the test is false.

    For a rule list it is its text; for a pruned ensemble it lists the nodes that stay splits.
    """
    if not isinstance(tree, Shown):
        return f"the pruning that keeps {tree.to_json()['kept']}"
    if not isinstance(tree, Tree):
        return "; ".join(tree.to_text().splitlines())

    def text(node: Node) -> str:
        if isinstance(node, Leaf):
            return str(tree.actions[node.action])
        return f"[{node.test.name}: {text(node.left)} | {text(node.right)}]"

    return text(tree.root)
