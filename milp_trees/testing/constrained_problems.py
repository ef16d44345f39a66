"""Named tiny problems with side constraints."""

from __future__ import annotations

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import (
    Accuracy,
)
from milp_trees.tasks.constraints import (
    Capacity,
    ConditionalStatisticalParity,
    EqualisedOdds,
    EqualOpportunity,
    StatisticalParity,
)
from milp_trees.tasks.feature_constraints import FeatureBudget, NotTogether, Requires
from milp_trees.tasks.node_constraints import ParityInSubtrees
from milp_trees.tasks.policy import ActionCostMatrix, DirectMethod
from milp_trees.testing._named import (
    CUBE,
    SQUARE,
    accuracy,
    dataset,
    named,
)


@named
def make_randomising_leaf() -> Problem:
    """Parity that a leaf with randomised actions meets at half the price that trees need."""
    data = dataset(
        [[0]] * 4 + [[1]] * 4,
        y=[1, 1, 1, 1, 0, 0, 0, 0],
        groups=["a", "a", "a", "b", "a", "b", "b", "b"],
    )
    return Problem(data, Accuracy(constraints=(StatisticalParity("1/4", 1),)), Trees(1))


@named
def make_parity() -> Problem:
    """Parity that costs two errors at depth 2."""
    data = dataset(CUBE, y=[0, 0, 0, 1, 1, 1, 0, 1], groups=[0, 0, 0, 0, 1, 1, 1, 1])
    return Problem(data, Accuracy(constraints=(StatisticalParity("1/4", 1),)), Trees(2))


@named
def make_group_not_split() -> Problem:
    """The group column would be the perfect feature, but it is not a candidate."""
    data = dataset(
        SQUARE,
        [BinaryFeature("sex"), BinaryFeature("skill")],
        y=[0, 0, 1, 1],
        groups=[0, 0, 1, 1],
        group_column="sex",
    )
    return Problem(data, Accuracy(), Trees(2))


@named
def make_three_groups() -> Problem:
    """Equal opportunity between every pair of three groups."""
    data = dataset(
        [*CUBE, [0, 1, 1]],
        y=[1, 0, 1, 1, 0, 1, 0, 1, 0],
        groups=["a", "a", "a", "b", "b", "b", "c", "c", "c"],
    )
    return Problem(data, Accuracy(constraints=(EqualOpportunity("1/10", 1),)), Trees(2))


@named
def make_equalised_odds() -> Problem:
    """Two notions of fairness together, with two rows per pair of groups, and a penalty."""
    X = [[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]
    data = dataset(X, y=[1, 1, 0, 1, 0, 0, 0, 1], groups=[1, 0, 1, 1, 0, 1, 0, 0])
    return Problem(
        data, Accuracy(leaf_penalty="1/100", constraints=(EqualisedOdds("1/4", 1),)), Trees(2)
    )


@named
def make_conditional_parity() -> Problem:
    """Parity within the levels of a factor, one of which lacks a group."""
    X = [[0, 1, 1], [1, 0, 0], [0, 1, 1], [1, 0, 1], [0, 1, 1], [1, 0, 1], [0, 0, 1], [0, 0, 0]]
    data = dataset(
        X,
        y=[0, 0, 1, 0, 1, 0, 1, 0],
        groups=[0, 1, 0, 0, 1, 1, 0, 0],
        factor=["u", "u", "u", "v", "v", "v", "v", "w"],
    )
    return Problem(data, Accuracy(constraints=(ConditionalStatisticalParity("1/3", 1),)), Trees(2))


@named
def make_capacity() -> Problem:
    """At most two rows are treated, though a treatment improves every row."""
    values = [[0, 5], [0, 4], [0, 9], [0, 1], [0, 3]]
    data = dataset([*SQUARE, [0, 0]], values=values, actions=("wait", "treat"))
    return Problem(data, DirectMethod(constraints=(Capacity("treat", at_most=2),)), Trees(2))


@named
def make_capacity_from_below() -> Problem:
    """At least three rows get an action that is best for none, with a minimum leaf size."""
    values = [[0, 5, 2], [1, 4, 3], [0, 9, 1], [2, 1, 2], [0, 3, 8]]
    data = dataset([*SQUARE, [0, 0]], values=values)
    return Problem(
        data, ActionCostMatrix(constraints=(Capacity(1, at_least=3),)), Trees(1, min_samples_leaf=2)
    )


@named
def make_feature_budget() -> Problem:
    """One column only, though two would fit; the columns a and b are equal."""
    X = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [1, 1, 1]]
    data = dataset(
        X, [BinaryFeature("a"), BinaryFeature("b"), BinaryFeature("c")], y=[0, 1, 1, 0, 0]
    )
    rules = (FeatureBudget(1), NotTogether("a", "c"))
    return Problem(data, Accuracy(constraints=rules), Trees(2))


@named
def make_requires() -> Problem:
    """The column b says the class, but a tree that tests b tests a too, and depth 1 has no room."""
    data = dataset(SQUARE, [BinaryFeature("a"), BinaryFeature("b")], y=[0, 1, 0, 1])
    return Problem(data, Accuracy(constraints=(Requires("a", "b"),)), Trees(1))


@named
def make_parity_below() -> Problem:
    """Parity of the whole tree, and of every subtree, which costs one error more."""
    data = dataset(CUBE, y=[0, 0, 0, 1, 1, 1, 0, 1], groups=[0, 0, 0, 0, 1, 1, 1, 1])
    return Problem(data, Accuracy(constraints=(ParityInSubtrees("1/4", 1),)), Trees(2))


@named
def make_large_merged_rows() -> Problem:
    """Nine and ten equal rows, which just fill a leaf each; four and five do not."""
    data = dataset(
        np.repeat(SQUARE, [9, 10, 4, 5], axis=0), y=[1] * 9 + [0] * 10 + [0] * 4 + [1] * 5
    )
    return Problem(data, Accuracy(), Trees(2, min_samples_leaf=9))


@named
def make_cannot_hold() -> Problem:
    """Side constraints that no tree satisfies; the correct answer is that there is none."""
    constraints = (Capacity(1, at_least=2), Capacity(0, at_least=3))
    return accuracy(SQUARE, [0, 1, 1, 0], 2, Accuracy(constraints=constraints))
