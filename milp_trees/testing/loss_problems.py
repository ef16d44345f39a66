"""Named tiny problems whose leaves predict numbers, and cost a function of sums."""

from __future__ import annotations

from typing import Any

from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.count_losses import Gamma, Poisson
from milp_trees.tasks.probabilities import Gini, LogLoss
from milp_trees.tasks.regression import SquaredError
from milp_trees.tasks.survival import Survival
from milp_trees.testing._named import CUBE, SQUARE, dataset, named, numeric_dataset

#: Ten rows on three features, two pairs of them equal.
_TEN = [*CUBE, [0, 0, 1], [1, 1, 0]]


def _followed(X: Any, time: list[float], event: list[int], **more: Any) -> Any:
    """Survival data."""
    targets = list(zip(time, event, strict=True))
    return dataset(X, targets=targets, target_names=("time", "event"), **more)


# -- squared error ---------------------------------------------------------------------------------


@named
def make_squared_error() -> Problem:
    """Means of three levels; equal rows with different targets, so no tree is perfect."""
    return Problem(dataset(_TEN, y=[6, 0, 5, 9, 0, 3, 1, 7, 2, 4]), SquaredError(), Trees(2))


@named
def make_squared_error_penalty() -> Problem:
    """A bound by the best partition of the targets is wrong here, unless it counts the penalty."""
    X = [[1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 0], [0, 1, 1], [0, 0, 0]]
    return Problem(dataset(X, y=[6, 0, 5, 9, 0, 3]), SquaredError(leaf_penalty="1/10"), Trees(2))


@named
def make_squared_error_offset() -> Problem:
    """Small differences of large numbers with weights; sums of squares cancel most digits."""
    y = [1e9 + d / 8 for d in (3, 0, 1, 5, 2, 2, 7, 4, 4, 1)]
    return Problem(
        dataset(_TEN, y=y, weights=[1, 2, 0.5, 1, 3, 1, 0, 1, 1, 2]),
        SquaredError(),
        Trees(2, min_samples_leaf=2),
    )


@named
def make_squared_error_constant() -> Problem:
    """All targets are equal: every tree is perfect, and a split would cost its price."""
    return Problem(dataset(SQUARE, y=[7, 7, 7, 7]), SquaredError(split_penalty="1/9"), Trees(2))


@named
def make_squared_error_outputs() -> Problem:
    """Two outputs that ask for different splits, and a minimum weight per leaf."""
    targets = [[0, 1], [4, 1], [0, 5], [4, 5], [1, 1], [3, 1], [0, 4], [5, 6], [4, 0], [2, 2]]
    return Problem(
        dataset(_TEN, targets=targets, weights=[1, 1, 2, 1, 1, 1, 1, 0.5, 1, 1]),
        SquaredError(),
        Trees(2, min_weight_leaf=2),
    )


# -- survival --------------------------------------------------------------------------------------


@named
def make_survival() -> Problem:
    """Tied times, events and censored rows at the same time, and one leaf without an event."""
    return Problem(
        _followed(_TEN, [3, 1, 3, 7, 2, 2, 9, 9, 4, 1], [1, 1, 0, 0, 1, 0, 0, 0, 1, 0]),
        Survival(),
        Trees(2),
    )


@named
def make_survival_weights() -> Problem:
    """Weights and a penalty per leaf and column; the first rows are censored before any event."""
    data = _followed(
        _TEN,
        [1, 1, 3, 7.5, 2, 2, 9, 8, 4, 5],
        [0, 0, 1, 1, 1, 0, 0, 1, 1, 0],
        weights=[1, 2, 1, 0.25, 1, 3, 1, 0, 1, 1],
    )
    task = Survival(leaf_penalty="1/50", feature_costs={"0": "1/20"})
    return Problem(data, task, Trees(2, min_samples_leaf=2))


@named
def make_survival_all_censored() -> Problem:
    """Nothing happened to any row, so no tree is better than a leaf."""
    return Problem(_followed(SQUARE, [1, 2, 3, 3], [0, 0, 0, 0]), Survival(), Trees(2))


@named
def make_survival_all_seen() -> Problem:
    """No row is censored, and one event is at time 0; the smallest leaf has one row."""
    return Problem(_followed(SQUARE, [0, 2, 3, 3], [1, 1, 1, 1]), Survival(), Trees(1))


# -- counts and amounts ----------------------------------------------------------------------------


@named
def make_poisson() -> Problem:
    """Counts, zeros among them, so that a leaf may predict 0."""
    return Problem(
        dataset(_TEN, y=[0, 0, 5, 2, 0, 0, 1, 7, 0, 3], weights=[1, 2, 1, 1, 1, 0.5, 1, 1, 1, 4]),
        Poisson(),
        Trees(2),
    )


@named
def make_poisson_penalty() -> Problem:
    """Counts of thresholds of a column, with a penalty per split."""
    data = numeric_dataset({"x": [1.0, 2, 2, 3, 4, 5, 5]}, y=[0, 1, 0, 4, 5, 2, 1])
    return Problem(data, Poisson(split_penalty="1/20"), Trees(2))


@named
def make_gamma() -> Problem:
    """Amounts of very different sizes, of which relative errors count."""
    y = [0.5, 100, 3, 2000, 0.25, 80, 7, 1500, 90, 3]
    return Problem(dataset(_TEN, y=y), Gamma(leaf_penalty="1/30"), Trees(2))


# -- probabilities ---------------------------------------------------------------------------------


@named
def make_gini() -> Problem:
    """Three classes; the split that is best for errors is not that for the impurity."""
    return Problem(
        dataset(_TEN, y=["a", "b", "b", "c", "a", "b", "c", "c", "a", "c"]), Gini(), Trees(2)
    )


@named
def make_gini_absent_class() -> Problem:
    """A class without rows, weights, and equal rows of different classes, with a penalty."""
    data = dataset(
        [*SQUARE, [1, 1]],
        y=[0, 2, 2, 0, 2],
        classes=("a", "b", "c"),
        weights=[1, 2, 1, 0.75, 1],
    )
    return Problem(data, Gini(leaf_penalty="1/20"), Trees(2))


@named
def make_log_loss() -> Problem:
    """Two classes; pure leaves predict a probability of 0."""
    return Problem(
        dataset(_TEN, y=[0, 0, 1, 0, 0, 1, 1, 1, 0, 0]), LogLoss(), Trees(2, min_samples_leaf=2)
    )


@named
def make_log_loss_one_class() -> Problem:
    """All rows are of one of three classes, so a leaf costs nothing."""
    data = dataset(SQUARE, y=[1, 1, 1, 1], classes=("a", "b", "c"))
    return Problem(data, LogLoss(), Trees(2))
