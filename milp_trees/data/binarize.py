"""`Binarizer`: from a table of columns to binary features.

Original names, categories and thresholds are part of every `BinaryFeature`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data import dates
from milp_trees.data.checks import check_finite, some
from milp_trees.data.dataset import BinaryFeature, Dataset
from milp_trees.data.parameters import OF_BINARIZERS, check_parameters
from milp_trees.data.rules import (
    Rule,
    features_of,
    outcomes,
    ranked_features,
    reduced,
    thresholds_at,
    with_missing,
)
from milp_trees.data.table_columns import (
    as_frame,
    as_numbers,
    check_complete,
    counts_as_equal,
    in_single_precision,
    kind_of,
    present_in,
    refuse_spoilt_numbers,
)
from milp_trees.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("auto", "midpoints", "quantiles", "buckets", "tree-guess")

#: What a result on such thresholds may lose against all thresholds of the columns; all midpoints
#: lose nothing.
THRESHOLD_NOTES = {
    "quantiles": "thresholds at quantiles only, so another threshold may give a better tree",
    "buckets": "bucketized thresholds (none between neighbouring values of one class), which may lose the optimum (Lin et al. 2020, Theorem 3.1)",
    "tree-guess": "thresholds guessed by boosted trees (McTavish et al. 2022), so another threshold may give a better tree",
    "precision": "whole numbers beyond 2^53 are compared as doubles, and some that differ count as equal",
}


# Importing scikit-learn takes a second, so that its base classes are in the subclass
# `milp_trees.estimators.binarizer.Binarizer` (the public one), and a table is read without them.
class Binarizer:
    """Turns columns into binary features; `mt.Binarizer` is a transformer of scikit-learn.

    A column of 0 and 1 is taken as it is, a text column is one-hot encoded (one feature if it has
    two values), and a numeric column gets thresholds `column <= t`, each halfway between two
    consecutive distinct values. So does a column of dates (`datetime64`): `signed <= 2021-03-05`. Thresholds depend only on the rows that the binarizer is fitted on.

    Parameters
    ----------
    kind : {"auto", "midpoints", "quantiles", "buckets", "tree-guess"}
        Which thresholds a numeric column gets. "midpoints": all of them, so nothing is lost
        (`dp-sorted` can use tens of thousands). "quantiles": those at quantiles. "buckets": those
        between neighbouring values that are not all of one class; this may lose the optimum (Lin
        et al. 2020, "Generalized and scalable optimal sparse decision trees", Theorem 3.1).
        "tree-guess": those that a boosted ensemble of small trees uses (McTavish et al. 2022,
        "Fast sparse decision tree optimization via reference ensembles"). "auto": all midpoints of
        a column with at most `max_midpoints` distinct values, quantiles otherwise.
    n_bins : int, default=10
        Number of bins of the quantiles: `n_bins - 1` thresholds per column.
    max_midpoints : int, default=20
        Used by "auto".
    n_estimators, max_depth : int, default=40, 1
        Size of the boosted ensemble of "tree-guess".
    back_select : bool, default=True
        Whether "tree-guess" then removes its least important features, as long as the ensemble
        stays as accurate on the training rows.
    max_categories : int, default=100
        A text column with more values raises DataError, because its values name rows.
    random_state : int, default=0
        Seed of the boosted ensemble.

    Attributes
    ----------
    rules_ : dict of column name to rule
        See `milp_trees.data.rules`.
    features : tuple of BinaryFeature
        The binary features, in the order of the columns of `transform`.
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
        max_midpoints: int = 20,
        n_estimators: int = 40,
        max_depth: int = 1,
        back_select: bool = True,
        max_categories: int = 100,
        random_state: int = 0,
    ) -> None:
        self.kind = kind
        self.n_bins = n_bins
        self.max_midpoints = max_midpoints
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.back_select = back_select
        self.max_categories = max_categories
        self.random_state = random_state

    @classmethod
    def from_name(cls, text: str) -> Binarizer:
        """The binarizer of a name, as on the command line.

        Names are `auto`, `midpoints`, `quantiles:5`, `buckets` and `tree-guess:40`.
        """
        kind, _, number = str(text).partition(":")
        size = {"auto": "n_bins", "quantiles": "n_bins", "tree-guess": "n_estimators"}.get(kind)
        if kind not in KINDS or (number and (size is None or not number.isdecimal())):
            raise DataError(
                f"There is no binarizer {text!r}; write auto, midpoints, quantiles:5 (5 bins), buckets or tree-guess:40 (40 boosted trees)."
            )
        sizes: dict[str, Any] = {size: int(number)} if number and size else {}
        return cls(kind=kind, **sizes)

    # -- fitting -----------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Binarizer:
        """Choose the features from training rows; "tree-guess" and "buckets" need `y`."""
        if self.kind not in KINDS:
            raise DataError(f"There is no binarizer {self.kind!r}; known are {', '.join(KINDS)}.")
        check_parameters(self, OF_BINARIZERS)
        frame = as_frame(X)
        if self.kind == "tree-guess":
            check_complete(frame)  # the boosted ensemble takes no missing values
        self.n_features_in_ = frame.shape[1]
        present = {str(c): present_in(frame[c]) for c in frame.columns}
        self.rules_: dict[str, Rule] = {
            c: self._rule(c, values) if len(values) else [] for c, values in present.items()
        }
        complete = self.rules_
        if self.kind in ("tree-guess", "buckets"):
            if y is None:
                raise DataError(
                    f"The binarizer {self.kind} learns its thresholds from a target; give y, or use quantiles:N."
                )
            self.rules_ = (
                self._guess(frame, np.asarray(y))
                if self.kind == "tree-guess"
                else self._buckets(frame, np.asarray(y))
            )
        self.threshold_note_ = self._threshold_note(present, complete)
        self.rules_ = {
            c: rule if len(present[c]) == len(frame) else with_missing(rule, present[c])
            for c, rule in self.rules_.items()
        }
        return self

    def _threshold_note(
        self, present: Mapping[str, pd.Series], complete: Mapping[str, Rule]
    ) -> str:
        """The sentences of `THRESHOLD_NOTES` if a column has fewer features than it could have."""
        thresholds = [c for c, rule in self.rules_.items() if isinstance(rule, list)]
        distinct = {c: as_numbers(present[c]).nunique() for c in thresholds}
        fewer = any(
            len(rule) < distinct[c] - 1 if isinstance(rule, list) else rule != complete[c]
            for c, rule in self.rules_.items()
            if rule != "0/1"
        )
        kinds = ["quantiles" if self.kind == "auto" else self.kind] if fewer else []
        if any(counts_as_equal(present[c]) for c in thresholds):
            kinds.append("precision")
        return "; ".join(THRESHOLD_NOTES[kind] for kind in kinds)

    def _buckets(self, frame: pd.DataFrame, y: np.ndarray) -> dict[str, Rule]:
        """The rules without thresholds between neighbouring values whose rows have one class."""
        names = {str(c): c for c in frame.columns}
        codes = np.unique(y, return_inverse=True)[1]
        out: dict[str, Rule] = {}
        for c, rule in self.rules_.items():
            if isinstance(rule, list):
                known = frame[names[c]].notna().to_numpy()
                values, group = np.unique(as_numbers(frame[names[c]][known]), return_inverse=True)
                here = codes[known]
                low, high = np.full(len(values), len(codes)), np.full(len(values), -1)
                np.minimum.at(low, group, here)
                np.maximum.at(high, group, here)
                pure = (low[:-1] == high[:-1]) & (low[1:] == high[1:]) & (low[:-1] == low[1:])
                rule = [t for t, drop in zip(rule, pure.tolist(), strict=True) if not drop]
            out[c] = rule
        return out

    def _rule(self, name: str, column: pd.Series) -> Rule:
        kind = kind_of(name, column)
        if kind == "bool":
            return "0/1"
        if kind == "text":
            return {"categories": self._categories(name, column)}
        numbers = as_numbers(column).to_numpy()
        if kind == "numbers":
            check_finite(name, numbers)
        between = thresholds_at if kind == "numbers" else dates.thresholds_at
        values = np.unique(numbers)
        if kind == "numbers" and len(values) < 3 and set(values.tolist()) <= {0.0, 1.0}:
            return "0/1"
        if self.kind == "quantiles" or (self.kind == "auto" and len(values) > self.max_midpoints):
            # With as many bins as rows, the quantiles give all midpoints already.
            bins = max(2, min(self.n_bins, len(numbers)))
            at = np.quantile(numbers, np.arange(1, bins) / bins, method="lower")
            return between(values, np.unique(np.searchsorted(values, at, side="right")))
        return between(values, np.arange(1, len(values)))

    def _categories(self, name: str, column: pd.Series) -> list[str]:
        refuse_spoilt_numbers(name, column)
        found = sorted(set(column.astype(str)))
        if len(found) > self.max_categories:
            raise DataError(
                f"The column {name!r} holds {len(found)} different texts (for example {found[0]!r}); drop it if it names the rows, "
                f"turn it into numbers, or raise Binarizer(max_categories=…)."
            )
        return found[1:] if len(found) <= 2 else found

    def _guess(self, frame: pd.DataFrame, y: np.ndarray) -> dict[str, Rule]:
        """Rules of the features that a boosted ensemble uses, as few as leave it as accurate."""
        from sklearn.ensemble import GradientBoostingClassifier

        def ensemble() -> Any:
            return GradientBoostingClassifier(
                n_estimators=self.n_estimators,
                max_depth=self.max_depth,
                random_state=self.random_state,
            )

        tests = features_of(self.rules_)
        kept = self._numeric_guesses(frame, y, ensemble()) + [t for t in tests if t.kind != "<="]
        kept = [t for t in tests if t in set(kept)]
        X = outcomes(kept, frame)
        while self.back_select and len(kept) > 1:
            model = ensemble().fit(X, y)
            score, importance = model.score(X, y), model.feature_importances_
            used = importance > 0
            if not used.all() and used.any():  # removing unused features changes nothing
                kept, X = [t for t, u in zip(kept, used.tolist(), strict=True) if u], X[:, used]
                continue
            without = np.arange(len(kept)) != int(importance.argmin())
            if ensemble().fit(X[:, without], y).score(X[:, without], y) < score:
                break
            kept, X = [t for t, u in zip(kept, without.tolist(), strict=True) if u], X[:, without]
        return {
            c: reduced(rule, [t for t in kept if t.column == c]) for c, rule in self.rules_.items()
        }

    def _numeric_guesses(
        self, frame: pd.DataFrame, y: np.ndarray, model: Any
    ) -> list[BinaryFeature]:
        """Features of the ensemble that is fitted on the columns themselves.

        Their thresholds are moved halfway between observed values.
        """
        names = {str(c): c for c in frame.columns}
        numeric = [c for c, rule in self.rules_.items() if isinstance(rule, list) and rule]
        if not numeric:
            return []
        others = [t for t in features_of(self.rules_) if t.kind != "<="]
        asked = {c: in_single_precision(c, frame[names[c]], self.rules_[c]) for c in numeric}
        columns = np.column_stack(
            [*(numbers for numbers, _ in asked.values()), outcomes(others, frame)]
        )
        model.fit(columns, y)
        found: set[BinaryFeature] = set()
        for tree in (t.tree_ for t in model.estimators_.ravel()):
            for feature, threshold in zip(
                tree.feature.tolist(), tree.threshold.tolist(), strict=True
            ):
                if 0 <= feature < len(numeric):
                    name = numeric[feature]
                    # scikit-learn compares in single precision; the nearest midpoint divides
                    # the training rows in the same way.
                    nearest = int(np.abs(asked[name][1] - threshold).argmin())
                    found.add(features_of({name: self.rules_[name][nearest : nearest + 1]})[0])
        return list(found)

    # -- using -------------------------------------------------------------------------------------

    @property
    def features(self) -> tuple[BinaryFeature, ...]:
        """The binary features, in the order of the columns of `transform`."""
        if not hasattr(self, "rules_"):
            raise DataError("This Binarizer is not fitted yet; call fit(frame) first.")
        return features_of(self.rules_)

    def transform(self, X: Any) -> np.ndarray:
        """Value of every feature on every row, uint8 of shape (n, F)."""
        frame, tests = as_frame(X), self.features
        self._check_columns(frame, tests)
        return outcomes(tests, frame)

    def _check_columns(self, frame: pd.DataFrame, tests: tuple[BinaryFeature, ...]) -> None:
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

    def dataset(self, frame: Any, y: Any = None, **fields: Any) -> Dataset:
        """A Dataset of a table; a binarizer that is not fitted is fitted on this table first.

        Parameters
        ----------
        frame : DataFrame or mapping of columns
            The table, n rows.
        y : array of shape (n,), optional
            Target of any label type.
        **fields
            Further fields of the Dataset, such as `weights` or `groups`.

        Returns
        -------
        Dataset
        """
        if not hasattr(self, "rules_"):
            self.fit(frame, y)
        table, tests = as_frame(frame), self.features
        self._check_columns(table, tests)
        if getattr(self, "threshold_note_", ""):
            fields["source"] = {**fields.get("source", {}), "threshold_note": self.threshold_note_}
        ranked: Any = ranked_features(self.rules_, table)
        return Dataset(ranked, tests, y=y, **fields)

    def only(self, tests: Any) -> Binarizer:
        """A copy that makes only some of the features, such as those of a tree."""
        out: Binarizer = copy(self)
        wanted = set(tests)
        out.rules_ = {
            c: reduced(rule, [t for t in features_of({c: rule}) if t in wanted])
            for c, rule in self.rules_.items()
        }
        return out

    # -- exchange ----------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Kind, parameters, fitted rules and their loss.

        `from_json` makes a binarizer with the same features from it.
        """
        names = [name for name in signature(type(self)).parameters if name != "kind"]
        parameters = {name: getattr(self, name) for name in names}
        return {
            "kind": self.kind,
            "parameters": parameters,
            "columns": dict(self.rules_),
            "threshold_note": self.threshold_note_,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Binarizer:
        out = cls(kind=data["kind"], **data.get("parameters", {}))
        out.rules_ = dict(data["columns"])
        out.threshold_note_ = data.get("threshold_note", "")
        out.n_features_in_ = len(out.rules_)
        return out
