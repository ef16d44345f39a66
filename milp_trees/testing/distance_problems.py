"""Named tiny problems whose leaves predict medians."""

from __future__ import annotations

from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.tasks.absolute_error import AbsoluteError
from milp_trees.testing._named import CUBE, SQUARE, dataset, named, numeric_dataset


@named
def make_absolute_error() -> Problem:
    """Equal rows with different targets, and leaves with two medians."""
    return Problem(
        dataset([*CUBE, [0, 0, 1], [1, 1, 0]], y=[6, 0, 5, 9, 0, 3, 1, 7, 2, 4]),
        AbsoluteError(),
        Trees(2),
    )


@named
def make_absolute_error_weights() -> Problem:
    """Decimal targets, weights that decide between them (one is 0), and a penalty per leaf."""
    data = dataset(
        [*SQUARE, [0, 1], [1, 0], [1, 1]],
        y=[0.5, -2.25, 4, 0.5, 3, 1.75, 0],
        weights=[0.5, 1, 2, 1.25, 0, 3, 1],
    )
    return Problem(data, AbsoluteError(leaf_penalty="1/20"), Trees(2))


@named
def make_absolute_error_min_leaf() -> Problem:
    """A far row that would have a leaf of its own, if leaves need not hold two rows."""
    data = numeric_dataset({"x": [1.0, 2, 3, 4, 5]}, y=[1, 2, 2, 3, 90])
    return Problem(data, AbsoluteError(), Trees(2, min_samples_leaf=2))


@named
def make_absolute_error_constant() -> Problem:
    """All targets are equal, so there is one action, and no tree is better than a leaf."""
    return Problem(dataset(SQUARE, y=[7, 7, 7, 7]), AbsoluteError(), Trees(1))
