"""`Dataset`: immutable, validated arrays; all methods search the same binary features."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.plurals import counted
from milp_trees.data.checks import (
    binary_matrix,
    checked_counts,
    checked_floats,
    checked_labels,
    codes_below,
    frozen_copy,
)
from milp_trees.data.counted import Counted
from milp_trees.data.feature import BinaryFeature as BinaryFeature
from milp_trees.data.feature_list import FeatureList, Places, check_different, named_or_numbered
from milp_trees.data.names import check_same_rows, columns_and_names, one_or_several
from milp_trees.data.rules import n_thresholds, rules_of

#: Field of a Dataset → the option that names its column, on the command line and (without dashes)
#: in `load`.
ROLES = {
    "y": "--target",
    "groups": "--group",
    "factor": "--factor",
    "weights": "--weights",
    "treatments": "--treatment",
    "outcomes": "--outcome",
    "propensities": "--propensity (or estimate them: --propensity-model)",
    "targets": "--event and --time (survival), or --targets",
    "values": "--values (outcomes are estimated with --outcome-model)",
}

#: Parts of `source` that describe the features, not the rows.
OF_FEATURES = ("binarizer", "thresholds", "threshold_note")


@dataclass(frozen=True, eq=False)
class Dataset(Counted):
    """Rows with their binary features, and what is known about each row.

    Parameters
    ----------
    X : array of shape (n, F), values 0/1
        Value of each binary feature on each row. If `X` is given as `RankedTests` (as
        `Binarizer.dataset` does), the matrix is made when it is first used.
    features : sequence of BinaryFeature, length F, optional
        What the columns of `X` mean; by default columns named `"0"`, `"1"`, ….
    y : array of shape (n,), optional
        Target of any label type (strings, numbers, booleans); stored as codes with `classes`.
    weights : array of shape (n,), optional
        Nonnegative row weights; default 1 each.
    groups, factor : array of shape (n,), optional
        Level of the protected attribute, and of a legitimate factor (conditional statistical
        parity).
    group_column : str or sequence of str, optional
        The column that `groups` came from, or several whose combinations are the groups. Features
        of these columns are no candidates for splits, except if the space allows them.
    treatments, outcomes, propensities : arrays of shape (n,), optional
        Observed action, its outcome (larger is better) and the probability with which the action
        was chosen.
    values : array of shape (n, K), optional
        Value or predicted outcome of every action on every row.
    actions : sequence, optional
        Names of the K columns of `values`, in the order of the treatments.
    numeric : array of shape (n, d), optional
        Numeric columns as they are, for predictors with thresholds of their own (ensembles).
    columns : sequence of str, length d, optional
        Names of the columns of `numeric`.
    source : mapping, optional
        Where the data came from (path, SHA-256, reading options); copied into results.
    counts : int array of shape (n,), optional
        Number of equal original rows that each row stands for; default 1 each. All other arrays
        state what holds for one original row, `weights` too.
    open_thresholds : bool, default=False
        Whether a method for which all thresholds of the columns are too much work may choose among
        them (`Binarizer(kind="auto")`).
    table_columns : sequence of str, optional
        Names of the columns of the table that the features were made from, in their order.
    all_thresholds : callable, optional
        Makes the dataset with all thresholds of the columns, if the features are a choice of them
        and the columns are at hand. It is called at most once, and left out of pickles.
    targets : array of shape (n, k), optional
        Several numeric targets of each row (`y` holds a single one), such as the outputs of a
        regression, or time and event of survival data.
    target_names : sequence of str, length k, optional
        Names of the columns of `targets`.

    Raises
    ------
    DataError
        An entry is missing or not binary, shapes differ, a weight is negative or not finite, or
        two features have the same name.
    """

    X: np.ndarray
    features: Sequence[BinaryFeature] = ()
    y: np.ndarray | None = None
    classes: Sequence[Any] | None = None
    weights: np.ndarray | None = None
    groups: np.ndarray | None = None
    group_column: str | Sequence[str] | None = None
    factor: np.ndarray | None = None
    treatments: np.ndarray | None = None
    outcomes: np.ndarray | None = None
    propensities: np.ndarray | None = None
    values: np.ndarray | None = None
    actions: Sequence[Any] | None = None
    numeric: np.ndarray | None = None
    columns: Sequence[str] | None = None
    source: Mapping[str, Any] = field(default_factory=dict)
    counts: np.ndarray | None = None
    open_thresholds: bool = False
    table_columns: Sequence[str] | None = None
    all_thresholds: Callable[[], Dataset] | None = None
    targets: np.ndarray | None = None
    target_names: Sequence[str] | None = None

    def __post_init__(self) -> None:  # noqa: C901
        check_same_rows({f.name: getattr(self, f.name) for f in fields(self)})
        X: Any = self._keep_ranked()
        if X is None:
            own = [t.name for t in self.features] or None
            X, names = columns_and_names(self.X, own, "X", "features")
            X = binary_matrix(X)
            self._put("X", frozen_copy(X))
            if names is not None and own is None:
                self._put("features", tuple(BinaryFeature(str(name)) for name in names))
        tests = named_or_numbered(self.features, X.shape[1])
        self._put("features", tests)
        if len(tests) != X.shape[1]:
            raise DataError(
                f"{len(tests)} features are named but X has {X.shape[1]} columns; give one BinaryFeature per column."
            )
        check_different(tests)
        self._put("group_column", one_or_several(self.group_column))
        self._put_target()
        for name in ("groups", "factor", "treatments"):
            if getattr(self, name) is not None:
                self._put(name, frozen_copy(checked_labels(getattr(self, name), name, X.shape[0])))
        for name in ("weights", "outcomes", "propensities"):
            if getattr(self, name) is not None:
                given = checked_floats(getattr(self, name), name, (X.shape[0],))
                self._put(name, frozen_copy(given))
        if self.counts is not None:
            self._put("counts", frozen_copy(checked_counts(self.counts, X.shape[0])))
        if self.weights is not None and (self.weights < 0).any():
            raise DataError(
                f"Row weights must not be negative; row {int(np.argmax(self.weights < 0))} has {self.weights.min():g}."
            )
        if (
            self.propensities is not None
            and ((self.propensities <= 0) | (self.propensities > 1)).any()
        ):
            raise DataError(
                "Propensities must lie in (0, 1]: they are probabilities of the observed treatment, not their inverses."
            )
        if self.values is not None:
            given, named = columns_and_names(self.values, self.actions, "values", "actions")
            K = np.shape(given)[1] if np.ndim(given) == 2 else 1
            values = checked_floats(given, "values", (X.shape[0], K), keep_whole=True)
            self._put("values", frozen_copy(values))
            self._put("actions", tuple(range(K)) if named is None else named)
            if len(self.actions or ()) != K:
                raise DataError(
                    f"values must have one column per action; it has {K}, and there are {len(self.actions or ())} actions."
                )
        elif self.actions is not None:
            self._put("actions", tuple(self.actions))
        if self.numeric is not None:
            given, named = columns_and_names(self.numeric, self.columns, "numeric", "columns")
            d = np.shape(given)[1] if np.ndim(given) == 2 else 1
            self._put("numeric", frozen_copy(checked_floats(given, "numeric", (X.shape[0], d))))
            named = tuple(map(str, range(d) if named is None else named))
            self._put("columns", named)
            if len(named) != d:
                raise DataError(
                    f"{len(named)} columns are named but numeric has {d}; give one name per column."
                )
            if len(set(named)) != d:
                raise DataError(
                    f"Two columns are called {next(c for c in named if named.count(c) > 1)!r}; rename one of them."
                )
        self._put_targets()
        if self.numeric is None and self.columns is not None:
            raise DataError(
                "columns names the columns of numeric, which is not given; give Dataset(…, numeric=X, columns=names)."
            )
        self._put("source", dict(self.source))

    def _put(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def _put_target(self) -> None:
        if self.y is None:
            return
        if self.classes is not None:
            codes = np.asarray(self.y)
            if codes.shape != (self.n_rows,) or not codes_below(codes, len(self.classes)):
                raise DataError("With classes given, y must hold one code 0..K-1 per row.")
            self._put("classes", tuple(self.classes))
            if len(set(map(str, self.classes))) < len(self.classes):
                raise DataError("Two classes have the same name; name every class once.")
        else:
            labels = checked_labels(self.y, "y", self.n_rows)
            classes, codes = np.unique(labels, return_inverse=True)
            self._put("classes", tuple(np.asarray(classes).tolist()))
        self._put("y", frozen_copy(np.asarray(codes, dtype=np.int64)))

    def _put_targets(self) -> None:
        if self.targets is None:
            if self.target_names is not None:
                raise DataError(
                    "target_names names the columns of targets, which is not given; give Dataset(…, targets=Y, target_names=names)."
                )
            return
        given, named = columns_and_names(self.targets, self.target_names, "targets", "target_names")
        k = np.shape(given)[1] if np.ndim(given) == 2 else 1
        values = checked_floats(given, "targets", (self.n_rows, k), keep_whole=True)
        self._put("targets", frozen_copy(values))
        self._put("target_names", tuple(map(str, range(k) if named is None else named)))
        if len(self.target_names or ()) != k:
            raise DataError(
                f"targets has {k} columns, and {len(self.target_names or ())} names are given; name each of them."
            )

    # -- reading -----------------------------------------------------------------------------------

    @cached_property
    def index(self) -> Mapping[BinaryFeature, int]:
        """Column of `X` for each binary feature."""
        if isinstance(self.features, FeatureList):
            return Places(self.features)
        return {t: j for j, t in enumerate(self.features)}

    @property
    def threshold_note(self) -> str:
        """What the thresholds and groups of categories may lose; empty if they lose nothing.

        The comparison is with all thresholds of the columns that the features came from.
        """
        parts = (self.source.get("threshold_note", ""), self.source.get("regrouped", ""))
        return "; ".join(str(part) for part in parts if part)

    @property
    def group_columns(self) -> tuple[str, ...]:
        """The columns that the groups came from; none if they are no columns of the table."""
        given = self.group_column or ()
        return (given,) if isinstance(given, str) else tuple(given)

    @cached_property
    def row_weights(self) -> np.ndarray:
        """`weights`, or ones; shape (n,)."""
        return np.ones(self.n_rows) if self.weights is None else self.weights

    def require(self, name: str, why: str) -> np.ndarray:
        """The array called `name`; a DataError that contains the sentence `why` if it is absent."""
        value = getattr(self, name)
        if value is None and name == "y" and self.target_names is not None:
            raise DataError(f"{why} needs classes, {self._no_classes()}")
        if value is None:
            raise DataError(
                f"{why} needs `{name}`, which this dataset does not have; name its column with {ROLES[name]}, or give Dataset(…, {name}=…)."
            )
        return np.asarray(value)

    def _no_classes(self) -> str:
        """What the data hold in the place of classes, and what to do about it."""
        names = tuple(self.target_names or ())
        if names == ("time", "event"):
            return "and these are survival data; take a task for them."
        shown = ", ".join(map(repr, names))
        held = f"the target {shown} holds" if len(names) == 1 else f"the targets {shown} hold"
        return f"and {held} measured numbers; take a task of regression, or name another column with --target."

    @cached_property
    def protected(self) -> dict[str, Any] | None:
        """What is known about the protected attribute; None without groups and group column.

        `column` is the group column (None if groups were given apart from the features), `groups`
        the number of groups, and `copies` the names of features of *other* columns that hold
        exactly on the rows of one group, or exactly on all other rows. A tree that tests a copy
        tests the group, under another name.
        """
        column = ", ".join(self.group_columns) or None
        if self.groups is None:
            return {"column": column} if self.group_columns else None
        levels = [np.asarray(self.groups == g) for g in np.unique(self.groups)]
        sizes = {size for level in levels for size in (level.sum(), self.n_rows - level.sum())}
        copies = []
        for j, test in enumerate(self.features):
            if test.column in self.group_columns or len(levels) < 2:
                continue
            holds = np.asarray(self.outcome(j), dtype=bool)
            if holds.sum() in sizes and any(
                (holds == level).all() or (holds != level).all() for level in levels
            ):
                copies.append(test.name)
        return {"column": column, "groups": len(levels), "copies": copies}

    # -- thresholds --------------------------------------------------------------------------------

    @cached_property
    def complete(self) -> Dataset | None:
        """These rows with all thresholds of the columns that the features were made from.

        It is the dataset itself if it has them all, and None if the columns are not at hand.
        """
        if self.all_thresholds is not None:
            return self.all_thresholds()
        counted = self.source.get("thresholds")
        whole = counted is not None and counted["used"] == counted["of"]
        return self if self.open_thresholds or whole else None

    def choose(self, tests: Iterable[BinaryFeature]) -> Dataset:
        """The dataset with some of its features, which knows that others were left out.

        Parameters
        ----------
        tests : iterable of BinaryFeature
            Features of the dataset.

        Returns
        -------
        Dataset
            Its features are in the order of this dataset, and its thresholds are no longer open.
        """
        wanted = set(tests)
        kept = np.array([j for j, t in enumerate(self.features) if t in wanted], dtype=np.int64)
        features = [self.features[j] for j in kept]
        stored: Any = self.X[:, kept] if self.ranked is None else self.ranked.select(kept)
        source = dict(self.source)
        if "thresholds" in source:
            source["thresholds"] = {**source["thresholds"], "used": n_thresholds(features)}
        if "binarizer" in source:
            nothing: dict[str, Any] = {c: [] for c in source["binarizer"]["columns"]}
            rules = {**nothing, **rules_of(features)}
            source["binarizer"] = {**source["binarizer"], "columns": rules, "given": True}
        return replace(
            self,
            X=stored,
            features=features,
            source=source,
            open_thresholds=False,
            all_thresholds=self.all_thresholds or (lambda: self),
        )

    def _others(self, change: Callable[[Dataset], Dataset]) -> Callable[[], Dataset] | None:
        """What makes all thresholds of a dataset that is changed in its rows or fields."""
        make = self.all_thresholds
        return None if make is None else lambda: change(make())

    def __getstate__(self) -> dict[str, Any]:
        """The state to pickle; the columns behind other thresholds are not kept."""
        left_out = ("all_thresholds", "complete")
        return {k: v for k, v in self.__dict__.items() if k not in left_out}

    # -- making others -----------------------------------------------------------------------------

    def subset(self, rows: Any) -> Dataset:
        """The dataset with only the given rows (indices or mask); everything else is unchanged."""
        rows = np.asarray(rows)
        changed: dict[str, Any] = {
            "X": self.X[rows] if self.ranked is None else self.ranked.take(rows)
        }
        for name in (
            "y",
            "weights",
            "groups",
            "factor",
            "treatments",
            "outcomes",
            "propensities",
            "values",
            "numeric",
            "counts",
            "targets",
        ):
            if getattr(self, name) is not None:
                changed[name] = getattr(self, name)[rows]
        changed["all_thresholds"] = self._others(lambda every: every.subset(rows))
        return replace(self, **changed)

    def with_(self, **changes: Any) -> Dataset:
        """A copy in which some fields are replaced."""
        if "y" in changes and "classes" not in changes:
            changes["classes"] = None
        others = None if "X" in changes else self._others(lambda every: every._with_rows(changes))
        return replace(self, **{"X": self.stored, "all_thresholds": others, **changes})

    def _with_rows(self, changes: Mapping[str, Any]) -> Dataset:
        """A copy with the changes of a dataset on the same rows, without those of its features."""
        kept = {k: v for k, v in changes.items() if k not in ("features", "source")}
        stated = changes.get("source", self.source)
        about_rows = {k: v for k, v in stated.items() if k not in OF_FEATURES}
        own = {k: v for k, v in self.source.items() if k in OF_FEATURES}
        return self.with_(source={**about_rows, **own}, **kept)

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the arrays and of the names of the features."""
        h = hashlib.sha256("\n".join(t.name for t in self.features).encode())
        for f in fields(self):
            if f.name == "X" and self.ranked is not None:
                for part in self.ranked.least_codes():
                    h.update(part.tobytes())
                continue
            value = getattr(self, f.name)
            if isinstance(value, np.ndarray):
                h.update(f.name.encode())
                plain = value.dtype != object
                h.update(
                    np.ascontiguousarray(value).tobytes()
                    if plain
                    else repr(value.tolist()).encode()
                )
            elif f.name in ("classes", "actions") or (
                f.name in ("columns", "target_names") and value is not None
            ):
                h.update(repr(value).encode())
        return h.hexdigest()

    def __repr__(self) -> str:
        target = numeric = ""
        if self.classes is not None:
            target = f", {counted(len(self.classes), 'class', 'classes')}"
        if self.target_names is not None:
            target += f", {counted(len(self.target_names), 'numeric target')}"
        if self.numeric is not None:
            numeric = f", {counted(self.numeric.shape[1], 'numeric column')}"
        distinct = "" if self.counts is None else f", {self.n_rows} distinct,"
        rows = f"{self.total_rows} rows{distinct}"
        return f"Dataset({rows} × {self.n_features} features{numeric}{target})"
