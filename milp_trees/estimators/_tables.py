"""The tables and rows that estimators are given, before anything else sees them.

Every public method of an estimator that takes a table (`X`, `X_val`) is wrapped, by being a method of
a class below `TakesTables`. Tables of other libraries become pandas objects, so nothing else needs to
know them; names that cannot be told apart, rows that another object has in another order, and labels
that are missing are refused.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier

from milp_trees.common.errors import DataError
from milp_trees.data.checks import check_no_gap
from milp_trees.data.names import as_pandas, check_same_rows, columns_over
from milp_trees.data.number_table import NumberTable, number_table

F = TypeVar("F", bound=Callable[..., Any])

#: The arguments that state something of every row of a table.
OF_ROWS: Mapping[str, tuple[str, ...]] = {
    "X": (
        "y",
        "sample_weight",
        "treatments",
        "outcomes",
        "propensities",
        "groups",
        "sensitive_features",
        "control_features",
        "row_costs",
    ),
    "X_val": ("y_val", "sample_weight_val", "row_costs_val"),
}
#: Those of them that hold labels, whatever the estimator.
LABELS = ("treatments", "groups", "sensitive_features", "control_features")
#: Those that hold labels if the estimator is a classifier.
TARGETS = ("y", "y_val")


class TakesTables:
    """Base of everything that has methods which take tables."""

    def __init_subclass__(cls, **more: Any) -> None:
        for name, method in list(vars(cls).items()):
            if inspect.isfunction(method) and not name.startswith("_"):
                setattr(cls, name, takes_tables(method))
        super().__init_subclass__(**more)


def takes_tables(method: F) -> F:
    """A method whose tables and rows are checked; a method without tables is returned as it is."""
    parameters = inspect.signature(method).parameters
    if not set(parameters) & set(OF_ROWS) or hasattr(method, "takes_tables"):
        return method
    positional = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]

    @functools.wraps(method)
    def checked(self: Any, *args: Any, **named: Any) -> Any:
        given = _checked(self, dict(zip(positional[1:], args, strict=False)) | named, method)
        taken = [given[name] for name in positional[1 : 1 + len(args)]]
        return method(self, *taken, *args[len(taken) :], **{name: given[name] for name in named})

    checked.takes_tables = True  # type: ignore[attr-defined]
    return cast("F", checked)


def _checked(estimator: Any, given: dict[str, Any], method: Callable[..., Any]) -> dict[str, Any]:
    """The arguments of a method, after the checks."""
    for table, of_rows in OF_ROWS.items():
        here = [name for name in (table, *of_rows) if given.get(name) is not None]
        given |= {name: as_pandas(given[name]) for name in here}
        check_same_rows({name: given[name] for name in here})
        for name in here:
            labels = name in LABELS or (name in TARGETS and is_classifier(estimator))
            if labels and not isinstance(given[name], str):
                check_no_gap(given[name], name)
    for table in OF_ROWS:
        if hasattr(given.get(table), "columns"):
            names = _fitted_names(estimator)
            if method.__name__ in ("fit", "size_path"):
                names = None if table == "X" else list(getattr(given["X"], "columns", ())) or None
            given[table] = _with_names(given[table], table, names)
    return given


def _fitted_names(estimator: Any) -> list[Any] | None:
    """The columns that an estimator was fitted on; 0, 1, 2, … if they had no names."""
    if hasattr(estimator, "feature_names_in_"):
        return list(estimator.feature_names_in_)
    count = getattr(estimator, "n_features_in_", None)
    return None if count is None else list(range(count))


def _with_names(X: Any, what: str, known: list[Any] | None) -> Any:
    """A DataFrame whose columns have names of their own, which are texts.

    scikit-learn knows columns by their names only if all names are texts. Whole numbers other than
    the places 0, 1, 2, … are names too: in a fit they become texts, and later they are matched with
    the columns of the fit.
    """
    names = list(X.columns)
    if len(set(map(str, names))) < len(names):
        twice = next(n for n in names if list(map(str, names)).count(str(n)) > 1)
        raise DataError(f"Two columns of {what} are called {twice!r}; rename one of them.")
    if not names or any(isinstance(n, str) for n in names):
        return X
    if known is not None and len(known) == len(names):
        return columns_over(X, known, what, "columns of the fit").set_axis(known, axis=1)
    return X if names == list(range(len(names))) else X.set_axis(list(map(str, names)), axis=1)


def plain_rows(X: Any, y: Any, quantities: bool = False) -> NumberTable | None:
    """The table of an array of plain numbers beside an array of targets; None for anything else.

    These are the rows in which scikit-learn's `validate_data` finds nothing to change or refuse, and
    its checks take as long as a small search. Targets are labels, or `quantities`: finite numbers,
    of which a row may have several.
    """
    if type(X) is not np.ndarray or type(y) is not np.ndarray or X.ndim != 2:
        return None
    if quantities:
        numbers = y.ndim in (1, 2) and y.dtype.kind in "biuf" and y.dtype.itemsize <= 8
        taken = numbers and y.size > 0 and bool(np.isfinite(y).all())
    else:
        taken = y.ndim == 1 and y.dtype.kind in "biuU"
    return number_table(X) if taken and len(X) == len(y) and X.shape[1] else None


class Classifier(TakesTables, ClassifierMixin):  # type: ignore[misc]
    """Base of classifiers: scikit-learn's, whose `score` checks its tables."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of the predictions.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array of shape (n,)
            True labels.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
        """
        return float(super().score(X, y, sample_weight))


class Regressor(TakesTables, RegressorMixin):  # type: ignore[misc]
    """Base of regressors: scikit-learn's, whose `score` checks its tables."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Coefficient of determination R² of the predictions, the mean over several targets.

        Parameters
        ----------
        X : array or DataFrame of shape (n, p)
        y : array of shape (n,) or (n, k)
            True targets.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
        """
        return float(super().score(X, y, sample_weight))
