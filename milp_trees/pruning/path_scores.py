"""Error of the vote, cost and needed features of given rows along the whole path of prunings.

Prunings are nested, so from one to the next only some leaves become splits. A row's votes are
summed again only where one of its leaves changed, and no tree is followed from its root more than
once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from milp_trees.models.ensemble import Ensemble
from milp_trees.pruning.feature_costs import FeatureCosts


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows on which prunings are evaluated.

    Parameters
    ----------
    X : float array of shape (n, d)
    y : array of shape (n,), optional
        Labels, or numbers for regression.
    weights : array of shape (n,), optional
    row_costs : array or DataFrame of shape (n, K), optional
        Price of each feature for each row, in units of cost.
    """

    X: np.ndarray
    y: np.ndarray | None = None
    weights: np.ndarray | None = None
    row_costs: Any = None

    @property
    def w(self) -> np.ndarray:
        """Weights, 1 each by default."""
        return (
            np.ones(len(self.X)) if self.weights is None else np.asarray(self.weights, dtype=float)
        )


@dataclass(eq=False)
class Step:
    """One pruning of a nested sequence, as `steps` yields it.

    The arrays are reused by the next step.

    Attributes
    ----------
    leaf : int32 array of shape (n, T)
    used : bool array of shape (n, K)
    evaluations : int64 array of shape (n,)
    changed : bool array of shape (n,)
        Rows that have another leaf than in the step before.
    """

    leaf: np.ndarray
    used: np.ndarray
    evaluations: np.ndarray
    changed: np.ndarray


def steps(ensemble: Ensemble, enters: np.ndarray, n_prunings: int, X: np.ndarray) -> Iterator[Step]:
    """Walk all rows through a nested sequence of prunings, the smallest first.

    Parameters
    ----------
    ensemble : Ensemble
    enters : int array of shape (M,)
        Number of the first pruning that keeps the node as a split, or at least `n_prunings` if none
        does. The number of a parent is at most those of its children.
    n_prunings : int
    X : float array of shape (n, d)

    Yields
    ------
    Step
        `n_prunings` times.
    """
    X = ensemble.checked(X)
    n = len(X)
    leaf = np.tile(ensemble.roots.astype(np.int32), (n, 1))
    used = np.zeros((n, len(ensemble.features)), dtype=bool)
    evaluations = np.zeros(n, dtype=np.int64)
    enters = np.where(ensemble.left >= 0, enters, n_prunings)
    for k in range(n_prunings):
        changed = np.ones(n, dtype=bool) if k == 0 else np.zeros(n, dtype=bool)
        rows, trees = np.nonzero(enters[leaf] <= k)
        while len(rows):
            at = leaf[rows, trees]
            changed[rows] = True
            used[rows, ensemble.feature[at]] = True
            evaluations += np.bincount(rows, minlength=n)
            at = np.where(
                X[rows, ensemble.column[at]] <= ensemble.threshold[at],
                ensemble.left[at],
                ensemble.right[at],
            )
            leaf[rows, trees] = at
            go = enters[at] <= k
            rows, trees = rows[go], trees[go]
        yield Step(leaf, used, evaluations, changed)


def reference(
    ensemble: Ensemble, enters: np.ndarray, n_prunings: int, rows: Rows, costs: FeatureCosts
) -> tuple[pd.DataFrame, np.ndarray]:
    """Error of the vote, its standard error and mean cost on the rows, for every pruning.

    Parameters
    ----------
    ensemble : Ensemble
    enters : int array of shape (M,)
        As for `steps`.
    n_prunings : int
    rows : Rows
        Without `y` the errors are NaN.
    costs : FeatureCosts

    Returns
    -------
    frame : DataFrame with columns `validation_error`, `standard_error`, `validation_cost`, `splits`
        Errors are shares of wrong labels, or mean squared errors for regression.
    shares : array of shape (n_prunings, K)
        Share of the rows that need each feature.
    """
    w = rows.w
    price = RowPrice(costs, ensemble, rows)
    codes = None if rows.y is None else _codes(ensemble, rows.y)
    loss = np.full(len(w), np.nan)
    table, shares = [], np.zeros((n_prunings, len(ensemble.features)))
    kept = np.bincount(
        np.minimum(enters[ensemble.left >= 0], n_prunings), minlength=n_prunings + 1
    ).cumsum()
    for k, step in enumerate(steps(ensemble, enters, n_prunings, rows.X)):
        i = np.flatnonzero(step.changed)
        if codes is not None and len(i):
            loss[i] = losses(ensemble, step.leaf[i], codes[i])
        mean = float(loss @ w / w.sum())
        spread = float(np.sqrt(((loss - mean) ** 2 @ w / w.sum()) / (w.sum() ** 2 / (w @ w))))
        paid = price(step.used, step.evaluations, int(kept[k]) + ensemble.n_trees)
        table.append(
            {
                "validation_error": mean,
                "standard_error": spread,
                "validation_cost": paid,
                "splits": int(kept[k]),
            }
        )
        shares[k] = w @ step.used / w.sum()
    return pd.DataFrame(table), shares


def losses(ensemble: Ensemble, leaf: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Loss of the ensemble on every row: 1 for a wrong vote, or the squared error of the mean.

    Parameters
    ----------
    ensemble : Ensemble
    leaf : int array of shape (n, T)
        The leaf of every row in every tree.
    codes : array of shape (n,)
        Numbers of the classes, -1 for unknown classes; target values for regression.

    Returns
    -------
    float array of shape (n,)
    """
    mean = ensemble.mean_value(leaf)
    if ensemble.classes is None:
        return np.asarray((mean[:, 0] - codes) ** 2)
    return np.asarray(mean.argmax(axis=1) != codes, dtype=float)


def _codes(ensemble: Ensemble, y: np.ndarray) -> np.ndarray:
    """Labels as numbers of the ensemble's classes, -1 for others; regression targets stay."""
    if ensemble.classes is None:
        return np.asarray(y, dtype=float)
    place = {c: k for k, c in enumerate(ensemble.classes)}
    return np.array([place.get(c, -1) for c in np.asarray(y).tolist()])


class RowPrice:
    """What rows cost under `FeatureCosts`, with prices of features looked up once."""

    def __init__(self, costs: FeatureCosts, ensemble: Ensemble, rows: Rows) -> None:
        if rows.row_costs is not None:
            costs = replace(costs, per_row=rows.row_costs, columns=None)
        table, unit = costs.table(ensemble.features, len(rows.X))
        self.table = table * float(unit)
        self.once = [
            (float(c), g) for g, c in enumerate(costs.group_costs()) if costs.groups[g].once and c
        ]
        self.rest = replace(costs, features=0, per_row=None, columns=None)
        self.names: Sequence[str] = ensemble.features
        self.w = rows.w

    def per_row(self, used: np.ndarray, evaluations: np.ndarray) -> np.ndarray:
        """Cost of every row at prediction time, shape (n,).

        It does not include what is paid once for all rows, nor the cost of leaves.
        """
        paid = (used * self.table).sum(axis=1)
        if self.rest.groups or self.rest.node:
            paid = paid + self.rest.per_row_cost(used, evaluations, self.names)
        return np.asarray(paid, dtype=float)

    def __call__(self, used: np.ndarray, evaluations: np.ndarray, n_leaves: int) -> float:
        """Mean cost of a row with everything included, as the task computes its cost."""
        paid = (
            float(self.per_row(used, evaluations) @ self.w / self.w.sum())
            + float(self.rest.leaf) * n_leaves
        )
        if self.once:
            bought = np.asarray(self.rest._groups_used(used[self.w > 0], self.names)).any(axis=0)
            paid += sum(c for c, g in self.once if np.asarray(bought)[g]) / float(self.w.sum())
        return paid


def feature_table(
    ensemble: Ensemble, rows: Rows, costs: FeatureCosts, unpruned: Ensemble | None = None
) -> pd.DataFrame:
    """Features by the share of rows that need them, with what each adds to the mean cost.

    Features are acquired in this order: the one that most rows need comes first.
    """
    routes, w = ensemble.walk(rows.X), rows.w
    share = w @ routes.used / w.sum()
    splits = np.bincount(ensemble.feature[ensemble.kept], minlength=len(ensemble.features))
    order = np.lexsort((-splits, -share))
    price, nothing = RowPrice(costs, ensemble, rows), np.zeros(len(w), dtype=np.int64)
    known, cumulative = np.zeros_like(routes.used), []
    for k in order:
        known[:, k] = routes.used[:, k]
        cumulative.append(float(price.per_row(known, nothing) @ w / w.sum()))
    frame = pd.DataFrame(
        {"share": share[order]},
        index=pd.Index([ensemble.features[k] for k in order], name="feature"),
    )
    if unpruned is not None:
        frame["share_unpruned"] = (w @ unpruned.walk(rows.X).used / w.sum())[order]
    return frame.assign(
        mean_cost=np.diff(cumulative, prepend=0.0), cumulative_cost=cumulative, splits=splits[order]
    )
