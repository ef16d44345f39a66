"""Random problems with side rows, and all their trees with all labels, for the tests of engines."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar

import numpy as np

import milp_trees as mt
from milp_trees.plugins import SideRow
from milp_trees.tasks.constraints import Constraint


@dataclass(frozen=True)
class GivenRows(Constraint):
    """Side rows as they are: (coefficients, lower bound, upper bound) of each."""

    name: ClassVar[str] = "given-rows"
    given: tuple = ()

    def rows(self, dataset, actions):
        return [
            SideRow(f"row {j}", np.array(coefs, dtype=np.int64), lower, upper)
            for j, (coefs, lower, upper) in enumerate(self.given)
        ]


def random_rows(rng, n, K):
    """One to three rows of every kind; some cannot be satisfied."""
    out = []
    for _ in range(int(rng.choice([1, 1, 1, 2, 2, 3]))):
        kind = rng.integers(0, 3)
        coefs = np.zeros((n, K), dtype=np.int64)
        if kind == 0:  # as for two groups
            coefs[:, K - 1] = rng.choice([-2, 3, 5, -7], n)
        elif kind == 1:
            coefs = rng.integers(-4, 5, (n, K))
        else:  # as for a capacity
            coefs[:, rng.integers(0, K)] = 1
        middle = int(coefs[np.arange(n), rng.integers(0, K, n)].sum())
        middle += int(rng.integers(-30, 31)) if rng.random() < 0.15 else 0
        width = int(rng.choice([0, 0, 1, 2, 5, 20]))
        lower, upper = middle - width, middle + width
        if rng.random() < 0.3:
            lower, upper = (None, upper) if rng.random() < 0.5 else (lower, None)
        out.append((tuple(map(tuple, coefs.tolist())), lower, upper))
    return tuple(out)


def random_costs(rng, n, K):
    """Labels, small costs of any sign, large ones, or multiples of six."""
    style = rng.integers(0, 4)
    if style == 0:
        return 1 - np.eye(K, dtype=np.int64)[rng.integers(0, K, n)]
    size = (5, 10**7, 3)[style - 1]
    return rng.integers(-size, size + 1, (n, K)) * (6 if style == 3 else 1)


def random_problem(rng):
    """Tiny: depth 0 to 3, penalties, limits on leaves, equal and complementary tests and rows."""
    n, F, K = (int(rng.integers(1, 10)), int(rng.integers(0, 5)), int(rng.choice([1, 2, 2, 2, 3])))
    depth = int(rng.choice([0, 1, 2, 2, 3]))
    n, F = (min(n, 7), min(F, 3)) if depth == 3 else (n, F)
    X = rng.integers(0, 2, (n, F)).astype(np.uint8)
    if F >= 3 and rng.random() < 0.3:
        X[:, 0], X[:, 1] = 1 - X[:, 2], X[:, 2]
    if n > 4 and rng.random() < 0.3:
        X[n // 2 :] = X[: n - n // 2]
    penalised = rng.random() < 0.4
    task = mt.tasks.ActionCostMatrix(
        constraints=(GivenRows(random_rows(rng, n, K)),),
        leaf_penalty=Fraction(int(rng.integers(0, 3)), 7) if penalised else 0,
        split_penalty=Fraction(int(rng.integers(0, 3)), 5) if penalised else 0,
    )
    data = mt.Dataset(
        X,
        [mt.BinaryFeature(f"x{f}") for f in range(F)],
        values=random_costs(rng, n, K),
        actions=tuple(range(K)),
        weights=rng.integers(1, 4, n),
    )
    space = mt.Trees(
        depth,
        max_leaf_nodes=int(rng.integers(1, 7)) if rng.random() < 0.4 else None,
        min_samples_leaf=int(rng.choice([1, 1, 1, 2, 3])),
        min_weight_leaf=int(rng.integers(1, 5)) if rng.random() < 0.3 else 0,
    )
    return mt.Problem(data, task, space)


def all_trees(problem):
    """Every (cost, leaves, side totals…) that a tree can have, by listing them all."""
    data, space = problem.dataset, problem.space
    X, costs = data.X, data.values.astype(np.int64)
    matrices = [np.array(coefs) for coefs, *_ in problem.task.constraints[0].given]

    @cache
    def trees(rows, depth):
        out = set()
        weight = sum(int(data.weights[i]) for i in rows)
        if len(rows) >= space.min_samples_leaf and weight >= space.min_weight_leaf:
            for k in range(costs.shape[1]):
                sums = [sum(int(m[i, k]) for i in rows) for m in (costs, *matrices)]
                out.add((sums[0], 1, *sums[1:]))
        for f in range(X.shape[1] if depth else 0):
            sides = [tuple(i for i in rows if X[i, f] == side) for side in (0, 1)]
            if all(sides):
                left, right = (trees(side, depth - 1) for side in sides)
                out |= {tuple(map(sum, zip(a, b, strict=True))) for a in left for b in right}
        return out

    most = space.max_leaf_nodes or 2**space.max_depth
    return [v for v in trees(tuple(range(len(X))), space.max_depth) if v[1] <= most]


def feasible(problem, vector):
    bounds = [(lower, upper) for _, lower, upper in problem.task.constraints[0].given]
    return all(
        (lower is None or lower <= total) and (upper is None or total <= upper)
        for total, (lower, upper) in zip(vector[2:], bounds, strict=True)
    )


def natural(problem, vector):
    """The task's value of a tree with these sums."""
    task, (cost, leaves, *_) = problem.task, vector
    if not (task.leaf_penalty or task.split_penalty):
        return Fraction(cost)
    rate = Fraction(cost, problem.dataset.n_rows)
    return rate + task.leaf_penalty * leaves + task.split_penalty * (leaves - 1)


def optimum(problem):
    """The best value of a feasible tree; None if there is none."""
    values = (natural(problem, v) for v in all_trees(problem) if feasible(problem, v))
    return min(values, default=None)
