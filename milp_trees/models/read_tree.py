"""A fitted decision tree of scikit-learn as a `Tree` on the binary features of a dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.checks import some
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.split_kinds import check_thresholds
from milp_trees.models.tree import Tree

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature, Dataset


def is_sklearn_tree(model: Any) -> bool:
    """Whether an object is a fitted decision tree of scikit-learn."""
    return hasattr(getattr(model, "tree_", None), "children_left")


def read_sklearn_tree(model: Any, dataset: Dataset, shares: bool = False) -> Tree:
    """The tree that divides the rows of a dataset as a tree of scikit-learn does.

    scikit-learn rounds values to single precision before it compares them. Each split becomes the
    feature that answers alike for every value between which no other value of the dataset lies.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted on the columns of the dataset, by name or in their order.
    dataset : Dataset
        With its features, or all thresholds of its columns.
    shares : bool, default=False
        Whether the leaves of a classifier predict the shares of the classes instead of a class.

    Returns
    -------
    Tree
        Its actions are the classes; or the numbers that its leaves predict, tuples of several.

    Raises
    ------
    DataError
        The tree asks a column that the dataset does not have, or no feature divides the rows as one
        of its splits does.
    Unsupported
        A split asks for a set of categories.
    """
    arrays = model.tree_
    check_thresholds(arrays, type(model).__name__, model)
    names = _columns(model, dataset)
    # Where some thresholds were chosen, the tree may ask another one.
    made_of = dataset if dataset.all_thresholds is None else (dataset.complete or dataset)
    known: dict[str, list[tuple[BinaryFeature, tuple[float, float]]]] = {}
    for feature, gap in zip(made_of.features, _gaps(made_of), strict=True):
        known.setdefault(feature.column, []).append((feature, gap))
    labels = getattr(model, "classes_", None)
    if labels is not None and arrays.n_outputs > 1:
        raise DataError(
            "The tree predicts several classes for every row; give one with one target."
        )
    predictions: list[Any] = []

    def predicted(node: int) -> Any:
        value = arrays.value[node]
        if labels is None:
            numbers = tuple(value[:, 0].tolist())
            return numbers[0] if len(numbers) == 1 else numbers
        if shares:
            return tuple((value[0] / value[0].sum()).tolist())
        return labels[int(value[0].argmax())].item()

    def read(node: int) -> Node:
        left, right = int(arrays.children_left[node]), int(arrays.children_right[node])
        if left < 0:
            predictions.append(predicted(node))
            return Leaf(len(predictions) - 1)
        column, threshold = names[int(arrays.feature[node])], float(arrays.threshold[node])
        missing_left = bool(arrays.missing_go_to_left[node])
        for feature, gap in known.get(column, ()):
            yes_left = _goes_left(feature, gap, threshold, missing_left)
            if yes_left is not None:
                below, above = read(left), read(right)
                sides = (above, below) if yes_left else (below, above)
                return Branch(feature, *sides)
        raise DataError(
            f"No feature of the data divides the rows as the split {column} <= {threshold:g} of the given tree does; choose all thresholds (binarizer midpoints), and fit the tree on these rows."
        )

    root = read(0)
    actions = tuple(dict.fromkeys(predictions))
    if labels is not None and not shares:
        actions = tuple(np.asarray(labels).tolist())
    index = {action: k for k, action in enumerate(actions)}
    return Tree(root, tuple(predictions)).with_actions([index[p] for p in predictions], actions)


def _columns(model: Any, dataset: Dataset) -> list[str]:
    """The names of the columns that a tree of scikit-learn was fitted on."""
    given = getattr(model, "feature_names_in_", None)
    order = list(dataset.table_columns or dict.fromkeys(f.column for f in dataset.features))
    if given is not None:
        return [str(name) for name in given]
    if model.n_features_in_ != len(order):
        raise DataError(
            f"The tree was fitted on {model.n_features_in_} columns without names, and the data have {len(order)} ({some(order)}); fit it on a DataFrame with their names."
        )
    return [str(name) for name in order]


def _gaps(dataset: Dataset) -> list[tuple[float, float]]:
    """The values of the data nearest to the threshold of every feature, below and above it."""
    ranked: Any = dataset.ranked
    if ranked is not None and ranked.gap is not None:
        return [(float(low), float(high)) for low, high in ranked.gap]
    return [(float("nan"), float("nan"))] * dataset.n_features


def _goes_left(
    feature: BinaryFeature, gap: tuple[float, float], threshold: float, missing_left: bool
) -> bool | None:
    """Whether the answer yes goes to the left of a split; None if they do not divide alike."""
    if feature.kind == "missing":
        return missing_left if np.isinf(threshold) else None
    compares = feature.kind == "<=" and not isinstance(feature.value, str)
    if feature.kind not in ("is", "<=") or (feature.kind == "<=" and not compares):
        return None
    if feature.missing is not None and (feature.missing == "yes") != (missing_left == compares):
        return None
    if not compares:
        return False if 0 <= threshold < 1 else None
    # Values are rounded, and the threshold is not.
    low, high = float(np.float32(gap[0])), float(np.float32(gap[1]))
    if np.isnan(low):  # the data hold answers, and no values
        return True if np.float32(feature.value) == np.float32(threshold) else None
    return True if low <= threshold < high else None
