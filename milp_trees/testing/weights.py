"""The values of tests that a formulation reads from its variables (`weights_of_tests`)."""

from __future__ import annotations

from typing import Any

from milp_trees.mip.formulation import Formulation
from milp_trees.models.nodes import Leaf, Node


def misread_test(formulation: Formulation, m: Any, tree: Any) -> str | None:
    """The node of an encoded tree whose test has not the value 1, in a sentence; None if all have.

    Parameters
    ----------
    formulation : Formulation
    m : ConcreteModel
        Its variables have the values of the tree.
    tree : Tree or another predictor

    Returns
    -------
    str or None
    """
    weights = formulation.weights_of_tests(m)
    if weights is None:
        return None
    view = m.view

    def walk(node: Node, v: int) -> str | None:
        if isinstance(node, Leaf):
            return None
        value = float(weights[v][view.index[node.test]])
        others = float(weights[v].sum()) - value
        if abs(value - 1) > 1e-6 or abs(others) > 1e-6:
            return f"the test {node.test.name} of node {v} has the value {value:g}, the others {others:g}"
        return walk(node.left, 2 * v) or walk(node.right, 2 * v + 1)

    return walk(view.canonical(tree).root, 1)
