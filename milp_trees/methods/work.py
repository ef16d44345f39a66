"""Estimates of work from sizes alone: how many tests a method can be expected to search to a proof.

They decide how many tests a run gets, and which engine is the default and the reference: from the
same problem the same, on every machine and under every time limit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Expected seconds up to which a proof over all thresholds is awaited.
ENOUGH = 5.0
#: Levels for which an estimate counts if trees have no depth limit and a penalty keeps them small.
WITHOUT_LIMIT = 5
#: Seconds per row and combination of tests of an exact search whose pace was not measured.
PACE = 5e-9


@dataclass(frozen=True)
class Sizes:
    """What estimates of work depend on.

    Parameters
    ----------
    rows : int
    cuts : tuple of float
        Number of tests of every column; a column of 0 and 1, or a category, has one.
    depth : int
        Largest depth of a tree, or number of rules of a list.
    actions : int
        Number of actions; where leaves predict numbers, of the sums that these follow from.
    literals : int, default=1
        Largest number of tests in a question.
    few_leaves : bool, default=False
        Whether a largest number of leaves excludes models that the depth allows.
    combined : float, default=3
        Number of tests whose combinations a search goes through; more are pruned.
    """

    rows: int
    cuts: tuple[float, ...]
    depth: int
    actions: int
    literals: int = 1
    few_leaves: bool = False
    combined: float = 3.0

    @property
    def tests(self) -> int:
        """Number of tests."""
        return round(sum(self.cuts))

    def with_tests(self, most: int) -> Sizes:
        """The sizes with at most so many tests, of which every column keeps its share."""
        share = most / max(1, self.tests)
        return self if share >= 1 else replace(self, cuts=tuple(c * share for c in self.cuts))


class Searcher(Protocol):
    """What gets thresholds: every `Method`."""

    def most_tests(self, sizes: Sizes) -> int:
        """The number of tests that it can be expected to search to a proof."""


def sizes_of(problem: Problem) -> Sizes:
    """The sizes of a problem with all tests that its models may use."""
    data, space = problem.dataset, problem.space
    kept = space.candidates(data)
    column = np.arange(data.n_features) if data.ranked is None else data.ranked.column
    cuts = np.unique(column[kept], return_counts=True)[1]
    levels = [WITHOUT_LIMIT, data.n_rows - 1] if space.levels is None else [space.levels]
    leaves = space.most_leaves
    levels += [] if leaves is None else [leaves - 1]
    return Sizes(
        data.n_rows,
        tuple(cuts.tolist()),
        max(0, min(levels)),
        _sums_of(problem),
        space.most_literals,
        space.limits_leaves,
        space.combined,
    )


def _sums_of(problem: Problem) -> int:
    """How many numbers of every row are added up; of a numeric loss also weights and constants."""
    task, data = problem.task, problem.dataset
    if not task.predicts_numbers:
        return len(task.actions(data))
    targets = data.classes or (0,) if data.targets is None else data.targets.T
    return 2 + len(targets)


def usual_seconds(sizes: Sizes) -> float:
    """Seconds of an exact search over combinations of tests, if nothing better is known."""
    combined = min(sizes.depth, sizes.combined) + sizes.literals - 1
    return PACE * sizes.rows * float(sizes.tests) ** combined


def most_tests(seconds: Callable[[Sizes], float], sizes: Sizes) -> int:
    """The largest number of tests that is expected to take at most `ENOUGH` seconds.

    It is the number of all tests if these do not take longer.
    """
    if seconds(sizes) <= ENOUGH:
        return sizes.tests
    low, high = 0, sizes.tests
    while high - low > 1:
        middle = (low + high) // 2
        if seconds(sizes.with_tests(middle)) <= ENOUGH:
            low = middle
        else:
            high = middle
    return low
