"""Checks of the parameters of a forest with feature costs, with a sentence for each mistake."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import checked_labels
from milp_trees.data.names import entries_by_name, entries_over

VOTING = ("soft", "hard")


def check_costs(
    costs: Any, groups: Any, names: Sequence[Any]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Costs of columns and groups as arrays."""
    p = len(names)
    if isinstance(table := entries_by_name(costs, "feature_costs"), Mapping):
        costs = entries_over(table, names, "feature_costs", "columns")
    if groups is not None:
        groups = entries_over(groups, names, "groups", "columns")
    try:
        prices = np.ones(p) if costs is None else np.array(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("feature_costs must be numbers, one per column.") from None
    if prices.shape != (p,):
        raise DataError(
            f"feature_costs must have one number per column, shape ({p},); it has shape {prices.shape}."
        )
    bad = np.flatnonzero(~np.isfinite(prices) | (prices < 0))
    if bad.size:
        raise DataError(
            f"Feature costs must be finite and at least 0; column {bad[0]} has {prices[bad[0]]}."
        )
    if groups is None:
        return prices, np.arange(p), prices
    labels = checked_labels(groups, "groups", p)
    _, first, units = np.unique(labels, return_index=True, return_inverse=True)
    unequal = np.flatnonzero(prices != prices[first][units])
    if unequal.size:
        k = int(unequal[0])
        j = int(first[units[k]])
        raise DataError(
            f"Columns of one group share one price, but columns {j} and {k} of group {labels[k]!s} cost {prices[j]:g} and {prices[k]:g}."
        )
    return prices, units.astype(np.int64), prices[first]


def n_candidates(max_features: Any, p: int) -> int:
    """Number of columns drawn per node, from 1 to p."""
    if max_features is None:
        return p
    if isinstance(max_features, str):
        named = {"sqrt": math.sqrt(p), "log2": math.log2(p)}
        if max_features in named:
            return max(1, int(named[max_features]))
    elif isinstance(max_features, Integral) and not isinstance(max_features, bool):
        if 1 <= int(max_features) <= p:
            return int(max_features)
    elif (
        isinstance(max_features, Real)
        and not isinstance(max_features, bool)
        and 0 < float(max_features) <= 1
    ):
        return max(1, int(float(max_features) * p))
    raise DataError(
        f'max_features must be None, "sqrt", "log2", a whole number from 1 to {p} or a share in (0, 1]; got {max_features!r}.'
    )


def check_parameters(forest: Any) -> None:
    """Raise DataError for a parameter out of its range.

    Criterion and alpha are checked where they are used.
    """
    for name, optional in (("n_estimators", False), ("max_depth", True)):
        given = getattr(forest, name)
        whole = isinstance(given, Integral) and not isinstance(given, bool) and int(given) >= 1
        if not whole and not (optional and given is None):
            raise DataError(
                f"{name} must be a whole number of at least 1{' or None' if optional else ''}; got {given!r}."
            )
    if forest.voting not in VOTING:
        raise DataError(f"voting must be one of {', '.join(VOTING)}; got {forest.voting!r}.")
    for name in ("budget", "min_gain"):
        given = getattr(forest, name)
        if given is not None and not (isinstance(given, Real) and 0 <= float(given) < math.inf):
            raise DataError(f"{name} must be a finite number of at least 0; got {given!r}.")
    if forest.min_gain is None:
        raise DataError("min_gain must be a finite number of at least 0; got None.")
