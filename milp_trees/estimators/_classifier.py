"""Base of the estimators that classify: classes, rows, the task, shares of the classes."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from milp_trees.common.errors import DataError, UnknownName
from milp_trees.estimators._class_weight import exact_class_weight
from milp_trees.estimators._criterion import (
    check_loss,
    loss_named,
    refuse_penalties,
    task_with,
)
from milp_trees.estimators._groups import check_groups
from milp_trees.estimators._tables import Classifier
from milp_trees.estimators._trees import OptimalModel, check_weights, take
from milp_trees.estimators._warning import warn_user
from milp_trees.mip.registry import registry
from milp_trees.models.space import Trees
from milp_trees.tasks.base import Task
from milp_trees.tasks.leaf_sums import LeafSums

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


#: A target of more numbers than this, with fewer rows for each, is taken for a quantity.
MANY_CLASSES, ROWS_OF_A_CLASS = 20, 20
#: The criterion of leaves that choose a class; others predict probabilities.
ERRORS = "accuracy"
#: What to do with a quantity.
QUANTITY = "cut it into classes, for example with pandas.qcut(y, 4, labels=False), or fit a regression tree, such as sklearn.tree.DecisionTreeRegressor"


class OptimalClassifier(Classifier, OptimalModel):  # type: ignore[misc]
    """Base class; a subclass stores the parameters, and `fit` calls the methods below in turn."""

    task: Any
    #: Parameters that some classifiers lack.
    class_weight: Any = None
    criterion: Any = ERRORS

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        within: tuple[Any, np.ndarray] | None = None,
    ) -> tuple[Dataset, np.ndarray, Any]:
        """Check the arguments of `fit`, and fit the binarizer.

        Parameters
        ----------
        X, y, sample_weight, groups
            As for `fit`.
        within : pair of table and array, optional
            The checked table and the classes of all rows, of which these are a part: a fold may lack
            a class, and its features answer for all rows.

        Returns
        -------
        dataset : Dataset
        codes : int array of shape (n,)
            Index of the class of every row.
        table : mapping of column name to array of shape (n,), or DataFrame
            The rows of the dataset.
        """
        X, y = self._checked(X, y)
        if type(y) is not np.ndarray or y.ndim != 1:
            y = column_or_1d(y, warn=True)
        present = np.unique(y) if y.dtype.kind in "biuU" else np.zeros(len(y))
        if 2 * len(present) > len(y):  # scikit-learn refuses targets, or warns that they are many
            _check_labels(y)
            present = np.unique(y)
        weights = None if sample_weight is None else check_weights(sample_weight, len(y))
        groups, column = check_groups(groups, X)
        # A class of y stays a class if none of its rows counts, as in scikit-learn's trees.
        table, known = (None, present) if within is None else within
        self.classes_, codes = known, np.searchsorted(known, y)
        _warn_of_many_classes(known, len(y))
        labels = tuple(c.item() if hasattr(c, "item") else c for c in self.classes_)
        if weights is not None:
            kept = np.flatnonzero(weights)
            X, codes, weights, groups = (
                take(X, kept),
                codes[kept],
                weights[kept],
                None if groups is None else groups[kept],
            )
        if within is None:
            _check_two_count(labels, codes)
        if self.class_weight is not None and isinstance(self.task, Task):
            raise DataError(
                "task is a Task, which weights the classes itself; give class_weight to the Task instead."
            )
        self.class_weight_ = exact_class_weight(self.class_weight, labels, codes, weights)
        fitted_on = self._binarized(X, codes, weights, table)
        if self.class_weight_ is not None and self._predicts_probabilities:
            # Of a loss of probabilities a factor of a class is one of the weights of its rows.
            factors = np.array([float(w) for w in self.class_weight_.values()])
            weights = factors[codes] * (1.0 if weights is None else weights)
        dataset = self.binarizer_.dataset(
            X,
            codes,
            fitted_on=fitted_on,
            classes=labels,
            weights=weights,
            groups=groups,
            group_column=column,
        )
        if self._predicts_probabilities:
            self._check_probabilities(dataset)
        return dataset, codes, X

    def _parts_of(self, X: Any, y: Any) -> tuple[Any, np.ndarray]:
        """What `_prepare` is to know of all rows for a part of them: `within`."""
        return self._checked(X, y)[0], self.classes_

    @property
    def _predicts_probabilities(self) -> bool:
        """Whether leaves are to predict probabilities instead of a class."""
        return not (isinstance(self.criterion, str) and self.criterion == ERRORS)

    def _check_probabilities(self, dataset: Dataset) -> None:
        """Raise DataError if the loss of the criterion is not one of probabilities of classes."""
        from milp_trees.problems.problem import Problem

        view: Any = Problem(dataset, self._stated_task(False), Trees(0)).view(LeafSums)  # type: ignore[type-abstract]
        predicted = view.leaf_actions(view.sums[:1])[1][0]
        if not isinstance(predicted, tuple) or len(predicted) != len(self.classes_):
            raise DataError(
                f'criterion must be a loss of predicted probabilities, such as "gini" or "log_loss", or "{ERRORS}"; the leaves of {self.criterion!r} predict something else.'
            )

    def _count(self, codes: np.ndarray, dataset: Dataset | None = None) -> None:
        """Compute the shares of the classes in the leaves, with the weights of rows and classes.

        Parameters
        ----------
        codes : int array of shape (n,)
            Index of the class of every row.
        dataset : Dataset, optional
            The rows; by default those of the result.
        """
        if dataset is None:
            dataset = self.result_.problem.dataset
            routes = self.result_.problem.routes(self._fitted)
        else:
            routes = self._fitted.routes(dataset)
        labels, weights = self.classes_, dataset.row_weights
        if self.class_weight_ is not None:
            weights = weights * np.array([float(w) for w in self.class_weight_.values()])[codes]
        if self._of_probabilities:
            actions = np.array(self._fitted.actions, dtype=float)
            self._shares_ = actions[list(routes.leaf_actions)]
            return
        size = self._fitted.n_leaves, len(labels)
        places = np.asarray(routes.leaf, dtype=np.int64) * size[1] + codes
        self._shares_ = np.bincount(places, weights, size[0] * size[1]).reshape(size)
        totals = self._shares_.sum(axis=1, keepdims=True)
        self._shares_ = np.divide(
            self._shares_,
            totals,
            out=np.full_like(self._shares_, 1 / len(labels)),
            where=totals > 0,
        )

    def _stated_task(self, weighted: bool, **instead: Any) -> Task:
        """The task with its penalties and constraints.

        Parameters
        ----------
        weighted : bool
            Whether the rows have weights.
        **instead
            Penalties used instead of those of the estimator.

        Raises
        ------
        DataError
            The parameter `task` is no classification task, or it does not take the penalties, the
            constraints or the weights.
        """
        if self._predicts_probabilities:
            return self._stated_loss(instead)
        if isinstance(self.task, Task):
            refuse_penalties("task", self._penalties())
            return self.task
        name = self.task
        if not isinstance(name, str):
            raise DataError(
                f'task must be the name of a classification task ("accuracy", "f1", "auc", …) or a Task; got {name!r}.'
            )
        try:
            kind, given = registry.task_from_label(name)
            if (weighted or self.class_weight_ is not None) and kind.weighted_by is not None:
                kind = registry.task(kind.weighted_by)
        except UnknownName as error:
            raise DataError(f"task must be the name of a task or a Task. {error}") from None
        if not kind.of_classes:
            raise DataError(
                f'task must be the name of a classification task ("accuracy", "f1", "auc", …) or a Task; got {name!r}.'
            )
        if weighted and not kind.weighs_rows:
            raise DataError(
                f'task="{name}" takes no row weights; leave out sample_weight, or use task="accuracy".'
            )
        if self.class_weight_ is not None:
            if "class_weight" not in {f.name for f in fields(kind)} or "class_weight" in given:  # type: ignore[arg-type]
                raise DataError(
                    f'task="{name}" takes no class_weight beside it; leave it out, or use task="accuracy".'
                )
            given["class_weight"] = self.class_weight_
        return task_with(name, kind, given, self._penalties() | instead)

    def _stated_loss(self, instead: dict[str, Any]) -> Task:
        """The loss of the criterion with its penalties."""
        if self.task != ERRORS:
            raise DataError(
                f"Give either task={self.task!r} or criterion={self.criterion!r}; both say what the tree optimises."
            )
        if isinstance(self.criterion, Task):
            refuse_penalties("criterion", self._penalties())
            check_loss(
                self.criterion, f"criterion must be the Task of a loss; got {self.criterion}."
            )
            return self.criterion
        kind, given = loss_named(self.criterion, f'"{ERRORS}", "gini" or "log_loss"')
        return task_with(self.criterion, kind, given, self._penalties() | instead)

    def _labels_of_leaves(self) -> list[Any] | None:
        """The classes, if leaves predict their probabilities; see `OptimalTree`."""
        return self.classes_.tolist() if self._of_probabilities else None

    @property
    def _of_probabilities(self) -> bool:
        """Whether the leaves of the fitted model predict probabilities."""
        return any(isinstance(action, tuple) for action in self._fitted.actions)

    def predict(self, X: Any) -> np.ndarray:
        """Predicted label of every row, shape (n,); of probabilities the most probable one."""
        check_is_fitted(self)
        if self._of_probabilities:
            chosen = self.predict_proba(X).argmax(axis=1)
        else:
            chosen = self._chosen(X)
        labels: np.ndarray = self.classes_[chosen]
        return labels

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each class in a row's leaf, shape (n, K).

        It is the share of the class among the weighted training rows there, or what the leaves of
        the criterion predict.
        """
        leaf = self.apply(X)
        shares: np.ndarray = self._shares_[leaf]
        return shares


def _check_labels(y: np.ndarray) -> None:
    """Raise DataError if a target holds quantities and no labels."""
    try:
        check_classification_targets(y)
    except ValueError as error:
        if y.dtype.kind != "f" or not np.isfinite(y).all():
            raise
        raise DataError(
            f"Unknown label type: y holds {len(np.unique(y))} different numbers, some with fractions, so it is a quantity and no class; {QUANTITY}."
        ) from error


def _warn_of_many_classes(classes: np.ndarray, n: int) -> None:
    """Warn of a target of numbers with few rows for each of them."""
    found = len(classes)
    if classes.dtype.kind in "iuf" and found > MANY_CLASSES and n < ROWS_OF_A_CLASS * found:
        message = f"y holds {found} different numbers in {n} rows, and each of them becomes a class. If it is a quantity, {QUANTITY}."
        warn_user(message, UserWarning)


def _check_two_count(labels: tuple[Any, ...], codes: np.ndarray) -> None:
    """Raise DataError if the rows that count are all of one class."""
    if len(labels) < 2:
        raise DataError(
            f"y holds one class only ({labels[0]!r}); a classifier needs at least two. Check which column is the target."
        )
    counted = np.unique(codes)
    if len(counted) < 2:
        raise DataError(
            f"sample_weight is zero in every row that is not of the class {labels[counted[0]]!r}; rows of at least two classes must count."
        )
