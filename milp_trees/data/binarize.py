"""`Binarizer`: from a table of columns to binary features.

Original names, categories and thresholds are part of every `BinaryFeature`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.category_sets import category_rule
from milp_trees.data.checks import some
from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.data.learned_thresholds import buckets, guessed
from milp_trees.data.names import check_same_rows
from milp_trees.data.number_table import NumberTable, number_table, ranked_numbers, thresholded
from milp_trees.data.parameters import OF_BINARIZERS, check_parameters
from milp_trees.data.quantiles import most_of_a_column, quantile_cuts
from milp_trees.data.rest_of_table import held_elsewhere
from milp_trees.data.rules import (
    Rule,
    between_values,
    features_of,
    n_features,
    n_thresholds,
    outcomes,
    ranked_features,
    reduced,
    rules_of,
    separates,
    thresholds_at,
    with_missing,
)
from milp_trees.data.stored_rules import StoredRules
from milp_trees.data.table_columns import (
    as_frame,
    as_numbers,
    categories_in,
    check_complete,
    counts_as_equal,
    different_values,
    kind_of,
    present_in,
)

if TYPE_CHECKING:
    import pandas as pd

#: The kinds that need nothing but the values of a column, which are found in a matrix at once.
MATRIX_KINDS = ("auto", "midpoints", "quantiles")
KINDS = ("auto", "midpoints", "quantiles", "buckets", "tree-guess")

#: Up to so many thresholds in all, data with some of them know how to make the others.
MOST_IN_ALL = 1_000_000

#: What a result on such thresholds may lose against all thresholds of the columns; all midpoints
#: lose nothing.
THRESHOLD_NOTES = {
    "quantiles": "thresholds at quantiles only, so another threshold may give a better tree",
    "auto": "the columns have more thresholds than max_thresholds, so those at quantiles are taken, and another one may give a better tree",
    "buckets": "bucketized thresholds (none between neighbouring values of one class), which may lose the optimum (Lin et al. 2020, Theorem 3.1)",
    "tree-guess": "thresholds guessed by boosted trees (McTavish et al. 2022), so another threshold may give a better tree",
    "precision": "whole numbers beyond 2^53 are compared as doubles, and times in microseconds, and some that differ count as equal",
}


# Importing scikit-learn takes a second, so that its base classes are in the subclass
# `milp_trees.estimators.binarizer.Binarizer` (the public one), and a table is read without them.
class Binarizer(StoredRules):
    """Turns columns into binary features; `mt.Binarizer` is a transformer of scikit-learn.

    A column of 0 and 1 is taken as it is, a text column is one-hot encoded (one feature if it has
    two values), and a numeric column gets thresholds `column <= t`, each halfway between two
    consecutive distinct values. So does a column of dates (`signed <= 2021-03-05`), and one of
    ordered categories (`size <= medium`). Thresholds depend only on the rows that it is fitted on.

    Parameters
    ----------
    kind : {"auto", "midpoints", "quantiles", "buckets", "tree-guess"}
        Which thresholds a numeric column gets. "auto": all of them, and where that is too much
        work for the method that solves a problem, it chooses among them with the target in view
        (`milp_trees.choose_thresholds`). "midpoints": all of them, whatever the method. "quantiles":
        those at quantiles. "buckets": those between neighbouring values that are not all of one
        class; this may lose the optimum (Lin et al. 2020, "Generalized and scalable optimal sparse
        decision trees", Theorem 3.1). "tree-guess": those that a boosted ensemble of small trees
        uses (McTavish et al. 2022, "Fast sparse decision tree optimization via reference
        ensembles").
    n_bins : int, default=10
        Number of bins of the quantiles: `n_bins - 1` thresholds per column.
    max_thresholds : int, default=200_000
        If the columns have more thresholds in all, "auto" takes those at quantiles of the columns
        with the most, so many that the total is at most this (every column keeps one at least).
    n_estimators, max_depth : int, default=40, 1
        Size of the boosted ensemble of "tree-guess".
    back_select : bool, default=True
        Whether "tree-guess" then removes its least important features, as long as the ensemble
        stays as accurate on the training rows.
    max_categories : int, default=100
        A text column with more values raises DataError, because its values name rows.
    category_sets : int, default=0
        A text column with 4 to so many values gets a feature for every set of its values,
        `color in {blue, red}`, one of a set and its complement: 2^(k-1) - 1 features for k values.
        One with more values raises DataError. 0: one feature per value. A value that is in no
        row answers no, like the larger side of the set.
    random_state : int, default=0
        Seed of the boosted ensemble.

    Attributes
    ----------
    rules_ : dict of column name to rule
        See `milp_trees.data.rules`.
    features : tuple of BinaryFeature
        The binary features, in the order of the columns of `transform`.
    n_thresholds_ : int
        Number of all thresholds: one between any two neighbouring values of a numeric column.
    threshold_note_ : str
        What the thresholds may lose against all midpoints, empty if nothing; it is copied into the
        data and into every result.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 30, 40], "smoker": ["no", "yes", "no"]})
    >>> [t.name for t in Binarizer().fit(frame).features]
    ['age <= 25', 'age <= 35', 'smoker == yes']
    """

    def __init__(
        self,
        *,
        kind: str = "auto",
        n_bins: int = 10,
        max_thresholds: int = 200_000,
        n_estimators: int = 40,
        max_depth: int = 1,
        back_select: bool = True,
        max_categories: int = 100,
        category_sets: int = 0,
        random_state: int = 0,
    ) -> None:
        self.kind = kind
        self.n_bins = n_bins
        self.max_thresholds = max_thresholds
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.back_select = back_select
        self.max_categories = max_categories
        self.category_sets = category_sets
        self.random_state = random_state

    @classmethod
    def from_name(cls, text: str) -> Binarizer:
        """The binarizer of a name, as on the command line.

        Names are `auto`, `midpoints`, `quantiles:5`, `buckets` and `tree-guess:40`.
        """
        kind, _, number = str(text).partition(":")
        size = {"quantiles": "n_bins", "tree-guess": "n_estimators"}.get(kind)
        if kind not in KINDS or (number and (size is None or not number.isdecimal())):
            raise DataError(
                f"There is no binarizer {text!r}; write auto, midpoints, quantiles:5 (5 bins), buckets or tree-guess:40 (40 boosted trees)."
            )
        sizes: dict[str, Any] = {size: int(number)} if number and size else {}
        return cls(kind=kind, **sizes)

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Binarizer:
        """Choose the features from training rows; "tree-guess" and "buckets" need `y`."""
        return self._fit_among(X, y)

    def _fit_among(self, X: Any, y: Any = None, table: Any = None) -> Binarizer:
        """Choose the features from some rows of a table, so that all of its rows can answer them.

        Thresholds and categories are those of the rows. A column that has missing values elsewhere
        in the table gets features that answer for them, and one of 0 and 1 that has other numbers
        elsewhere gets a threshold.

        Parameters
        ----------
        X : DataFrame or mapping of columns
            The rows.
        y : array of shape (n,), optional
            Their target; "tree-guess" and "buckets" need it.
        table : DataFrame or mapping of columns, optional
            The table; by default these rows.

        Returns
        -------
        Binarizer
            The binarizer itself.

        Raises
        ------
        DataError
            A column cannot be a feature, or the target is needed and not given.
        """
        if self.kind not in KINDS:
            raise DataError(f"There is no binarizer {self.kind!r}; known are {', '.join(KINDS)}.")
        check_parameters(self, OF_BINARIZERS)
        check_same_rows({"X": X, "y": y})
        if self.kind in MATRIX_KINDS:
            numbers, whole = number_table(X), None if table is None else number_table(table)
            if numbers is not None and (table is None or whole is not None):
                return self._fit_numbers(numbers, whole)
        frame = as_frame(X)
        if self.kind == "tree-guess":
            check_complete(frame)  # the boosted ensemble takes no missing values
        self.n_features_in_ = frame.shape[1]
        present = {str(c): present_in(frame[c]) for c in frame.columns}
        gaps, numeric = held_elsewhere(present, frame, table)
        values = {
            c: different_values(c, held, c not in numeric) if len(held) else None
            for c, held in present.items()
        }
        self.n_thresholds_ = sum(len(v) - 1 for v in values.values() if v is not None)
        most = self._most_of_a_column([len(v) - 1 for v in values.values() if v is not None])
        self.rules_: dict[str, Rule] = {
            c: self._rule(c, held, values[c], most) if len(held) else []
            for c, held in present.items()
        }
        complete = self.rules_
        if self.kind in ("tree-guess", "buckets"):
            if y is None:
                raise DataError(
                    f"The binarizer {self.kind} learns its thresholds from a target; give y, or use quantiles:N."
                )
            self.rules_ = (
                guessed(self, self.rules_, frame, np.asarray(y))
                if self.kind == "tree-guess"
                else buckets(self.rules_, frame, np.asarray(y))
            )
        self.threshold_note_ = self._threshold_note(present, values, complete)
        self.rules_ = {
            c: with_missing(rule, present[c]) if c in gaps else rule
            for c, rule in self.rules_.items()
        }
        return self

    def _fit_numbers(self, table: NumberTable, whole: NumberTable | None) -> Binarizer:
        """Choose the features of columns of plain numbers; see `_fit_among`."""
        values = thresholded(table, whole)
        sizes = {name: len(held) - 1 for name, held in values.items()}
        self.n_features_in_, self.n_thresholds_ = len(table), sum(sizes.values())
        most = self._most_of_a_column(list(sizes.values()))
        self.rules_ = dict.fromkeys(table, "0/1")
        for name, held in values.items():
            some_only = self.kind == "quantiles" or (most is not None and sizes[name] > most)
            at = (
                quantile_cuts(table[name], held, self._bins(most))
                if some_only
                else np.arange(1, len(held))
            )
            self.rules_[name] = thresholds_at(held, at)
        fewer = any(len(self.rules_[name]) < size for name, size in sizes.items())
        self.threshold_note_ = THRESHOLD_NOTES[self.kind] if fewer else ""
        return self

    def _bins(self, most: int | None) -> int:
        """Into how many bins a column is cut that gets some of its thresholds."""
        return self.n_bins if self.kind == "quantiles" else 1 + (most or 0)

    def _most_of_a_column(self, sizes: list[int]) -> int | None:
        """The most thresholds that "auto" takes of a column; None if it takes all of them."""
        return None if self.kind != "auto" else most_of_a_column(sizes, self.max_thresholds)

    def _threshold_note(
        self,
        present: Mapping[str, pd.Series],
        values: Mapping[str, np.ndarray | None],
        complete: Mapping[str, Rule],
    ) -> str:
        """The sentences of `THRESHOLD_NOTES` if a column has fewer features than it could have."""
        numeric = {c: v for c, v in values.items() if v is not None}
        fewer = any(
            n_features(rule) < len(numeric[c]) - 1 if c in numeric else rule != complete[c]
            for c, rule in self.rules_.items()
            if rule != "0/1"
        )
        merged = any(counts_as_equal(present[c]) for c in numeric)
        kinds = [self.kind] * fewer + ["precision"] * merged
        return "; ".join(THRESHOLD_NOTES[kind] for kind in kinds)

    def _rule(
        self, name: str, column: pd.Series, values: np.ndarray | None, most: int | None
    ) -> Rule:
        """The rule of a column, from its values in order and the most thresholds it may have."""
        if values is None:
            text = kind_of(name, column) == "text"
            if not text:
                return "0/1"
            found = categories_in(name, column, self.max_categories)
            return category_rule(name, found, self.category_sets)
        if self.kind == "quantiles" or (most is not None and len(values) - 1 > most):
            cuts = quantile_cuts(as_numbers(column).to_numpy(), values, self._bins(most))
            return between_values(column, values, cuts)
        return between_values(column, values, np.arange(1, len(values)))

    # -- using -------------------------------------------------------------------------------------

    @property
    def features(self) -> Sequence[BinaryFeature]:
        """The binary features, in the order of the columns of `transform`."""
        if not hasattr(self, "rules_"):
            raise DataError("This Binarizer is not fitted yet; call fit(frame) first.")
        return features_of(self.rules_)

    def transform(self, X: Any) -> np.ndarray:
        """Value of every feature on every row, uint8 of shape (n, F)."""
        tests = self.features
        frame = as_frame(X, tuple(self.rules_))
        self._check_columns(frame, tests)
        return outcomes(tests, frame)

    def _check_columns(self, frame: pd.DataFrame, tests: Sequence[BinaryFeature]) -> None:
        """Raise DataError if a column that is needed is absent or incomplete."""
        needed = {t.column for t in tests}
        missing = needed - {str(c) for c in frame.columns}
        if missing:
            raise DataError(
                f"The table has no column {sorted(missing)[0]!r}, which the binarizer was fitted on; it has {some(frame.columns)}."
            )
        answered = {t.column for t in tests if t.missing or t.kind == "missing"}
        check_complete(
            frame[[c for c in frame.columns if str(c) in needed - answered]], fitted=True
        )

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features."""
        return np.array([t.name for t in self.features], dtype=object)

    def dataset(
        self, frame: Any, y: Any = None, *, fitted_on: Any = None, **fields: Any
    ) -> Dataset:
        """A Dataset of a table; a binarizer that is not fitted is fitted on this table first.

        Parameters
        ----------
        frame : DataFrame or mapping of columns
            The table, n rows.
        y : array of shape (n,), optional
            Target of any label type.
        fitted_on : DataFrame or mapping of columns, optional
            The rows that the binarizer was fitted on. With them the dataset knows all thresholds
            of its columns, also those that are none of its features.
        **fields
            Further fields of the Dataset, such as `weights` or `groups`.

        Returns
        -------
        Dataset
        """
        if not hasattr(self, "rules_"):
            self.fit(frame, y)
            fitted_on = frame
        tests = self.features
        check_same_rows({"the table": frame, "y": y, **fields})
        numbers = number_table(frame, tuple(self.rules_))
        ranked = None if numbers is None else ranked_numbers(self.rules_, numbers)
        table: Any = numbers if ranked is not None else as_frame(frame, tuple(self.rules_))
        if ranked is None:
            self._check_columns(table, tests)
        given, note = dict(fields.pop("source", {})), getattr(self, "threshold_note_", "")
        source = {**given, "threshold_note": note} if note else dict(given)
        # A binarizer that was read, or keeps some features only, has no number of all thresholds,
        # and those of other rows are others.
        every = getattr(self, "n_thresholds_", 0)
        if fitted_on is None and every and not separates(self.rules_, as_frame(table)):
            every = 0
        if every:
            source["thresholds"] = {"used": n_thresholds(tests), "of": every}
        if n_thresholds(tests) < every <= MOST_IN_ALL and fitted_on is not None:
            known = {**fields, "source": given}
            fields["all_thresholds"] = partial(self._with_all, fitted_on, table, y, known)
        fields.setdefault("open_thresholds", bool(every) and self.kind == "auto")
        fields.setdefault("table_columns", tuple(map(str, table)))  # their names
        X: Any = ranked or ranked_features(self.rules_, table)
        return Dataset(X, tests, y=y, source=source, **fields)

    def _with_all(self, fitted_on: Any, table: Any, y: Any, fields: Mapping[str, Any]) -> Dataset:
        """The dataset with all thresholds of the rows that this binarizer was fitted on."""
        every = type(self)(
            kind="midpoints",
            max_categories=self.max_categories,
            category_sets=self.category_sets,
        )
        every._fit_among(fitted_on, None, table)
        source = dict(fields["source"])
        if "binarizer" in source:
            source["binarizer"] = {**every.described(), "given": False}
        return every.dataset(table, y, fitted_on=fitted_on, **{**fields, "source": source})

    def only(self, tests: Any) -> Binarizer:
        """A copy that makes only some of the features, such as those of a tree."""
        out: Binarizer = copy(self)
        out.__dict__.pop("n_thresholds_", None)
        wanted = set(tests)
        out.rules_ = {
            c: reduced(rule, [t for t in features_of({c: rule}) if t in wanted])
            for c, rule in self.rules_.items()
        }
        return out

    def covering(self, tests: Iterable[BinaryFeature]) -> Binarizer:
        """A copy that makes other features of the same columns."""
        out: Binarizer = copy(self)
        out.rules_ = {**{c: [] for c in self.rules_}, **rules_of(tests)}
        return out
