"""Named tiny problems whose values are sums of costs; further modules have others.

Each is a special case in which some model, solver adapter or engine was wrong, small enough to be
enumerated. `PROBLEMS` maps a name to a function that makes the problem; `problem(name)` makes it
once. A failure that a random check finds becomes one more function here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.classification import (
    Accuracy,
    BalancedAccuracy,
    MisclassificationCosts,
    WeightedError,
)
from milp_trees.tasks.policy import ActionCostMatrix, DirectMethod, DoublyRobust, InversePropensity

# These modules register their problems.
from milp_trees.testing import (  # noqa: F401
    constrained_problems,
    distance_problems,
    loss_problems,
    numeric_problems,
    objective_problems,
)
from milp_trees.testing._named import (
    CUBE,
    PROBLEMS,
    SQUARE,
    accuracy,
    dataset,
    named,
    numeric_dataset,
    problem,
)

__all__ = ["METAMORPHIC", "PROBLEMS", "numeric_dataset", "problem"]

# -- shapes of trees and data ----------------------------------------------------------------------


@named
def make_xor() -> Problem:
    """No single split helps; two levels are perfect."""
    return accuracy(SQUARE, ["no", "yes", "yes", "no"], 2)


@named
def make_depth_0() -> Problem:
    """A single leaf."""
    return accuracy(SQUARE, [0, 1, 1, 1], 0)


@named
def make_depth_1() -> Problem:
    """Three features, of which a single split may use one."""
    return accuracy(CUBE, [0, 0, 1, 0, 1, 0, 1, 1], 1)


@named
def make_majority_of_three() -> Problem:
    """Three levels are needed; two leave two errors."""
    return accuracy(CUBE, [0, 0, 0, 1, 0, 1, 1, 1], 2)


@named
def make_one_row() -> Problem:
    """One row and two classes, one of which has no row."""
    return Problem(dataset([[1, 0]], y=[0], classes=("a", "b")), Accuracy(), Trees(2))


@named
def make_absent_class() -> Problem:
    """A class without rows must not be predicted without errors."""
    return Problem(dataset(SQUARE, y=[0, 2, 2, 0], classes=("a", "b", "c")), Accuracy(), Trees(1))


@named
def make_one_class() -> Problem:
    """All rows are of one class, so a leaf is perfect."""
    return Problem(dataset(SQUARE, y=[1, 1, 1, 1], classes=("a", "b")), Accuracy(), Trees(2))


@named
def make_equal_rows() -> Problem:
    """Equal rows with different labels, so some errors are unavoidable."""
    return accuracy([[0, 0], [0, 0], [0, 0], [1, 0], [1, 0], [1, 1]], [0, 1, 1, 1, 0, 0], 2)


@named
def make_three_classes() -> Problem:
    """Three classes, four corners."""
    return accuracy([*SQUARE, [1, 1], [0, 1]], ["a", "b", "c", "a", "c", "b"], 2)


@named
def make_constant_tests() -> Problem:
    """Features that are always 0 or always 1; a node on one sends all rows to one side."""
    return accuracy([[0, 1, 0], [0, 1, 1], [0, 1, 1]], [0, 1, 0], 2)


@named
def make_only_constant_tests() -> Problem:
    """No feature separates any two rows."""
    return accuracy([[0, 1], [0, 1], [0, 1]], [0, 1, 0], 1)


@named
def make_no_tests() -> Problem:
    """A dataset without features."""
    return accuracy(np.zeros((3, 0)), [0, 1, 1], 2)


@named
def make_no_tests_but_a_leaf_limit() -> Problem:
    """A leaf limit, which is a row over all splits, when there are no splits."""
    return accuracy(np.zeros((2, 0)), [0, 1], 2, max_leaf_nodes=2)


@named
def make_complement_pair() -> Problem:
    """Two features that are complements, and two that are equal.

    Decoded trees must contain the features that presolve has dropped.
    """
    X = [[a, 1 - a, b, b] for a, b in SQUARE]
    return accuracy(X, [0, 1, 1, 0], 2)


# -- costs -----------------------------------------------------------------------------------------


@named
def make_weights() -> Problem:
    """Row weights outvote the majority."""
    return Problem(
        dataset([*SQUARE, [1, 1]], y=[0, 0, 0, 1, 0], weights=[1, 1, 2, 3, 1]),
        WeightedError(),
        Trees(1),
    )


@named
def make_zero_weights() -> Problem:
    """Rows of weight zero, which cost nothing in any leaf."""
    return Problem(dataset(SQUARE, y=[0, 1, 1, 0], weights=[0, 1, 1, 2]), WeightedError(), Trees(1))


@named
def make_fractional_weights() -> Problem:
    """Weights that are exact only as fractions."""
    return Problem(
        dataset(SQUARE, y=[0, 1, 1, 0], weights=[0.1, 0.2, 0.3, 0.7]),
        WeightedError(class_weight={1: Fraction(1, 3)}),
        Trees(1),
    )


@named
def make_balanced() -> Problem:
    """Balanced accuracy, maximised, with shares of different denominators."""
    return accuracy([*SQUARE, [1, 1], [1, 0]], [0, 0, 0, 1, 1, 0], 1, BalancedAccuracy())


@named
def make_cost_matrix() -> Problem:
    """Costs that differ between wrong classes, with a reward on the diagonal."""
    costs = [[-1, 2, 5], [4, 0, 1], [3, 9, -2]]
    return accuracy([*SQUARE, [1, 1]], [0, 1, 2, 0, 2], 2, MisclassificationCosts(matrix=costs))


@named
def make_negative_costs() -> Problem:
    """All costs are negative.

    An empty leaf or a row that is not routed must not count as a gain, nor be ignored.
    """
    values = [[-3, -1, -2], [-1, -4, -4], [-2, -7, -1], [-5, -5, -9]]
    return Problem(dataset(SQUARE, values=values), ActionCostMatrix(), Trees(1))


@named
def make_two_action_costs() -> Problem:
    """Two actions with costs of both signs.

    Each row has a single other action, so models with a single sink take the problem.
    """
    values = [[3, -1], [-2, 0], [4, 4], [-6, 1], [0, 2]]
    return Problem(dataset([*SQUARE, [0, 1]], values=values), ActionCostMatrix(), Trees(2))


@named
def make_inverse_propensity() -> Problem:
    """Negative outcomes: a model must not improve its value by not sending a row's flow."""
    return Problem(
        dataset(
            SQUARE,
            treatments=[0, 1, 1, 0],
            outcomes=[-2, -1, 3, -5],
            propensities=[0.5, 0.25, 0.5, 0.5],
        ),
        InversePropensity(),
        Trees(1),
    )


@named
def make_doubly_robust() -> Problem:
    """Three treatments, and direct estimates that are corrected for observed treatments."""
    values = [[1, 0, -1], [0, 2, 1], [-1, 1, 3], [2, -2, 0]]
    seen: dict[str, Any] = {
        "treatments": ["x", "y", "z", "x"],
        "outcomes": [2, -1, 3, 0],
        "propensities": [0.5, 0.25, 0.5, 0.2],
    }
    data = dataset(SQUARE, values=values, actions=("x", "y", "z"), **seen)
    return Problem(data, DoublyRobust(), Trees(1))


@named
def make_measured_values() -> Problem:
    """Outcomes without a short rational form, which are equal up to the stated tolerance."""
    values = np.sqrt(np.arange(2.0, 12.0)).reshape(5, 2) % 0.7
    return Problem(dataset([*SQUARE, [1, 0]], values=values), DirectMethod(), Trees(2))


# -- penalties and limits --------------------------------------------------------------------------


@named
def make_leaf_penalty() -> Problem:
    """A penalty with which one split improves the value and three do not."""
    return accuracy(CUBE, [0, 0, 0, 1, 1, 1, 1, 1], 2, Accuracy(leaf_penalty="1/8"))


@named
def make_perfect_first_split() -> Problem:
    """Ten rows, three positive, first feature perfect, penalty 0.2 per leaf.

    Two leaves at 0.4 are better than one at 0.5 (a published bound prunes them).
    """
    X = [[1, 0]] * 2 + [[1, 1]] + [[0, 0]] * 3 + [[0, 1]] * 4
    return accuracy(X, [1, 1, 1] + [0] * 7, 2, Accuracy(leaf_penalty="1/5"))


@named
def make_split_penalty() -> Problem:
    """A penalty per split that is too high for a perfect tree."""
    return accuracy(SQUARE, [0, 1, 1, 0], 2, Accuracy(split_penalty="1/5"))


@named
def make_feature_costs() -> Problem:
    """The better feature is more expensive, and of two equal features one is cheaper."""
    X = [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1], [1, 0, 0], [0, 1, 0]]
    data = dataset(
        [[*x, x[2]] for x in X],
        [
            BinaryFeature("rough"),
            BinaryFeature("dear"),
            BinaryFeature("dearer"),
            BinaryFeature("cheap"),
        ],
        y=[1, 0, 1, 0, 1, 0, 1],
    )
    return Problem(
        data,
        Accuracy(feature_costs={"rough": "1/20", "dear": "1/5", "dearer": "2/5", "cheap": "1/10"}),
        Trees(2),
    )


@named
def make_min_leaf() -> Problem:
    """A minimum leaf size that forbids the best split."""
    X = [[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0]]
    return accuracy(X, [0, 0, 1, 1, 1, 1, 0, 0], 2, min_samples_leaf=2)


@named
def make_min_leaf_equal_rows() -> Problem:
    """A minimum leaf size, which counts rows, including merged rows and rows without weight."""
    data = dataset(
        [[0, 0], [0, 0], [0, 0], [1, 0], [1, 1], [1, 1]],
        y=[0, 0, 1, 1, 0, 0],
        weights=[5, 0, 1, 4, 2, 0],
    )
    return Problem(data, WeightedError(), Trees(2, min_samples_leaf=2))


@named
def make_min_leaf_not_similar() -> Problem:
    """With a minimum leaf size the similarity bound opt(D) >= opt(D') - |D' \\ D| is wrong.

    So is opt(D) >= opt(D') for subsets D' of D: rows of D that are not in D' may make a leaf large
    enough. A search that prunes by either bound finds one error although none is needed.
    """
    X = [[0, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1], [1, 0, 1, 0], [1, 0, 0, 1]]
    return accuracy(X, [1, 1, 0, 1, 1, 0], 2, min_samples_leaf=2)


@named
def make_min_leaf_not_superadditive() -> Problem:
    """With a minimum leaf size opt(A ∪ B) >= opt(A) + opt(B) is wrong for disjoint sets.

    A search that prunes by it finds one error although none is needed.
    """
    X = [[0, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0]]
    return accuracy(X, [0, 0, 1, 1, 1, 1], 2, min_samples_leaf=2)


@named
def make_min_leaf_below_two_tests() -> Problem:
    """A minimum leaf size at depth 3: rows that leave a path at its first test do not count below.

    A model that asks only the last test of a path finds no error although one is needed.
    """
    X = [[1, 0], [0, 0], [0, 1], [0, 0], [0, 1], [1, 1]]
    return accuracy(X, [1, 0, 1, 0, 1, 0], 3, min_samples_leaf=2)


@named
def make_costs_below_zero() -> Problem:
    """Cheapest actions with negative costs.

    A similarity bound must subtract these costs first; otherwise rows of negative cost make it too
    high.
    """
    values = [[2, 1], [0, 1], [3, 3], [3, 3], [2, -3]]
    return Problem(
        dataset([[1, 1], [0, 1], [0, 1], [1, 0], [1, 0]], values=values), DirectMethod(), Trees(2)
    )


@named
def make_many_gains() -> Problem:
    """Three actions whose total gain over several leaves is larger than that of any one action.

    The total is 60 000, while 16-bit sums are sufficient for each action.
    """
    most = 15_000
    values = [[0, most, -most], [0, most, 0], [0, -most, most], [0, 0, most - 1]]
    return Problem(dataset(SQUARE, values=values), DirectMethod(), Trees(2))


@named
def make_max_leaves() -> Problem:
    """Three leaves are allowed, and four would be perfect."""
    return accuracy([*SQUARE, [0, 0]], [0, 1, 1, 0, 0], 2, max_leaf_nodes=3)


#: Problems on which the checks run that change a problem.
METAMORPHIC = (
    "depth_1",
    "equal_rows",
    "constant_tests",
    "complement_pair",
    "weights",
    "cost_matrix",
    "feature_costs",
    "min_leaf_equal_rows",
    "adjacent_thresholds",
    "randomising_leaf",
    "capacity",
    "random-three-actions-0",
)
