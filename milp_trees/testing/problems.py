"""Named tiny problems whose values are sums of costs (`objective_problems` has the others): each is
a trap that some model, solver adapter or engine fell into, small enough to enumerate.

`PROBLEMS` maps a name to a function that makes the problem; `problem(name)` makes it once. A
failure found by a random check becomes one more function here.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from milp_trees.data.dataset import BinaryFeature
from milp_trees.problem import Problem
from milp_trees.spaces.trees import Trees
from milp_trees.tasks.classification import (
    Accuracy,
    BalancedAccuracy,
    MisclassificationCosts,
    WeightedError,
)
from milp_trees.tasks.constraints import (
    Capacity,
    ConditionalStatisticalParity,
    EqualisedOdds,
    EqualOpportunity,
    StatisticalParity,
)
from milp_trees.tasks.policy import ActionCostMatrix, DirectMethod, DoublyRobust, InversePropensity
from milp_trees.testing import objective_problems  # noqa: F401  (registers its problems)
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
    """One split, cheapest on neither margin alone."""
    return accuracy(CUBE, [0, 0, 1, 0, 1, 0, 1, 1], 1)


@named
def make_majority_of_three() -> Problem:
    """Needs three levels; two leave two errors."""
    return accuracy(CUBE, [0, 0, 0, 1, 0, 1, 1, 1], 2)


@named
def make_one_row() -> Problem:
    """One row, two classes of which one has no row."""
    return Problem(dataset([[1, 0]], y=[0], classes=("a", "b")), Accuracy(), Trees(2))


@named
def make_absent_class() -> Problem:
    """A class without rows must not be predicted for free."""
    return Problem(dataset(SQUARE, y=[0, 2, 2, 0], classes=("a", "b", "c")), Accuracy(), Trees(1))


@named
def make_one_class() -> Problem:
    """All rows of one class: a leaf is perfect."""
    return Problem(dataset(SQUARE, y=[1, 1, 1, 1], classes=("a", "b")), Accuracy(), Trees(2))


@named
def make_equal_rows() -> Problem:
    """Equal rows with different labels: some errors are unavoidable."""
    return accuracy([[0, 0], [0, 0], [0, 0], [1, 0], [1, 0], [1, 1]], [0, 1, 1, 1, 0, 0], 2)


@named
def make_three_classes() -> Problem:
    """Three classes, four corners."""
    return accuracy([*SQUARE, [1, 1], [0, 1]], ["a", "b", "c", "a", "c", "b"], 2)


@named
def make_constant_tests() -> Problem:
    """Tests that are always false or always true; a node on one sends all rows one way."""
    return accuracy([[0, 1, 0], [0, 1, 1], [0, 1, 1]], [0, 1, 0], 2)


@named
def make_only_constant_tests() -> Problem:
    """No test tells any two rows apart."""
    return accuracy([[0, 1], [0, 1], [0, 1]], [0, 1, 0], 1)


@named
def make_no_tests() -> Problem:
    """A dataset without tests."""
    return accuracy(np.zeros((3, 0)), [0, 1, 1], 2)


@named
def make_no_tests_but_a_leaf_limit() -> Problem:
    """A row over all splits has no splits to count."""
    return accuracy(np.zeros((2, 0)), [0, 1], 2, max_leaf_nodes=2)


@named
def make_complement_pair() -> Problem:
    """Two tests that are complements, and two that are equal: dropped ones must come back in
    decoded trees.
    """
    X = [[a, 1 - a, b, b] for a, b in SQUARE]
    return accuracy(X, [0, 1, 1, 0], 2)


# -- costs -----------------------------------------------------------------------------------------


@named
def make_weights() -> Problem:
    """Row weights decide against the majority."""
    return Problem(
        dataset([*SQUARE, [1, 1]], y=[0, 0, 0, 1, 0], weights=[1, 1, 2, 3, 1]),
        WeightedError(),
        Trees(1),
    )


@named
def make_zero_weights() -> Problem:
    """Rows of weight zero cost nothing wherever they go."""
    return Problem(dataset(SQUARE, y=[0, 1, 1, 0], weights=[0, 1, 1, 2]), WeightedError(), Trees(1))


@named
def make_fractional_weights() -> Problem:
    """Weights that are exact as fractions only."""
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
    """Only negative costs: an empty leaf or an unrouted row must not count as a gain, or as
    nothing.
    """
    values = [[-3, -1, -2], [-1, -4, -4], [-2, -7, -1], [-5, -5, -9]]
    return Problem(dataset(SQUARE, values=values), ActionCostMatrix(), Trees(1))


@named
def make_two_action_costs() -> Problem:
    """Two actions with mixed signs: loses the same amount on the only other action, so single-sink
    models take it.
    """
    values = [[3, -1], [-2, 0], [4, 4], [-6, 1], [0, 2]]
    return Problem(dataset([*SQUARE, [0, 1]], values=values), ActionCostMatrix(), Trees(2))


@named
def make_inverse_propensity() -> Problem:
    """Negative outcomes: not sending a row's flow is no way out."""
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
    """Three treatments, direct estimates corrected where a treatment was observed."""
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
    """Outcomes with no short rational form: equal up to the stated tolerance."""
    values = np.sqrt(np.arange(2.0, 12.0)).reshape(5, 2) % 0.7
    return Problem(dataset([*SQUARE, [1, 0]], values=values), DirectMethod(), Trees(2))


# -- penalties and limits --------------------------------------------------------------------------


@named
def make_leaf_penalty() -> Problem:
    """A penalty for which one split pays and three do not."""
    return accuracy(CUBE, [0, 0, 0, 1, 1, 1, 1, 1], 2, Accuracy(leaf_penalty="1/8"))


@named
def make_perfect_first_split() -> Problem:
    """Ten rows, three positive, first test perfect, penalty 0.2 per leaf: two leaves at 0.4 beat
    one at 0.5 (a published bound prunes them).
    """
    X = [[1, 0]] * 2 + [[1, 1]] + [[0, 0]] * 3 + [[0, 1]] * 4
    return accuracy(X, [1, 1, 1] + [0] * 7, 2, Accuracy(leaf_penalty="1/5"))


@named
def make_split_penalty() -> Problem:
    """A penalty per split that leaves a perfect tree unworthy."""
    return accuracy(SQUARE, [0, 1, 1, 0], 2, Accuracy(split_penalty="1/5"))


@named
def make_feature_costs() -> Problem:
    """The better test is dearer, and of two equal tests one is cheaper."""
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
    """A minimum leaf size counts rows, also those that were merged and those without weight."""
    data = dataset(
        [[0, 0], [0, 0], [0, 0], [1, 0], [1, 1], [1, 1]],
        y=[0, 0, 1, 1, 0, 0],
        weights=[5, 0, 1, 4, 2, 0],
    )
    return Problem(data, WeightedError(), Trees(2, min_samples_leaf=2))


@named
def make_min_leaf_not_similar() -> Problem:
    """A minimum leaf size breaks the similarity bound opt(D) >= opt(D') - |D' \\ D|, and with it
    opt(D) >= opt(D') for subsets D' of D.

    Rows of D that are not in D' may be what makes a leaf large enough. A search that prunes by
    either bound finds one error where none is needed.
    """
    X = [[0, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1], [1, 0, 1, 0], [1, 0, 0, 1]]
    return accuracy(X, [1, 1, 0, 1, 1, 0], 2, min_samples_leaf=2)


@named
def make_min_leaf_not_superadditive() -> Problem:
    """A minimum leaf size breaks opt(A ∪ B) >= opt(A) + opt(B) for disjoint sets; a search that
    prunes by it finds one error where none is needed.
    """
    X = [[0, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0]]
    return accuracy(X, [0, 0, 1, 1, 1, 1], 2, min_samples_leaf=2)


@named
def make_costs_below_zero() -> Problem:
    """Cheapest actions that are not free: a similarity bound must subtract them first, or rows of
    negative cost make it too high.
    """
    values = [[2, 1], [0, 1], [3, 3], [3, 3], [2, -3]]
    return Problem(
        dataset([[1, 1], [0, 1], [0, 1], [1, 0], [1, 0]], values=values), DirectMethod(), Trees(2)
    )


@named
def make_many_gains() -> Problem:
    """Three actions: leaves of different actions together gain more than any one action does, 60
    000 where 16-bit sums suffice for each action.
    """
    most = 15_000
    values = [[0, most, -most], [0, most, 0], [0, -most, most], [0, 0, most - 1]]
    return Problem(dataset(SQUARE, values=values), DirectMethod(), Trees(2))


@named
def make_max_leaves() -> Problem:
    """Three leaves where four would be perfect."""
    return accuracy([*SQUARE, [0, 0]], [0, 1, 1, 0, 0], 2, max_leaf_nodes=3)


# -- numeric columns -------------------------------------------------------------------------------


@named
def make_adjacent_thresholds() -> Problem:
    """Thresholds next to one another on one column: both sides of an interval need both."""
    return Problem(
        numeric_dataset({"age": [1, 2, 3, 4, 5, 3]}, y=[0, 1, 1, 0, 0, 1]), Accuracy(), Trees(2)
    )


@named
def make_uneven_gaps() -> Problem:
    """Columns with very different smallest gaps, one of them negative: a midpoint is no feasible
    threshold of a model with an epsilon.
    """
    data = numeric_dataset(
        {"near": [0.0, 0.01, 0.02, 1.0, 1.0], "far": [-5, 5, -5, 5, -5]}, y=[0, 1, 0, 1, 0]
    )
    return Problem(data, Accuracy(), Trees(2))


@named
def make_free_routing() -> Problem:
    """Equal rows with different labels and a numeric column: a model whose inactive nodes let rows
    choose sides finds zero errors.
    """
    return Problem(
        numeric_dataset({"x": [1, 1, 2, 2, 2]}, y=[0, 1, 1, 0, 1]),
        Accuracy(split_penalty="1/20"),
        Trees(2),
    )


@named
def make_column_without_thresholds() -> Problem:
    """A constant numeric column beside a useful one: choosing it must not set the rows free."""
    return Problem(
        numeric_dataset({"flat": [7, 7, 7, 7], "x": [1, 2, 2, 3]}, y=[0, 1, 0, 0]),
        Accuracy(),
        Trees(1),
    )


@named
def make_bucketization_loses() -> Problem:
    """Perfect at depth 2 with all midpoints; without those between neighbours of one class
    (buckets) one row is wrong.
    """
    data = numeric_dataset({"a": [5, 0, 1, 2, 4, 3], "b": [3, 2, 4, 0, 1, 5]}, y=[0, 0, 1, 0, 1, 0])
    return Problem(data, Accuracy(), Trees(2))


# -- side constraints ------------------------------------------------------------------------------


@named
def make_randomising_leaf() -> Problem:
    """Parity that a leaf which randomises would meet at half the price; honest leaves cannot."""
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
    """The group column would be the perfect test, and is no candidate."""
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
    """Two notions at once, two rows per pair of groups, and a penalty."""
    X = [[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]
    data = dataset(X, y=[1, 1, 0, 1, 0, 0, 0, 1], groups=[1, 0, 1, 1, 0, 1, 0, 0])
    return Problem(
        data, Accuracy(leaf_penalty="1/100", constraints=(EqualisedOdds("1/4", 1),)), Trees(2)
    )


@named
def make_conditional_parity() -> Problem:
    """Parity within levels of a factor, of which one lacks a group."""
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
    """At most two rows are treated, though treating helps everyone."""
    values = [[0, 5], [0, 4], [0, 9], [0, 1], [0, 3]]
    data = dataset([*SQUARE, [0, 0]], values=values, actions=("wait", "treat"))
    return Problem(data, DirectMethod(constraints=(Capacity("treat", at_most=2),)), Trees(2))


@named
def make_capacity_from_below() -> Problem:
    """At least three rows get the action nobody needs, under a minimum leaf size."""
    values = [[0, 5, 2], [1, 4, 3], [0, 9, 1], [2, 1, 2], [0, 3, 8]]
    data = dataset([*SQUARE, [0, 0]], values=values)
    return Problem(
        data, ActionCostMatrix(constraints=(Capacity(1, at_least=3),)), Trees(1, min_samples_leaf=2)
    )


@named
def make_cannot_hold() -> Problem:
    """Side constraints that no tree meets: the answer is that there is none."""
    constraints = (Capacity(1, at_least=2), Capacity(0, at_least=3))
    return accuracy(SQUARE, [0, 1, 1, 0], 2, Accuracy(constraints=constraints))


#: Problems on which the checks that change a problem are run.
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
