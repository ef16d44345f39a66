"""Ensembles read from fitted models.

These are scikit-learn's trees, forests, bagging and extra trees, BudgetRF, and the trees of this
package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import some
from milp_trees.models.ensemble import Ensemble
from milp_trees.models.split_kinds import check_thresholds
from milp_trees.models.tree_arrays import assemble

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.models.nodes import Node
    from milp_trees.models.tree import Tree


def read_ensemble(
    model: Any, columns: Sequence[str] | None = None, features: Mapping[str, str] | None = None
) -> Ensemble:
    """The ensemble of a fitted model.

    Parameters
    ----------
    model : estimator
        A tree, forest, extra trees or bagging of trees of scikit-learn (classifier or regressor),
        or a `BudgetForestClassifier`.
    columns : sequence of str, optional
        Names of the columns; by default those the model was fitted with, or `x0`, `x1`, ….
    features : mapping of column to feature, optional
        Columns that are acquired together as one feature (dummy variables of one question).

    Returns
    -------
    Ensemble

    Raises
    ------
    DataError
        The model is not fitted, is boosted, has several outputs, or has members that are not trees.
    Unsupported
        A split asks for a set of categories, as those of scikit-learn 1.10 may.
    """
    kind = type(model).__name__
    check_prunable(model)
    members = _members(model, kind)
    n_columns = int(model.n_features_in_)
    names = column_names(model, columns, n_columns)
    if getattr(model, "n_outputs_", 1) != 1:
        raise DataError(
            f"{kind} predicts {model.n_outputs_} outputs; fit a model for each of them and give one."
        )
    classes = (
        None
        if not hasattr(model, "classes_")
        else tuple(c.item() if hasattr(c, "item") else c for c in model.classes_)
    )
    chosen = getattr(model, "estimators_features_", None)
    trees = [
        _arrays(m, kind, classes, None if chosen is None else np.asarray(chosen[t]))
        for t, m in enumerate(members)
    ]
    if classes is not None and getattr(model, "voting", None) == "hard":
        for tree in trees:  # every tree gives its whole vote to one label
            tree["value"] = np.eye(len(classes))[tree["value"].argmax(axis=1)]
    # Values are shares already; to divide them by their sum again would change last digits, and
    # so change ties of votes.
    return Ensemble(
        **assemble(trees, names),
        classes=classes,
        single=not getattr(model, "double_precision_", False),
        normalise=False,
        **_features(names, features),
        source={"model": kind, "trees": len(trees)},
    )


def check_prunable(estimator: Any) -> None:
    """Raise DataError if an estimator, fitted or not, is of a kind that cannot be pruned."""
    from sklearn.ensemble import BaggingClassifier, BaggingRegressor
    from sklearn.ensemble._forest import ForestClassifier, ForestRegressor
    from sklearn.tree import BaseDecisionTree

    kind = type(estimator).__name__
    if "Boost" in kind:
        raise DataError(
            f"{kind} adds up its trees: an error of a single tree means nothing. Give a forest, bagging, extra trees or a tree."
        )
    if isinstance(estimator, (BaggingClassifier, BaggingRegressor)):
        base = estimator.estimator
        if base is not None and not isinstance(base, BaseDecisionTree):
            raise DataError(
                f"This {kind} bags a {type(base).__name__}, which is no tree; bag a DecisionTreeClassifier or DecisionTreeRegressor."
            )
    elif not isinstance(
        estimator, (ForestClassifier, ForestRegressor, BaseDecisionTree)
    ) and not hasattr(estimator, "prunable_trees"):
        raise DataError(
            f"{kind} is no ensemble of trees; give a scikit-learn tree, forest, bagging or extra trees, or a BudgetForestClassifier."
        )


def _members(model: Any, kind: str) -> list[Any]:
    if hasattr(model, "tree_"):
        return [model]
    members = getattr(model, "estimators_", None)
    if members is None:
        raise DataError(f"This {kind} is not fitted yet; call fit(X, y) first.")
    return list(members)


def column_names(model: Any, columns: Sequence[str] | None, n_columns: int) -> list[str]:
    """The names of the columns of a fitted model: as given, its own, or `x0`, `x1`, …."""
    own = getattr(model, "feature_names_in_", None)
    if isinstance(columns, str):
        raise DataError(f"columns must be a list of names; got the text {columns!r}.")
    names = [
        str(c)
        for c in (
            columns
            if columns is not None
            else own
            if own is not None
            else [f"x{j}" for j in range(n_columns)]
        )
    ]
    if len(names) != n_columns:
        raise DataError(
            f"The model was fitted on {n_columns} columns; {len(names)} names are given."
        )
    if own is not None and names != list(own) and sorted(names) == sorted(map(str, own)):
        raise DataError(
            f"columns names the columns of the model in another order; they are {some(own)}."
        )
    if len(set(names)) != n_columns:
        raise DataError(
            f"Two columns are called {next(c for c in names if names.count(c) > 1)!r}; give columns= with names that differ."
        )
    return names


def _features(names: Sequence[str], features: Mapping[str, str] | None) -> dict[str, Any]:
    """Fields `features` and `feature_of` from a mapping of columns to features."""
    if features is None:
        return {}
    unknown = [c for c in features if c not in names]
    if unknown:
        raise DataError(
            f"There is no column {unknown[0]!r} to make part of the feature {features[unknown[0]]!r}."
        )
    acquired = list(dict.fromkeys(features.get(c, c) for c in names))
    place = {f: k for k, f in enumerate(acquired)}
    return {
        "features": tuple(acquired),
        "feature_of": np.array([place[features.get(c, c)] for c in names], dtype=np.int64),
    }


def _arrays(
    member: Any, kind: str, classes: tuple[Any, ...] | None, chosen: np.ndarray | None
) -> dict[str, np.ndarray]:
    """One member as parallel arrays, in the columns and classes of the ensemble."""
    tree = getattr(member, "tree_", member)
    if not hasattr(tree, "children_left"):
        raise DataError(f"A member of this {kind} is a {type(member).__name__}, which is no tree.")
    check_thresholds(tree, kind, member)
    left = np.asarray(tree.children_left, dtype=np.int64)
    column = np.asarray(tree.feature, dtype=np.int64)
    if chosen is not None:
        column = np.where(left >= 0, chosen[np.maximum(column, 0)], -1)
    value = np.asarray(tree.value, dtype=float)
    value = value[:, 0, :] if value.ndim == 3 else value
    if classes is not None and value.shape[1] != len(classes):
        # This bagged member was fitted on some classes only, and gives their indices.
        whole = np.zeros((len(value), len(classes)))
        whole[:, np.asarray(member.classes_, dtype=np.int64)] = value
        value = whole
    return {
        "left": left,
        "right": np.asarray(tree.children_right, dtype=np.int64),
        "column": column,
        "threshold": np.asarray(tree.threshold),
        "value": value,
    }


def ensemble_from_trees(trees: Sequence[Tree], dataset: Dataset) -> tuple[Ensemble, Dataset]:
    """Trees of this package as an ensemble, and the dataset in the columns of this ensemble.

    The value of an inner node is the weight of the rows of each class that reach it; a leaf votes
    for its own action. The columns are the binary features; those of one original column are one
    feature of the ensemble.
    """
    y = dataset.require("y", "An ensemble of trees")
    classes = tuple(dataset.classes or ())
    for tree in trees:
        if tuple(tree.actions) != classes:
            raise DataError(
                f"A tree chooses among {tree.actions}, the data have the classes {classes}."
            )
    names = [t.name for t in dataset.features]
    arrays = [_tree_arrays(tree, dataset, np.asarray(y), len(classes)) for tree in trees]
    ensemble = Ensemble(
        **assemble(arrays, names),
        classes=classes,
        **_features(names, {t.name: t.column for t in dataset.features}),
        source={"model": "Tree", "trees": len(trees)},
    )
    return ensemble, dataset.with_(numeric=dataset.X.astype(float), columns=names)


def _tree_arrays(
    tree: Tree, dataset: Dataset, y: np.ndarray, n_classes: int
) -> dict[str, np.ndarray]:
    from milp_trees.models.nodes import Leaf

    left: list[int] = []
    right: list[int] = []
    column: list[int] = []
    value: list[np.ndarray] = []

    def add(node: Node, rows: np.ndarray) -> int:
        place = len(left)
        counts = np.bincount(y[rows], weights=dataset.row_weights[rows], minlength=n_classes)
        left.append(-1)
        right.append(-1)
        column.append(-1)
        if isinstance(node, Leaf):
            # A leaf keeps its own action, even if most of its rows have another class.
            counts = np.eye(n_classes)[node.action]
            value.append(counts)
            return place
        value.append(counts)
        column[place] = dataset.index[node.test]
        true = dataset.X[rows, column[place]] == 1
        left[place] = add(node.left, rows[~true])
        right[place] = add(node.right, rows[true])
        return place

    add(tree.root, np.arange(dataset.n_rows))
    return {
        "left": np.array(left),
        "right": np.array(right),
        "column": np.array(column),
        "threshold": np.full(len(left), 0.5),
        "value": np.array(value),
    }


def out_of_bag(model: Any, n_rows: int) -> np.ndarray:
    """Weights 0/1 of shape (n, T): 1 if a tree was not fitted on a training row."""
    kind = type(model).__name__
    _members(model, kind)
    fitted_on = getattr(model, "_n_samples", getattr(model, "_n_rows", n_rows))
    if fitted_on != n_rows:
        raise DataError(
            f"The {kind} was fitted on {fitted_on} rows, {n_rows} are given; give its training rows."
        )
    out = np.zeros((n_rows, 0))
    if hasattr(model, "estimators_samples_"):
        out = np.ones((n_rows, len(model.estimators_samples_)))
        for t, rows in enumerate(model.estimators_samples_):
            out[rows, t] = 0
    if not out.any():
        raise DataError(
            f"{kind} has no out-of-bag rows: its trees saw all rows. Fit it with bootstrap=True, or count errors on held-out rows."
        )
    return out
