"""Bases of estimators of trees, forests and rule lists: checked columns, a method, a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.data.matrices import column_at, matrix
from milp_trees.data.number_table import NumberTable, number_table, numbers_under
from milp_trees.data.outline import lean
from milp_trees.data.parameters import OF_TREES, check_parameters
from milp_trees.estimators._inspect import Inspected
from milp_trees.estimators._progress import ProgressCallbacks
from milp_trees.estimators._solving import sizes_of, solved
from milp_trees.estimators._sparse import SparseColumns
from milp_trees.estimators._starts import given_start, placed_start
from milp_trees.estimators._tables import TakesTables, plain_rows
from milp_trees.estimators._texts import has_text, with_text_columns
from milp_trees.estimators.binarizer import Binarizer
from milp_trees.models.array_rows import RawRows
from milp_trees.models.space import Trees
from milp_trees.problems.problem import Problem
from milp_trees.results.result import Result
from milp_trees.tasks.constraints import as_constraints, check_groups_differ

if TYPE_CHECKING:
    from milp_trees.data.dataset import BinaryFeature, Dataset
    from milp_trees.models.tree import Routes
    from milp_trees.results.size_path import SizePath
    from milp_trees.tasks.base import Task


#: Options of scikit-learn's validation for targets that are numbers, one or several a row.
QUANTITIES = {"multi_output": True, "y_numeric": True}
#: Forms of sparse tables that are taken as they are; others are converted.
SPARSE = ("csc", "csr")


class OptimalModel(TakesTables, ProgressCallbacks, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class; a subclass stores the parameters, and names the space and the task."""

    #: Whether a pickle or copy of the estimator contains the training rows. A subclass that keeps
    #: training rows has a parameter of this name.
    keep_data: bool = False
    #: Chooses the space of the problem that `fit` states (`OptimalTreeCV` sets it for its fits).
    _choose_size: Callable[[Problem], Any] | None = None
    #: The attribute that holds the fitted model.
    _fitted_as: str

    @property
    def _fitted(self) -> Any:
        """The fitted tree or rule list."""
        return getattr(self, self._fitted_as)

    def _tests(self) -> Iterable[BinaryFeature]:
        """The binary features that the fitted model uses."""
        tests: Iterable[BinaryFeature] = self._fitted.splits
        return tests

    @abstractmethod
    def _space_of(self) -> Any:
        """The space of all models that the parameters allow."""

    def __getstate__(self) -> dict[str, Any]:
        """State for pickle and copies: the model, its certificate and hashes of the data.

        The training rows are included only with `keep_data=True`, the `progress` function never.
        """
        state = dict(super().__getstate__())
        if self.keep_data:
            return state
        if "binarizer_" in state and self._fitted_as in state:
            # The midpoints of a column reveal its values, so only the thresholds of the model stay.
            state["binarizer_"] = state["binarizer_"].only(self._tests())
        return lean(state)

    # -- data ----------------------------------------------------------------------------------------

    def _checked(self, X: Any, y: Any, **options: Any) -> tuple[Any, Any]:
        """Check the parameters and the training rows.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array of shape (n,) or (n, K)
        **options
            Options of scikit-learn's `validate_data`.

        Returns
        -------
        columns : mapping of name to array of shape (n,), or DataFrame
            A DataFrame if there are columns of text.
        y : array

        Raises
        ------
        DataError, ValueError
            A parameter or a value in X or y is not allowed.
        """
        check_parameters(self, OF_TREES)
        if hasattr(self, "constraints"):
            as_constraints(self.constraints)
        X = with_text_columns(X)
        self._text_columns_ = has_text(X)
        if not self._text_columns_:
            quantities = options == QUANTITIES
            numbers = plain_rows(X, y, quantities) if quantities or not options else None
            if numbers is not None:
                self.n_features_in_ = len(numbers)
                self.__dict__.pop("feature_names_in_", None)
                return numbers, y
            X, y = validate_data(
                self, X, y, accept_sparse=SPARSE, ensure_all_finite=self._finite(), **options
            )
            columns = self._named(X)
            return columns.dense() if isinstance(columns, SparseColumns) else columns, y
        validate_data(self, X, y, skip_check_array=True)
        _, y = validate_data(clone(self), np.zeros((len(X), 1)), y, **options)  # checks y alone
        return X, y

    def _columns(self, X: Any) -> Mapping[str, np.ndarray]:
        """Check the columns of new rows; a mapping from name to array."""
        if not self._text_columns_:
            if type(X) is np.ndarray and not hasattr(self, "feature_names_in_"):
                numbers = number_table(X)
                if numbers is not None and len(numbers) == self.n_features_in_:
                    return numbers
            return self._named(
                validate_data(
                    self, X, reset=False, accept_sparse=SPARSE, ensure_all_finite=self._finite()
                )
            )
        if not hasattr(X, "columns"):
            array = matrix(X)
            validate_data(self, array, reset=False, skip_check_array=True)
            return {name: column_at(array, j) for j, name in enumerate(self._column_names())}
        validate_data(self, X, reset=False, skip_check_array=True)
        return {
            name: X[column].to_numpy()
            for name, column in zip(self._column_names(), X.columns, strict=True)
        }

    def _named(self, X: Any) -> Mapping[str, np.ndarray]:
        names = getattr(self, "feature_names_in_", [str(j) for j in range(X.shape[1])])
        if len(set(names)) < X.shape[1]:
            raise DataError("Two columns of X have the same name; rename one of them.")
        if issparse(X):
            return SparseColumns(X, names)
        numbers = numbers_under(names, X) if isinstance(X, np.ndarray) else None
        return numbers or {str(name): X[:, j] for j, name in enumerate(names)}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _column_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", range(self.n_features_in_))
        return [str(name) for name in names]

    def _finite(self) -> bool | str:
        """Whether cells of X may be missing, in the words of scikit-learn's validation."""
        return "allow-nan" if self.__sklearn_tags__().input_tags.allow_nan else True

    def _fit_binarizer(self, X: Any, target: np.ndarray, table: Any = None) -> None:
        """Choose the binary features from rows, of a table whose rows can all answer them."""
        given = self.binarizer
        if isinstance(given, Binarizer):
            self.binarizer_ = clone(given)
        elif isinstance(given, str) and ":" in given:
            self.binarizer_ = Binarizer.from_name(given)
        else:
            self.binarizer_ = Binarizer(kind=given, n_bins=self.n_bins)
        self.binarizer_._fit_among(X, target, table)

    def _binarized(
        self, X: Any, target: np.ndarray, weights: np.ndarray | None, table: Any = None
    ) -> Any:
        """Choose the binary features from weighted rows; the rows that were looked at."""
        again = _repeats(weights, len(target))
        fitted_on, learned = (X, target) if again is None else (take(X, again), target[again])
        self._fit_binarizer(fitted_on, learned, table)
        return fitted_on

    # -- solving -------------------------------------------------------------------------------------

    def _solve(self, dataset: Dataset, task: Task, table: Any) -> None:
        """Run the method on the problem and store its result.

        A `ConvergenceWarning` says that an exact method stopped before its tree was proven optimal.

        Parameters
        ----------
        dataset : Dataset
        task : Task
        table : mapping of column name to array of shape (n,), or DataFrame
            The rows of the dataset, onto which a start is moved.
        """
        check_groups_differ(getattr(task, "constraints", ()), dataset)
        problem = Problem(dataset, task, self._space_of())
        if self._choose_size is not None:
            problem = replace(problem, space=self._choose_size(problem))
        columns, several = [str(c) for c in table], task.predicts_numbers
        start = given_start(self.start, self._fitted_as, columns, several)
        start = placed_start(start, problem, table)
        self._keep(self._run(problem, self._method(), start))

    def _run(self, problem: Problem, method: str | None, start: Any) -> Result:
        """Run a method and return its result, which contains a model; see `_solving.solved`."""
        reference = getattr(self, "reference", None)
        return solved(problem, method, self._limits(), start, reference)

    def _keep(self, result: Result) -> None:
        self.result_ = result
        if result.found_by:  # over more thresholds than the binarizer chose
            self.binarizer_ = self.binarizer_.covering(result.problem.dataset.features)
        setattr(self, self._fitted_as, result.predictor)
        self.status_, self.bound_, self.gap_ = result.status.value, result.bound, result.gap

    def _method(self) -> str | None:
        """Name of the method; None if the default engine of the task is to be used."""
        return None if self.method == "auto" else str(self.method)

    def _limits(self) -> Limits:
        seed = (
            0
            if self.random_state is None
            else int(check_random_state(self.random_state).randint(2**31 - 1))
        )
        return Limits.asked(
            time_limit=self.time_limit, threads=effective_n_jobs(self.n_jobs), seed=seed
        )

    @abstractmethod
    def _penalties(self) -> dict[str, Any]:
        """Penalties and constraints of the task, by the names of its parameters."""

    # -- the fitted model ----------------------------------------------------------------------------

    def _chosen(self, X: Any) -> np.ndarray:
        """Index of the action of each row, shape (n,)."""
        chosen: np.ndarray = self._routes(X).action
        return chosen

    def _routes(self, X: Any) -> Routes:
        check_is_fitted(self)
        routes: Routes = self._fitted.routes(RawRows(self._tests(), self._table(self._columns(X))))
        return routes

    def _table(self, X: Any) -> Mapping[str, np.ndarray]:
        """Checked columns in the form in which the model asks them."""
        columns: Mapping[str, np.ndarray] = X
        return columns


class OptimalTree(Inspected, OptimalModel):
    """Base class of the estimators of one tree."""

    _fitted_as = "tree_"
    tree_: Any
    #: Parameters: (whether rows have weights, penalties instead of those of the estimator).
    _stated_task: Callable[..., Task]

    def _space_of(self) -> Trees:
        return self._trees(self.max_leaf_nodes)

    def _penalties(self) -> dict[str, Any]:
        return {"leaf_penalty": self.ccp_alpha, "constraints": tuple(self.constraints)}

    def _trees(self, max_leaf_nodes: int | None) -> Trees:
        """The trees that are allowed, with at most so many leaves."""
        return Trees(
            self.max_depth,
            max_leaf_nodes,
            self.min_samples_leaf,
            split_on_group=getattr(self, "split_on_group", False),
            min_samples_treatment=getattr(self, "min_samples_treatment", 0),
        )

    def _path_of_sizes(
        self, dataset: Dataset, weighted: bool, max_leaf_nodes: int | None = None
    ) -> SizePath:
        """The optimal trees of all sizes for the estimator's task without its `ccp_alpha`."""
        most = (
            max_leaf_nodes
            or self.max_leaf_nodes
            or (16 if self.max_depth is None else min(16, 2**self.max_depth))
        )
        problem = Problem(
            dataset,
            self._stated_task(weighted, leaf_penalty=0),
            self._trees(most),
        )
        return sizes_of(problem, most, self._method(), self._limits())

    def _labels_of_leaves(self) -> Sequence[Any] | None:
        """Classes whose probabilities leaves predict; none of numbers, None of classes alone."""
        return None

    def get_depth(self) -> int:
        """Depth of the fitted tree: the number of levels of splits."""
        check_is_fitted(self)
        return int(self.tree_.depth)

    def to_sklearn(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, pipeline: Any = None
    ) -> Any:
        """Convert the tree to scikit-learn, for its plotting tools and for other packages.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p), optional
            Rows that are counted in the nodes; by default the training rows.
        y : array of shape (n,), optional
            Labels of the rows; by default the predictions of the tree.
        sample_weight : array of shape (n,), optional
            Weights of the rows; by default 1 each.
        pipeline : bool, optional
            True: a Pipeline, which takes the original table and predicts exactly what the tree
            predicts. False: the decision tree alone; it rounds numbers to single
            precision, so a row may go another way if it is that close to a threshold, and it takes
            categories as columns of 0 and 1; a tree that answers for missing values is refused. By
            default a Pipeline if the table has columns
            that are no numbers or the tree answers for missing values, otherwise the tree alone.

        Returns
        -------
        DecisionTreeClassifier, DecisionTreeRegressor or Pipeline
            The steps of the Pipeline are `columns`, a `TreeColumns`, and `tree`. See
            `milp_trees.models.export.to_sklearn`.

        Raises
        ------
        DataError
            scikit-learn compares in single precision, which cannot separate the rows as this tree
            does; the tree answers for missing values and `pipeline` is False; or the training rows are needed and were left out of a pickle.
        """
        from milp_trees.models.export import asks_number, to_sklearn

        check_is_fitted(self)
        if X is None and (y is not None or sample_weight is not None):
            raise DataError("y and sample_weight belong to rows; give X too.")
        rows = self.result_.problem.dataset if X is None else self._table(self._columns(X))
        if pipeline is None:
            pipeline = not all(asks_number(t) for t in self.tree_.splits)
            pipeline = pipeline or self._text_columns_
        elif not pipeline:
            _check_answers_no_gap(self.tree_.splits)
        columns = () if pipeline or self._text_columns_ else self._column_names()
        tree = to_sklearn(
            self.tree_,
            rows,
            y,
            sample_weight,
            exact=bool(pipeline),
            columns=columns,
            labels=self._labels_of_leaves(),
        )
        if not pipeline:
            return tree
        if getattr(self, "_categories_of", None):
            raise DataError(
                "A Pipeline cannot take numbers that are categories (categorical_features); turn these columns into text before fit, or give pipeline=False."
            )
        from sklearn.pipeline import Pipeline

        from milp_trees.estimators.tree_columns import TreeColumns

        taken = TreeColumns(
            columns=tuple(self._column_names()),
            names=tuple(tree.feature_names_in_),
            tests=tuple(dict.fromkeys(self.tree_.splits)),
        ).fit()
        del tree.feature_names_in_  # the columns arrive as an array
        return Pipeline([("columns", taken), ("tree", tree)])


def _check_answers_no_gap(tests: Iterable[BinaryFeature]) -> None:
    """Raise DataError if a test answers for missing values.

    A converted tree alone has such a test as a column of 0 and 1. Given the original table it would
    compare the numbers of a column with 0.5.
    """
    for test in tests:
        if test.missing or test.kind == "missing":
            raise DataError(
                f"The DecisionTreeClassifier alone cannot answer {test.name!r} on the original table, because it does not know where missing values go; "
                "leave out pipeline=False: the Pipeline can, and its step 'tree' is the tree for plots."
            )


# -- arguments -------------------------------------------------------------------------------------


def take(X: Any, rows: np.ndarray) -> Any:
    """Select rows by index from a mapping of arrays or from a DataFrame."""
    if isinstance(X, NumberTable):
        return X.take(rows)
    return {k: v[rows] for k, v in X.items()} if isinstance(X, dict) else X.iloc[rows]


def check_weights(sample_weight: Any, n: int) -> np.ndarray:
    """Check row weights: a nonnegative array of shape (n,) that is not zero everywhere."""
    weights = check_array(sample_weight, ensure_2d=False, dtype=float, input_name="sample_weight")
    if weights.shape != (n,):
        raise DataError(
            f"sample_weight must have one entry per row, shape ({n},); it has shape {weights.shape}."
        )
    if (weights < 0).any():
        raise DataError(
            f"Row weights must not be negative; row {int(np.argmax(weights < 0))} has {weights.min():g}."
        )
    if not weights.any():
        raise DataError("sample_weight is zero in every row; at least one row must count.")
    return np.asarray(weights)


def _repeats(weights: np.ndarray | None, n: int) -> np.ndarray | None:
    """Indices of the rows from which thresholds are chosen; None for every row once.

    If the weights are whole numbers of modest size, each index is repeated as often as its weight.
    """
    if weights is None or (weights != np.floor(weights)).any() or weights.sum() > 100 * n:
        return None
    return np.repeat(np.arange(n), weights.astype(np.int64))


def action_values(y: Any) -> np.ndarray:
    """Values of the actions, shape (n, K).

    A single column is the gain of action 1 over action 0, whose value is then 0.
    """
    values = np.asarray(y, dtype=float)
    values = values.reshape(len(values), -1)
    return values if values.shape[1] > 1 else np.hstack([np.zeros_like(values), values])
