"""Gradient boosting of scikit-learn as a `Forest`: a start plus the values of all trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.common.errors import DataError, Unsupported
from milp_trees.embedding.arrays import plain_labels, tree_of_arrays
from milp_trees.embedding.forest import Forest, Output
from milp_trees.models.read_ensemble import column_names
from milp_trees.models.split_kinds import check_thresholds


def read_boosted(model: Any, columns: Any = None) -> Forest:
    """The forest of a fitted gradient boosting.

    Parameters
    ----------
    model : GradientBoostingClassifier, GradientBoostingRegressor, or their histogram versions
    columns : sequence of str, optional
        Names of the columns.

    Returns
    -------
    Forest

    Raises
    ------
    DataError
        The model is not fitted.
    Unsupported
        It starts from a model that is no constant, has splits on sets of categories, or predicts
        another function than the sum.
    """
    kind = type(model).__name__
    histogram = hasattr(model, "_predictors")
    if not histogram and not hasattr(model, "estimators_"):
        raise DataError(f"This {kind} is not fitted yet; call fit(X, y) first.")
    names = column_names(model, columns, int(model.n_features_in_))
    read = _histogram_trees if histogram else _trees
    trees, base = read(model, names)
    K = len(base)
    roots, values = [], []
    for k, root, one in trees:
        roots.append(root)
        whole = np.zeros((len(one), K))
        whole[:, k] = one
        values.append(whole)
    given = tuple(values)
    if not hasattr(model, "classes_"):
        output = Output("value", ("target",), given, base)
    else:
        labels = plain_labels(model.classes_)
        sums = labels if K > 1 else (labels[1],)
        output = Output("score", sums, given, base, labels)
    return Forest(tuple(roots), output, model, tuple(names))


def _trees(model: Any, names: list[str]) -> tuple[list[Any], np.ndarray]:
    """Class, root and leaf values of every tree, and the start of each sum."""
    n = int(model.n_features_in_)
    constant = model.init_ == "zero" if isinstance(model.init_, str) else False
    if not constant and type(model.init_).__name__ not in ("DummyClassifier", "DummyRegressor"):
        raise Unsupported(
            f"This {type(model).__name__} starts from a {type(model.init_).__name__}, which is no constant; fit it without init."
        )
    shape = np.zeros((1, n), dtype=np.float32)
    base = np.asarray(model._raw_predict_init(shape), dtype=float)[0]
    out = []
    for stage in model.estimators_:
        for k, member in enumerate(stage):
            tree = member.tree_
            check_thresholds(tree, type(model).__name__, member)
            root, leaves = tree_of_arrays(
                tree.children_left, tree.children_right, tree.feature, tree.threshold, names, True
            )
            out.append((k, root, model.learning_rate * tree.value[leaves, 0, 0]))
    return out, base


def _histogram_trees(model: Any, names: list[str]) -> tuple[list[Any], np.ndarray]:
    """The same of histogram-based boosting, which compares doubles."""
    kind = type(model).__name__
    declared = getattr(model, "is_categorical_", None)
    if declared is not None and np.any(declared):
        raise Unsupported(
            f"This {kind} has splits on sets of categories, which cannot be embedded; encode the categories as columns of 0 and 1."
        )
    if not hasattr(model, "classes_") and type(model._loss.link).__name__ != "IdentityLink":
        raise Unsupported(
            f"This {kind} predicts a function of the sum of its trees that is not linear; fit it with another loss."
        )
    base = np.asarray(model._baseline_prediction, dtype=float).ravel()
    out = []
    for stage in model._predictors:
        for k, member in enumerate(stage):
            nodes = member.nodes
            left = np.where(nodes["is_leaf"], -1, nodes["left"].astype(np.int64))
            root, leaves = tree_of_arrays(
                left,
                nodes["right"].astype(np.int64),
                nodes["feature_idx"],
                nodes["num_threshold"],
                names,
                False,
            )
            out.append((k, root, nodes["value"][leaves].astype(float)))
    return out, base
