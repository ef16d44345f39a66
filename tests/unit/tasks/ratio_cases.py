"""Random problems and their fronts, for the tests of ratios."""

from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np

import milp_trees as mt


def random_problem(seed, depth=None, **task):
    """Few rows and tests; with weights, a minimum leaf size or a limit on leaves by turns."""
    rng = np.random.default_rng(seed)
    n, F = int(rng.integers(4, 13)), int(rng.integers(1, 5))
    weights = rng.integers(0, 5, n) / 4 if seed % 2 else None
    y = rng.integers(0, 2, n)
    data = mt.Dataset(rng.integers(0, 2, (n, F)), y=y, classes=(0, 1), weights=weights)
    depth = int(rng.integers(1, 4)) if depth is None else depth
    leaves = [None, None, 3][seed % 3]
    space = mt.Trees(depth, max_leaf_nodes=leaves, min_samples_leaf=int(rng.integers(1, 3)))
    kind = task.pop("kind", [mt.tasks.F1, mt.tasks.FBeta, mt.tasks.Jaccard][seed % 3])
    if kind is mt.tasks.FBeta:
        task["beta"] = ["2", "1/2", "0.3"][seed // 3 % 3]
    return mt.Problem(data, kind(positive=seed // 2 % 2, **task), space)


def front(asked):
    """The best value, from all (leaves, TP, FP) that trees of the problem achieve: no ratio before
    the end, and no code of the package's methods.
    """
    data, space, task = asked.dataset, asked.space, asked.task
    positive = data.y == task.positive_index(data)
    weight = [Fraction(w) for w in data.row_weights.tolist()]

    @cache
    def achieved(rows, depth):
        out = set()
        if len(rows) >= space.min_samples_leaf:
            p, n = (
                sum(weight[i] for i in rows if positive[i]),
                sum(weight[i] for i in rows if not positive[i]),
            )
            out = {(1, 0, 0), (1, p, n)}
        for f in range(data.n_features if depth else 0):
            sides = [tuple(i for i in rows if data.X[i, f] == side) for side in (0, 1)]
            if all(sides):
                out |= {
                    tuple(a + b for a, b in zip(left, right, strict=True))
                    for left, right in product(
                        achieved(sides[0], depth - 1), achieved(sides[1], depth - 1)
                    )
                }
        return out

    total = sum(weight[i] for i in range(data.n_rows) if positive[i])
    numerator, denominator = task.coefficients()
    best = None
    for leaves, tp, fp in achieved(tuple(range(data.n_rows)), space.max_depth):
        if leaves > (space.max_leaf_nodes or 99):
            continue
        counts = {"TP": tp, "FP": fp, "FN": total - tp}
        n, d = (
            sum(c * counts[name] for name, c in coefs.items()) for coefs in (numerator, denominator)
        )
        ratio = Fraction(n) / d if d else Fraction(0)
        value = 1 - ratio + task.leaf_penalty * leaves if task.leaf_penalty else ratio
        if best is None or (value < best if task.leaf_penalty else value > best):
            best = value
    return best
