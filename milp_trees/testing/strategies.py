"""Hypothesis strategies: `datasets`, `tasks`, `problems`, `trees`.

There are at most 8 rows, 3 features and depth 2, so that every failure shrinks to a readable one.
"""

# hypothesis is optional, so the type checker does not know its decorators.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.problems.problem import Problem
from milp_trees.tasks.base import Task
from milp_trees.tasks.classification import (
    Accuracy,
    BalancedAccuracy,
    MisclassificationCosts,
    WeightedError,
)
from milp_trees.tasks.constraints import (
    Capacity,
    Constraint,
    EqualisedOdds,
    EqualOpportunity,
    PredictiveEquality,
    StatisticalParity,
)
from milp_trees.tasks.policy import (
    ActionCostMatrix,
    ActionValues,
    DirectMethod,
    DoublyRobust,
    InversePropensity,
)

#: Numbers that a person would write: short decimals and small fractions.
weights = st.one_of(st.integers(0, 9), st.decimals(0, 9, places=2).map(float))
rates = st.one_of(
    st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2)]),
    st.decimals(0, 1, places=2).map(float),
)
#: Every kind of task on a finite set of actions.
TASKS = (
    Accuracy,
    WeightedError,
    BalancedAccuracy,
    MisclassificationCosts,
    ActionCostMatrix,
    ActionValues,
    DirectMethod,
    InversePropensity,
    DoublyRobust,
)


@st.composite
def datasets(draw: st.DrawFn, max_rows: int = 8, max_tests: int = 3) -> Dataset:
    """Datasets with everything that a task may need.

    These are target, weights, groups, a factor, treatments, outcomes, propensities and values.

    Parameters
    ----------
    draw : callable
        Given by hypothesis.
    max_rows, max_tests : int, default=8, 3
        Largest number of rows, and of features.

    Returns
    -------
    Dataset
    """
    n, F, K = (
        draw(st.integers(2, max_rows)),
        draw(st.integers(0, max_tests)),
        draw(st.integers(2, 3)),
    )

    def column(elements: st.SearchStrategy[Any]) -> np.ndarray:
        return np.array(draw(st.lists(elements, min_size=n, max_size=n)))

    X = np.array(
        draw(st.lists(st.lists(st.integers(0, 1), min_size=F, max_size=F), min_size=n, max_size=n))
    ).reshape(n, F)
    row_weights = column(weights).astype(float)
    row_weights[0] += not row_weights.any()  # a total of zero would raise an error
    values = np.array(
        draw(st.lists(st.lists(st.integers(-5, 9), min_size=K, max_size=K), min_size=n, max_size=n))
    )
    return Dataset(
        X,
        [BinaryFeature(f"t{j}") for j in range(F)],
        y=column(st.integers(0, K - 1)),
        classes=tuple(range(K)),
        weights=row_weights,
        groups=column(st.sampled_from("abc")),
        factor=column(st.sampled_from("uv")),
        treatments=column(st.integers(0, K - 1)),
        outcomes=column(st.integers(-5, 5)),
        propensities=column(st.sampled_from([0.25, 0.5, 1.0])),
        values=values,
        actions=tuple(range(K)),
    )


@st.composite
def constraints(draw: st.DrawFn, n_rows: int) -> Constraint:
    """One side constraint on the last of two or three actions."""
    kind = draw(
        st.sampled_from(
            [StatisticalParity, EqualOpportunity, PredictiveEquality, EqualisedOdds, Capacity]
        )
    )
    if kind is Capacity:
        return Capacity(1, at_most=draw(st.integers(0, n_rows)))
    fair: Constraint = kind(draw(rates), 1)
    return fair


@st.composite
def tasks(draw: st.DrawFn, dataset: Dataset, constrained: bool = True) -> Task:
    """Any task on a dataset from `datasets`.

    It may have penalties, feature costs and constraints.

    Parameters
    ----------
    draw : callable
        Given by hypothesis.
    dataset : Dataset
        From `datasets`.
    constrained : bool, default=True
        Whether there may be constraints.

    Returns
    -------
    Task
    """
    K = len(dataset.actions or ())
    kind = draw(st.sampled_from(TASKS))
    options: dict[str, Any] = {}
    if kind is MisclassificationCosts:
        options["matrix"] = draw(
            st.lists(st.lists(st.integers(-3, 9), min_size=K, max_size=K), min_size=K, max_size=K)
        )
    if kind is WeightedError and draw(st.booleans()):
        options["class_weight"] = {0: draw(st.sampled_from([Fraction(1, 3), 0.25, 3])), 1: 2}
    if draw(st.booleans()):
        options["leaf_penalty"], options["split_penalty"] = draw(rates), draw(rates)
    if dataset.n_features and draw(st.booleans()):
        options["feature_costs"] = {"t0": draw(rates)}
    if constrained and draw(st.booleans()):
        options["constraints"] = (draw(constraints(dataset.n_rows)),)
    task: Task = kind(**options)
    return task


@st.composite
def trees(draw: st.DrawFn, dataset: Dataset, n_actions: int, max_depth: int = 2) -> Tree:
    """Any tree over a dataset's features; leaves may be empty.

    Parameters
    ----------
    draw : callable
        Given by hypothesis.
    dataset : Dataset
        Its features are tested.
    n_actions : int
        Number of actions.
    max_depth : int, default=2
        Largest depth.

    Returns
    -------
    Tree
    """

    def grow(depth: int) -> Node:
        if depth == 0 or not dataset.n_features or draw(st.booleans()):
            return Leaf(draw(st.integers(0, n_actions - 1)))
        return Branch(
            draw(st.sampled_from(list(dataset.features))), grow(depth - 1), grow(depth - 1)
        )

    return Tree(grow(max_depth), tuple(range(n_actions)))


@st.composite
def problems(draw: st.DrawFn, constrained: bool = True) -> Problem:
    """A dataset, a task on it, and a space of at most two levels."""
    dataset = draw(datasets())
    space = Trees(
        draw(st.integers(0, 2)),
        draw(st.sampled_from([None, 2, 3])),
        draw(st.sampled_from([1, 1, 2])),
    )
    return Problem(dataset, draw(tasks(dataset, constrained)), space)
