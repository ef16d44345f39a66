"""Propensities and outcomes for policy values, estimated by scikit-learn with cross-fitting.

The propensity and the outcomes of a row are predicted by models that were not fitted on this row
(Chernozhukov et al. 2018, "Double/debiased machine learning for treatment and structural
parameters"; Athey, Wager 2021, "Policy learning with observational data").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.errors import DataError

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


def with_nuisances(
    dataset: Dataset,
    features: Any = None,
    *,
    propensity_model: Any = None,
    outcome_model: Any = None,
    folds: int = 5,
    clip: float = 0.01,
    seed: int = 0,
) -> Dataset:
    """The dataset with estimated `propensities` and `values`.

    The policy tasks `policy-ipw`, `policy-dm` and `policy-dr` need them.

    Parameters
    ----------
    dataset : Dataset
        It has `treatments` and `outcomes`.
    features : array or DataFrame of shape (n, p), optional
        Input of the models; by default the binary features of the dataset.
    propensity_model : scikit-learn classifier, optional
        Predicts the probability of each treatment; default `LogisticRegression(max_iter=1000)`.
    outcome_model : scikit-learn regressor, optional
        Predicts the outcome under a treatment; one model per treatment is fitted on the rows with
        this treatment. Default `Ridge()`.
    folds : int, default=5
        Number of folds; every treatment needs at least this many rows.
    clip : float, default=0.01
        Smallest propensity: smaller estimates are raised to it, which bounds the weights.
    seed : int, default=0
        Seed of the folds, which are stratified by treatment.

    Returns
    -------
    Dataset
        With `propensities` of shape (n,) and `values` of shape (n, K).

    Raises
    ------
    DataError
        Treatments or outcomes are absent, or a treatment has fewer rows than there are folds.

    Examples
    --------
    >>> import milp_trees as mt
    >>> from milp_trees.data.nuisance import with_nuisances
    >>> data = mt.Dataset([[0], [1]] * 10, treatments=[0, 0, 1, 1] * 5, outcomes=[0.0, 1.0, 1.0, 0.0] * 5)
    >>> mt.solve(mt.Problem(with_nuisances(data), mt.tasks.DoublyRobust(), mt.Trees(1)), method="dp").tree.n_leaves
    2
    """
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import StratifiedKFold

    dataset.refuse_counts("Estimating propensities")
    given = dataset.require("treatments", "Estimating propensities")
    outcomes = dataset.require("outcomes", "Estimating outcomes")
    actions, treated = np.unique(given, return_inverse=True)
    counts = np.bincount(treated)
    if counts.min() < folds:
        rare = actions[counts.argmin()]
        raise DataError(
            f"Treatment {rare} has {counts.min()} rows, fewer than the {folds} folds; lower folds or leave that treatment out."
        )
    if len(actions) < 2:
        raise DataError(f"All rows had the treatment {actions[0]}; a policy needs at least two.")
    table = dataset.X if features is None else features
    if len(table) != dataset.n_rows:
        raise DataError(f"features has {len(table)} rows; the dataset has {dataset.n_rows}.")
    propensity_model = (
        LogisticRegression(max_iter=1000) if propensity_model is None else propensity_model
    )
    outcome_model = Ridge() if outcome_model is None else outcome_model
    rows = (lambda r: table.iloc[r]) if hasattr(table, "iloc") else (lambda r: np.asarray(table)[r])
    propensities = np.empty(dataset.n_rows)
    values = np.empty((dataset.n_rows, len(actions)))
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=seed).split(
        np.zeros(dataset.n_rows), treated
    ):
        chance = clone(propensity_model).fit(rows(train), treated[train]).predict_proba(rows(test))
        propensities[test] = chance[np.arange(len(test)), treated[test]]
        for k in range(len(actions)):
            mine = train[treated[train] == k]
            values[test, k] = (
                clone(outcome_model).fit(rows(mine), outcomes[mine]).predict(rows(test))
            )
    return dataset.with_(
        propensities=np.clip(propensities, clip, 1.0),
        values=values,
        actions=tuple(actions.tolist()),
    )
