"""What a fitted forest shows of itself: paths of rows, and importances of columns."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from milp_trees.common.errors import DataError
from milp_trees.estimators._importance import additive_drops
from milp_trees.estimators._inspect import path_matrix
from milp_trees.estimators._tables import TakesTables

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


class TreeArrays(NamedTuple):
    """A tree as parallel arrays over its nodes; a parent comes before its children.

    `left` and `right` are negative at leaves; `column` is the tested column of X. `sums` holds the
    sum of the cost vectors of the training rows in every leaf (its other entries have no meaning).
    """

    left: np.ndarray
    right: np.ndarray
    column: np.ndarray
    sums: np.ndarray


def class_arrays(tree: Any) -> TreeArrays:
    """The arrays of a tree whose attributes are named as in scikit-learn, with class counts."""
    counts = tree.value * tree.weighted_n_node_samples[:, None]
    return TreeArrays(tree.children_left, tree.children_right, tree.feature, counts)


def class_errors(counts: np.ndarray) -> np.ndarray:
    """Rows that are not of the most frequent class, for class counts of shape (m, K)."""
    errors: np.ndarray = counts.sum(axis=1) - counts.max(axis=1)
    return errors


def drawn_columns(max_features: Any, p: int) -> int:
    """The parameter `max_features` of a forest as a number of its p columns; raises DataError."""
    if max_features is None:
        return p
    if max_features in ("sqrt", "log2"):
        return max(1, int(np.sqrt(p) if max_features == "sqrt" else np.log2(p)))
    whole = isinstance(max_features, (int, np.integer)) and not isinstance(max_features, bool)
    if whole and max_features >= 1:
        return min(int(max_features), p)
    if isinstance(max_features, (float, np.floating)) and 0 < max_features <= 1:
        return max(1, int(max_features * p))
    raise DataError(
        f'max_features is a number of columns, a share of them in (0, 1], "sqrt", "log2" or None; got {max_features!r}.'
    )


class InspectedForest(TakesTables):
    """Base of forests; a subclass gives the arrays of its trees and the leaves of rows."""

    n_features_in_: int

    #: The trees as arrays.
    _tree_arrays: Callable[[], list[TreeArrays]]
    #: The leaf of every row in every tree, shape (n, trees).
    apply: Callable[[Any], np.ndarray]
    #: The least loss of each sum of cost vectors (m, d) in one leaf, shape (m,).
    _least: Callable[[np.ndarray], np.ndarray]

    def _leaf_nodes(self, X: Any) -> list[np.ndarray]:
        """For every tree the node that is the leaf of each row; here `apply` counts nodes."""
        return list(self.apply(X).T)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean over the trees of each column's share in the drop of the loss, shape (p,).

        The drop of a split is the least loss of its rows in one leaf minus their least loss in two
        leaves; a tree counts the rows that it drew. The shares sum up to 1, or are all 0 if no split
        lowers the loss.
        """
        check_is_fitted(self)
        trees = self._tree_arrays()
        out = np.zeros(self.n_features_in_)
        for tree in trees:
            splits = np.flatnonzero(tree.left >= 0)
            sums = tree.sums.copy()
            for node in splits[::-1]:
                sums[node] = sums[tree.left[node]] + sums[tree.right[node]]
            sides = (sums[splits], sums[tree.left[splits]], sums[tree.right[splits]])
            drop = additive_drops(*sides, self._least)
            if drop.any():
                np.add.at(out, tree.column[splits], drop / drop.sum())
        return out / out.sum() if out.any() else out

    def decision_path(self, X: Any) -> tuple[csr_matrix, np.ndarray]:
        """The nodes that each row visits, as in the forests of scikit-learn.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)

        Returns
        -------
        indicator : csr_matrix of shape (n, nodes of all trees)
            1 where the row visits the node.
        n_nodes_ptr : int array of shape (number of trees + 1,)
            The columns of tree t are those from `n_nodes_ptr[t]` to `n_nodes_ptr[t + 1]`.
        """
        from scipy.sparse import hstack

        reached, parts = self._leaf_nodes(X), []
        for tree, node in zip(self._tree_arrays(), reached, strict=True):
            paths: list[list[int]] = [[]] * len(tree.left)
            paths[0] = [0]
            for parent in np.flatnonzero(tree.left >= 0).tolist():
                for child in (int(tree.left[parent]), int(tree.right[parent])):
                    paths[child] = [*paths[parent], child]
            parts.append(path_matrix(node, paths))
        ends = np.cumsum([0, *(part.shape[1] for part in parts)])
        return hstack(parts, format="csr"), ends
