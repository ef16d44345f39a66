"""Random problems of squared error, and their optimum in fractions.

The oracle reads the numbers that the data were made from, not the package's view of them: it is a
recursion over sets of rows without bounds, in rational numbers.
"""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache

import numpy as np

import milp_trees as mt
from milp_trees.tasks.targets import whole_numbers

#: Families of targets; every one is a way in which rounding can go wrong.
TARGETS = (
    "small",
    "ties",
    "decimals",
    "measured",
    "offset",
    "offset-decimals",
    "offset-measured",
    "tiny",
    "constant",
    "spread",
    "several",
)
WEIGHTS = ("none", "none", "integers", "decimals", "measured", "zeros")


@dataclass
class Case:
    """Numbers of a problem as rationals; `y` has a list per row."""

    X: list
    y: list
    weights: list | None = None
    max_depth: int | None = 2
    max_leaf_nodes: int | None = None
    min_samples_leaf: int = 1
    min_weight_leaf: Fraction = Fraction(0)
    leaf_penalty: Fraction = Fraction(0)
    split_penalty: Fraction = Fraction(0)
    feature_costs: dict = field(default_factory=dict)

    def problem(self):
        y = np.array([[float(v) for v in row] for row in self.y])
        target = {"targets": y} if y.shape[1] > 1 else {"y": y[:, 0]}
        w = None if self.weights is None else [float(v) for v in self.weights]
        task = mt.tasks.SquaredError(
            leaf_penalty=self.leaf_penalty,
            split_penalty=self.split_penalty,
            feature_costs=self.feature_costs or None,
        )
        space = mt.Trees(
            self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            min_weight_leaf=self.min_weight_leaf,
        )
        data = mt.Dataset(np.array(self.X, dtype=np.uint8), weights=w, **target)
        return mt.Problem(data, task, space)

    def at(self, depth, leaves=None):
        return replace(self, max_depth=depth, max_leaf_nodes=leaves)

    @property
    def tolerance(self):
        """What a claim "optimal" may leave open.

        It is 10⁻⁹ of the squared error of a single leaf, and what doubles make of predictions.
        """
        weights = self.weights or [Fraction(1)] * len(self.y)
        largest = max(abs(v) for row in self.y for v in row)
        rounded = sum(weights) * len(self.y[0]) * (largest / 2**52) ** 2
        norm = Exact(self).loss((1 << len(self.y)) - 1)
        penalised = self.leaf_penalty or self.split_penalty or self.feature_costs
        if penalised:
            return Fraction(1, 10**9) + rounded / (norm or 1)
        return norm / 10**9 + rounded


class Exact:
    """Optimal values of a case, in fractions."""

    def __init__(self, case):
        self.case, n = case, len(case.y)
        self.n, self.w = n, case.weights or [Fraction(1)] * n
        self.true = [sum(1 << i for i in range(n) if case.X[i][f]) for f in range(len(case.X[0]))]
        penalised = case.leaf_penalty or case.split_penalty or case.feature_costs
        self.norm = (self.loss((1 << n) - 1) or Fraction(1)) if penalised else Fraction(1)
        self.price = [
            case.split_penalty + case.feature_costs.get(str(f), Fraction(0))
            for f in range(len(self.true))
        ]
        self.best = cache(self._best)

    def rows(self, bits):
        return [i for i in range(self.n) if bits >> i & 1]

    def loss(self, bits):
        rows = self.rows(bits)
        weight = sum(self.w[i] for i in rows)
        if not weight:
            return Fraction(0)
        out = Fraction(0)
        for k in range(len(self.case.y[0])):
            mean = sum(self.w[i] * self.case.y[i][k] for i in rows) / weight
            out += sum(self.w[i] * (self.case.y[i][k] - mean) ** 2 for i in rows)
        return out

    def optimum(self):
        """The least value; None if no tree is feasible."""
        depth = len(self.true) if self.case.max_depth is None else self.case.max_depth
        return self.best((1 << self.n) - 1, min(depth, self.n), self.case.max_leaf_nodes)

    def _best(self, bits, depth, leaves):
        case, found = self.case, []
        if leaves is not None:
            leaves = min(leaves, 2**depth)
        rows = self.rows(bits)
        if (
            len(rows) >= case.min_samples_leaf
            and sum(self.w[i] for i in rows) >= case.min_weight_leaf
        ):
            found.append(self.loss(bits) / self.norm + case.leaf_penalty)
        if depth and (leaves is None or leaves > 1):
            for true, price in zip(self.true, self.price, strict=True):
                sides = bits & ~true, bits & true
                if not all(sides):
                    continue
                shares = [(None, None)]
                if leaves is not None:
                    shares = [(a, leaves - a) for a in range(1, leaves)]
                for share in shares:
                    values = [
                        self.best(side, depth - 1, most)
                        for side, most in zip(sides, share, strict=True)
                    ]
                    if None not in values:
                        found.append(sum(values) + price)
        return min(found, default=None)


# -- drawing -------------------------------------------------------------------------------------------------


def drawn(seed):
    """A random case."""
    rng = np.random.default_rng(seed)
    n, F = int(rng.integers(1, 12)), int(rng.integers(1, 6))
    X = rng.random((n, F)) < rng.choice([0.15, 0.5, 0.5])
    columns = rng.random()
    if columns < 0.2 and F > 1:  # equal, complementary and constant columns
        X[:, 1] = X[:, 0]
        X[:, F - 1] = ~X[:, 0] if F > 2 else False
    if columns > 0.8 and n > 2:  # equal rows
        X[n // 2 :] = X[rng.integers(0, n // 2, n - n // 2)]
    case = Case(X.astype(int).tolist(), _targets(rng, n), _weights(rng, n))
    case.max_depth = int(rng.integers(0, 5))
    if rng.random() < 0.5:
        case.leaf_penalty = _penalty(rng) if rng.random() < 0.7 else Fraction(0)
        case.split_penalty = _penalty(rng) if rng.random() < 0.5 else Fraction(0)
        if rng.random() < 0.3:
            some = rng.permutation(F)[: 1 + F // 2]
            case.feature_costs = {str(f): _penalty(rng) for f in some.tolist()}
        if rng.random() < 0.3 and (case.leaf_penalty or case.split_penalty):
            case.max_depth = None
    limits = rng.random()
    if limits < 0.15:
        case.min_samples_leaf = int(rng.integers(2, 4))
    elif limits < 0.3:
        weights = case.weights or [Fraction(1)] * n
        case.min_weight_leaf = sum(weights) * Fraction(int(rng.integers(1, 4)), 8)
    elif limits < 0.5:
        case.max_leaf_nodes = int(rng.integers(1, 7))
    return case


def _penalty(rng):
    return Fraction(int(rng.integers(1, 30)), int(rng.choice([100, 100, 1000, 300])))


def _targets(rng, n):
    kind, K = str(rng.choice(TARGETS)), 1
    if kind == "several":
        K = int(rng.integers(2, 4))
    whole = rng.integers(-50, 50, (n, K))
    unit, offset = Fraction(1), Fraction(0)
    if kind == "ties":
        whole = rng.integers(0, 3, (n, K))
    if kind == "decimals":
        unit = Fraction(1, 10 ** int(rng.integers(1, 7)))
    if kind == "offset":
        offset = Fraction(10**9)
    if kind == "offset-decimals":
        offset, unit = Fraction(10**9), Fraction(1, 100)
    if kind == "tiny":
        unit = Fraction(1, 10**9)
    if kind == "constant":
        whole[:] = whole[0]
        unit = Fraction(1, 10)
    if kind == "measured":
        scale = 10.0 ** rng.integers(-6, 7)
        return [[Fraction(float(v)) for v in row] for row in rng.normal(0, scale, (n, K))]
    if kind == "offset-measured":
        y = 1e9 + rng.normal(0, 10.0 ** rng.integers(-6, 3), (n, K))
        read = whole_numbers(y)  # as decimals, if few digits after the point are enough
        return [[read.unit * int(v) for v in row] for row in read.whole.tolist()]
    if kind == "spread":
        return [[Fraction(float(v)) for v in row] for row in np.exp(rng.normal(0, 6, (n, K)))]
    return [[offset + unit * v for v in row] for row in whole.tolist()]


def _weights(rng, n):
    kind = str(rng.choice(WEIGHTS))
    if kind == "none":
        return None
    if kind == "measured":
        return [Fraction(float(v)) for v in rng.random(n) + 0.01]
    whole = rng.integers(1, 9, n)
    if kind == "zeros":
        whole[rng.random(n) < 0.4] = 0
        if not whole.any():
            whole[0] = 1
    unit = Fraction(1, 100) if kind == "decimals" else Fraction(1)
    return [unit * v for v in whole.tolist()]
