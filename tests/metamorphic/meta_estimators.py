"""The estimators as subjects of metamorphic tests, and what can be asked of a fitted one."""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from meta_rows import Rows
from sklearn.ensemble import RandomForestClassifier

import milp_trees as mt

#: Methods that take rows and are not compared, with the reason.
NOT_ASKED = {
    "fit": "fitted by the relations themselves",
    "fit_transform": "fit, and then transform",
    "size_path": "fits again",
    "to_sklearn": "asked as a converted tree",
    "dataset": "what the other methods are computed from",
    "acquisition": "its row is an argument of its own",
    "plot_acquisition": "a picture",
}


@dataclass(frozen=True)
class Subject:
    """An estimator with its parameters.

    Parameters
    ----------
    name : str
    make : callable () → estimator
    roles : dict
        Which role of the table each argument of `fit` and of other methods is.
    fit : tuple of str
        The arguments of `fit`; methods get those that they have.
    text, gaps : bool
        Whether it takes columns of words, and missing values.
    optimal : bool
        Whether the value does not depend on the order of rows, columns and classes.
    by_class, by_column : bool
        Whether parameters name classes or depend on their order, or name columns.
    counts : bool
        Whether the value is a sum over rows and not a mean.
    """

    name: str
    make: Callable[[], Any]
    roles: dict[str, str]
    fit: tuple[str, ...] = ("y",)
    text: bool = True
    gaps: bool = True
    optimal: bool = True
    by_class: bool = False
    by_column: bool = False
    counts: bool = False

    def fitted(self, rows: Rows, **changed: Any) -> Any:
        """A fitted estimator; `changed` are parameters."""
        return fitted(self.make().set_params(**changed), self, rows)


def fitted(model: Any, subject: Subject, rows: Rows) -> Any:
    """Fit an estimator to the roles of a subject."""
    given = {name: rows.roles[subject.roles[name]] for name in subject.fit}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows.X, **given)


def _forest(**given: Any) -> Any:
    return RandomForestClassifier(3, max_depth=2, bootstrap=False, random_state=0, **given)


LABELS = {"y": "labels"}
WEIGHED = {"y": "labels", "sample_weight": "weights"}
OBSERVED = {name: name for name in ("treatments", "outcomes", "propensities")}
PARITY = mt.tasks.StatisticalParity("1/2")

SUBJECTS = [
    Subject("tree", lambda: mt.OptimalTreeClassifier(), LABELS, counts=True),
    Subject(
        "tree, weights",
        lambda: mt.OptimalTreeClassifier(),
        WEIGHED,
        fit=("y", "sample_weight"),
        counts=True,
    ),
    Subject(
        "tree, balanced",
        lambda: mt.OptimalTreeClassifier(class_weight="balanced"),
        LABELS,
        counts=True,
    ),
    Subject(
        "tree, f1",
        lambda: mt.OptimalTreeClassifier(task="f1", max_leaf_nodes=3),
        {"y": "binary"},
        by_class=True,
    ),
    Subject(
        "tree, parity",
        lambda: mt.OptimalTreeClassifier(constraints=[PARITY]),
        {"y": "binary", "groups": "group"},
        fit=("y", "groups"),
        by_class=True,
        counts=True,
    ),
    Subject(
        "tree, thresholds of a set",
        lambda: mt.OptimalTreeClassifier(binarizer="quantiles", n_bins=3, start=None),
        LABELS,
        counts=True,
    ),
    Subject(
        "fair",
        lambda: mt.FairTreeClassifier(max_disparity="1/2"),
        {"y": "binary", "sensitive_features": "group", "sample_weight": "weights"},
        fit=("y", "sensitive_features", "sample_weight"),
        by_class=True,
        counts=True,
    ),
    Subject(
        "fair, two columns",
        lambda: mt.FairTreeClassifier(constraint="equal-opportunity", max_disparity="3/4"),
        {"y": "binary", "sensitive_features": "pair"},
        fit=("y", "sensitive_features"),
        by_class=True,
        counts=True,
    ),
    Subject(
        "fair, factor",
        lambda: mt.FairTreeClassifier(
            constraint="conditional-statistical-parity", max_disparity="3/4"
        ),
        {"y": "binary", "sensitive_features": "group", "control_features": "factor"},
        fit=("y", "sensitive_features", "control_features"),
        by_class=True,
        counts=True,
    ),
    Subject(
        "costs",
        lambda: mt.CostSensitiveTreeClassifier(
            matrix=[[0, 2, 3], [4, 0, 1], [5, 2, 0]], attributes={"a": "1/4", "b": "1/2"}
        ),
        WEIGHED,
        fit=("y", "sample_weight"),
        by_class=True,
        counts=True,
        by_column=True,
    ),
    Subject(
        "numbers",
        lambda: mt.OptimalTreeRegressor(),
        {"y": "amounts", "sample_weight": "weights"},
        fit=("y", "sample_weight"),
        counts=True,
    ),
    Subject("numbers, two targets", lambda: mt.OptimalTreeRegressor(), {"y": "pairs"}, counts=True),
    Subject(
        "numbers, penalty by folds",
        lambda: mt.OptimalTreeRegressorCV(cv=2, max_depth=2, max_leaf_nodes=3),
        {"y": "amounts"},
        optimal=False,
        counts=True,
    ),
    Subject(
        "survival",
        lambda: mt.OptimalSurvivalTree(),
        {"y": "lives", "sample_weight": "weights"},
        fit=("y", "sample_weight"),
        counts=True,
    ),
    Subject("policy", lambda: mt.OptimalPolicyTree(), {"y": "values"}),
    Subject("policy, observed", lambda: mt.OptimalPolicyTree(), OBSERVED, fit=tuple(OBSERVED)),
    Subject(
        "policy, doubly robust",
        lambda: mt.OptimalPolicyTree(min_samples_treatment=1),
        OBSERVED | {"y": "values", "sample_weight": "weights"},
        fit=(*OBSERVED, "y", "sample_weight"),
    ),
    Subject(
        "rule list",
        lambda: mt.OptimalRuleListClassifier(length_penalty="1/50"),
        WEIGHED,
        fit=("y", "sample_weight"),
    ),
    Subject(
        "rule list, two literals",
        lambda: mt.OptimalRuleListClassifier(max_literals=2, max_length=2, length_penalty=0),
        LABELS,
        counts=True,
    ),
    Subject(
        "tree, penalty by folds",
        lambda: mt.OptimalTreeClassifierCV(cv=2, max_depth=2, max_leaf_nodes=3),
        LABELS,
        optimal=False,
        counts=True,
    ),
    Subject(
        "tree, size by folds",
        lambda: mt.OptimalTreeCV(estimator=mt.OptimalTreeClassifier(), cv=2, max_leaf_nodes=3),
        LABELS,
        optimal=False,
        counts=True,
    ),
    Subject(
        "policy, size by folds",
        lambda: mt.OptimalTreeCV(estimator=mt.OptimalPolicyTree(), cv=2, max_leaf_nodes=3),
        {"y": "values"},
        optimal=False,
    ),
    Subject(
        "decisions, greedy",
        lambda: mt.SPOTree(max_depth=2),
        {"y": "costs", "sample_weight": "weights"},
        fit=("y", "sample_weight"),
        gaps=False,
        optimal=False,
    ),
    Subject(
        "decisions, optimal",
        lambda: mt.SPOTree(method="dp", max_depth=2),
        {"y": "costs"},
        gaps=False,
    ),
    Subject(
        "decisions, forest",
        lambda: mt.SPOForest(n_estimators=3, max_depth=3, random_state=0),
        {"y": "costs"},
        gaps=False,
        optimal=False,
    ),
    Subject(
        "budget forest",
        lambda: mt.BudgetForestClassifier(
            n_estimators=3, max_depth=3, feature_costs=[1, 2, 4], random_state=0
        ),
        LABELS,
        text=False,
        gaps=False,
        optimal=False,
    ),
    Subject(
        "pruner",
        lambda: mt.EnsemblePruner(
            estimator=_forest(), feature_costs={"a": 1, "b": 2, "c": "1/2"}, lam="1/100"
        ),
        WEIGHED,
        fit=("y", "sample_weight"),
        text=False,
        gaps=False,
        optimal=False,
        by_column=True,
    ),
    Subject(
        "pruner, prices of rows",
        lambda: mt.EnsemblePruner(estimator=_forest(), lam="1/100"),
        {"y": "labels", "row_costs": "prices"},
        fit=("y", "row_costs"),
        text=False,
        gaps=False,
        optimal=False,
    ),
    Subject("binarizer", lambda: mt.Binarizer(), LABELS),
]
BY_NAME = {subject.name: subject for subject in SUBJECTS}


def estimator_classes() -> dict[str, type]:
    """Every public class with `fit`."""
    named = {name: getattr(mt, name) for name in mt.__all__}
    return {n: c for n, c in named.items() if inspect.isclass(c) and hasattr(c, "fit")}


# -- what is asked ---------------------------------------------------------------------------------


def asked_methods(cls: type) -> dict[str, list[str]]:
    """The public methods that take rows, with their parameters after X."""
    found = {}
    for name, method in inspect.getmembers(cls):
        if name.startswith("_") or name in NOT_ASKED or not callable(method):
            continue
        try:
            parameters = list(inspect.signature(method).parameters)
        except (TypeError, ValueError):
            continue
        if parameters[:2] == ["self", "X"]:
            found[name] = parameters[2:]
    return found


def answers(subject: Subject, model: Any, rows: Rows) -> dict[str, Any]:
    """Everything that the model answers about rows, by the name of the method."""
    out: dict[str, Any] = {}
    for name, parameters in asked_methods(type(model)).items():
        bound = getattr(model, name, None)
        if bound is None:  # a method that the estimator inside does not have
            continue
        known = [p for p in subject.roles if p in parameters]
        if "given" in parameters:  # passed on to the estimator inside
            known = [p for p in subject.roles if p in ("y",)]
        if "y" in parameters and "y" not in known and name == "score":
            continue
        given = {p: rows.roles[subject.roles[p]] for p in known}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            out[name] = plain(bound(rows.X, **given))
    return out


def plain(answer: Any) -> Any:
    """An answer as arrays and dicts."""
    if isinstance(answer, tuple):
        return plain(answer[0])
    if hasattr(answer, "toarray"):
        return answer.toarray()
    if dataclasses.is_dataclass(answer):
        return {f.name: getattr(answer, f.name) for f in dataclasses.fields(answer)}
    if hasattr(answer, "columns"):
        index = [str(i) for i in answer.index]
        return {"index": index} | {str(c): answer[c].tolist() for c in answer.columns}
    return answer


def value_of(model: Any) -> Any:
    """What the fitted model is proven to be, or else what was counted when it was fitted."""
    if hasattr(model, "curve_"):
        points = model.curve_.vertices
        return [(p.lambda_from, p.error, p.cost) for p in points]
    result = getattr(model, "result_", None)
    if result is None:
        return None
    value = result.value
    return result.status.value, value.exact if value.exact is not None else value.number


def difference(here: Any, there: Any, index: Any = None, n: int = -1) -> str | None:
    """How two answers differ, or None.

    Parameters
    ----------
    here, there : answer
        Of the rows as they were, and as they were changed.
    index : int array, optional
        Which of the rows the changed ones were; for answers with an entry per row.
    n : int
        The number of rows as they were.
    """
    if isinstance(here, dict):
        if list(here) != list(there):
            return f"{list(here)} against {list(there)}"
        found = (
            (k, difference(here[k], there[k], index if np.ndim(here[k]) else None, n)) for k in here
        )
        return next((f"{k}: {why}" for k, why in found if why), None)
    if index is not None and np.ndim(here) and np.shape(here)[0] == n:
        here = np.asarray(here)[index]
    a, b = np.asarray(here), np.asarray(there)
    if a.shape != b.shape:
        return f"shape {a.shape} against {b.shape}"
    if a.dtype.kind in "fiub" and b.dtype.kind in "fiub":
        same = np.isclose(a.astype(float), b.astype(float), 1e-9, 1e-12, equal_nan=True)
    else:
        pairs = zip(a.ravel().tolist(), b.ravel().tolist())
        same = np.array([x == y or (x != x and y != y) for x, y in pairs], dtype=bool)
    same = np.atleast_1d(same).ravel()
    if same.all():
        return None
    k = int(np.argmin(same))
    return f"{int((~same).sum())} entries, first {a.ravel()[k]!r} against {b.ravel()[k]!r}"
