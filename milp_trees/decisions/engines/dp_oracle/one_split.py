"""The best single split of many sets of rows at once.

Intervals of thresholds are halved; the oracle is called only for those that bounds leave open.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from milp_trees.decisions.engines.dp_oracle.instance import WORST, OracleInstance
from milp_trees.decisions.engines.dp_oracle.intervals import Intervals, begin


class OneSplit(NamedTuple):
    """Answers for Q sets of rows.

    Parameters
    ----------
    value : float array of shape (Q,)
        Loss of the best leaf or split found.
    test : int64 array of shape (Q,)
        Its test (number in the instance), -1 for a leaf.
    own : float array of shape (Q,)
        A lower bound on leaves and splits of the set with large enough leaves.
    any_size : float array of shape (Q,)
        A lower bound whatever the sizes of leaves; it holds for every superset too.
    """

    value: np.ndarray
    test: np.ndarray
    own: np.ndarray
    any_size: np.ndarray


def best_splits(
    inst: OracleInstance,
    tables: np.ndarray,
    limit: np.ndarray,
    partner: np.ndarray | None,
    check: Callable[[], None],
) -> OneSplit:
    """Best leaf or split of every set, if it is good enough to matter."""
    inst.counters["one_splits"] += len(tables)
    alone = inst.losses(tables[:, -1]) + inst.leaf_cost
    value, test = alone.copy(), np.full(len(tables), -1)
    pruned = np.full(len(tables), np.inf)
    enough = inst.large_enough(tables[:, :-1], tables[:, -1:])
    if inst.pool:
        _from_pool(inst, tables, enough, value, test)
    open_, small = begin(inst, tables, enough, alone)
    while True:
        check()
        bound = open_.bound() + inst.cost[inst.first[open_.column]]
        least = np.full(len(tables), np.inf)
        np.minimum.at(least, open_.node, bound)
        own = np.minimum(np.minimum(value, pruned), least)
        cut = np.minimum(value, limit if partner is None else limit - own[partner]) - inst.eps
        dead = bound >= cut[open_.node]
        np.minimum.at(pruned, open_.node[dead], bound[dead])
        open_ = open_[~dead]
        if not len(open_):
            own = np.minimum(value, pruned)
            return OneSplit(value, test, own, np.minimum(own, small))
        open_ = _halve(inst, tables, open_, (open_.lo + open_.hi) // 2, value, test)


def _halve(
    inst: OracleInstance,
    tables: np.ndarray,
    open_: Intervals,
    middle: np.ndarray,
    value: np.ndarray,
    test: np.ndarray,
) -> Intervals:
    """Evaluate one threshold of every interval; `value` and `test` are improved."""
    f = inst.first[open_.column] + middle
    low = tables[open_.node, f]
    losses = inst.losses(np.concatenate([low, tables[open_.node, -1] - low])) + inst.leaf_cost
    left, right = losses[: len(f)], losses[len(f) :]
    found = left + right + inst.cost[f]
    order = np.lexsort((f, found, open_.node))
    nodes, begin = np.unique(open_.node[order], return_index=True)
    best = order[begin]
    better = found[best] < value[nodes]
    value[nodes[better]], test[nodes[better]] = found[best[better]], f[best[better]]
    worst = open_.worst
    if inst.similarity:
        before = np.where(
            open_.lo >= 0,
            tables[open_.node, inst.first[open_.column] + np.maximum(open_.lo, 0), WORST],
            0.0,
        )
        worst = low[:, WORST] - before
    return open_.halves(middle, left, right, worst)


def _from_pool(
    inst: OracleInstance,
    tables: np.ndarray,
    enough: np.ndarray,
    value: np.ndarray,
    test: np.ndarray,
) -> None:
    """Begin with the best split whose leaves use decisions of the pool."""
    assert inst.pool is not None
    low, high = inst.pool.bounds(tables[:, :, : inst.dimension])
    found = low + high - tables[:, -1:, inst.dimension] + inst.cost + 2 * inst.leaf_cost
    found[~enough] = np.inf
    if found.shape[1]:
        f = found.argmin(axis=1)
        best = found[np.arange(len(f)), f]
        better = best < value
        value[better], test[better] = best[better], f[better]
