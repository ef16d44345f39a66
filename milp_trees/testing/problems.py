"""Named tiny problems: each is a trap that some model, solver adapter or engine fell into, small enough to enumerate.

`PROBLEMS` maps a name to a function that makes the problem; `problem(name)` makes it once. A failure found by a random check becomes one
more function here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from milp_trees.data.dataset import Dataset, Test
from milp_trees.problem import Problem
from milp_trees.space import Trees
from milp_trees.tasks.classification import Accuracy, BalancedAccuracy, MisclassificationCosts, WeightedError
from milp_trees.tasks.constraints import Capacity, ConditionalStatisticalParity, EqualisedOdds, EqualOpportunity, StatisticalParity
from milp_trees.tasks.monotone import CohenKappa, GeometricMean, Matthews
from milp_trees.tasks.policy import ActionCostMatrix, DirectMethod, DoublyRobust, InversePropensity
from milp_trees.tasks.ranking import AUC, PartialAUC
from milp_trees.tasks.ratio import F1, FBeta, Precision

Maker = Callable[[], Problem]

#: All named problems.
PROBLEMS: dict[str, Maker] = {}

#: The four points of two tests, and the eight of three.
SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
CUBE = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]


def named(make: Maker) -> Maker:
    """Register a function under its own name."""
    PROBLEMS[make.__name__.removeprefix("make_")] = make
    return make


@cache
def problem(name: str) -> Problem:
    """The named problem, made once: checks of one process share its views."""
    made = PROBLEMS[name]()
    return replace(made, dataset=replace(made.dataset, source={"testing": name}))


def numeric_dataset(columns: dict[str, list[float]], **more: Any) -> Dataset:
    """A dataset whose tests are all midpoints between neighbouring distinct values of numeric columns."""
    tests: list[Test] = []
    outcomes: list[np.ndarray] = []
    for name, values in columns.items():
        distinct = sorted(set(values))
        for low, high in pairwise(distinct):
            tests.append(Test(name, "<=", float((low + high) / 2)))
            outcomes.append(tests[-1].evaluate(values))
    n = len(next(iter(columns.values())))
    return _data(np.array(outcomes).T if outcomes else np.zeros((n, 0)), tests, **more)


def _data(X: Any, tests: Sequence[Test] = (), **more: Any) -> Dataset:
    # The constructor takes any array-like; the annotations of its fields say what it keeps.
    return Dataset(X, tests, **more)


def _accuracy(X: Any, y: Any, depth: int, task: Any = None, **space: Any) -> Problem:
    return Problem(_data(X, y=y), task or Accuracy(), Trees(depth, **space))


# -- shapes of trees and data ---------------------------------------------------------------------------------


@named
def make_xor() -> Problem:
    """No single split helps; two levels are perfect."""
    return _accuracy(SQUARE, ["no", "yes", "yes", "no"], 2)


@named
def make_depth_0() -> Problem:
    """A single leaf."""
    return _accuracy(SQUARE, [0, 1, 1, 1], 0)


@named
def make_depth_1() -> Problem:
    """One split, cheapest on neither margin alone."""
    return _accuracy(CUBE, [0, 0, 1, 0, 1, 0, 1, 1], 1)


@named
def make_majority_of_three() -> Problem:
    """Needs three levels; two leave two errors."""
    return _accuracy(CUBE, [0, 0, 0, 1, 0, 1, 1, 1], 2)


@named
def make_one_row() -> Problem:
    """One row, two classes of which one has no row."""
    return Problem(_data([[1, 0]], y=[0], classes=("a", "b")), Accuracy(), Trees(2))


@named
def make_absent_class() -> Problem:
    """A class without rows must not be predicted for free."""
    return Problem(_data(SQUARE, y=[0, 2, 2, 0], classes=("a", "b", "c")), Accuracy(), Trees(1))


@named
def make_one_class() -> Problem:
    """All rows of one class: a leaf is perfect."""
    return Problem(_data(SQUARE, y=[1, 1, 1, 1], classes=("a", "b")), Accuracy(), Trees(2))


@named
def make_equal_rows() -> Problem:
    """Equal rows with different labels: some errors are unavoidable."""
    return _accuracy([[0, 0], [0, 0], [0, 0], [1, 0], [1, 0], [1, 1]], [0, 1, 1, 1, 0, 0], 2)


@named
def make_three_classes() -> Problem:
    """Three classes, four corners."""
    return _accuracy([*SQUARE, [1, 1], [0, 1]], ["a", "b", "c", "a", "c", "b"], 2)


@named
def make_constant_tests() -> Problem:
    """Tests that are always false or always true; a node on one sends all rows one way."""
    return _accuracy([[0, 1, 0], [0, 1, 1], [0, 1, 1]], [0, 1, 0], 2)


@named
def make_only_constant_tests() -> Problem:
    """No test tells any two rows apart."""
    return _accuracy([[0, 1], [0, 1], [0, 1]], [0, 1, 0], 1)


@named
def make_no_tests() -> Problem:
    """A dataset without tests."""
    return _accuracy(np.zeros((3, 0)), [0, 1, 1], 2)


@named
def make_no_tests_but_a_leaf_limit() -> Problem:
    """A row over all splits has no splits to count."""
    return _accuracy(np.zeros((2, 0)), [0, 1], 2, max_leaf_nodes=2)


@named
def make_complement_pair() -> Problem:
    """Two tests that are complements, and two that are equal: dropped ones must come back in decoded trees."""
    X = [[a, 1 - a, b, b] for a, b in SQUARE]
    return _accuracy(X, [0, 1, 1, 0], 2)


# -- costs ----------------------------------------------------------------------------------------------------


@named
def make_weights() -> Problem:
    """Row weights decide against the majority."""
    return Problem(_data([*SQUARE, [1, 1]], y=[0, 0, 0, 1, 0], weights=[1, 1, 2, 3, 1]), WeightedError(), Trees(1))


@named
def make_zero_weights() -> Problem:
    """Rows of weight zero cost nothing wherever they go."""
    return Problem(_data(SQUARE, y=[0, 1, 1, 0], weights=[0, 1, 1, 2]), WeightedError(), Trees(1))


@named
def make_fractional_weights() -> Problem:
    """Weights that are exact as fractions only."""
    return Problem(_data(SQUARE, y=[0, 1, 1, 0], weights=[0.1, 0.2, 0.3, 0.7]), WeightedError(class_weight={1: Fraction(1, 3)}), Trees(1))


@named
def make_balanced() -> Problem:
    """Balanced accuracy, maximised, with shares of different denominators."""
    return _accuracy([*SQUARE, [1, 1], [1, 0]], [0, 0, 0, 1, 1, 0], 1, BalancedAccuracy())


@named
def make_cost_matrix() -> Problem:
    """Costs that differ between wrong classes, with a reward on the diagonal."""
    costs = [[-1, 2, 5], [4, 0, 1], [3, 9, -2]]
    return _accuracy([*SQUARE, [1, 1]], [0, 1, 2, 0, 2], 2, MisclassificationCosts(matrix=costs))


@named
def make_negative_costs() -> Problem:
    """Only negative costs: an empty leaf or an unrouted row must not count as a gain, or as nothing."""
    values = [[-3, -1, -2], [-1, -4, -4], [-2, -7, -1], [-5, -5, -9]]
    return Problem(_data(SQUARE, values=values), ActionCostMatrix(), Trees(1))


@named
def make_two_action_costs() -> Problem:
    """Two actions with mixed signs: loses the same amount on the only other action, so single-sink models take it."""
    values = [[3, -1], [-2, 0], [4, 4], [-6, 1], [0, 2]]
    return Problem(_data([*SQUARE, [0, 1]], values=values), ActionCostMatrix(), Trees(2))


@named
def make_inverse_propensity() -> Problem:
    """Negative outcomes: not sending a row's flow is no way out."""
    return Problem(
        _data(SQUARE, treatments=[0, 1, 1, 0], outcomes=[-2, -1, 3, -5], propensities=[0.5, 0.25, 0.5, 0.5]), InversePropensity(), Trees(1)
    )


@named
def make_doubly_robust() -> Problem:
    """Three treatments, direct estimates corrected where a treatment was observed."""
    values = [[1, 0, -1], [0, 2, 1], [-1, 1, 3], [2, -2, 0]]
    seen: dict[str, Any] = {"treatments": ["x", "y", "z", "x"], "outcomes": [2, -1, 3, 0], "propensities": [0.5, 0.25, 0.5, 0.2]}
    data = _data(SQUARE, values=values, actions=("x", "y", "z"), **seen)
    return Problem(data, DoublyRobust(), Trees(1))


@named
def make_measured_values() -> Problem:
    """Outcomes with no short rational form: equal up to the stated tolerance."""
    values = np.sqrt(np.arange(2.0, 12.0)).reshape(5, 2) % 0.7
    return Problem(_data([*SQUARE, [1, 0]], values=values), DirectMethod(), Trees(2))


# -- penalties and limits -------------------------------------------------------------------------------------


@named
def make_leaf_penalty() -> Problem:
    """A penalty for which one split pays and three do not."""
    return _accuracy(CUBE, [0, 0, 0, 1, 1, 1, 1, 1], 2, Accuracy(leaf_penalty="1/8"))


@named
def make_perfect_first_split() -> Problem:
    """Ten rows, three positive, first test perfect, penalty 0.2 per leaf: two leaves at 0.4 beat one at 0.5 (a published bound prunes them)."""
    X = [[1, 0]] * 2 + [[1, 1]] + [[0, 0]] * 3 + [[0, 1]] * 4
    return _accuracy(X, [1, 1, 1] + [0] * 7, 2, Accuracy(leaf_penalty="1/5"))


@named
def make_split_penalty() -> Problem:
    """A penalty per split that leaves a perfect tree unworthy."""
    return _accuracy(SQUARE, [0, 1, 1, 0], 2, Accuracy(split_penalty="1/5"))


@named
def make_feature_costs() -> Problem:
    """The better test is dearer, and of two equal tests one is cheaper."""
    X = [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 0, 0], [1, 0, 1], [1, 0, 0], [0, 1, 0]]
    data = _data([[*x, x[2]] for x in X], [Test("rough"), Test("dear"), Test("dearer"), Test("cheap")], y=[1, 0, 1, 0, 1, 0, 1])
    return Problem(data, Accuracy(feature_costs={"rough": "1/20", "dear": "1/5", "dearer": "2/5", "cheap": "1/10"}), Trees(2))


@named
def make_min_leaf() -> Problem:
    """A minimum leaf size that forbids the best split."""
    X = [[0, 0, 1], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 1, 0], [0, 0, 0], [1, 1, 0]]
    return _accuracy(X, [0, 0, 1, 1, 1, 1, 0, 0], 2, min_samples_leaf=2)


@named
def make_min_leaf_equal_rows() -> Problem:
    """A minimum leaf size counts rows, also those that were merged and those without weight."""
    data = _data([[0, 0], [0, 0], [0, 0], [1, 0], [1, 1], [1, 1]], y=[0, 0, 1, 1, 0, 0], weights=[5, 0, 1, 4, 2, 0])
    return Problem(data, WeightedError(), Trees(2, min_samples_leaf=2))


@named
def make_min_leaf_not_similar() -> Problem:
    """A minimum leaf size breaks the similarity bound opt(D) >= opt(D') - |D' \\ D|, and with it opt(D) >= opt(D') for subsets D' of D.

    Rows of D that are not in D' may be what makes a leaf large enough. A search that prunes by either bound finds one error where none is needed.
    """
    X = [[0, 1, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 1, 1], [1, 0, 1, 0], [1, 0, 0, 1]]
    return _accuracy(X, [1, 1, 0, 1, 1, 0], 2, min_samples_leaf=2)


@named
def make_min_leaf_not_superadditive() -> Problem:
    """A minimum leaf size breaks opt(A ∪ B) >= opt(A) + opt(B) for disjoint sets; a search that prunes by it finds one error where none is needed."""
    X = [[0, 1, 1, 1], [1, 0, 1, 1], [0, 0, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0]]
    return _accuracy(X, [0, 0, 1, 1, 1, 1], 2, min_samples_leaf=2)


@named
def make_costs_below_zero() -> Problem:
    """Cheapest actions that are not free: a similarity bound must subtract them first, or rows of negative cost make it too high."""
    values = [[2, 1], [0, 1], [3, 3], [3, 3], [2, -3]]
    return Problem(_data([[1, 1], [0, 1], [0, 1], [1, 0], [1, 0]], values=values), DirectMethod(), Trees(2))


@named
def make_many_gains() -> Problem:
    """Three actions: leaves of different actions together gain more than any one action does, 60 000 where 16-bit sums suffice for each action."""
    most = 15_000
    values = [[0, most, -most], [0, most, 0], [0, -most, most], [0, 0, most - 1]]
    return Problem(_data(SQUARE, values=values), DirectMethod(), Trees(2))


@named
def make_max_leaves() -> Problem:
    """Three leaves where four would be perfect."""
    return _accuracy([*SQUARE, [0, 0]], [0, 1, 1, 0, 0], 2, max_leaf_nodes=3)


# -- numeric columns ------------------------------------------------------------------------------------------


@named
def make_adjacent_thresholds() -> Problem:
    """Thresholds next to one another on one column: both sides of an interval need both."""
    return Problem(numeric_dataset({"age": [1, 2, 3, 4, 5, 3]}, y=[0, 1, 1, 0, 0, 1]), Accuracy(), Trees(2))


@named
def make_uneven_gaps() -> Problem:
    """Columns with very different smallest gaps, one of them negative: a midpoint is no feasible threshold of a model with an epsilon."""
    data = numeric_dataset({"near": [0.0, 0.01, 0.02, 1.0, 1.0], "far": [-5, 5, -5, 5, -5]}, y=[0, 1, 0, 1, 0])
    return Problem(data, Accuracy(), Trees(2))


@named
def make_free_routing() -> Problem:
    """Equal rows with different labels and a numeric column: a model whose inactive nodes let rows choose sides finds zero errors."""
    return Problem(numeric_dataset({"x": [1, 1, 2, 2, 2]}, y=[0, 1, 1, 0, 1]), Accuracy(split_penalty="1/20"), Trees(2))


@named
def make_column_without_thresholds() -> Problem:
    """A constant numeric column beside a useful one: choosing it must not set the rows free."""
    return Problem(numeric_dataset({"flat": [7, 7, 7, 7], "x": [1, 2, 2, 3]}, y=[0, 1, 0, 0]), Accuracy(), Trees(1))


@named
def make_bucketization_loses() -> Problem:
    """Perfect at depth 2 with all midpoints; without those between neighbours of one class (buckets) one row is wrong."""
    data = numeric_dataset({"a": [5, 0, 1, 2, 4, 3], "b": [3, 2, 4, 0, 1, 5]}, y=[0, 0, 1, 0, 1, 0])
    return Problem(data, Accuracy(), Trees(2))


# -- side constraints -----------------------------------------------------------------------------------------


@named
def make_randomising_leaf() -> Problem:
    """Parity that a leaf which randomises would meet at half the price; honest leaves cannot."""
    data = _data([[0]] * 4 + [[1]] * 4, y=[1, 1, 1, 1, 0, 0, 0, 0], groups=["a", "a", "a", "b", "a", "b", "b", "b"])
    return Problem(data, Accuracy(constraints=(StatisticalParity("1/4", 1),)), Trees(1))


@named
def make_parity() -> Problem:
    """Parity that costs two errors at depth 2."""
    data = _data(CUBE, y=[0, 0, 0, 1, 1, 1, 0, 1], groups=[0, 0, 0, 0, 1, 1, 1, 1])
    return Problem(data, Accuracy(constraints=(StatisticalParity("1/4", 1),)), Trees(2))


@named
def make_group_not_split() -> Problem:
    """The group column would be the perfect test, and is no candidate."""
    data = _data(SQUARE, [Test("sex"), Test("skill")], y=[0, 0, 1, 1], groups=[0, 0, 1, 1], group_column="sex")
    return Problem(data, Accuracy(), Trees(2))


@named
def make_three_groups() -> Problem:
    """Equal opportunity between every pair of three groups."""
    data = _data([*CUBE, [0, 1, 1]], y=[1, 0, 1, 1, 0, 1, 0, 1, 0], groups=["a", "a", "a", "b", "b", "b", "c", "c", "c"])
    return Problem(data, Accuracy(constraints=(EqualOpportunity("1/10", 1),)), Trees(2))


@named
def make_equalised_odds() -> Problem:
    """Two notions at once, two rows per pair of groups, and a penalty."""
    X = [[0, 0, 1], [1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 0, 1]]
    data = _data(X, y=[1, 1, 0, 1, 0, 0, 0, 1], groups=[1, 0, 1, 1, 0, 1, 0, 0])
    return Problem(data, Accuracy(leaf_penalty="1/100", constraints=(EqualisedOdds("1/4", 1),)), Trees(2))


@named
def make_conditional_parity() -> Problem:
    """Parity within levels of a factor, of which one lacks a group."""
    X = [[0, 1, 1], [1, 0, 0], [0, 1, 1], [1, 0, 1], [0, 1, 1], [1, 0, 1], [0, 0, 1], [0, 0, 0]]
    data = _data(X, y=[0, 0, 1, 0, 1, 0, 1, 0], groups=[0, 1, 0, 0, 1, 1, 0, 0], factor=["u", "u", "u", "v", "v", "v", "v", "w"])
    return Problem(data, Accuracy(constraints=(ConditionalStatisticalParity("1/3", 1),)), Trees(2))


@named
def make_capacity() -> Problem:
    """At most two rows are treated, though treating helps everyone."""
    values = [[0, 5], [0, 4], [0, 9], [0, 1], [0, 3]]
    data = _data([*SQUARE, [0, 0]], values=values, actions=("wait", "treat"))
    return Problem(data, DirectMethod(constraints=(Capacity("treat", at_most=2),)), Trees(2))


@named
def make_capacity_from_below() -> Problem:
    """At least three rows get the action nobody needs, under a minimum leaf size."""
    values = [[0, 5, 2], [1, 4, 3], [0, 9, 1], [2, 1, 2], [0, 3, 8]]
    data = _data([*SQUARE, [0, 0]], values=values)
    return Problem(data, ActionCostMatrix(constraints=(Capacity(1, at_least=3),)), Trees(1, min_samples_leaf=2))


@named
def make_cannot_hold() -> Problem:
    """Side constraints that no tree meets: the answer is that there is none."""
    constraints = (Capacity(1, at_least=2), Capacity(0, at_least=3))
    return _accuracy(SQUARE, [0, 1, 1, 0], 2, Accuracy(constraints=constraints))


@named
def make_f_score_conundrum() -> Problem:
    """The fewest rows on which labelling leaves by one threshold fails: F1 is 2/3 only if the leaf with 2 positives of 5 rows is called positive.

    By majority (a false negative costs as much as a false positive) the best tree has 1/2; with classes balanced (4/3 as much), 3/5.
    """
    return Problem(numeric_dataset({"x": [1.0, 2, 3, 3, 3, 3, 3]}, y=[1, 0, 1, 1, 0, 0, 0]), F1(), Trees(2))


@named
def make_f_score_conundrum_reversed() -> Problem:
    """A leaf with 2 positives of 5 rows again, and F1 is 5/6 only if it is called negative: no price of a false negative suits both problems."""
    return Problem(numeric_dataset({"x": [1.0] * 5 + [2.0] * 5}, y=[1] * 5 + [1, 1, 0, 0, 0]), F1(), Trees(2))


@named
def make_f_beta_weights() -> Problem:
    """F2 of weighted rows with the first class as the positive one, under a minimum leaf size."""
    data = _data([*SQUARE, [0, 1], [1, 0], [1, 1]], y=[0, 1, 1, 0, 1, 0, 1], weights=[0.5, 1, 2, 1.25, 0, 3, 1])
    return Problem(data, FBeta(positive=0, beta=2), Trees(2, min_samples_leaf=2))


@named
def make_f1_leaf_penalty() -> Problem:
    """F1 loss plus a penalty per leaf: with 1/20 per leaf the optimum has fewer leaves than the largest F1."""
    return Problem(_data([*CUBE, [0, 0, 1], [1, 0, 1]], y=[0, 0, 1, 0, 1, 1, 1, 0, 1, 0]), F1(leaf_penalty="1/20"), Trees(2))


@named
def make_f1_without_positives() -> Problem:
    """No row is of the positive class: every tree has F1 = 0, also the one that predicts no positive (0/0)."""
    return Problem(_data(SQUARE, y=[0, 0, 0, 0], classes=(0, 1)), F1(), Trees(1))


@named
def make_precision_at_recall() -> Problem:
    """Precision among the trees that find three positives of four: without that floor one pure leaf would do."""
    data = _data([*SQUARE, [0, 0], [0, 1], [1, 0]], y=[1, 1, 0, 1, 0, 0, 1])
    return Problem(data, Precision(min_recall="3/4"), Trees(2))


# -- two classes, no sums over rows ---------------------------------------------------------------------------


@named
def make_auc() -> Problem:
    """Equal rows of different classes: no tree ranks all; the best for accuracy is not the best for ranking."""
    return _accuracy([*CUBE, [0, 0, 1], [1, 0, 1], [1, 1, 1]], [0, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1], 2, AUC())


@named
def make_auc_perfect_first_split() -> Problem:
    """First test perfect, penalty 3/10 per leaf: two leaves at 0.6 beat one at 0.8.

    The printed bound on leaves, H' < H + ⌊(R - b)/λ⌋ = 1 + ⌊(0.8 - 0.3)/0.3⌋ = 2, leaves none but the single leaf.
    """
    X = [[1, 0]] * 2 + [[1, 1]] + [[0, 0]] * 3 + [[0, 1]] * 4
    return _accuracy(X, [1, 1, 1] + [0] * 7, 2, AUC(leaf_penalty="3/10"))


@named
def make_auc_max_leaves() -> Problem:
    """Three leaves of at least two rows: which leaf is split depends on the others."""
    return _accuracy([*CUBE, [0, 0, 1], [1, 0, 1]], [0, 1, 1, 0, 1, 1, 0, 1, 0, 1], 2, AUC(), max_leaf_nodes=3, min_samples_leaf=2)


@named
def make_partial_auc() -> Problem:
    """The limit cuts a step of the curve: its part of the area is no multiple of a unit."""
    X = [[0, 0], [0, 0], [0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1], [1, 0]]
    return _accuracy(X, [0, 1, 0, 1, 1, 0, 0, 1, 0, 0], 2, PartialAUC(theta="3/10"))


@named
def make_partial_auc_first_class() -> Problem:
    """The first class is the positive one, which matters to a partial area; with a penalty."""
    X = [[0, 0], [0, 0], [0, 1], [0, 1], [0, 1], [1, 0], [1, 0], [1, 1], [1, 1], [1, 0]]
    return _accuracy(X, [0, 1, 0, 1, 1, 0, 0, 1, 0, 0], 2, PartialAUC(theta="1/2", positive=0, leaf_penalty="1/100"))


@named
def make_mcc() -> Problem:
    """Matthews' coefficient, a square root of a rational; few positives."""
    return _accuracy([*CUBE, [0, 0, 1], [1, 0, 1], [0, 0, 0]], [0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0], 2, Matthews())


@named
def make_mcc_leaf_penalty() -> Problem:
    """With a penalty trees of different sizes are compared: irrational numbers plus rational ones."""
    return _accuracy([*CUBE, [0, 0, 1], [1, 0, 1], [0, 0, 0]], [0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0], 2, Matthews(leaf_penalty="1/20"))


@named
def make_geometric_mean() -> Problem:
    """Geometric mean of both classes' shares; a single leaf has 0. Leaves of two rows at least, three of them at most."""
    return _accuracy([*CUBE, [0, 1, 1]], [0, 0, 1, 0, 0, 1, 0, 0, 1], 2, GeometricMean(), max_leaf_nodes=3, min_samples_leaf=2)


@named
def make_kappa() -> Problem:
    """Cohen's kappa is rational, though no ratio that takes linear problems with positive denominators."""
    return _accuracy([*CUBE, [0, 1, 1]], [1, 0, 1, 0, 0, 1, 0, 0, 1], 2, CohenKappa(leaf_penalty="1/30"))


#: Problems on which the checks that change a problem are run.
METAMORPHIC = (
    "depth_1", "equal_rows", "constant_tests", "complement_pair", "weights", "cost_matrix", "feature_costs", "min_leaf_equal_rows",
    "adjacent_thresholds", "randomising_leaf", "capacity", "random-three-actions-0",
)  # fmt: skip
