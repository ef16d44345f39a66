"""Random views of ensembles to prune, made without a data set: trees over random rows, prices of
every kind.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from milp_trees.pruning.view import NodeGains

ONE = Fraction(1)


def random_view(
    seed: int, trees: int = 3, depth: int = 3, rows: int = 5, features: int = 3, prunings: int = 400
) -> NodeGains:
    """A view of at most so many prunings: errors of nodes (arbitrary, so that gains may be
    negative, or of weighted labels), prices per feature or per feature and row, in half of them
    costs of splits, in a third groups with a price per row or once for all, and groups of groups.
    """
    from milp_trees.pruning.engines.enumerate_prunings import count

    rng = np.random.default_rng(seed)
    while True:
        T, n, K = (int(rng.integers(1, most + 1)) for most in (trees, rows, features))
        view = _errors(rng, _grow(rng, T, depth, n, K), n)
        if count(view) <= prunings:
            return _prices(rng, view, n, K)


def view_of(
    parent, left, right, member, feature, leaf, reached, n, K, error=None, price=None
) -> NodeGains:
    """The view of trees whose node h is reached by the rows `reached[h]`; purchase k·n + i is
    feature k for row i.
    """
    parent, left, right, member, feature = (
        np.array(a, dtype=np.int64) for a in (parent, left, right, member, feature)
    )
    first, start, need = [], [0], []

    def walk(h, used):
        if left[h] < 0:
            return
        if feature[h] not in used:
            first.append(h)
            need.extend(int(feature[h]) * n + int(i) for i in reached[h])
            start.append(len(need))
        walk(left[h], used | {feature[h]})
        walk(right[h], used | {feature[h]})

    for root in np.flatnonzero(parent < 0):
        walk(root, frozenset())
    zero = np.zeros(len(parent), dtype=np.int64)
    whole = [
        np.array(a, dtype=np.int64)
        for a in (first, start, np.ones(K * n) if price is None else price)
    ]
    return NodeGains(
        parent,
        left,
        right,
        member,
        feature,
        zero if error is None else np.array(error, dtype=np.int64),
        zero,
        leaf,
        whole[0],
        whole[1],
        np.array(need, dtype=np.int32),
        whole[2],
        np.repeat(np.arange(K), n),
        np.tile(np.arange(n), K),
        np.zeros((0, 2), dtype=np.int64),
        tuple(f"x{k}" for k in range(K)),
        ONE,
        ONE,
        ONE,
    )


def _grow(rng, T, depth, n, K) -> NodeGains:
    nodes: dict[str, list] = {name: [] for name in ("parent", "left", "right", "member", "feature")}
    leaf, reached = np.zeros((n, T), dtype=np.int32), []

    def add(parent, t, levels, rows):
        h = len(reached)
        for name, value in (
            ("parent", parent),
            ("left", -1),
            ("right", -1),
            ("member", t),
            ("feature", -1),
        ):
            nodes[name].append(value)
        reached.append(rows)
        if levels and rng.random() < (0.9 if parent < 0 else 0.6):
            nodes["feature"][h] = int(rng.integers(0, K))
            side = rng.random(len(rows)) < 0.5
            nodes["left"][h], nodes["right"][h] = (
                add(h, t, levels - 1, rows[side]),
                add(h, t, levels - 1, rows[~side]),
            )
        else:
            leaf[rows, t] = h
        return h

    for t in range(T):
        add(-1, t, depth, np.arange(n))
    return view_of(**nodes, leaf=leaf, reached=reached, n=n, K=K)


def _errors(rng, view: NodeGains, n: int) -> NodeGains:
    M = view.n_nodes
    if rng.random() < 0.6:
        return replace(view, error=rng.integers(0, rng.choice([3, 9]), M))
    labels, weights = rng.integers(0, 3, n), rng.integers(1, 4, n)
    counts = np.zeros((M, 3), dtype=np.int64)
    np.add.at(
        counts,
        (view.leaf, np.broadcast_to(labels[:, None], view.leaf.shape)),
        np.broadcast_to(weights[:, None], view.leaf.shape),
    )
    for h in range(M - 1, -1, -1):
        if view.parent[h] >= 0:
            counts[view.parent[h]] += counts[h]
    return replace(view, error=counts.sum(axis=1) - counts.max(axis=1))


def _prices(rng, view: NodeGains, n: int, K: int) -> NodeGains:
    price = (
        (
            rng.integers(0, 4, (K, n))
            if rng.random() < 0.5
            else np.repeat(rng.integers(0, 4, (K, 1)), n, axis=1)
        )
        .ravel()
        .tolist()
    )
    rows, above = np.tile(np.arange(n), K).tolist(), []
    keep_cost = np.where(view.is_split & (rng.random() < 0.5), rng.integers(0, 3, view.n_nodes), 0)
    if rng.random() < 0.35:
        group = rng.integers(-1, 2, K)
        for g in range(2):
            base, per_row = len(price), rng.random() < 0.5
            price += rng.integers(0, 5, n if per_row else 1).tolist()
            rows += list(range(n)) if per_row else [-1]
            above += [
                (k * n + i, base + i * per_row) for k in range(K) if group[k] == g for i in range(n)
            ]
        if rng.random() < 0.5:
            above += [(p, len(price)) for p in range(K * n, len(price))]
            price, rows = [*price, int(rng.integers(0, 6))], [*rows, -1]
    unit, cost_unit, lam = (
        Fraction(int(rng.integers(1, 5)), int(rng.integers(1, 5))) for _ in range(3)
    )
    return replace(
        view,
        price=np.array(price, dtype=np.int64),
        purchase_row=np.array(rows),
        purchase_unit=np.zeros(len(price), dtype=np.int64),
        above=np.array(above, dtype=np.int64).reshape(-1, 2),
        keep_cost=keep_cost,
        error_unit=unit,
        cost_unit=cost_unit,
        lam=lam,
    )


def repeated(view: NodeGains, times: int) -> NodeGains:
    """The same trees several times, on the same purchases."""
    M, T = view.n_nodes, view.n_trees

    def shifted(name):
        array = getattr(view, name)
        return np.concatenate([np.where(array < 0, -1, array + r * M) for r in range(times)])

    ends = np.concatenate([[0], np.cumsum(np.tile(np.diff(view.start), times))])
    return replace(
        view,
        parent=shifted("parent"),
        left=shifted("left"),
        right=shifted("right"),
        first=shifted("first"),
        start=ends,
        need=np.tile(view.need, times),
        member=np.concatenate([view.member + r * T for r in range(times)]),
        unit=np.tile(view.unit, times),
        error=np.tile(view.error, times),
        keep_cost=np.tile(view.keep_cost, times),
        leaf=np.concatenate([view.leaf + r * M for r in range(times)], axis=1),
    )
