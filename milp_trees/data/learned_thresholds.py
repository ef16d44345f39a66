"""Thresholds that are learned from a target: buckets, and those of a boosted ensemble."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.dataset import BinaryFeature
from milp_trees.data.role_problems import is_measured
from milp_trees.data.rules import Rule, features_of, outcomes, reduced
from milp_trees.data.table_columns import as_numbers, in_single_precision

if TYPE_CHECKING:
    import pandas as pd


class Ensemble(Protocol):
    """Parameters of the boosted ensemble of small trees, as a `Binarizer` has them."""

    n_estimators: int
    max_depth: int
    back_select: bool
    random_state: int


def buckets(rules: Mapping[str, Rule], frame: pd.DataFrame, y: np.ndarray) -> dict[str, Rule]:
    """The rules without thresholds between neighbouring values whose rows have one class.

    Parameters
    ----------
    rules : mapping of column name to rule
        With all thresholds.
    frame : DataFrame
        The training rows.
    y : array of shape (n,)

    Returns
    -------
    dict of column name to rule
    """
    names = {str(c): c for c in frame.columns}
    codes = np.unique(y, axis=0, return_inverse=True)[1].ravel()
    out: dict[str, Rule] = {}
    for c, rule in rules.items():
        if isinstance(rule, list):
            known = frame[names[c]].notna().to_numpy()
            values, group = np.unique(as_numbers(frame[names[c]][known]), return_inverse=True)
            here = codes[known]
            low, high = np.full(len(values), len(codes)), np.full(len(values), -1)
            np.minimum.at(low, group, here)
            np.maximum.at(high, group, here)
            pure = (low[:-1] == high[:-1]) & (low[1:] == high[1:]) & (low[:-1] == low[1:])
            rule = [t for t, drop in zip(rule, pure.tolist(), strict=True) if not drop]
        out[c] = rule
    return out


def guessed(
    sizes: Ensemble, rules: Mapping[str, Rule], frame: pd.DataFrame, y: np.ndarray
) -> dict[str, Rule]:
    """Rules of the features that a boosted ensemble uses, as few as leave it as accurate.

    Parameters
    ----------
    sizes : Ensemble
    rules : mapping of column name to rule
        With all thresholds.
    frame : DataFrame
        The training rows.
    y : array of shape (n,) or (n, k)
        Classes, or measured numbers.

    Returns
    -------
    dict of column name to rule

    Raises
    ------
    DataError
        There are several targets.
    """
    from sklearn.ensemble import GradientBoostingClassifier, GradientBoostingRegressor

    if y.ndim == 2 and y.shape[1] > 1:
        raise DataError(
            "The binarizer tree-guess learns its thresholds from one target, and these data have several; use quantiles:N."
        )
    y = y.ravel()
    kind = GradientBoostingRegressor if is_measured(y, len(y)) else GradientBoostingClassifier

    def ensemble() -> Any:
        return kind(
            n_estimators=sizes.n_estimators,
            max_depth=sizes.max_depth,
            random_state=sizes.random_state,
        )

    tests = features_of(rules)
    kept = _numeric_guesses(rules, frame, y, ensemble()) + _others(rules)
    kept = [t for t in tests if t in set(kept)]
    X = outcomes(kept, frame)
    while sizes.back_select and len(kept) > 1:
        model = ensemble().fit(X, y)
        score, importance = model.score(X, y), model.feature_importances_
        used = importance > 0
        if not used.all() and used.any():  # removing unused features changes nothing
            kept, X = [t for t, u in zip(kept, used.tolist(), strict=True) if u], X[:, used]
            continue
        without = np.arange(len(kept)) != int(importance.argmin())
        if ensemble().fit(X[:, without], y).score(X[:, without], y) < score:
            break
        kept, X = [t for t, u in zip(kept, without.tolist(), strict=True) if u], X[:, without]
    return {c: reduced(rule, [t for t in kept if t.column == c]) for c, rule in rules.items()}


def _others(rules: Mapping[str, Rule]) -> list[BinaryFeature]:
    """The features that compare no numbers or times."""
    return [t for t in features_of(rules) if t.kind != "<=" or t.order]


def _numeric_guesses(
    rules: Mapping[str, Rule], frame: pd.DataFrame, y: np.ndarray, model: Any
) -> list[BinaryFeature]:
    """Features of the ensemble that is fitted on the columns themselves.

    Their thresholds are moved halfway between observed values.
    """
    names = {str(c): c for c in frame.columns}
    numeric = [c for c, rule in rules.items() if isinstance(rule, list) and rule]
    if not numeric:
        return []
    others = _others(rules)
    requested = {c: in_single_precision(c, frame[names[c]], rules[c]) for c in numeric}
    columns = np.column_stack(
        [*(numbers for numbers, _ in requested.values()), outcomes(others, frame)]
    )
    model.fit(columns, y)
    found: set[BinaryFeature] = set()
    for tree in (t.tree_ for t in model.estimators_.ravel()):
        for feature, threshold in zip(tree.feature.tolist(), tree.threshold.tolist(), strict=True):
            if 0 <= feature < len(numeric):
                name = numeric[feature]
                # scikit-learn compares in single precision; the nearest midpoint divides
                # the training rows in the same way.
                nearest = int(np.abs(requested[name][1] - threshold).argmin())
                found.add(features_of({name: rules[name][nearest : nearest + 1]})[0])
    return list(found)
