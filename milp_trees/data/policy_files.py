"""Reading the public files of policy data: historic treatments, models, and counterfactuals.

Two formats are known. Files of the STreeD experiments have no header; a row is

    label k y mu yhat[0..K-1] kopt cf[0..K-1] features…

with the historic treatment k, its outcome y and propensity mu, the predicted outcomes yhat of all
treatments, the best treatment kopt and the outcomes cf that every treatment would have had. In
their test files k, y, mu and yhat are zero. Files of odtlearn have a header: binary features `V*`
or `X*`, the treatment `t`, its outcome `y`, the outcomes `y0, y1, …` of all treatments, propensities
of the given treatment and predicted outcomes such as `linear0, linear1`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.load import load
from milp_trees.data.read import read_table

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.dataset import Dataset

#: Columns with the propensity of the given treatment in files of odtlearn, the known one first.
PROPENSITIES = ("prob_t", "prop_scores_logit", "prob_t_pred_log", "prob_t_pred_tree")


def load_policy(
    path: str | Path, *, propensity: str | None = None, model: str | None = None
) -> tuple[Dataset, np.ndarray]:
    """Policy data from a file in the format of the STreeD experiments or of odtlearn.

    Parameters
    ----------
    path : str or Path
        The file, or a path to which `.gz` must be added.
    propensity : str, optional
        With a header: the column with the propensity of the given treatment. By default the first
        of `PROPENSITIES` that the file has.
    model : str, optional
        With a header: the name before the numbers of the columns of predicted outcomes, `linear` or
        `lasso`. By default `linear`, if the file has it.

    Returns
    -------
    dataset : Dataset
        With `treatments`, `outcomes`, `propensities` and, if the file has predicted outcomes,
        `values`. If the file hides them (all propensities are zero), `values` are the
        counterfactuals, so that the task `action-values` judges a policy.
    counterfactuals : array of shape (n, K)
        The outcome of every treatment: for judging a policy, not for learning it.

    Raises
    ------
    DataError
        The file is in neither format, or does not have a column that was named.

    Examples
    --------
    >>> from milp_trees.data.policy_files import load_policy
    >>> train, truth = load_policy("warfarin/train_rf_dt_0.06_0_1.csv.gz")  # doctest: +SKIP
    """
    table = read_table(path)
    if table.header:
        return _with_header(path, table.frame, propensity, model)
    if propensity is not None or model is not None:
        raise DataError(
            f"{path} has no header, so its columns are known by position; leave out propensity and model."
        )
    return _by_position(path, table.frame)


def _by_position(path: str | Path, frame: pd.DataFrame) -> tuple[Dataset, np.ndarray]:
    """A file of the STreeD experiments."""
    numbers = frame.to_numpy(dtype=float)
    K, names = _treatments(path, numbers), [str(c) for c in frame.columns]
    truth = numbers[:, 5 + K : 5 + 2 * K]
    drop = [*names[:1], *names[4 : 5 + 2 * K]]  # the label, predictions, and what is not known
    roles: dict[str, Any] = {
        "treatment": names[1],
        "outcome": names[2],
        "propensity": names[3],
        "values": names[4 : 4 + K],
    }
    if not numbers[:, 3].any():
        roles = {"values": names[5 + K : 5 + 2 * K]}
        drop = names[: 5 + K]
    dataset = load(path, **roles, drop=[c for c in drop if c not in roles["values"]])
    return _with_actions(dataset, K), truth


def _treatments(path: str | Path, numbers: np.ndarray) -> int:
    """The number of treatments: the column of the best one must agree with the counterfactuals."""
    for K in range(2, (numbers.shape[1] - 5) // 2 + 1):
        best, truth = numbers[:, 4 + K], numbers[:, 5 + K : 5 + 2 * K]
        if np.isin(best, np.arange(K)).all():
            chosen = truth[np.arange(len(truth)), best.astype(int)]
            if (chosen == truth.max(axis=1)).all():
                return K
    raise DataError(
        f"{path} is no file of policy data: a row must be label, treatment, outcome, propensity, K predicted outcomes, the best treatment, K outcomes, features."
    )


def _with_header(
    path: str | Path, frame: pd.DataFrame, propensity: str | None, model: str | None
) -> tuple[Dataset, np.ndarray]:
    """A file of odtlearn."""
    names = [str(c) for c in frame.columns]
    outcomes = _numbered(names, "y")
    features = [p for p in ("V*", "X*") if any(n.startswith(p[0]) for n in names)]
    known = [p for p in PROPENSITIES if p in names]
    if not (outcomes and features and known and {"t", "y"} <= set(names)):
        raise DataError(
            f"{path} is no file of policy data: its header needs features V* or X*, t, y, y0, y1 and one of {', '.join(PROPENSITIES)}."
        )
    values = _numbered(names, model or "linear")
    if model is not None and len(values) != len(outcomes):
        raise DataError(
            f"{path} has {len(values)} columns {model}0, {model}1, …, and there are {len(outcomes)} treatments; name another model, or none."
        )
    dataset = load(
        path,
        treatment="t",
        outcome="y",
        propensity=known[0] if propensity is None else propensity,
        values=values,
        features=features,
    )
    try:
        truth = frame[outcomes].to_numpy(dtype=float)
    except ValueError as why:
        raise DataError(
            f"{path}: the outcomes {', '.join(outcomes)} of all treatments must be numbers; {why}."
        ) from None
    return _with_actions(dataset, len(outcomes)), truth


def _with_actions(dataset: Dataset, K: int) -> Dataset:
    """The dataset with the actions 0 to K - 1, also those that no row has; its source says so."""
    return dataset.with_(
        actions=tuple(range(K)), source={**dataset.source, "actions": list(range(K))}
    )


def _numbered(names: list[str], stem: str) -> list[str]:
    """The columns `stem0`, `stem1`, … of a header, in order."""
    wanted = (f"{stem}{k}" for k in range(len(names)))
    return [name for name in wanted if name in names]
