"""`Ensemble`: a frozen, solver-free ensemble of trees whose splits may be pruned.

All trees are stored in one array of nodes, each tree in preorder, so a subtree is a contiguous
range of nodes. A pruned ensemble shares these arrays and marks the splits that are kept, so two
prunings of one ensemble can be compared node by node.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.names import columns_over

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset


@dataclass(frozen=True, eq=False)
class EnsembleRoutes:
    """The leaf of every row in every tree, from which tasks compute values.

    Parameters
    ----------
    ensemble : Ensemble
    leaf : int32 array of shape (n, T)
        Node at which a row ends in each tree.
    used : bool array of shape (n, K)
        Features that are needed for a row, in any tree.
    evaluations : int64 array of shape (n,)
        Number of nodes that are evaluated for a row, over all trees.
    """

    ensemble: Ensemble
    leaf: np.ndarray
    used: np.ndarray
    evaluations: np.ndarray

    @property
    def n_leaves(self) -> int:
        return self.ensemble.n_leaves

    @cached_property
    def action(self) -> np.ndarray:
        """Index of the class of each row, by the mean of the trees' distributions."""
        return np.asarray(self.ensemble.mean_value(self.leaf).argmax(axis=1))


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Trees with thresholds on numeric columns: `column <= threshold` goes left.

    Parameters
    ----------
    parent, left, right : int64 arrays of shape (M,)
        Nodes of all trees in preorder, one tree after the other; -1 if there is no such node.
    member, column : int64 arrays of shape (M,)
        Tree of every node, and the column that a split compares, -1 at leaves.
    threshold : float array of shape (M,)
        Threshold of a split.
    value : float array of shape (M, C)
        Share (or weight) of the training rows at the node, per class; for regression one column
        with the prediction. Inner nodes have a value too: it is their prediction when they become
        leaves.
    columns : tuple of str
        Names of the columns of the data.
    features : tuple of str, optional
        Names of the features that are acquired; by default each column is a feature.
    feature_of : int array of shape (d,), optional
        Feature of every column (several columns may come from one: dummy variables, thresholds of
        the same measurement).
    classes : tuple or None
        Class labels; None for regression.
    kept : bool array of shape (M,), optional
        Splits that are kept; by default all.
    single : bool
        Whether values are rounded to 32-bit floats before they are compared (as scikit-learn does).
    normalise : bool
        Whether a tree's vote is its leaf's value divided by its sum (True), or the value itself.
    original : int64 array of shape (M,), optional
        Position of a node in the model from which it was read.
    source : mapping
        How it was made.
    """

    parent: np.ndarray
    left: np.ndarray
    right: np.ndarray
    member: np.ndarray
    column: np.ndarray
    threshold: np.ndarray
    value: np.ndarray
    columns: tuple[str, ...]
    features: tuple[str, ...] = ()
    feature_of: np.ndarray | None = None
    classes: tuple[Any, ...] | None = None
    kept: np.ndarray = None  # type: ignore[assignment]
    single: bool = False
    normalise: bool = True
    original: np.ndarray | None = None
    source: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.feature_of is None:
            object.__setattr__(self, "feature_of", np.arange(len(self.columns)))
            object.__setattr__(self, "features", tuple(self.columns))
        if self.kept is None:
            object.__setattr__(self, "kept", self.left >= 0)
        if not np.isfinite(self.value).all():
            raise DataError(
                "A node of the ensemble predicts NaN or infinity; fit it on complete data."
            )

    # -- shape -------------------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        return len(self.parent)

    @cached_property
    def roots(self) -> np.ndarray:
        return np.flatnonzero(self.parent < 0)

    @property
    def n_trees(self) -> int:
        return len(self.roots)

    @property
    def n_splits(self) -> int:
        """Number of splits that are kept."""
        return int(self.kept.sum())

    @property
    def n_leaves(self) -> int:
        """Number of leaves of all pruned trees."""
        return self.n_splits + self.n_trees

    @cached_property
    def size(self) -> np.ndarray:
        """Number of nodes of the unpruned subtree of each node, itself included."""
        size = np.ones(self.n_nodes, dtype=np.int64)
        for level in self.levels[:0:-1]:
            np.add.at(size, self.parent[level], size[level])
        return size

    @cached_property
    def levels(self) -> list[np.ndarray]:
        """Nodes of the unpruned trees by depth."""
        out, level = [], self.roots
        while len(level):
            out.append(level)
            split = level[self.left[level] >= 0]
            level = np.concatenate([self.left[split], self.right[split]])
        return out

    @cached_property
    def feature(self) -> np.ndarray:
        """Feature that every split needs, -1 at leaves, shape (M,)."""
        assert self.feature_of is not None
        return np.where(self.column >= 0, self.feature_of[self.column], -1)

    @cached_property
    def label(self) -> np.ndarray:
        """Index of the class that a node predicts as a leaf: the (first) most frequent one."""
        return np.asarray(self.value.argmax(axis=1))

    @property
    def actions(self) -> tuple[Any, ...]:
        """The classes, which are what leaves may predict; empty for regression."""
        return self.classes or ()

    # -- pruning -----------------------------------------------------------------------------------

    def pruned(self, keep: np.ndarray) -> Ensemble:
        """The same ensemble with other splits kept.

        Parameters
        ----------
        keep : bool array of shape (M,)
            Splits to keep.

        Raises
        ------
        DataError
            A leaf is kept, or a node whose parent is not kept.
        """
        keep = np.array(keep, dtype=bool)
        if keep.shape != (self.n_nodes,):
            raise DataError(
                f"keep must have one entry per node ({self.n_nodes}); its shape is {keep.shape}."
            )
        if (keep & (self.left < 0)).any():
            raise DataError("A leaf cannot be kept as a split.")
        inner = np.flatnonzero(keep & (self.parent >= 0))
        if not keep[self.parent[inner]].all():
            raise DataError("A split can only be kept together with its parent.")
        return self._sharing(keep)

    def _sharing(self, keep: np.ndarray) -> Ensemble:
        """The pruning that keeps these splits, which must be a valid pruning.

        Everything else is shared, including what was derived from the trees.
        """
        keep.setflags(write=False)
        out = object.__new__(Ensemble)
        out.__dict__.update(self.__dict__, kept=keep)
        return out

    def same_trees(self, other: Ensemble) -> bool:
        """Whether two ensembles are prunings of the same trees."""
        return self.sha256 == other.sha256

    # -- prediction --------------------------------------------------------------------------------

    def routes(self, dataset: Dataset) -> EnsembleRoutes:
        """Leaves, needed features and evaluated nodes of the rows of a Dataset (numeric columns).

        Raises
        ------
        DataError
            The data have other columns.
        """
        X = getattr(dataset, "numeric", None)
        if X is None:
            raise DataError(
                "An ensemble needs a Dataset with numeric columns: mt.Dataset(…, numeric=X, columns=names), or mt.load_numeric('people.csv')."
            )
        if tuple(dataset.columns or ()) != self.columns:
            missing = [c for c in self.columns if c not in (dataset.columns or ())]
            what = (
                f"it has no column {missing[0]!r}"
                if missing
                else "their columns stand in another order or are more"
            )
            raise DataError(
                f"The data are not those of the ensemble: {what}; give the columns that it was fitted on."
            )
        return self.walk(X)

    def walk(self, X: np.ndarray) -> EnsembleRoutes:
        """The routes of the rows of an array of shape (n, d), or of a DataFrame."""
        X = self.checked(X)
        n, T = len(X), self.n_trees
        leaf = np.tile(self.roots.astype(np.int32), (n, 1))
        used = np.zeros((n, len(self.features)), dtype=bool)
        evaluations = np.zeros(n, dtype=np.int64)
        rows, trees = (a.ravel() for a in np.indices((n, T)))
        at = leaf.ravel().astype(np.int64)
        go = self.kept[at]
        while go.any():
            rows, trees, at = rows[go], trees[go], at[go]
            used[rows, self.feature[at]] = True
            evaluations += np.bincount(rows, minlength=n)
            at = np.where(
                X[rows, self.column[at]] <= self.threshold[at], self.left[at], self.right[at]
            )
            leaf[rows, trees] = at
            go = self.kept[at]
        return EnsembleRoutes(self, leaf, used, evaluations)

    def checked(self, X: Any) -> np.ndarray:
        """Numeric rows in the precision in which the trees compare them.

        Raises
        ------
        DataError
            The columns are others, or a value is text, NaN or infinite.
        """
        X = columns_over(X, self.columns, "the table", "columns of the ensemble")
        try:
            with np.errstate(
                over="ignore"
            ):  # what is too large becomes infinite and is refused below
                X = np.asarray(X, dtype=np.float32 if self.single else np.float64)
        except (TypeError, ValueError):
            raise DataError(
                "An ensemble needs numbers; encode text columns as it was fitted on them."
            ) from None
        if X.ndim != 2 or X.shape[1] != len(self.columns):
            raise DataError(
                f"The ensemble was fitted on {len(self.columns)} columns; the data have shape {X.shape}."
            )
        if not np.isfinite(X).all():
            i, j = np.argwhere(~np.isfinite(X))[0]
            raise DataError(
                f"Row {i} has a missing or infinite value in the column {self.columns[j]!r}; fill it in or drop the row."
            )
        return X

    def mean_value(self, leaf: np.ndarray) -> np.ndarray:
        """Mean over the trees of the leaves' values, shape (n, C)."""
        value = self.value
        if self.normalise and self.classes is not None:
            total = value.sum(axis=1, keepdims=True)
            value = np.divide(
                value, total, out=np.full_like(value, 1 / value.shape[1]), where=total > 0
            )
        out = np.zeros((len(leaf), value.shape[1]))
        for t in range(leaf.shape[1]):
            out += value[leaf[:, t]]
        return np.asarray(out / max(1, leaf.shape[1]))

    def predict(self, X: Any) -> np.ndarray:
        """Label (or number) that the whole ensemble gives each row."""
        mean = self.mean_value(self.walk(X).leaf)
        return mean[:, 0] if self.classes is None else np.array(self.classes)[mean.argmax(axis=1)]

    # -- exchange ----------------------------------------------------------------------------------

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the unpruned trees."""
        h = hashlib.sha256(
            repr((self.columns, self.features, self.classes, self.single, self.normalise)).encode()
        )
        for array in (
            self.left,
            self.right,
            self.column,
            self.threshold,
            self.value,
            self.feature_of,
        ):
            h.update(np.ascontiguousarray(array).tobytes())
        return h.hexdigest()

    def to_json(self) -> dict[str, Any]:
        """Which splits are kept; the trees are in `trees_json` and in the space of a problem."""
        return {
            "kind": "ensemble",
            "trees_sha256": self.sha256,
            "trees": self.n_trees,
            "kept": np.flatnonzero(self.kept).tolist(),
        }

    def trees_json(self) -> dict[str, Any]:
        """The unpruned trees as plain lists; `Ensemble.from_json` reads them back."""
        assert self.feature_of is not None
        arrays = {
            name: getattr(self, name).tolist()
            for name in ("left", "right", "column", "threshold", "value", "feature_of")
        }
        return {
            **arrays,
            "columns": list(self.columns),
            "features": list(self.features),
            "single": self.single,
            "normalise": self.normalise,
            "classes": None if self.classes is None else list(self.classes),
            "source": dict(self.source),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Ensemble:
        """The ensemble that `trees_json` described.

        Raises
        ------
        DataError
            The lists do not describe trees in preorder, or name columns, features or classes that
            do not exist.
        """
        from milp_trees.models.tree_arrays import from_lists

        try:
            return cls(**from_lists(data))
        except KeyError as error:
            raise DataError(f"The stored ensemble has no {error}.") from None
        except (TypeError, ValueError, IndexError, OverflowError) as error:
            raise DataError(f"The stored ensemble is damaged: {error}.") from None

    def to_text(self) -> str:
        """A description of the pruned ensemble in words."""
        splits = int((self.left >= 0).sum())
        used = np.bincount(self.feature[self.kept], minlength=len(self.features))
        order = [k for k in np.argsort(-used, kind="stable").tolist() if used[k]]
        shown = ", ".join(f"{self.features[k]} ({used[k]})" for k in order[:12])
        shown += f" and {len(order) - 12} more" if len(order) > 12 else ""
        stumps = self.n_trees - int(self.kept[self.roots].sum())
        kept = f"{self.n_splits} of {splits} splits kept; {stumps} trees are a single leaf"
        tested = f"features tested: {shown}" if order else "no feature is needed"
        return f"{self.n_trees} trees, {kept}\n{tested}"

    def picture(self, dataset: Dataset) -> str:
        """The text as HTML; for a tree there would be a drawing."""
        import html

        return f"<pre>{html.escape(self.to_text())}</pre>"

    def __str__(self) -> str:
        return self.to_text()
