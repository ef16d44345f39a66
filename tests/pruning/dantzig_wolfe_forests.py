"""Random views and their optima, for the tests of column generation."""

import itertools
import random
from fractions import Fraction

import numpy as np

from milp_trees.common.limits import Limits
from milp_trees.pruning.engines.dantzig_wolfe.coupling import coupled
from milp_trees.pruning.engines.dantzig_wolfe.method import DantzigWolfe
from milp_trees.pruning.engines.dantzig_wolfe.run import PricingRun, place_for
from milp_trees.pruning.view import NodeGains

LAMS = (Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(1), Fraction(5, 3))


def random_view(rng: random.Random, n_trees=3, depth=2, rows=3, features=3, lam=None) -> NodeGains:
    """Random trees, rows and prices: per row or once for all rows, groups above features, free and
    repeated tests, single leaves, negative gains.
    """
    parent, left, right, member, unit, error = [], [], [], [], [], []

    def grow(t, up, levels):
        h = len(parent)
        parent.append(up), left.append(-1), right.append(-1), member.append(t), unit.append(-1)
        error.append(rng.randrange(2 + levels * 3 * rows))  # splits tend to gain something
        if levels and rng.random() < 0.9:
            unit[h] = rng.randrange(-1 if rng.random() < 0.3 else 0, features)
            left[h] = grow(t, h, levels - 1)
            right[h] = grow(t, h, levels - 1)
        return h

    roots = [grow(t, -1, depth) for t in range(n_trees)]
    M = len(parent)
    leaf = np.zeros((rows, n_trees), dtype=np.int32)
    reach = [set() for _ in range(M)]
    for i, t in itertools.product(range(rows), range(n_trees)):
        h = roots[t]
        reach[h].add(i)
        while left[h] >= 0:
            h = rng.choice([left[h], right[h]])
            reach[h].add(i)
        leaf[i, t] = h
    once = [rng.random() < 0.2 for _ in range(features)]
    bought, price, above = {}, [], []

    def purchase(k, i):
        key = k, -1 if k < features and once[k] else i
        if key not in bought:
            bought[key] = len(price)
            price.append(rng.randrange(7))
            if grouped and k == 0:
                above.append([bought[key], purchase(features, key[1])])
        return bought[key]

    grouped = rng.random() < 0.5
    first, start, need = [], [0], []
    for h in range(M):
        up = parent[h]
        while up >= 0 and unit[up] != unit[h]:
            up = parent[up]
        if unit[h] >= 0 and up < 0:
            first.append(h)
            need += sorted({purchase(unit[h], i) for i in reach[h]})
            start.append(len(need))
    splits = np.array(left) >= 0
    whole = [np.array(a, dtype=np.int64) for a in (parent, left, right, member, unit)]
    return NodeGains(
        *whole,
        np.array(error),
        np.where(splits, [rng.randrange(2) for _ in range(M)], 0),
        leaf,
        np.array(first, dtype=np.int64),
        np.array(start),
        np.array(need, dtype=np.int32),
        np.array(price, dtype=np.int64),
        np.array([k for k, _ in bought], dtype=np.int64),
        np.array([i for _, i in bought], dtype=np.int64),
        np.array(above, dtype=np.int64).reshape(-1, 2),
        tuple(map(str, range(features + 1))),
        Fraction(1, rng.randrange(1, 5)),
        Fraction(1, rows),
        rng.choice(LAMS) if lam is None else lam,
        cost_offset=Fraction(rng.randrange(3)),
    )


def solve(view, method=None, limits=None, start=None):
    """A run of an engine on a view, and what it reports."""
    method, limits = method or DantzigWolfe(), limits or Limits()
    parts = coupled(view, method.merge)
    run = PricingRun(view, parts, place_for(parts, method.jobs, method.cluster), limits)
    try:
        return run, method.solve(run, limits)
    finally:
        run.place.close()
