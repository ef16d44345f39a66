"""Random problems and trees from a seed, and all trees of a depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import Accuracy
from milp_trees.tasks.constraints import Capacity
from milp_trees.tasks.decision_view import LeafOracle
from milp_trees.tasks.leaf_sums import LeafSums
from milp_trees.tasks.policy import ActionCostMatrix
from milp_trees.testing.family_suites import models_of
from milp_trees.testing.problems import numeric_dataset


def random_dataset(
    rng: np.random.Generator, n_rows: int, n_features: int, numeric: bool = False, **more: Any
) -> Dataset:
    """Random binary features, or all midpoints of two numeric columns.

    Equal rows are likely.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of random numbers.
    n_rows, n_features : int
        Number of rows, and of features (at most, for numeric columns).
    numeric : bool, default=False
        Whether features are thresholds of numeric columns.
    **more
        Further fields of the Dataset.

    Returns
    -------
    Dataset
    """
    if not numeric:
        return Dataset(rng.integers(0, 2, (n_rows, n_features)), **more)
    levels = [n_features - n_features // 2 + 1, n_features // 2 + 1]
    return numeric_dataset(
        {
            f"c{j}": (rng.integers(0, m, n_rows) ** 2).astype(float).tolist()
            for j, m in enumerate(levels)
        },
        **more,
    )


@lru_cache(maxsize=256)
def random_cost_problem(
    seed: int,
    n_rows: int = 6,
    n_features: int = 3,
    n_actions: int = 2,
    depth: int = 2,
    numeric: bool = False,
    min_leaf: int = 1,
    penalty: bool = False,
    side: bool = False,
) -> Problem:
    """A problem whose costs are random integers, some of them negative.

    On such problems a model that is too tight or too loose has a wrong optimum.

    Parameters
    ----------
    seed : int
        Seed of the random numbers.
    n_rows, n_features, n_actions : int, default=6, 3, 2
        Number of rows, features and actions.
    depth, min_leaf : int, default=2, 1
        Largest depth, and smallest number of rows in a leaf.
    numeric : bool, default=False
        Whether features are thresholds of two numeric columns.
    penalty, side : bool, default=False
        Whether there are a penalty per leaf and feature costs, and a capacity of the last action.

    Returns
    -------
    Problem
    """
    given = {
        "seed": seed,
        "n_rows": n_rows,
        "n_features": n_features,
        "n_actions": n_actions,
        "numeric": numeric,
        "penalty": penalty,
        "side": side,
    }
    rng = np.random.default_rng(seed)
    values = rng.integers(-6, 10, (n_rows, n_actions))
    spelled = ", ".join(f"{k}={v}" for k, v in given.items())
    dataset = random_dataset(
        rng,
        n_rows,
        n_features,
        numeric,
        values=values,
        source={"testing": f"random_cost_problem({spelled})"},
    )
    options: dict[str, Any] = {}
    if penalty:
        columns = sorted({t.column for t in dataset.features})
        options = {
            "leaf_penalty": int(rng.integers(0, 3)),
            "feature_costs": {c: int(rng.integers(0, 3)) for c in columns},
        }
    if side:
        cheapest = int((values.argmin(axis=1) == n_actions - 1).sum())
        options["constraints"] = (Capacity(n_actions - 1, at_most=max(0, cheapest - 1)),)
    return Problem(dataset, ActionCostMatrix(**options), Trees(depth, min_samples_leaf=min_leaf))


def planted_problem(seed: int, n_rows: int = 12, n_features: int = 4, depth: int = 2) -> Problem:
    """Rows labelled by a random tree of full depth, so that the optimum is zero errors.

    Parameters
    ----------
    seed : int
        Seed of the random numbers.
    n_rows, n_features : int, default=12, 4
        Number of rows, and of features.
    depth : int, default=2
        Depth of the tree.

    Returns
    -------
    Problem
    """
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (n_rows, n_features))
    tests = tuple(BinaryFeature(str(j)) for j in range(n_features))
    tree = Tree(grow(tests, 2, depth, rng, stop=0.0), (0, 1))
    y = tree.routes(Dataset(X, tests)).action
    return Problem(Dataset(X, tests, y=y, classes=(0, 1)), Accuracy(), Trees(depth))


def random_tree(
    problem: Problem, rng: np.random.Generator, tries: int = 50, shape: Shape | None = None
) -> Any:
    """A random feasible tree or rule list of the problem's space without empty leaves.

    Parameters
    ----------
    problem : Problem
        The problem.
    rng : numpy.random.Generator
        Source of random numbers.
    tries : int, default=50
        Number of trees to draw.
    shape : callable, optional
        One of the `SHAPES`; by default any shape.

    Returns
    -------
    Tree, RuleList or None
        None if no feasible one was found.
    """
    for _ in range(tries):
        tree = any_tree(problem, rng, shape)
        if not problem.violations(tree):
            return tree
    return None


def any_tree(problem: Problem, rng: np.random.Generator, shape: Shape | None = None) -> Any:
    """A random tree (or rule list) within the limit on the depth (or length), feasible or not.

    No leaf is empty.

    Parameters
    ----------
    problem : Problem
    rng : numpy.random.Generator
    shape : callable, optional
        One of the `SHAPES`; by default any shape.

    Returns
    -------
    Tree or RuleList
    """
    if models := models_of(problem.space):
        return models.drawn(problem, rng)
    tests, actions = choices(problem)
    depth = problem.trees.depth
    node = (
        _shaped(tests, len(actions), depth, rng, shape)
        if shape
        else grow(tests, len(actions), depth, rng, stop=0.25)
    )
    tree: Tree = problem.space.pruned(Tree(node, actions), problem.dataset)
    return tree


def choices(problem: Problem) -> tuple[tuple[BinaryFeature, ...], tuple[Any, ...]]:
    """The features and actions of which trees of a problem consist.

    For decisions that are not listed, and for predicted numbers, actions are those that are best for
    some row, or for all rows.
    """
    actions = problem.task.actions(problem.dataset)
    if not actions and problem.task.offers(LeafSums):
        sums = problem.first_view((LeafSums,)).sums
        actions = problem.first_view((LeafSums,)).leaf_actions(np.vstack([sums, sums.sum(axis=0)]))[
            1
        ]
    if not actions and problem.task.offers(LeafOracle):
        view = problem.view(LeafOracle)
        actions = tuple(
            dict.fromkeys(map(view.decisions.label, view.decisions.solve(view.vectors).decisions))
        )
    return tuple(problem.space.tests(problem.dataset).features), actions


def grow(
    tests: tuple[BinaryFeature, ...],
    n_actions: int,
    depth: int,
    rng: np.random.Generator,
    stop: float,
) -> Node:
    """A random tree.

    Parameters
    ----------
    tests : tuple of BinaryFeature
        Features that nodes may test.
    n_actions : int
        Number of actions.
    depth : int
        Largest depth.
    rng : numpy.random.Generator
        Source of random numbers.
    stop : float
        Probability that a node above the last level is a leaf.

    Returns
    -------
    Leaf or Branch
    """
    if depth == 0 or not tests or rng.random() < stop:
        return Leaf(int(rng.integers(n_actions)))
    test = tests[int(rng.integers(len(tests)))]
    return Branch(
        test,
        grow(tests, n_actions, depth - 1, rng, stop),
        grow(tests, n_actions, depth - 1, rng, stop),
    )


#: Whether a node splits, given its path: True for every step to the right from the root.
Shape = Callable[[tuple[bool, ...]], bool]
#: Full trees, and trees that continue on one side, on the other, or on both in turn.
SHAPES: dict[str, Shape] = {
    "full": lambda way: True,
    "left": lambda way: not any(way),
    "right": lambda way: all(way),
    "zigzag": lambda way: all(right == (level % 2 == 0) for level, right in enumerate(way)),
}


def _shaped(
    tests: tuple[BinaryFeature, ...],
    n_actions: int,
    depth: int,
    rng: np.random.Generator,
    shape: Shape,
    way: tuple[bool, ...] = (),
) -> Node:
    if len(way) == depth or not tests or not shape(way):
        return Leaf(int(rng.integers(n_actions)))
    test = tests[int(rng.integers(len(tests)))]
    left, right = (
        _shaped(tests, n_actions, depth, rng, shape, (*way, side)) for side in (False, True)
    )
    return Branch(test, left, right)


def all_trees(tests: tuple[BinaryFeature, ...], n_actions: int, depth: int) -> Iterator[Node]:
    """Every tree up to a depth: each shape, test and action.

    Parameters
    ----------
    tests : tuple of BinaryFeature
        Features that nodes may test.
    n_actions : int
        Number of actions.
    depth : int
        Largest depth.

    Yields
    ------
    Leaf or Branch
    """
    for k in range(n_actions):
        yield Leaf(k)
    if depth:
        below = list(all_trees(tests, n_actions, depth - 1))
        for test in tests:
            for left in below:
                for right in below:
                    yield Branch(test, left, right)
