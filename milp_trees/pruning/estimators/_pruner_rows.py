"""Parts of `EnsemblePruner`: the inner estimator, held-out rows, and the choice of a pruning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, has_fit_parameter

from milp_trees.common.errors import DataError
from milp_trees.common.exact import fraction
from milp_trees.data.names import entries_by_name

# -- the estimator to prune ----------------------------------------------------------------------


def unwrapped(estimator: Any, prefit: Any) -> tuple[Any, bool]:
    """Take an estimator out of scikit-learn's `FrozenEstimator`, and see whether it is fitted."""
    if prefit not in ("auto", True, False):
        raise DataError(f"prefit is 'auto', True or False; got {prefit!r}.")
    frozen = isinstance(estimator, FrozenEstimator)
    inner = estimator.estimator if frozen else estimator
    if prefit is False and not frozen:
        return inner, False
    try:
        check_is_fitted(inner)
    except NotFittedError:
        if frozen or prefit is True:
            raise DataError(
                f"This {type(inner).__name__} is not fitted yet; fit it first, or give it unfitted with prefit='auto'."
            ) from None
        return inner, False
    return inner, True


def fitted_clone(estimator: Any, X: Any, y: np.ndarray, sample_weight: np.ndarray | None) -> Any:
    """Fit a clone of the estimator.

    Parameters
    ----------
    estimator : estimator
    X : array or DataFrame of shape (n, d)
    y : array of shape (n,)
    sample_weight : array of shape (n,) or None

    Returns
    -------
    estimator
        The fitted clone.

    Raises
    ------
    DataError
        Weights are given, and the estimator takes none.
    """
    model = clone(estimator)
    if sample_weight is None:
        return model.fit(X, y)
    if not has_fit_parameter(model, "sample_weight"):
        raise DataError(
            f"{type(model).__name__}.fit takes no sample_weight; leave it out, or repeat rows instead."
        )
    return model.fit(X, y, sample_weight=sample_weight)


def check_same_columns(model: Any, n_columns: int, names: Sequence[str] | None) -> None:
    """Check that a fitted model was fitted on the given columns."""
    kind = type(model).__name__
    if model.n_features_in_ != n_columns:
        raise DataError(
            f"This {kind} was fitted on {model.n_features_in_} columns; X has {n_columns}. Give the columns that it was fitted on."
        )
    own = getattr(model, "feature_names_in_", None)
    if own is not None and names is not None and list(own) != list(names):
        j = next(j for j, (a, b) in enumerate(zip(own, names, strict=True)) if a != b)
        raise DataError(
            f"This {kind} was fitted on other columns: column {j} was {str(own[j])!r} and is {str(names[j])!r}. Give the columns that it was fitted on."
        )


def check_same_classes(classes: np.ndarray, y_val: np.ndarray | None) -> None:
    """Check that the validation rows and the ensemble have a class in common.

    Otherwise every prediction would be wrong, and the smallest pruning would be chosen.
    """
    known, given = set(classes.tolist()), set(np.unique(np.asarray(y_val)).tolist())
    if not known & given:
        raise DataError(
            f"y_val has the classes {sorted(given)[:6]}, the ensemble {sorted(known)[:6]}: none in common. Give both the same labels."
        )


def feature_map(features: Any, columns: Sequence[str]) -> Mapping[str, str] | None:
    """Mapping from column to feature, given as such or as one name per column."""
    features = entries_by_name(features, "features")
    if features is None or isinstance(features, Mapping):
        return features
    given = [str(f) for f in features]
    if len(given) != len(columns):
        raise DataError(
            f"features names {len(given)} features for {len(columns)} columns; give one per column, or a mapping from column to feature."
        )
    return dict(zip(columns, given, strict=True))


# -- rows ----------------------------------------------------------------------------------------


def set_aside(
    share: Any, y: np.ndarray, classes: bool, random_state: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Choose the rows that are set aside: a share of every class, but never a whole class.

    Parameters
    ----------
    share : float
        Between 0 and 1.
    y : array of shape (n,)
    classes : bool
        Whether y contains classes; otherwise the share is taken of all rows.
    random_state : int, RandomState or None

    Returns
    -------
    training, aside : int arrays
        Indices of the rows to fit on, and of the rows set aside.

    Raises
    ------
    DataError
        No row would be set aside.
    """
    rng = check_random_state(random_state)
    groups = [np.flatnonzero(y == c) for c in np.unique(y)] if classes else [np.arange(len(y))]
    taken = [rng.permutation(g)[: min(round(share * len(g)), len(g) - 1)] for g in groups]
    aside = np.sort(np.concatenate(taken)).astype(np.int64)
    if not len(aside):
        raise DataError(
            f"validation_fraction={share} of n_samples={len(y)} leaves no row to choose lambda on; give X_val and y_val, or lam, or validation_fraction=None."
        )
    return np.setdiff1d(np.arange(len(y)), aside), aside


def take(rows: np.ndarray, *arrays: Any) -> list[Any]:
    """Select rows by index from every array or DataFrame; None stays None."""
    return [None if a is None else _safe_indexing(a, rows) for a in arrays]


def round_weights(weights: np.ndarray | None, denominator: int | None) -> np.ndarray | None:
    """Round weights to multiples of 1/denominator, if a denominator is given."""
    if weights is None or denominator is None:
        return weights
    return np.array(
        [Fraction(round(fraction(w) * denominator), denominator) for w in weights.tolist()],
        dtype=object,
    ).astype(float)


def check_complete(X: np.ndarray, names: Sequence[str], what: str = "X") -> None:
    """Check that no number is missing.

    Parameters
    ----------
    X : float array of shape (n, d)
    names : sequence of str
        Names of the columns.
    what : str, default="X"
        Name of the argument, for the error.

    Raises
    ------
    DataError
        A number is NaN or infinite.
    """
    if not np.isfinite(X).all():
        i, j = np.argwhere(~np.isfinite(X))[0]
        raise DataError(
            f"Row {i} of {what} has {X[i, j]} (NaN or infinity) in the column {names[j]!r}; fill missing values in, or drop the row."
        )


def check_prices(row_costs: Any) -> Any:
    """Check prices of features per row; a DataFrame stays one, because its columns have names."""
    if row_costs is None:
        return None
    array = check_array(row_costs, dtype=None, input_name="row_costs")
    return row_costs if hasattr(row_costs, "columns") else array


# -- the choice ----------------------------------------------------------------------------------


def choose(
    frame: pd.DataFrame, unpruned: Mapping[str, float], slack: Any, reference: str
) -> int | None:
    """Choose the cheapest pruning whose validation error is within the slack of the reference."""
    to_beat, spread = unpruned["validation_error"], unpruned["standard_error"]
    if reference == "best" and frame["validation_error"].min() <= to_beat:
        best = frame.loc[frame["validation_error"].idxmin()]
        to_beat, spread = best["validation_error"], best["standard_error"]
    allowed = to_beat + (spread if slack == "one-se" else float(slack))
    fine = frame[frame["validation_error"] <= allowed + 1e-12]
    if not len(fine):
        return None
    order = fine.sort_values(["validation_cost", "validation_error", "splits"], kind="stable")
    return int(order.index[0])
