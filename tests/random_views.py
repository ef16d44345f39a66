"""Random cost matrices and spaces for the tests of engines."""

from fractions import Fraction

import numpy as np

import milp_trees as mt


def random_view(rng, rows=14, tests=5, X=None, costs=None, split_costs=None):
    """A cost matrix with everything that an engine takes: any sign, weights, penalties, counts,
    equal rows, equal and constant tests.
    """
    n, F, K = (
        int(rng.integers(1, rows + 1)),
        int(rng.integers(0, tests + 1)),
        int(rng.integers(2, 5)),
    )
    if X is None:
        X = rng.integers(0, 2, (n, F)).astype(np.uint8)
        if F >= 3 and rng.random() < 0.3:
            X[:, 0], X[:, 1] = 1 - X[:, 2], 1
    n, F = X.shape
    if costs is None:
        costs = random_costs(rng, n, K)
    penal = rng.random() < 0.5
    scale = max(1, int(np.abs(costs).max()) // 4)
    if split_costs is None:
        split_costs = rng.integers(0, 3, F) * scale if penal else np.zeros(F, dtype=np.int64)
    return mt.plugins.CostMatrix(
        X=X,
        features=tuple(mt.BinaryFeature(f"x{f}") for f in range(F)),
        costs=costs.astype(np.int64),
        actions=tuple(range(costs.shape[1])),
        counts=rng.integers(1, 4, n) if rng.random() < 0.3 else np.ones(n, dtype=np.int64),
        leaf_cost=int(rng.integers(0, 3)) * scale if penal else 0,
        split_costs=split_costs,
        side=(),
        offset=Fraction(0),
        scale=Fraction(1),
        exact=True,
        rows=np.arange(n),
    )


def random_costs(rng, n, K):
    """Labels, weighted labels, small costs of any sign, or large ones."""
    style = rng.integers(0, 4)
    labels = 1 - np.eye(K, dtype=np.int64)[rng.integers(0, K, n)]
    if style == 0:
        return labels
    if style == 1:
        return labels * rng.integers(0, 5, n)[:, None]
    size = 6 if style == 2 else 10**9
    return rng.integers(-size, size, (n, K))


def random_space(rng):
    """Depth 0 to 3, often with limits on the leaves."""
    most = None if rng.random() < 0.5 else int(rng.integers(1, 9))
    return mt.Trees(
        int(rng.integers(0, 4)),
        max_leaf_nodes=most,
        min_samples_leaf=int(rng.choice([1, 1, 2, 3, 4])),
    )
