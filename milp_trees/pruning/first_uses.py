"""What splits need to be evaluated.

A node needs a purchase for a row if it is the first node on its path that tests a unit. This module
finds these nodes, the rows that reach them, and the purchases for these rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.exact import common_unit

if TYPE_CHECKING:
    from milp_trees.models.ensemble import Ensemble
    from milp_trees.pruning.feature_costs import FeatureCosts

#: Largest sum of all prices in integer units.
LARGEST_TOTAL = 2**62


@dataclass(frozen=True)
class Prices:
    """All prices as integers of one unit; the mean cost of a row is `unit` times their sum.

    Parameters
    ----------
    unit : Fraction
        Value of one integer unit.
    units : tuple of str
        Features, then groups.
    of_feature : int64 array of shape (K,)
        Unit as which a feature is bought: the feature itself; its group, if the feature has no
        price of its own and belongs to one group only; -1 if it is free.
    own : int64 array of shape (K,) or (n, K)
        Price of a feature for a row of weight 1.
    group : tuple of int
        Price of a group for a row of weight 1, or for all rows together.
    once : tuple of bool
        Whether a group is paid once for all rows together.
    parents : tuple of tuples of int
        Groups (by their index among groups) that a purchase of each feature, and then of each
        group, needs.
    node, leaf : int
        Price of an evaluated node for a row of weight 1, and of a leaf.
    """

    unit: Fraction
    units: tuple[str, ...]
    of_feature: np.ndarray
    own: np.ndarray
    group: tuple[int, ...]
    once: tuple[bool, ...]
    parents: tuple[tuple[int, ...], ...]
    node: int
    leaf: int


def integer_prices(
    costs: FeatureCosts, ensemble: Ensemble, n: int, weights: np.ndarray, weight_unit: Fraction
) -> Prices:
    """Prices of an ensemble's features in integers.

    Parameters
    ----------
    costs : FeatureCosts
        The prices.
    ensemble : Ensemble
        The ensemble whose features have these prices.
    n : int
        Number of rows.
    weights : int64 array of shape (n,)
        Row weights in units of `weight_unit`.
    weight_unit : Fraction
        Value of one unit of weight.

    Returns
    -------
    Prices

    Raises
    ------
    DataError
        No row has a positive weight, or the sum of all prices might not fit into 64 bits.
    """
    total = int(weights.sum())
    if total == 0:
        raise DataError(
            "The weights of the rows that pay for features sum to 0; at least one must be positive."
        )
    names = ensemble.features
    table, table_unit = costs.table(names, n)
    once = tuple(g.once for g in costs.groups)
    # A price for a row of weight w has the factor w / total; a price for all rows together
    # 1 / (sum of weights); a price per leaf the factor 1.
    groups = [
        c / (total * weight_unit) if single else c / total
        for c, single in zip(costs.group_costs(), once, strict=True)
    ]
    per_row, per_node = table_unit / total if table.any() else Fraction(0), costs.node / total
    unit = common_unit([per_row, per_node, costs.leaf, *groups])
    factor, node, leaf, *prices = (
        int(price / unit) for price in (per_row, per_node, costs.leaf, *groups)
    )
    deepest = ensemble.n_trees * (len(ensemble.levels) - 1)
    dearest = (
        factor * int(table.max(initial=0)) * len(names)
        + node * deepest
        + sum(p for p, single in zip(prices, once, strict=True) if not single)
    )
    bought_once = sum(p for p, single in zip(prices, once, strict=True) if single)
    if dearest * total + bought_once + leaf * ensemble.n_nodes > LARGEST_TOTAL:
        raise DataError(
            "The feature costs in their common unit add up to more than 64 bits hold; round costs or weights (denominator=1000)."
        )
    direct = costs.parents(names)
    parents = _parents_for_a_row(direct, once)
    units = (*names, *(g.name for g in costs.groups))
    return Prices(
        unit,
        units,
        _bought_as(table, direct, parents, once),
        table * factor,
        tuple(prices),
        once,
        parents,
        node,
        leaf,
    )


def _parents_for_a_row(
    direct: list[list[int]], once: tuple[bool, ...]
) -> tuple[tuple[int, ...], ...]:
    """Groups that each purchase needs.

    A group that is paid once is not tied to a row, so its ancestors that are paid per row are
    attached to the features that need it on that row.
    """
    K = len(direct) - len(once)

    def above(unit: int) -> list[int]:
        return [h for g in direct[unit] for h in (g, *(above(K + g) if once[g] else ()))]

    single = [False] * K + list(once)
    return tuple(
        tuple(g for g in dict.fromkeys(above(u)) if once[g] or not single[u])
        for u in range(len(direct))
    )


def _bought_as(
    table: np.ndarray,
    direct: list[list[int]],
    parents: tuple[tuple[int, ...], ...],
    once: tuple[bool, ...],
) -> np.ndarray:
    """The unit as which each feature is bought.

    It is nothing if the feature is free, and its group if only the group has a price and this
    price is paid per row.
    """
    K = len(direct) - len(once)
    priced = table.any(axis=0) if table.ndim == 2 else table > 0
    out = np.arange(K)
    for k in np.flatnonzero(~priced).tolist():
        if not direct[k]:
            out[k] = -1
        elif len(direct[k]) == 1 and (not once[direct[k][0]] or all(once[g] for g in parents[k])):
            out[k] = K + direct[k][0]
    return out


@dataclass(frozen=True)
class Purchases:
    """Arrays with the same names as those of `NodeGains`."""

    unit: np.ndarray
    first: np.ndarray
    start: np.ndarray
    need: np.ndarray
    price: np.ndarray
    purchase_unit: np.ndarray
    purchase_row: np.ndarray
    above: np.ndarray
    keep_cost: np.ndarray


def purchases(
    ensemble: Ensemble, leaf: np.ndarray, prices: Prices, weights: np.ndarray
) -> Purchases:
    """The purchases that every split of an ensemble needs.

    Parameters
    ----------
    ensemble : Ensemble
        The unpruned ensemble.
    leaf : int32 array of shape (n, T)
        Leaves that the paying rows reach in the unpruned trees.
    prices : Prices
        From `integer_prices`.
    weights : int64 array of shape (n,)
        Weights of these rows, positive.

    Returns
    -------
    Purchases
    """
    unit = np.where(ensemble.feature >= 0, prices.of_feature[ensemble.feature], -1)
    first = np.flatnonzero(_first_on_path(ensemble, unit))
    begin, end, order = _row_ranges(ensemble, leaf)
    members = ensemble.member[first]
    identity, labels, price, above = _number(
        first, unit[first], members, begin[first], end[first], order, prices, weights
    )
    counts = end[first] - begin[first]
    single = np.array(
        [u >= 0 and _is_once(prices, int(u)) for u in range(len(prices.units))], dtype=bool
    )[unit[first]] & (counts > 0)
    counts = np.where(single, 1, counts)
    start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    need = np.empty(int(start[-1]), dtype=np.int32)
    for t in range(ensemble.n_trees):
        mine = np.flatnonzero(members == t)
        if len(mine):
            rows = order[t][_ranges(begin[first[mine]], counts[mine])]
            need[start[mine[0]] : start[mine[-1] + 1]] = identity[
                np.repeat(unit[first[mine]], counts[mine]), rows
            ]
    keep_cost = np.where(ensemble.left >= 0, prices.leaf, 0).astype(np.int64)
    if prices.node:
        keep_cost += np.where(
            ensemble.left >= 0, prices.node * _weight_at(begin, end, order, ensemble, weights), 0
        )
    return Purchases(unit, first, start, need, price, labels[0], labels[1], above, keep_cost)


def _first_on_path(ensemble: Ensemble, unit: np.ndarray) -> np.ndarray:
    """Whether no node above a node tests the same unit, shape (M,)."""
    first = unit >= 0
    seen = np.zeros(
        (ensemble.n_nodes, (int(unit.max(initial=0)) + 8) // 8), dtype=np.uint8
    )  # one bit per unit that a node above has tested
    bit, byte = (1 << (np.maximum(unit, 0) % 8)).astype(np.uint8), np.maximum(unit, 0) // 8
    for level in ensemble.levels:
        first[level] &= (seen[level, byte[level]] & bit[level]) == 0
        split = level[ensemble.left[level] >= 0]
        below = seen[split]
        tested = np.flatnonzero(unit[split] >= 0)
        below[tested, byte[split[tested]]] |= bit[split[tested]]
        seen[ensemble.left[split]] = below
        seen[ensemble.right[split]] = below
    return np.asarray(first)


def _row_ranges(
    ensemble: Ensemble, leaf: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Rows at every node, as a range of its tree's rows in the order of their leaves.

    The ranges exist because the leaves of a subtree are adjacent in preorder.
    """
    begin, end = (
        np.empty(ensemble.n_nodes, dtype=np.int64),
        np.empty(ensemble.n_nodes, dtype=np.int64),
    )
    bounds = np.append(ensemble.roots, ensemble.n_nodes)
    orders = []
    for t in range(ensemble.n_trees):
        order = np.argsort(leaf[:, t], kind="stable").astype(np.int32)
        nodes = np.arange(bounds[t], bounds[t + 1])
        placed = leaf[order, t]
        begin[nodes] = np.searchsorted(placed, nodes)
        end[nodes] = np.searchsorted(placed, nodes + ensemble.size[nodes])
        orders.append(order)
    return begin, end, orders


def _ranges(begin: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """The numbers begin[j], …, begin[j] + counts[j] - 1 of every j, one after the other."""
    shift = np.repeat(begin - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    return np.asarray(shift + np.arange(int(counts.sum())))


def _is_once(prices: Prices, unit: int) -> bool:
    K = len(prices.of_feature)
    return unit >= K and prices.once[unit - K]


def _number(
    first: np.ndarray,
    units: np.ndarray,
    members: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    order: list[np.ndarray],
    prices: Prices,
    weights: np.ndarray,
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
    """Number the purchases that occur.

    The results are the number by unit and row, (unit, row) by number, the prices, and the pairs of
    a purchase and a purchase that it needs.
    """
    n, K, U = len(weights), len(prices.of_feature), len(prices.units)
    wanted = np.zeros((U, n), dtype=bool)
    for t in np.unique(members).tolist():
        mine = members == t
        counts = end[mine] - begin[mine]
        wanted[np.repeat(units[mine], counts), order[t][_ranges(begin[mine], counts)]] = True
    for _ in range(U - K):  # the largest possible depth of the hierarchy of groups
        for u in range(U):
            for g in _parents(prices, u):
                wanted[K + g] |= wanted[u]
    identity = np.full((U, n), -1, dtype=np.int64)
    counter, units_of, rows_of, price = 0, [], [], []
    for u in range(U):
        rows = np.flatnonzero(wanted[u])
        if not len(rows):
            continue
        if _is_once(prices, u):
            identity[u] = counter
            units_of.append(np.array([u]))
            rows_of.append(np.array([-1]))
            price.append(np.array([prices.group[u - K]], dtype=np.int64))
            counter += 1
            continue
        identity[u, rows] = counter + np.arange(len(rows))
        counter += len(rows)
        units_of.append(np.full(len(rows), u))
        rows_of.append(rows)
        one = (
            prices.group[u - K]
            if u >= K
            else prices.own[u]
            if prices.own.ndim == 1
            else prices.own[rows, u]
        )
        price.append(one * weights[rows])
    pairs = [
        np.unique(np.column_stack([identity[u, wanted[u]], identity[K + g, wanted[u]]]), axis=0)
        for u in range(U)
        for g in _parents(prices, u)
        if wanted[u].any()
    ]
    joined = [
        np.concatenate(a) if a else np.zeros(0, dtype=np.int64) for a in (units_of, rows_of, price)
    ]
    above = np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)
    return (
        identity,
        (joined[0].astype(np.int64), joined[1].astype(np.int64)),
        joined[2].astype(np.int64),
        above,
    )


def _parents(prices: Prices, unit: int) -> tuple[int, ...]:
    """Groups of a unit; a feature that is bought as its group has no groups."""
    K = len(prices.of_feature)
    return () if unit < K and prices.of_feature[unit] != unit else prices.parents[unit]


def _weight_at(
    begin: np.ndarray,
    end: np.ndarray,
    order: list[np.ndarray],
    ensemble: Ensemble,
    weights: np.ndarray,
) -> np.ndarray:
    """Sum of the weights of the rows at every node."""
    out = np.zeros(ensemble.n_nodes, dtype=np.int64)
    for t, rows in enumerate(order):
        sums = np.concatenate([[0], np.cumsum(weights[rows])])
        mine = ensemble.member == t
        out[mine] = sums[end[mine]] - sums[begin[mine]]
    return out
