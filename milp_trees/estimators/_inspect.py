"""What a fitted model shows of itself: paths of rows, importances, text and picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from milp_trees.estimators._importance import by_column, drops, shared
from milp_trees.estimators._notebook import InNotebook
from milp_trees.estimators._tables import TakesTables

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from milp_trees.models.tree import Routes


class Inspected(InNotebook, TakesTables):
    """Base of the estimators of one tree or rule list."""

    result_: Any
    n_features_in_: int
    _column_names: Callable[[], list[str]]
    _fitted: Any
    _routes: Callable[[Any], Routes]

    def __getstate__(self) -> dict[str, Any]:
        """State for pickle and copies; the drops of splits are in it, since they need the rows."""
        if "result_" in self.__dict__ and not getattr(
            self.result_.problem.dataset, "left_out", False
        ):
            self._known_drops()
        state: Any = super().__getstate__()
        return dict(state)

    # -- paths ---------------------------------------------------------------------------------------

    def apply(self, X: Any) -> np.ndarray:
        """Leaf of each row, counted from the left; int array of shape (n,).

        The leaves of a rule list are its rules, and the last one is its default rule.
        """
        leaves: np.ndarray = self._routes(X).leaf
        return leaves

    def decision_path(self, X: Any) -> csr_matrix:
        """The nodes that each row visits, as in scikit-learn.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)

        Returns
        -------
        csr_matrix of shape (n, nodes)
            1 where the row visits the node. The nodes of a tree are numbered in preorder: a node
            before its sides, the side with the answer no first. So the columns of leaves, from left
            to right, are those that `apply` counts. The nodes of a rule list are its rules and the
            default rule: a row visits every rule up to the one that captures it.
        """
        return path_matrix(self._routes(X).leaf, self._fitted.node_paths)

    # -- importances ---------------------------------------------------------------------------------

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of every column of X in the drop of the loss, shape (p,).

        The drop of a split is the least loss of its rows in one leaf minus their least loss in two
        leaves, one on each side; penalties and constraints do not count. The shares sum up to 1, or
        are all 0 if no split lowers the loss. They describe this model on its training rows: a
        column that another optimal model uses instead has no share, and where only two splits
        together lower the loss, the second one gets all of it.
        """
        return by_column(self._shares_of_tests(), self._column_names())

    @property
    def binary_importances_(self) -> dict[str, float]:
        """The same for the binary features of the model by their names, the largest first."""
        shares = self._shares_of_tests()
        return {t.name: shares[t] for t in sorted(shares, key=lambda t: -shares[t])}

    def _shares_of_tests(self) -> dict[Any, float]:
        check_is_fitted(self)
        return shared([split.features for split in self._fitted.splits], self._known_drops())

    def _known_drops(self) -> np.ndarray:
        """The drop of every split; computed once, and before the rows are left out of a pickle."""
        known = self.__dict__.get("_drops")
        if known is None or known[0] is not self._fitted:
            known = self._drops = (self._fitted, self._drops_of_splits())
        found: np.ndarray = known[1]
        return found

    def _drops_of_splits(self) -> np.ndarray:
        return drops(self.result_.problem, self._fitted)

    # -- files ---------------------------------------------------------------------------------------

    def save(self, path: Any) -> None:
        """Write the fitted estimator to a JSON file, without the training rows and without pickle.

        Parameters
        ----------
        path : str or Path
            The file holds the parameters (but `start` and `progress`), the model, and the value,
            bound and proof of the result, with hashes of the data.

        Raises
        ------
        DataError
            A parameter, such as a splitter of scikit-learn, has no JSON form.
        """
        from milp_trees.estimators._saved import save

        save(self, path)

    @classmethod
    def load(cls, path: Any) -> Any:
        """Read a fitted estimator that `save` has written.

        Parameters
        ----------
        path : str or Path

        Returns
        -------
        estimator
            Of this class or one derived from it. It predicts as before; what needs the training
            rows (`mt.verify`, `to_sklearn` without rows) needs them to be given.

        Raises
        ------
        DataError
            The file holds no such estimator, is damaged, or has a version that is not known.
        """
        from milp_trees.estimators._saved import load

        return load(cls, path)

    # -- words ---------------------------------------------------------------------------------------

    def get_n_leaves(self) -> int:
        """Number of leaves; those of a rule list are its rules and its default rule."""
        check_is_fitted(self)
        return int(self._fitted.n_leaves)

    def to_text(self) -> str:
        """The model as text, with original names and the training rows of its leaves."""
        check_is_fitted(self)
        text: str = self._fitted.to_text()
        return text

    def to_svg(self) -> str:
        """The model as an SVG picture with the training rows of its leaves, if they are known."""
        check_is_fitted(self)
        picture: str = self._fitted.to_svg()
        return picture

    def plot(self, ax: Any = None) -> Any:
        """Draw the model with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            By default those of a new figure of a suitable size.

        Returns
        -------
        matplotlib axes
        """
        check_is_fitted(self)
        return self._fitted.plot(ax)


def path_matrix(leaf: np.ndarray, paths: list[list[int]]) -> csr_matrix:
    """The indicator matrix of the nodes on the paths of rows.

    Parameters
    ----------
    leaf : int array of shape (n,)
        Leaf of every row.
    paths : list of list of int
        Nodes on the path to every leaf, in increasing order.

    Returns
    -------
    csr_matrix of shape (n, nodes)
    """
    from scipy.sparse import csr_matrix

    lengths = np.array([len(path) for path in paths])
    begin = np.concatenate([[0], np.cumsum(lengths)])
    ends = np.concatenate([[0], np.cumsum(lengths[leaf])])
    # Entry k of a row's path stands k places after the first entry of its leaf's path.
    place = np.arange(ends[-1]) + np.repeat(begin[leaf] - ends[:-1], lengths[leaf])
    nodes = np.concatenate([np.array(path) for path in paths])
    shape = (len(leaf), int(nodes.max()) + 1)
    return csr_matrix((np.ones(len(place), dtype=np.int64), nodes[place], ends), shape=shape)
