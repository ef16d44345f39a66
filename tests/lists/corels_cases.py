"""Tiny problems of rule lists as arrays, and their optimum by trying every list."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.lists.engines.corels.prepare import prepare
from milp_trees.lists.engines.corels.records import MAPS, POLICIES
from milp_trees.lists.engines.corels.run import PrefixSearch
from milp_trees.lists.engines.corels.switches import BOUNDS, CorelsOptions
from milp_trees.methods.watch import Watch


class Case(NamedTuple):
    view: mt.plugins.CostMatrix
    max_length: int | None
    min_rows: int


def random_case(rng, rows=11, tests=6, cheap=False):
    """Ties, negative and large costs, equal rows, equal and complementary antecedents.

    Where rules are `cheap`, the best lists are long, and the data are as large as allowed.
    """
    n, M, K = int(rng.integers(1, rows)), int(rng.integers(0, tests)), int(rng.integers(1, 4))
    n, M, K = (rows, tests, max(2, K)) if cheap else (n, M, K)
    X = rng.integers(0, 2, (n, M)).astype(np.uint8)
    if n > 2 and rng.random() < 0.5:
        X = X[rng.integers(0, max(1, n // 2), n)]
    if M > 2 and rng.random() < 0.3:
        X[:, 1], X[:, 2] = X[:, 0], 1 - X[:, 0]
    wrong = 1 - np.eye(K, dtype=np.int64)[rng.integers(0, K, n)]
    costs = [
        wrong,
        wrong * rng.integers(0, 5, n)[:, None],
        rng.integers(-3, 4, (n, K)),
        rng.integers(-(10**9), 10**9, (n, K)),
    ][rng.integers(0, 4)]
    unit = 1 if cheap else max(1, int(np.abs(costs).max()) // 3)
    costs = 5 * costs if cheap else costs
    each = rng.random() < 0.5
    prices = rng.integers(0, 3, M) if each else np.full(M, int(rng.integers(0, 3)))
    features = (mt.Antecedent((mt.BinaryFeature(f"x{j}"),)) for j in range(M))
    view = mt.plugins.CostMatrix(
        X=X,
        features=tuple(features),
        costs=costs,
        actions=tuple(range(K)),
        counts=rng.integers(1, 4, n) if rng.random() < 0.3 else np.ones(n, dtype=np.int64),
        leaf_cost=int(rng.integers(0, 2)) * unit if rng.random() < 0.4 else 0,
        split_costs=prices * unit,
        side=(),
        offset=Fraction(0),
        scale=Fraction(1),
        exact=True,
        rows=np.arange(n),
        complements=False,
    )
    return Case(
        view, [None, int(rng.integers(0, 5))][rng.integers(0, 2)], int(rng.choice([1, 1, 2, 3]))
    )


def best_of_all(case):
    """The least objective of a list, by writing down every one."""
    view, longest, least = case
    X, costs, counts = view.X.tolist(), view.costs.tolist(), view.counts.tolist()

    def leaf(rows):
        return view.leaf_cost + min(sum(costs[i][k] for i in rows) for k in range(view.n_actions))

    def go(rest, cost, used):
        yield cost + leaf(rest)
        if longest is not None and len(used) >= longest:
            return
        for j in set(range(view.n_features)) - used:
            here = [i for i in rest if X[i][j]]
            if here and sum(counts[i] for i in here) >= least:
                left = [i for i in rest if not X[i][j]]
                yield from go(left, cost + leaf(here) + int(view.split_costs[j]), used | {j})

    return min(go(list(range(view.n_rows)), 0, frozenset()))


def random_options(rng):
    """Any policy and map; each bound off with a chance of four in ten."""
    on = {name: bool(rng.random() < 0.6) for name in BOUNDS} if rng.random() < 0.7 else {}
    return CorelsOptions(
        **on,
        policy=str(rng.choice(POLICIES)),
        map=str(rng.choice(MAPS)),
        seed=int(rng.integers(0, 1000)),
    )


def searched(case, options, nodes=None, below=None):
    """A run that has ended, on the arrays alone.

    Parameters
    ----------
    below : int, optional
        Objective of a list to begin with.
    """
    limits = Limits(time=None, nodes=nodes)
    prepared = prepare(case.view, case.max_length, case.min_rows, options)
    run = PrefixSearch(prepared, limits, Watch(limits), float, options.collection)
    if below is not None:
        run.offer(min(below - prepared.constant, run.best))
    run.go(lambda bound: None)
    return run
