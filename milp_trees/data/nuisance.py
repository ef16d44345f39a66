"""Propensities and outcomes for policy values, estimated by scikit-learn with cross-fitting.

The propensity and the outcomes of a row are predicted by models that were not fitted on this row
(Chernozhukov et al. 2018, "Double/debiased machine learning for treatment and structural
parameters"; Athey, Wager 2021, "Policy learning with observational data").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.names import as_pandas

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


def with_nuisances(
    dataset: Dataset,
    features: Any = None,
    *,
    propensity_model: Any = "logistic",
    outcome_model: Any = "ridge",
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
    propensity_model : str or scikit-learn classifier, default="logistic"
        Predicts the probability of each treatment; by name `logistic`, `forest`, or `share` (of the
        treatment among all rows, as in a randomised trial).
    outcome_model : str or scikit-learn regressor, default="ridge"
        Predicts the outcome under a treatment; one model per treatment is fitted on the rows with
        this treatment. By name `ridge`, `forest` or `mean`.
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
        There is no model of that name, treatments or outcomes are absent, or a treatment has fewer rows than there are folds.

    Examples
    --------
    >>> import milp_trees as mt
    >>> from milp_trees.data.nuisance import with_nuisances
    >>> data = mt.Dataset([[0], [1]] * 10, treatments=[0, 0, 1, 1] * 5, outcomes=[0.0, 1.0, 1.0, 0.0] * 5)
    >>> mt.solve(mt.Problem(with_nuisances(data), mt.tasks.DoublyRobust(), mt.Trees(1)), method="dp").tree.n_leaves
    2
    """
    from sklearn.base import clone
    from sklearn.model_selection import StratifiedKFold

    dataset.refuse_counts("Estimating propensities")
    given = dataset.require("treatments", "Estimating propensities")
    outcomes = dataset.require("outcomes", "Estimating outcomes")
    actions, treated = np.unique(given, return_inverse=True)
    counts = np.bincount(treated)
    if counts.min() < folds:
        rare = actions[counts.argmin()]
        raise DataError(
            f"Treatment {rare} has {counts.min()} rows, fewer than the {folds} folds; leave that treatment out, or lower folds."
        )
    if len(actions) < 2:
        raise DataError(f"All rows had the treatment {actions[0]}; a policy needs at least two.")
    table = dataset.X if features is None else as_pandas(features)
    if len(table) != dataset.n_rows:
        raise DataError(f"features has {len(table)} rows; the dataset has {dataset.n_rows}.")
    propensity_model = _propensity_model(
        "logistic" if propensity_model is None else propensity_model
    )
    outcome_model = _outcome_model("ridge" if outcome_model is None else outcome_model)
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


def _propensity_model(given: Any) -> Any:
    """An unfitted classifier for propensities, by its name or as it is given."""
    from sklearn.dummy import DummyClassifier
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression

    return _named(
        given,
        "propensities",
        {
            "logistic": LogisticRegression(max_iter=1000),
            "forest": RandomForestClassifier(200, min_samples_leaf=5, random_state=0),
            "share": DummyClassifier(strategy="prior"),
        },
    )


def _outcome_model(given: Any) -> Any:
    """An unfitted regressor for outcomes, by its name or as it is given."""
    from sklearn.dummy import DummyRegressor
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import Ridge

    return _named(
        given,
        "outcomes",
        {
            "ridge": Ridge(),
            "forest": RandomForestRegressor(200, min_samples_leaf=5, random_state=0),
            "mean": DummyRegressor(),
        },
    )


def _named(name: Any, what: str, known: dict[str, Any]) -> Any:
    if not isinstance(name, str):
        return name
    if name not in known:
        raise DataError(f"There is no model of {what} called {name!r}. Known: {', '.join(known)}.")
    return known[name]
