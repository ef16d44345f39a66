"""Base of the estimators of one tree whose leaves predict numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.estimators._criterion import check_loss, loss_named, refuse_penalties, task_with
from milp_trees.estimators._trees import OptimalTree, check_weights, take
from milp_trees.tasks.base import Task

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.results.result import Result

#: Binarizers that learn thresholds from a target.
LEARNING = ("buckets", "tree-guess")


class OptimalLossTree(OptimalTree):
    """Base class; a subclass stores the parameters, and says what its targets are."""

    criterion: Any

    def _penalties(self) -> dict[str, Any]:
        return {"leaf_penalty": self.ccp_alpha}

    def _stated_task(self, weighted: bool, **instead: Any) -> Task:  # type: ignore[override]
        """The loss with its penalties; see `OptimalTree`."""
        given = self.criterion
        if isinstance(given, Task):
            refuse_penalties("criterion", self._penalties())
            check_loss(
                given, f"criterion must be a Task whose leaves predict numbers; got {given}."
            )
            return given
        kind, parameters = loss_named(
            given, '"squared_error", "absolute_error", "poisson" or "gamma"'
        )
        return task_with(str(given), kind, parameters, self._penalties() | instead)

    def _rows_of(
        self,
        X: Any,
        targets: np.ndarray,
        names: tuple[str, ...] | None,
        sample_weight: Any,
        learned: np.ndarray,
        table: Any = None,
    ) -> tuple[Dataset, Any]:
        """Fit the binarizer, and make the dataset of the rows that count.

        Parameters
        ----------
        X : mapping of column name to array of shape (n,), or DataFrame
            The checked columns.
        targets : array of shape (n, k)
        names : tuple of str, optional
            What the targets are called.
        sample_weight : array of shape (n,), optional
        learned : array of shape (n,)
            The target in view of which a binarizer learns thresholds.
        table : table, optional
            All rows, of which these are a part.

        Returns
        -------
        dataset : Dataset
        table : mapping of column name to array of shape (n,), or DataFrame
            The rows of the dataset.
        """
        weights = None if sample_weight is None else check_weights(sample_weight, len(targets))
        if weights is not None and not weights.all():
            kept = np.flatnonzero(weights)
            X, targets, weights, learned = (
                take(X, kept),
                targets[kept],
                weights[kept],
                learned[kept],
            )
        fitted_on = self._binarized(X, learned, weights, table)
        dataset = self.binarizer_.dataset(
            X, fitted_on=fitted_on, targets=targets, target_names=names, weights=weights
        )
        return dataset, X

    def _learns_thresholds(self) -> bool:
        """Whether the binarizer chooses thresholds with the target in view."""
        kind = getattr(self.binarizer, "kind", self.binarizer)
        return str(kind).partition(":")[0] in LEARNING

    def _keep(self, result: Result) -> None:
        super()._keep(result)
        self.value_ = None if result.value is None else result.value.number

    def _labels_of_leaves(self) -> tuple[Any, ...]:
        return ()

    def _predicted(self, X: Any) -> np.ndarray:
        """What the leaf of every row predicts, shape (n,) or (n, k)."""
        chosen = self._chosen(X)
        predictions = np.array(self.tree_.actions, dtype=float)
        found: np.ndarray = predictions[chosen]
        return found


def spread(y: np.ndarray) -> np.ndarray:
    """A target in units of its deviation, as the binarizers of `LEARNING` get it.

    Raises
    ------
    DataError
        Every row has several targets.
    """
    if y.ndim > 1:
        raise DataError(
            f"The binarizers {' and '.join(LEARNING)} learn thresholds from one target, and y has {y.shape[1]} columns; use midpoints or quantiles."
        )
    deviation = float(y.std())
    units: np.ndarray = (y - y.mean()) / (deviation or 1.0)
    return units
