"""Separable tasks of every kind for tests, and all values that trees can have, by the definition."""

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import ClassVar

import numpy as np

import milp_trees as mt
from milp_trees.plugins import SeparableTask, States


def linear(sums, action, context, tables):
    return (sums[1 + action],)


def errors_of_two(sums, action, context, tables):
    return (sums[1] * (action == 1), sums[2] * (action == 0))


def worst(sums, action, context, tables):
    """The larger of two sums, which is no sum of rows."""
    return (max(sums[1 + action], 2 * sums[0]),)


def later_is_dearer(sums, action, context, tables):
    return (sums[1 + action] * (1 + context[0]),)


def price(sums, test, context, tables):
    """A price per row, paid once on a path for all tests of an attribute."""
    attribute = tables[0][test]
    paid = (context[0] >> attribute) & 1
    return (0 if paid else sums[0] * tables[1][attribute],)


def pay(context, test, side, tables):
    return (context[0] | (1 << tables[0][test]),)


def step(context, test, side, tables):
    return (context[0] + side,)


def larger(a, b):
    return a[0] > b[0]


def maximum(a, b):
    return (max(a[0], b[0]),)


def few_false_positives(value, sums, context, tables):
    return value[0] <= tables[0][0]


def not_too_large(value, sums, context, tables):
    return value[0] <= tables[2][0]


def three_numbers(sums, action, context, tables):
    return (sums[1 + action], sums[0] * (action == 1), sums[1] - sums[2] if action == 2 else 0)


KINDS = {
    "linear": {"leaf": linear, "nonnegative": True},
    "negative": {"leaf": linear},
    "prices": {"leaf": linear, "split": price, "transition": pay, "nonnegative": True},
    "largest": {"leaf": linear, "better": larger},
    "bottleneck": {"leaf": worst, "combine": maximum},
    "sides": {"leaf": later_is_dearer, "transition": step},
    "bounded": {
        "leaf": linear,
        "split": price,
        "transition": pay,
        "feasible": not_too_large,
        "nonnegative": True,
    },
    "two": {"leaf": errors_of_two, "units": sum},
    "two, bounded": {"leaf": errors_of_two, "feasible": few_false_positives},
    "three": {"leaf": three_numbers},
}
WIDTHS = {"two": 2, "two, bounded": 2, "three": 3}


@dataclass(frozen=True, eq=False)
class Drawn(SeparableTask):
    """A task of one of the kinds, with random statistics and tables."""

    name: ClassVar[str] = "drawn"
    title: ClassVar[str] = "random numbers"
    unit: ClassVar[str] = "units"  # type: ignore[assignment]
    sense: ClassVar[str] = "min"  # type: ignore[assignment]

    kind: str = "linear"
    seed: int = 0
    actions_: int = 2

    def actions(self, dataset):
        return tuple(range(self.actions_))

    def states(self, dataset, space):
        rng = np.random.default_rng(self.seed)
        n, F, K = dataset.n_rows, dataset.n_features, self.actions_
        low = 0 if self.kind not in ("negative", "largest", "three") else -9
        stats = rng.integers(low, 10, (n, max(K, 2)))
        tables = (rng.integers(0, 3, F), rng.integers(0, 3, 3), rng.integers(0, 60, 1))
        if self.kind.startswith("two"):
            stats = np.column_stack([dataset.y == 0, dataset.y == 1])
            tables = (rng.integers(0, 4, 1),)
        width = WIDTHS.get(self.kind, 1)
        parts = dict(KINDS[self.kind])
        if self.kind == "largest":
            parts |= {"units": lambda value: -value[0]}
        return States.of(
            dataset,
            space,
            stats,
            self.actions(dataset),
            names=tuple("abc"[:width]),
            tables=tables,
            **parts,
        )


def random_problem(rng, kind=None, question=None):
    """Few rows and tests, limits by turns; sometimes equal rows and equal or opposite columns."""
    kind = kind or str(rng.choice(list(KINDS)))
    n, F = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    X = rng.integers(0, 2, (n, F))
    if F > 1 and rng.random() < 0.3:
        X[:, 1] = X[:, 0] if rng.random() < 0.5 else 1 - X[:, 0]
    K = 2 if kind.startswith("two") else 3 if kind == "three" else int(rng.integers(1, 4))
    data = mt.Dataset(X, y=rng.integers(0, 2, n), classes=(0, 1))
    depth = int(rng.integers(0, 5 if F < 3 else 4))
    leaves = None if rng.random() < 0.6 else int(rng.integers(1, 7))
    space = mt.Trees(depth, max_leaf_nodes=leaves, min_samples_leaf=int(rng.integers(1, 4)))
    task = Drawn(kind, int(rng.integers(0, 10**6)), K)
    more = () if question is None else (question,)
    return mt.Problem(data, task, space, *more)


def all_values(problem):
    """Every value that a tree of the problem has, from the definition."""
    view, space = problem.view(States), problem.space

    @cache
    def values(rows, context, depth, leaves):
        if len(rows) < space.min_samples_leaf or leaves < 1:
            return frozenset()
        at = np.array(rows, dtype=int)
        sums = view.sums_of(at)
        found = {view.leaf(sums, k, context, view.tables) for k in range(view.n_actions)}
        for f in range(view.n_features if depth else 0):
            sides = [tuple(i for i in rows if view.X[i, f] == side) for side in (0, 1)]
            contexts = [view.below(context, f, side) for side in (0, 1)]
            for left in range(1, leaves):
                below = [
                    values(*pair, depth - 1, most)
                    for pair, most in zip(
                        zip(sides, contexts, strict=True), (left, leaves - left), strict=True
                    )
                ]
                for a, b in product(*below):
                    value = view.added(a, b)
                    if view.split is not None:
                        value = view.added(value, view.split(sums, f, context, view.tables))
                    found.add(value)
        return frozenset(v for v in found if view.allows(v, at, context))

    most = space.max_leaf_nodes or 99
    return values(
        tuple(range(view.n_rows)), view.start, space.max_depth, min(most, 2**space.max_depth)
    )
