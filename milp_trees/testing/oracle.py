"""The oracle of the checks: it scores every model by the task."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.base import Value
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.views import CostMatrix, LeafSums
from milp_trees.testing.exhaustive import best_tree
from milp_trees.testing.family_suites import models_of
from milp_trees.testing.generate import all_trees, choices

#: Largest number of trees or lists that are scored one by one.
MOST_SCORED = 3000


@lru_cache(maxsize=1024)
def brute_force(problem: Problem) -> tuple[Any, Value] | None:
    """The best feasible predictor and its value; None if none is feasible.

    Every predictor is scored by the task, without views, bounds or shared code. If there are more
    than `MOST_SCORED` models, an exhaustive search finds the best one from the view, and the task
    confirms its value.

    Raises
    ------
    AssertionError
        The task gives the tree another value than its view does, or finds it infeasible.
    """
    # The search knows no constraints on the tree or list itself.
    kinds = (CostMatrix, LeafSums)
    sums = any(map(problem.task.offers, kinds)) and not problem.first_view(kinds).structure
    models = models_of(problem.space)
    if sums and (models.count if models else n_trees)(problem) > MOST_SCORED:
        return _confirmed(problem, (models.best if models else best_tree)(problem))
    best: tuple[Any, Value] | None = None
    for tree in _predictors(problem):
        value = problem.value(tree)
        if (best is None or value.better_than(best[1])) and not problem.violations(tree):
            best = tree, value
    return best


def n_trees(problem: Problem) -> float:
    """Number of trees, with each shape, test and action."""
    tests, actions = choices(problem)
    K = 1 if problem.task.offers(LeafSums) else len(actions)  # the prediction follows from the rows
    total = float(K)
    for _ in range(problem.trees.depth):
        total = K + len(tests) * total**2
    return total


def _confirmed(problem: Problem, tree: Any) -> tuple[Any, Value] | None:
    if tree is None:
        return None
    value, view = problem.value(tree), problem.first_view((CostMatrix, LeafSums))
    number = value.exact if value.exact is not None else value.number
    if abs(view.from_value(number) - view.objective(tree)) > view.tolerance or problem.violations(
        tree
    ):
        raise AssertionError(
            f"The task {problem.task.name} and its view differ on a {tree.noun} of {tree.n_leaves} leaves: {value} against {view.objective(tree)} units; "
            f"it breaks {problem.violations(tree)}."
        )
    return tree, value


def _predictors(problem: Problem) -> Iterator[Any]:
    if models := models_of(problem.space):
        return models.every(problem)
    if problem.task.offers(LeafSums):
        return _predicting_trees(problem)
    return _deciding_trees(problem) if problem.task.offers(LeafOracle) else _trees(problem)


def _trees(problem: Problem) -> Iterator[Tree]:
    tests, actions = choices(problem)
    for node in all_trees(tests, len(actions), problem.trees.depth):
        yield Tree(node, actions)


def _predicting_trees(problem: Problem) -> Iterator[Tree]:
    """All trees by shape and tests; each leaf has the best prediction for its rows."""
    tests, _ = choices(problem)
    view = problem.first_view((LeafSums,))
    for node in all_trees(tests, 1, problem.trees.depth):
        yield view.tree_of(node)


def _deciding_trees(problem: Problem) -> Iterator[Tree]:
    """All trees by shape and tests; each leaf has the oracle's decision for its rows.

    No other decision is better in that leaf.
    """
    tests, _ = choices(problem)
    data, task = problem.dataset, problem.task
    listed = task.actions(data)
    S = problem.view(LeafOracle).decisions
    vectors = data.values * data.row_weights[:, None]
    for node in all_trees(tests, 1, problem.trees.depth):
        leaf = Tree(node, ("",)).routes(data).leaf
        names = [
            S.label(S.solve(vectors[leaf == t].sum(axis=0)[None, :]).decisions[0])
            for t in range(Tree(node, ("",)).n_leaves)
        ]
        actions = listed or tuple(dict.fromkeys(names))
        order = iter(names)
        yield Tree(_decided(node, order, actions), actions)


def _decided(node: Node, names: Iterator[str], actions: tuple[Any, ...]) -> Node:
    """The tree with the actions of these names in its leaves, from left to right."""
    if isinstance(node, Leaf):
        return Leaf(actions.index(next(names)))
    left = _decided(node.left, names, actions)
    return Branch(node.test, left, _decided(node.right, names, actions))
