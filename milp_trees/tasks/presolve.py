"""Presolve of a cost matrix: equal rows are merged, and tests that say nothing new are dropped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.tasks.grouping import (
    equal_rows,
    group_sums,
    packed,
    packed_columns,
    whole_column,
)

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature


def with_different_tests(view: Any) -> Any:
    """The view without constant and equal tests, and without complements where these are equal.

    Of equal tests the cheapest one is kept, and of these the first.
    """
    if not view.n_features:
        return view
    if not view.n_rows:
        return replace(
            view,
            X=view.X[:, :0],
            features=(),
            split_costs=view.split_costs[:0],
            alias=dict.fromkeys(view.features, False),
        )
    # Complements are equal once every column begins with 0; constant columns are then all 0.
    words, ones = packed_columns(view.X), whole_column(view.n_rows)
    first_row = view.X[0].tolist()
    if view.complements:
        words[view.X[0] != 0] ^= ones
    texts, price = [column.tobytes() for column in words], view.split_costs.tolist()
    cheapest: dict[bytes, int] = {}
    for f, text in enumerate(texts):
        if text not in cheapest or price[f] < price[cheapest[text]]:
            cheapest[text] = f
    constant = {ones.tobytes(), bytes(ones.nbytes)}
    kept = sorted(f for text, f in cheapest.items() if text not in constant)
    position = {f: k for k, f in enumerate(kept)}
    alias: dict[BinaryFeature, tuple[int, bool] | bool] = {}
    for f, text in enumerate(texts):
        g = cheapest[text]
        if text in constant:
            alias[view.features[f]] = bool(first_row[f])
        elif g != f:
            alias[view.features[f]] = position[g], first_row[f] != first_row[g]
    if len(kept) == view.n_features:  # a large matrix is not copied without need
        return view
    return replace(
        view,
        X=np.take(view.X, kept, axis=1),
        features=tuple(view.features[f] for f in kept),
        split_costs=view.split_costs[kept],
        alias=alias,
    )


def with_merged_rows(view: Any) -> Any:
    """The view with one row for all that are equal; sums, counts and side coefficients add up."""
    if not view.n_rows:
        return view
    first, group = equal_rows(packed(view.X))
    if len(first) == view.n_rows:
        return view
    total = group_sums(group, len(first))
    side = tuple(replace(row, coefs=total(row.coefs)) for row in view.side)
    return replace(
        view,
        X=np.ascontiguousarray(view.X[first]),
        **{view.sums_field: total(view.sums)},
        counts=total(view.counts),
        side=side,
        structure=tuple(part.merged(total) for part in view.structure),
        rows=view.rows[first],
        row_weight=None if view.row_weight is None else total(view.row_weight),
        treated=None if view.treated is None else total(view.treated),
    )
