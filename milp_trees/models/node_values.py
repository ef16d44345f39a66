"""What the nodes of a converted tree hold: shares of classes, or predicted numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.dataset import Dataset


class NodeValues(ABC):
    """Values of nodes as scikit-learn's trees have them.

    Parameters
    ----------
    table : float array of shape (n, d)
        What is averaged over the rows of a node.
    weight : float array of shape (n,)
    unknown : float array of shape (d,)
        The value of a node without rows.
    """

    def __init__(self, table: np.ndarray, weight: np.ndarray, unknown: np.ndarray) -> None:
        self.table, self.weight, self.unknown = table, weight, unknown

    def inner(self, here: np.ndarray) -> tuple[np.ndarray, float, float]:
        """Value of a node that some rows reach, its impurity, and their weight."""
        weight = self.weight[here]
        total = float(weight.sum())
        value = weight @ self.table[here] / total if total else self.unknown
        return value, self.impurity(value, here, total), total

    @abstractmethod
    def leaf(self, action: int, value: np.ndarray) -> np.ndarray:
        """Value of a leaf, by its action and the mean of its rows."""

    @abstractmethod
    def impurity(self, value: np.ndarray, here: np.ndarray, total: float) -> float:
        """What scikit-learn calls the impurity of a node."""

    @abstractmethod
    def shaped(self, values: np.ndarray) -> np.ndarray:
        """Values of nodes, shape (nodes, d), in scikit-learn's form (nodes, outputs, classes)."""

    @abstractmethod
    def estimator(self, depth: int | None) -> Any:
        """The estimator of such a tree, without its `tree_`."""

    @abstractmethod
    def predicted(self, raw: np.ndarray) -> np.ndarray:
        """What rows get whose leaves have some values, to be compared with the tree's answers."""


class Shares(NodeValues):
    """Shares of classes.

    Parameters
    ----------
    codes : int array of shape (n,)
        Class of every row.
    weight : float array of shape (n,)
    labels : sequence
        The classes.
    leaves : float array of shape (actions, K), optional
        The shares that every action predicts; by default actions are the classes.
    """

    def __init__(
        self,
        codes: np.ndarray,
        weight: np.ndarray,
        labels: Sequence[Any],
        leaves: np.ndarray | None = None,
    ) -> None:
        K = len(labels)
        super().__init__(np.eye(K)[codes], weight, np.full(K, 1 / K))
        self.labels, self.leaves = labels, leaves

    def leaf(self, action: int, value: np.ndarray) -> np.ndarray:
        if self.leaves is not None:
            return np.asarray(self.leaves[action])
        return value if int(value.argmax()) == action else np.eye(len(self.labels))[action]

    def impurity(self, value: np.ndarray, here: np.ndarray, total: float) -> float:
        return float(1 - (value**2).sum())

    def shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, None, :]

    def estimator(self, depth: int | None) -> Any:
        from sklearn.tree import DecisionTreeClassifier

        model = DecisionTreeClassifier(max_depth=depth)
        model.classes_, model.n_classes_ = np.array(self.labels), len(self.labels)
        model.n_outputs_ = 1
        return model

    def predicted(self, raw: np.ndarray) -> np.ndarray:
        if self.leaves is not None:
            return raw
        return np.array(self.labels)[raw.argmax(axis=1)].astype(str)


class Numbers(NodeValues):
    """Means of numbers, and the predictions of leaves.

    Parameters
    ----------
    targets : float array of shape (n, k)
    weight : float array of shape (n,)
    leaves : float array of shape (actions, k)
        What every action predicts.
    """

    def __init__(self, targets: np.ndarray, weight: np.ndarray, leaves: np.ndarray) -> None:
        super().__init__(targets, weight, leaves.mean(axis=0))
        self.leaves = leaves

    def leaf(self, action: int, value: np.ndarray) -> np.ndarray:
        return np.asarray(self.leaves[action])

    def impurity(self, value: np.ndarray, here: np.ndarray, total: float) -> float:
        if not total:
            return 0.0
        squares = ((self.table[here] - value) ** 2).mean(axis=1)
        return float(self.weight[here] @ squares / total)

    def shaped(self, values: np.ndarray) -> np.ndarray:
        return values[:, :, None]

    def estimator(self, depth: int | None) -> Any:
        from sklearn.tree import DecisionTreeRegressor

        model = DecisionTreeRegressor(max_depth=depth)
        model.n_outputs_ = self.table.shape[1]
        return model

    def predicted(self, raw: np.ndarray) -> np.ndarray:
        return raw


def values_of_nodes(
    tree: Any, rows: Any, X: Any, y: Any, sample_weight: Any, labels: Sequence[Any] | None
) -> NodeValues:
    """The values of the nodes of a tree that chooses classes, or predicts numbers or probabilities.

    Parameters
    ----------
    tree : Tree
    rows : Dataset or RawRows
        Rows that reach the nodes.
    X : object
        What they were given as.
    y : array, optional
        Their targets; by default those of a Dataset, or else what the tree predicts.
    sample_weight : array of shape (n,), optional
    labels : sequence or None
        The classes; empty if the tree predicts numbers. By default they are its actions.
    """
    action = tree.routes(rows).action  # raises DataError for rows that lack features of the tree
    weight = np.ones(len(action))
    if sample_weight is not None:
        weight = np.asarray(sample_weight, dtype=float)
    if labels is None:
        codes = _codes(tuple(tree.actions), X, y)
        return Shares(action if codes is None else codes, weight, tree.actions)
    leaves = np.array(tree.actions, dtype=float).reshape(len(tree.actions), -1)
    if len(labels):
        codes = _codes(tuple(labels), X, y)
        likely = leaves.argmax(axis=1)[action]
        return Shares(likely if codes is None else codes, weight, labels, leaves)
    given = getattr(X, "targets", None) if y is None and isinstance(X, Dataset) else y
    targets = leaves[action] if given is None else np.asarray(given, dtype=float)
    targets = targets.reshape(len(action), -1)
    if targets.shape[1] != leaves.shape[1]:
        if y is not None:
            raise DataError(
                f"y has {targets.shape[1]} numbers per row, and the tree predicts {leaves.shape[1]}."
            )
        targets = leaves[action]  # such as times and events, of which a hazard is predicted
    return Numbers(targets, weight, leaves)


def _codes(labels: tuple[Any, ...], X: Any, y: Any) -> np.ndarray | None:
    """Position of each row's label among some; None if the rows have no labels."""
    if y is None and isinstance(X, Dataset) and X.y is not None and X.classes is not None:
        y = np.array(X.classes, dtype=object)[X.y]
    if y is None:
        return None
    where = {str(a): k for k, a in enumerate(labels)}
    given = [str(v) for v in np.asarray(y).tolist()]
    unknown = sorted(set(given) - set(where))
    if unknown:
        raise DataError(
            f"y holds {unknown[0]!r}, which is no action of the tree; its actions are {', '.join(where)}."
        )
    return np.array([where[v] for v in given], dtype=np.int64)
