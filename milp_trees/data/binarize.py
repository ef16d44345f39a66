"""`Binarizer`: from a table of columns to binary tests; original names, categories and thresholds
survive in every `BinaryFeature`.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin

from milp_trees.data.dataset import BinaryFeature, Dataset, check_finite
from milp_trees.data.parameters import OF_BINARIZERS, check_parameters
from milp_trees.data.ranked import RankedTests, gaps
from milp_trees.data.table_columns import (
    as_frame,
    check_complete,
    counts_as_equal,
    kind_of,
    refuse_spoilt_numbers,
)
from milp_trees.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

KINDS = ("auto", "midpoints", "quantiles", "buckets", "tree-guess")

#: What a result on such thresholds does not say about the columns themselves; all midpoints lose
#: nothing.
LOSSES = {
    "quantiles": "thresholds at quantiles only, so another threshold may give a better tree",
    "buckets": "bucketized thresholds (none between neighbouring values of one class), which may lose the optimum (Lin et al. 2020, Theorem 3.1)",
    "tree-guess": "thresholds guessed by boosted trees (McTavish et al. 2022), so another threshold may give a better tree",
    "precision": "whole numbers beyond 2^53 are compared as doubles, and some that differ count as equal",
}

#: How one column is tested: "0/1" as it is, a list of thresholds, or {"categories": [...]}.
Rule = Any


class Binarizer(BaseEstimator, TransformerMixin):  # type: ignore[misc]
    """Turns columns into binary tests, as scikit-learn's transformers do; thresholds come from the
    rows it is fitted on only.

    A column of 0 and 1 is taken as it is, a text column is one-hot encoded (one test if it has two
    values), a numeric column gets thresholds `column <= t`, each halfway between two consecutive
    distinct values.

    Parameters
    ----------
    kind : {"auto", "midpoints", "quantiles", "buckets", "tree-guess"}
        Which thresholds a numeric column gets: all midpoints (nothing is lost: `dp-sorted` takes
        tens of thousands); those at quantiles; those between neighbouring values that are not all
        of one class, which looks harmless and may lose the optimum (Lin et al. 2020, "Generalized
        and scalable optimal sparse decision trees", Theorem 3.1); those a boosted ensemble of small
        trees uses (McTavish et al. 2022, "Fast sparse decision tree optimization via reference
        ensembles"); or, with "auto", all midpoints where there are fewer than `max_midpoints` and
        quantiles elsewhere.
    n_bins : int, default=10
        Bins of the quantiles: `n_bins - 1` thresholds per column.
    max_midpoints : int, default=20
        For "auto".
    n_estimators, max_depth : int
        Size of the boosted ensemble of "tree-guess".
    back_select : bool, default=True
        Whether "tree-guess" drops its least important tests again, as long as the ensemble stays as
        accurate on the training rows.
    max_categories : int, default=100
        A text column with more values is refused: it names rows rather than describes them.
    random_state : int, default=0

    Attributes
    ----------
    rules_ : dict of column name to rule
    tests : tuple of Test
    loss_ : str
        What the thresholds may lose against all midpoints, empty if nothing; it goes with the data
        into every result.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [20, 30, 40], "smoker": ["no", "yes", "no"]})
    >>> [t.name for t in Binarizer().fit(frame).features]
    ['age <= 25', 'age <= 35', 'smoker == yes']
    """

    def __init__(
        self,
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
        """The binarizer that a command line spells `auto`, `midpoints`, `quantiles:5`, `buckets` or
        `tree-guess:40`.
        """
        kind, _, number = text.partition(":")
        size = {"auto": "n_bins", "quantiles": "n_bins", "tree-guess": "n_estimators"}.get(kind)
        if kind not in KINDS or (number and (size is None or not number.isdecimal())):
            raise DataError(
                f"There is no binarizer {text!r}; write auto, midpoints, quantiles:5 (5 bins), buckets or tree-guess:40 (40 boosted trees)."
            )
        sizes: dict[str, Any] = {size: int(number)} if number and size else {}
        return cls(kind, **sizes)

    # -- fitting ---------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Binarizer:
        """Choose the tests from training rows; "tree-guess" and "buckets" need `y`."""
        if self.kind not in KINDS:
            raise DataError(f"There is no binarizer {self.kind!r}; known are {', '.join(KINDS)}.")
        check_parameters(self, OF_BINARIZERS)
        frame = as_frame(X)
        check_complete(frame)
        self.n_features_in_ = frame.shape[1]
        self.rules_: dict[str, Rule] = {str(c): self._rule(str(c), frame[c]) for c in frame.columns}
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
        self.loss_ = self._loss(frame, complete)
        return self

    def _loss(self, frame: pd.DataFrame, complete: Mapping[str, Rule]) -> str:
        """The sentences of `LOSSES` if a column has fewer tests than it could have."""
        names = {str(c): c for c in frame.columns}
        thresholds = [c for c, rule in self.rules_.items() if isinstance(rule, list)]
        distinct = {c: frame[names[c]].astype(float).nunique() for c in thresholds}
        fewer = any(
            len(rule) < distinct[c] - 1 if isinstance(rule, list) else rule != complete[c]
            for c, rule in self.rules_.items()
            if rule != "0/1"
        )
        kinds = ["quantiles" if self.kind == "auto" else self.kind] if fewer else []
        if any(counts_as_equal(frame[names[c]]) for c in thresholds):
            kinds.append("precision")
        return "; ".join(LOSSES[kind] for kind in kinds)

    def _buckets(self, frame: pd.DataFrame, y: np.ndarray) -> dict[str, Rule]:
        """Without the thresholds between neighbouring values whose rows are all of one class."""
        names = {str(c): c for c in frame.columns}
        codes = np.unique(y, return_inverse=True)[1]
        out: dict[str, Rule] = {}
        for c, rule in self.rules_.items():
            if isinstance(rule, list):
                values, group = np.unique(
                    frame[names[c]].to_numpy(dtype=float), return_inverse=True
                )
                low, high = np.full(len(values), len(codes)), np.full(len(values), -1)
                np.minimum.at(low, group, codes)
                np.maximum.at(high, group, codes)
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
        numbers = column.to_numpy(dtype=float)
        check_finite(name, numbers)
        values = np.unique(numbers)
        if set(values.tolist()) <= {0.0, 1.0}:
            return "0/1"
        if self.kind == "quantiles" or (self.kind == "auto" and len(values) > self.max_midpoints):
            bins = max(
                2, min(self.n_bins, len(numbers))
            )  # as many bins as rows give all midpoints already
            at = np.quantile(numbers, np.arange(1, bins) / bins, method="lower")
            return _thresholds(values, np.unique(np.searchsorted(values, at, side="right")))
        return _thresholds(values, np.arange(1, len(values)))

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
        """The tests that a boosted ensemble uses, least important ones dropped while it stays as
        accurate.
        """
        from sklearn.ensemble import GradientBoostingClassifier

        def ensemble() -> Any:
            return GradientBoostingClassifier(
                n_estimators=self.n_estimators,
                max_depth=self.max_depth,
                random_state=self.random_state,
            )

        tests = _tests(self.rules_)
        kept = self._numeric_guesses(frame, y, ensemble()) + [t for t in tests if t.kind != "<="]
        kept = [t for t in tests if t in set(kept)]
        X = _outcomes(kept, frame)
        while self.back_select and len(kept) > 1:
            model = ensemble().fit(X, y)
            score, importance = model.score(X, y), model.feature_importances_
            used = importance > 0
            if not used.all() and used.any():  # an unused test changes nothing
                kept, X = [t for t, u in zip(kept, used.tolist(), strict=True) if u], X[:, used]
                continue
            without = np.arange(len(kept)) != int(importance.argmin())
            if ensemble().fit(X[:, without], y).score(X[:, without], y) < score:
                break
            kept, X = [t for t, u in zip(kept, without.tolist(), strict=True) if u], X[:, without]
        return {
            c: _only(rule, [t for t in kept if t.column == c]) for c, rule in self.rules_.items()
        }

    def _numeric_guesses(
        self, frame: pd.DataFrame, y: np.ndarray, model: Any
    ) -> list[BinaryFeature]:
        """Tests of the ensemble fitted on the columns themselves, their thresholds moved halfway
        between observed values.
        """
        names = {str(c): c for c in frame.columns}
        numeric = [c for c, rule in self.rules_.items() if isinstance(rule, list) and rule]
        if not numeric:
            return []
        others = [t for t in _tests(self.rules_) if t.kind != "<="]
        for c in numeric:
            if frame[names[c]].astype(float).abs().max() > np.finfo(np.float32).max:
                raise DataError(
                    f"The column {c!r} holds numbers beyond single precision, in which tree-guess compares; divide it, or take quantiles:N."
                )
        columns = np.column_stack(
            [*(frame[names[c]].to_numpy(dtype=float) for c in numeric), _outcomes(others, frame)]
        )
        model.fit(columns, y)
        found: set[BinaryFeature] = set()
        for tree in (t.tree_ for t in model.estimators_.ravel()):
            for feature, threshold in zip(
                tree.feature.tolist(), tree.threshold.tolist(), strict=True
            ):
                if 0 <= feature < len(numeric):
                    candidates = np.array(self.rules_[numeric[feature]])
                    # scikit-learn compares in single precision; the nearest midpoint is the same
                    # cut of the training rows.
                    found.add(
                        BinaryFeature(
                            numeric[feature],
                            "<=",
                            float(candidates[np.abs(candidates - threshold).argmin()]),
                        )
                    )
        return list(found)

    # -- using -----------------------------------------------------------------------------------------------

    @property
    def features(self) -> tuple[BinaryFeature, ...]:
        """The tests, in the order of the columns of `transform`."""
        if not hasattr(self, "rules_"):
            raise DataError("This Binarizer is not fitted yet; call fit(frame) first.")
        return _tests(self.rules_)

    def transform(self, X: Any) -> np.ndarray:
        """Outcome of every test on every row, uint8 of shape (n, F)."""
        frame, tests = as_frame(X), self.features
        self._check_columns(frame, tests)
        return _outcomes(tests, frame)

    def _check_columns(self, frame: pd.DataFrame, tests: tuple[BinaryFeature, ...]) -> None:
        """Refuse a table without a column that is tested, or with gaps in one."""
        needed = {t.column for t in tests}
        missing = needed - {str(c) for c in frame.columns}
        if missing:
            raise DataError(
                f"The table has no column {sorted(missing)[0]!r}, which the binarizer was fitted on; it has {_some(frame.columns)}."
            )
        check_complete(frame[[c for c in frame.columns if str(c) in needed]])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the tests."""
        return np.array([t.name for t in self.features], dtype=object)

    def dataset(self, frame: Any, y: Any = None, **fields: Any) -> Dataset:
        """A Dataset of a table; the binarizer is fitted on it first if it has not been fitted."""
        if not hasattr(self, "rules_"):
            self.fit(frame, y)
        table, tests = as_frame(frame), self.features
        self._check_columns(table, tests)
        if getattr(self, "loss_", ""):
            fields["source"] = {**fields.get("source", {}), "loss": self.loss_}
        ranked: Any = _ranked(self.rules_, table)
        return Dataset(ranked, tests, y=y, **fields)

    def only(self, tests: Any) -> Binarizer:
        """A copy that makes some of the tests, such as those of a tree."""
        out: Binarizer = copy(self)
        wanted = set(tests)
        out.rules_ = {
            c: _only(rule, [t for t in _tests({c: rule}) if t in wanted])
            for c, rule in self.rules_.items()
        }
        return out

    # -- exchange --------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Kind, parameters, the fitted rules and what they lose; `from_json` gives a binarizer that
        makes the same tests.
        """
        parameters = {name: value for name, value in self.get_params().items() if name != "kind"}
        return {
            "kind": self.kind,
            "parameters": parameters,
            "columns": dict(self.rules_),
            "loss": self.loss_,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Binarizer:
        out = cls(data["kind"], **data.get("parameters", {}))
        out.rules_ = dict(data["columns"])
        out.loss_ = data.get("loss", "")
        out.n_features_in_ = len(out.rules_)
        return out


def _thresholds(values: np.ndarray, cuts: np.ndarray) -> list[float]:
    """Halfway between `values[k-1]` and `values[k]` for every cut k that leaves values on both
    sides.
    """
    out = []
    for k in cuts.tolist():
        if 0 < k < len(values):
            low, high = float(values[k - 1]), float(values[k])
            middle = low + (high - low) / 2
            short = float(f"{middle:.10g}")
            middle = short if low <= short < high else middle
            out.append(
                middle if low <= middle < high else low
            )  # neighbouring doubles have nothing between them
    return out


def _tests(rules: Mapping[str, Rule]) -> tuple[BinaryFeature, ...]:
    tests: list[BinaryFeature] = []
    for column, rule in rules.items():
        if rule == "0/1":
            tests.append(BinaryFeature(column))
        elif isinstance(rule, list):
            tests += [BinaryFeature(column, "<=", float(t)) for t in rule]
        else:
            tests += [BinaryFeature(column, "==", c) for c in rule["categories"]]
    return tuple(tests)


def _only(rule: Rule, kept: list[BinaryFeature]) -> Rule:
    """A rule reduced to some of its tests."""
    values = [t.value for t in kept]
    return (
        (rule if kept else [])
        if rule == "0/1"
        else values
        if isinstance(rule, list)
        else {"categories": values}
    )


def _outcomes(tests: Any, frame: pd.DataFrame) -> np.ndarray:
    names = {str(c): c for c in frame.columns}
    arrays = {c: frame[names[c]].to_numpy() for c in dict.fromkeys(t.column for t in tests)}
    out = np.zeros((len(frame), len(tests)), dtype=np.uint8)
    for j, t in enumerate(tests):
        try:
            out[:, j] = t.evaluate(arrays[t.column])
        except DataError:
            raise
        except (TypeError, ValueError):
            raise DataError(
                f"The column {t.column!r} must hold numbers, as it did when the binarizer was fitted; it holds text."
            ) from None
    return out


def _ranked(rules: Mapping[str, Rule], frame: pd.DataFrame) -> RankedTests:
    """Outcomes of all tests as ranks: a column's number of thresholds below each value, or a 0/1
    column for every other test.
    """
    names = {str(c): c for c in frame.columns}
    codes: list[np.ndarray] = []
    column: list[int] = []
    cut: list[int] = []
    gap: list[np.ndarray] = [np.empty((0, 2))]
    for name, rule in rules.items():
        tests = _tests({name: rule})
        if not tests:
            continue
        values = frame[names[name]].to_numpy()
        try:
            if isinstance(rule, list):
                thresholds, numbers = np.sort(np.array(rule, dtype=float)), values.astype(float)
                check_finite(name, numbers)
                codes.append(np.searchsorted(thresholds, numbers, side="left"))
                column += [len(codes) - 1] * len(rule)
                cut += np.searchsorted(
                    thresholds, np.array(rule, dtype=float), side="left"
                ).tolist()
                gap.append(gaps(numbers, np.array(rule, dtype=float)))
            else:
                for t in tests:
                    codes.append(1 - t.evaluate(values).astype(np.int32))
                    column.append(len(codes) - 1)
                    cut.append(0)
                    gap.append(np.full((1, 2), np.nan))
        except DataError:
            raise
        except (TypeError, ValueError):
            raise DataError(
                f"The column {name!r} must hold numbers, as it did when the binarizer was fitted; it holds text."
            ) from None
    stacked = (
        np.array(codes, dtype=np.int32).T if codes else np.zeros((len(frame), 0), dtype=np.int32)
    )
    return RankedTests(
        np.ascontiguousarray(stacked),
        np.array(column, dtype=np.int64),
        np.array(cut, dtype=np.int64),
        np.vstack(gap),
    )


def _some(names: Any, limit: int = 12) -> str:
    """The first names of a list, for a sentence."""
    shown = [str(n) for n in names]
    return ", ".join(shown[:limit]) + (
        f" and {len(shown) - limit} more" if len(shown) > limit else ""
    )
