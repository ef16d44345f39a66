"""`CostSensitiveTreeClassifier`: an optimal tree for costs of errors and prices of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from milp_trees.common.errors import DataError
from milp_trees.estimators._progress import with_progress
from milp_trees.estimators.trees import OptimalTreeClassifier
from milp_trees.tasks.attribute_costs import Attribute, CostFile, attributes_of, read_cost_file
from milp_trees.tasks.base import Task
from milp_trees.tasks.cost_sensitive import CostSensitive


class CostSensitiveTreeClassifier(OptimalTreeClassifier):
    """A classification tree of least total cost: costs of wrong predictions and of what is asked.

    A row pays for every attribute on its path once, at a discount if another attribute of the same
    group was paid before. All parameters are given by name.

    Parameters
    ----------
    matrix : array of shape (K, K), optional
        Cost of predicting a class (column) for a row of a class (row), in the order of `classes_`;
        by default 1 for every error.
    attributes : sequence of mt.tasks.Attribute, or mapping of column name to price, default=()
        Prices; a column without an attribute is free. Columns without a name are called "0", "1",
        …; positions count the columns of X.
    file : str, Path or CostFile, optional
        A cost file (`mt.tasks.read_cost_file`) that holds both, instead of them.
    max_depth, max_leaf_nodes, min_samples_leaf, ccp_alpha, method, time_limit, binarizer, n_bins
        As for `OptimalTreeClassifier`. `ccp_alpha` is a cost per row and leaf. A column that is
        binarised is one attribute: all its thresholds are known once it is paid.
    start, reference, random_state, n_jobs, progress, verbose, keep_data
        As for `OptimalTreeClassifier`.

    Attributes
    ----------
    cost_ : dict
        `cost_report` of the training rows.
    result_, tree_, status_, bound_, gap_, classes_, binarizer_, n_features_in_, feature_names_in_
        As for `OptimalTreeClassifier`. "optimal" means that no tree has a smaller total cost.

    Examples
    --------
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 0, 1, 1] * 5
    >>> model = CostSensitiveTreeClassifier(matrix=[[0, 1], [8, 0]], attributes={"0": 2, "1": 1})
    >>> model.fit(X, y).cost_["mean_cost"]
    0.5
    """

    #: Parameters of the base class that this class lacks.
    task = CostSensitive.name
    constraints = ()
    split_on_group = False

    def __init__(
        self,
        *,
        matrix: Any = None,
        attributes: Any = (),
        file: Any = None,
        max_depth: int | None = 2,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        ccp_alpha: Any = 0.0,
        method: str = "auto",
        time_limit: float | None = 60.0,
        binarizer: Any = "auto",
        n_bins: int = 8,
        start: Any = "auto",
        reference: str | None = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        progress: Any = None,
        verbose: bool | int = False,
        keep_data: bool = False,
    ) -> None:
        self.matrix = matrix
        self.attributes = attributes
        self.file = file
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.ccp_alpha = ccp_alpha
        self.method = method
        self.time_limit = time_limit
        self.binarizer = binarizer
        self.n_bins = n_bins
        self.start = start
        self.reference = reference
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.verbose = verbose
        self.keep_data = keep_data

    @with_progress
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> CostSensitiveTreeClassifier:  # type: ignore[override]
        """Find the tree of least cost.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
            Text columns of a DataFrame are one-hot encoded.
        y : array of shape (n,)
            Labels of any type.
        sample_weight : array of shape (n,), optional
            Weights of both kinds of costs. Rows of weight 0 are left out.

        Returns
        -------
        CostSensitiveTreeClassifier
            The estimator itself.

        Raises
        ------
        DataError
            A parameter is not allowed, or the costs do not fit the columns or the classes.
        Infeasible
            No tree satisfies the limits.
        NothingFound, SolverFailure
            The method found no tree within the limits, or it failed.
        """
        super().fit(X, y, sample_weight)
        self.cost_ = dict(self.result_.scores)
        return self

    def cost_report(self, X: Any, y: Any, sample_weight: Any = None) -> dict[str, float]:
        """Costs of the predictions on any rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array of shape (n,)
            True labels.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        dict
            `mean_cost` per row; `normalised_cost`, the same divided by the cost of asking
            everything and guessing (equation 60 of the paper, see `mt.tasks.standard_cost`);
            `question_length`, the mean number of tests on a path.

        Raises
        ------
        DataError
            y holds a label that `fit` did not see.
        """
        labels = column_or_1d(y)
        unknown = set(np.unique(labels).tolist()) - set(self.classes_.tolist())
        if unknown:
            raise DataError(
                f"y holds the label {sorted(map(str, unknown))[0]!r}, which fit did not see; known are {', '.join(map(str, self.classes_))}."
            )
        rows = self.binarizer_.dataset(
            self._columns(X),
            np.searchsorted(self.classes_, labels),
            classes=tuple(c.item() if hasattr(c, "item") else c for c in self.classes_),
            weights=None if sample_weight is None else np.asarray(sample_weight, dtype=float),
            # A binarizer without the training rows has features of the tested columns only, and
            # every attribute has a column.
            source={"features": self._column_names()},
        )
        task: Any = self.result_.problem.task
        report: dict[str, float] = task.extra_scores(self.tree_.routes(rows), rows)
        return report

    def _stated_task(self, weighted: bool, **instead: Any) -> Task:
        given = self.file
        if given is not None and not isinstance(given, CostFile):
            given = read_cost_file(given)
        if given is not None and (self.matrix is not None or len(self.attributes)):
            raise DataError("Give either file=, or matrix= and attributes=; both are given.")
        matrix = self.matrix if given is None else given.matrix
        attributes = attributes_of(self.attributes if given is None else given.attributes)
        if matrix is None:
            matrix = 1 - np.eye(len(self.classes_), dtype=int)
        names = list(
            getattr(self, "feature_names_in_", [str(j) for j in range(self.n_features_in_)])
        )
        return CostSensitive(
            leaf_penalty=instead.get("leaf_penalty", self.ccp_alpha),
            matrix=matrix,
            attributes=[_named(a, names) for a in attributes],
        )


def _named(attribute: Attribute, names: list[str]) -> Attribute:
    """The same attribute with the names of its columns in place of their positions."""
    beyond = [c for c in attribute.columns if isinstance(c, int) and not 0 <= c < len(names)]
    if beyond:
        raise DataError(
            f"The attribute {attribute.name!r} has the column {beyond[0]}, and X has {len(names)} columns."
        )
    columns = tuple(names[c] if isinstance(c, int) else c for c in attribute.columns)
    return Attribute(attribute.name, attribute.cost, attribute.discount, attribute.group, columns)
