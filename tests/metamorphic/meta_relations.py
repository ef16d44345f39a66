"""The relations: how rows, or an estimator, are changed, and what must stay the same."""

from __future__ import annotations

import copy
import io
import pickle
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from meta_dtypes import CONTAINERS, TYPES, in_type, shuffled_index
from meta_estimators import Subject
from meta_rows import Rows
from scipy import sparse
from sklearn.utils import get_tags


@dataclass(frozen=True)
class Relation:
    """A change after which answers are the same.

    Parameters
    ----------
    name : str
    change : callable
        Of a fitted model: (subject, model, rows) → list of (model, rows, index of the rows). Of
        the rows of a fit: (subject, rows) → (rows, parameters). None if it does not apply.
    refusal : {"never", "may", "must"}
        Whether the change may be, or has to be, an error with a sentence.
    keeps : {"answers", "rows", "scores", "model", "value", "scaled"}
        What stays. Of a fitted model: all answers; those about single rows; these and the scores.
        Of a fit: the value and all answers; the value and the answers about single rows; the value;
        a quarter of the value.
    factor : int
        By how much a value that is a sum over rows grows.
    always : bool
        Whether every subject is tried without the switch, too.
    """

    name: str
    change: Callable[..., Any]
    refusal: str = "never"
    keeps: str = "answers"
    factor: int = 1
    always: bool = False


# -- rows that a fitted model is asked about --------------------------------------------------------


def _order(rows: Rows) -> np.ndarray:
    return np.random.default_rng(7).permutation(rows.n)


def _everything(rows: Rows) -> np.ndarray:
    return np.arange(rows.n)


def _other_order(subject: Subject, model: Any, rows: Rows) -> Any:
    order = _order(rows)
    return [(model, rows.take(order), order)]


def _two_parts(subject: Subject, model: Any, rows: Rows) -> Any:
    parts = np.split(_everything(rows), [rows.n // 3])
    return [(model, rows.take(part), part) for part in parts]


def _row_by_row(subject: Subject, model: Any, rows: Rows) -> Any:
    return [(model, rows.take([i]), np.array([i])) for i in (0, rows.n // 2, rows.n - 1)]


def _every_row_twice(subject: Subject, model: Any, rows: Rows) -> Any:
    twice = np.repeat(_everything(rows), 2)
    return [(model, rows.take(twice), twice)]


def _other_index(subject: Subject, model: Any, rows: Rows) -> Any:
    order = _order(rows)
    roles = {name: shuffled_index(part, order[::-1]) for name, part in rows.roles.items()}
    return [(model, Rows(shuffled_index(rows.X, order), roles), _everything(rows))]


def _other_columns(subject: Subject, model: Any, rows: Rows) -> Any:
    return [(model, rows.with_(rows.X[list(rows.X)[::-1]]), _everything(rows))]


def _renamed_columns(subject: Subject, model: Any, rows: Rows) -> Any:
    names = list(rows.X)
    wrong = rows.X.set_axis([*names[1:], names[0]], axis=1)
    return [(model, rows.with_(wrong), _everything(rows))]


def _column_gone(subject: Subject, model: Any, rows: Rows) -> Any:
    return [(model, rows.with_(rows.X.iloc[:, 1:]), _everything(rows))]


def _column_more(subject: Subject, model: Any, rows: Rows) -> Any:
    return [(model, rows.with_(rows.X.assign(more=1)), _everything(rows))]


def _column_twice(subject: Subject, model: Any, rows: Rows) -> Any:
    again = pd.concat([rows.X, rows.X[["a"]] * 0], axis=1)
    return [(model, rows.with_(again), _everything(rows))]


def _named_roles(subject: Subject, rows: Rows) -> dict[str, pd.DataFrame]:
    used = {role: rows.roles[role] for role in subject.roles.values()}
    return {role: part for role, part in used.items() if hasattr(part, "columns")}


def _other_order_of_names(subject: Subject, model: Any, rows: Rows) -> Any:
    named = {k: v for k, v in _named_roles(subject, rows).items() if k != "pair"}
    if not named:
        return None
    turned = {role: part[list(part)[::-1]] for role, part in named.items()}
    return [(model, rows.with_(**turned), _everything(rows))]


def _wrong_names(subject: Subject, model: Any, rows: Rows) -> Any:
    named = {k: v for k, v in _named_roles(subject, rows).items() if k != "pair"}
    if not named:
        return None
    wrong = {role: part.set_axis(["x", "y", "z"], axis=1) for role, part in named.items()}
    return [(model, rows.with_(**wrong), _everything(rows))]


def _roles_as(form: Callable[[Any], Any]) -> Callable[..., Any]:
    def change(subject: Subject, model: Any, rows: Rows) -> Any:
        used = {role: form(rows.roles[role]) for role in subject.roles.values()}
        return [(model, rows.with_(**used), _everything(rows))]

    return change


def as_list(part: Any) -> Any:
    return part if hasattr(part, "iloc") else part.tolist()


def unnamed(part: Any) -> Any:
    """Columns without names."""
    return part.to_numpy() if hasattr(part, "iloc") else part


def as_objects(part: Any) -> Any:
    return part.astype(object)


def as_series(part: Any) -> Any:
    return part if hasattr(part, "iloc") else pd.Series(part, index=np.arange(len(part))[::-1])


def as_arrow(part: Any) -> Any:
    frame = part if hasattr(part, "iloc") else pd.Series(part)
    return frame.convert_dtypes(dtype_backend="pyarrow")


def as_nullable(part: Any) -> Any:
    frame = part if hasattr(part, "iloc") else pd.Series(part)
    return frame.convert_dtypes()


def as_categories(part: Any) -> Any:
    return part if hasattr(part, "iloc") else pd.Series(part).astype("category")


FORMS = {
    "lists": as_list,
    "objects": as_objects,
    "Series": as_series,
    "pyarrow": as_arrow,
    "nullable": as_nullable,
    "categories": as_categories,
}
#: scikit-learn takes whole numbers in an array of objects neither for classes nor in a score.
MAY = dict.fromkeys(FORMS, "never") | {"objects": "may"}


def _typed(name: str) -> Callable[..., Any]:
    def change(subject: Subject, model: Any, rows: Rows) -> Any:
        X = in_type(rows.X, name)
        return None if X is None else [(model, rows.with_(X), _everything(rows))]

    return change


def _contained(name: str) -> Callable[..., Any]:
    def change(subject: Subject, model: Any, rows: Rows) -> Any:
        if "d" in rows.X or (subject.by_column and model is None):
            return None
        if model is not None and subject.name == "binarizer":  # it finds columns by their names
            return None
        X = CONTAINERS[name](rows.X.to_numpy(dtype=float))
        return [(model, rows.with_(X), _everything(rows))]

    return change


def _sparse(form: Any) -> Callable[..., Any]:
    def change(subject: Subject, model: Any, rows: Rows) -> Any:
        takes = get_tags(subject.make() if model is None else model).input_tags.sparse
        if "d" in rows.X or not takes or (model is None and subject.by_column):
            return None
        return [(model, rows.with_(form(rows.X.to_numpy(dtype=float))), _everything(rows))]

    return change


def _weights_as_rows(subject: Subject, model: Any, rows: Rows) -> Any:
    if "sample_weight" not in subject.roles:
        return None
    again = np.repeat(_everything(rows), rows.roles["weights"])
    more = rows.take(again)
    return [(model, more.with_(weights=np.ones(more.n)), again)]


def _another_scale_of_weights(subject: Subject, model: Any, rows: Rows) -> Any:
    if "sample_weight" not in subject.roles:
        return None
    return [(model, rows.with_(weights=rows.roles["weights"] / 8), _everything(rows))]


def _another_model(make: Callable[[Any], Any]) -> Callable[..., Any]:
    def change(subject: Subject, model: Any, rows: Rows) -> Any:
        other = make(model)
        return None if other is None else [(other, rows, _everything(rows))]

    return change


def _saved(model: Any) -> Any:
    kind = type(getattr(model, "estimator_", model))
    if not (hasattr(model, "save") and hasattr(kind, "load")):
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save(path)
        return kind.load(path)


def _dumped(model: Any) -> Any:
    import joblib

    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


ASKED = [
    Relation("rows in another order", _other_order, always=True),
    Relation("the table in two parts", _two_parts, keeps="rows", always=True),
    Relation("a row alone", _row_by_row, keeps="rows"),
    Relation("every row twice", _every_row_twice, keeps="rows"),
    Relation("another index", _other_index),
    Relation("columns in another order", _other_columns, "may"),
    Relation("columns under each other's names", _renamed_columns, "must"),
    Relation("a column less", _column_gone, "must"),
    Relation("a column more", _column_more, "may"),
    Relation("a column twice", _column_twice, "must"),
    Relation("actions in another order", _other_order_of_names, "may", always=True),
    Relation("actions under other names", _wrong_names, "must", always=True),
    Relation("weights as repeated rows", _weights_as_rows, keeps="scores"),
    Relation("weights of another scale", _another_scale_of_weights, keeps="scores"),
    Relation("pickled", _another_model(lambda m: pickle.loads(pickle.dumps(m))), always=True),
    Relation("copied", _another_model(copy.deepcopy)),
    Relation("dumped by joblib", _another_model(_dumped)),
    Relation("saved and loaded", _another_model(_saved)),
    *(Relation(f"roles as {name}", _roles_as(form), MAY[name]) for name, form in FORMS.items()),
    Relation("roles without names", _roles_as(unnamed), always=True),
    *(Relation(f"columns of {name}", _typed(name)) for name in TYPES),
    *(Relation(name, _contained(name)) for name in CONTAINERS),
    Relation("sparse rows", _sparse(sparse.csr_matrix)),
    Relation("sparse columns", _sparse(sparse.csc_array)),
    Relation("sparse coordinates", _sparse(sparse.coo_array)),
]


# -- rows of a fit ----------------------------------------------------------------------------------


def _as_fit(change: Callable[..., Any]) -> Callable[..., Any]:
    """A change of rows that are asked as a change of rows of a fit."""

    def fit(subject: Subject, rows: Rows) -> Any:
        found = change(subject, None, rows)
        return None if found is None else (found[0][1], {})

    return fit


def _only(*, optimal: bool = False, any_class: bool = False) -> Callable[..., Any]:
    """Leave out subjects whose value depends on an order, or that name classes."""

    def wrap(change: Callable[..., Any]) -> Callable[..., Any]:
        def fit(subject: Subject, rows: Rows) -> Any:
            if (optimal and not subject.optimal) or (any_class and subject.by_class):
                return None
            return change(subject, rows)

        return fit

    return wrap


@_only(optimal=True)
def _fit_rows(subject: Subject, rows: Rows) -> Any:
    return rows.take(_order(rows)), {}


@_only(optimal=True)
def _fit_columns(subject: Subject, rows: Rows) -> Any:
    return rows.with_(rows.X[list(rows.X)[::-1]]), {}


@_only(optimal=True)
def _fit_names(subject: Subject, rows: Rows) -> Any:
    names = [f"{'zyxw'[k]} <= {k}, '\"" for k in range(rows.X.shape[1])]
    attributes = subject.make().get_params().get("attributes")
    if attributes:
        to = dict(zip(rows.X, names, strict=True))
        return rows.with_(rows.X.set_axis(names, axis=1)), {
            "attributes": {to[c]: price for c, price in attributes.items()}
        }
    return rows.with_(rows.X.set_axis(names, axis=1)), {}


def _fit_without_names(subject: Subject, rows: Rows) -> Any:
    """An array has no names."""
    if "d" in rows.X or subject.by_column:
        return None
    if "row_costs" in subject.roles:
        return rows.with_(rows.X.to_numpy(dtype=float), prices=rows.roles["prices"].to_numpy()), {}
    return rows.with_(rows.X.to_numpy(dtype=float)), {}


@_only(optimal=True, any_class=True)
def _fit_classes(subject: Subject, rows: Rows) -> Any:
    """Classes, and names of treatments, whose order is the reverse."""
    if "y" in subject.fit and subject.roles["y"] == "labels":
        return rows.with_(labels=np.array(["z, <b>", "m\"'", "a\\"])[rows.roles["labels"]]), {}
    return None


@_only(optimal=True)
def _fit_groups(subject: Subject, rows: Rows) -> Any:
    """Groups and factors under other names, in another order."""
    if not {"groups", "sensitive_features"} & set(subject.fit):
        return None
    to = {"f": "z, a", "m": "k", "x": "a"}
    group = np.array([to[g] for g in rows.roles["group"]])
    pair = rows.roles["pair"].assign(sex=group)[["old", "sex"]]
    factor = np.where(rows.roles["factor"] == "low", 7, 3)
    return rows.with_(group=group, pair=pair, factor=factor), {}


@_only(optimal=True)
def _fit_actions(subject: Subject, rows: Rows) -> Any:
    """The columns of values and costs in another order."""
    named = _named_roles(subject, rows)
    if not named:
        return None
    return rows.with_(**{role: part[list(part)[::-1]] for role, part in named.items()}), {}


@_only(optimal=True)
def _fit_named_actions(subject: Subject, rows: Rows) -> Any:
    """Actions under names whose order is another."""
    if not {"values", "costs", "treatments"} & set(subject.roles.values()):
        return None
    to = {"p": "z", "q": "k, 1", "r": "a"}
    treatments = np.array([to[t] for t in rows.roles["treatments"]])
    other = {role: rows.roles[role].rename(columns=to) for role in ("values", "costs")}
    return rows.with_(treatments=treatments, **other), {}


def _fit_scaled_columns(subject: Subject, rows: Rows) -> Any:
    """Numbers times powers of two."""
    # Forests of scikit-learn take numbers that differ by less than 1e-7 for equal.
    small, large = (-3, 9) if "prun" in subject.name else (-30, 40)
    return rows.with_(rows.X.assign(a=rows.X["a"] * 2.0**small, b=rows.X["b"] * 2.0**large)), {}


@_only(optimal=True)
def _fit_negated_columns(subject: Subject, rows: Rows) -> Any:
    """Numbers with the other sign: every threshold has its mirror image."""
    if "set" in subject.name or subject.name.startswith("rule list"):
        return None
    return rows.with_(rows.X.assign(a=-rows.X["a"], b=-rows.X["b"])), {}


def _fit_constant_column(subject: Subject, rows: Rows) -> Any:
    """One more column, which is the same on all rows."""
    if "forest" in subject.name or "prun" in subject.name or subject.name == "binarizer":
        return None  # they draw columns, or name all of them
    return rows.with_(rows.X.assign(more=3)), {}


@_only(optimal=True)
def _fit_every_row_twice(subject: Subject, rows: Rows) -> Any:
    return rows.take(np.repeat(_everything(rows), 2)), {}


@_only(optimal=True)
def _fit_weights_as_rows(subject: Subject, rows: Rows) -> Any:
    found = None
    if "sample_weight" in subject.fit and "sensitive_features" not in subject.fit:
        found = _weights_as_rows(subject, None, rows)
    return None if found is None else (found[0][1], {})


def _fit_scaled_weights(subject: Subject, rows: Rows) -> Any:
    if "sample_weight" not in subject.fit:
        return None
    return rows.with_(weights=rows.roles["weights"] * 4), {}


@_only(optimal=True)
def _fit_scaled_gains(subject: Subject, rows: Rows) -> Any:
    """Values and costs times a power of two: the value is multiplied by it."""
    if not {"values", "costs", "outcomes"} & set(subject.roles.values()):
        return None
    parts = {role: rows.roles[role] * 4 for role in ("values", "costs", "outcomes")}
    return rows.with_(**parts), {}


def _fit_typed(name: str) -> Callable[..., Any]:
    def change(subject: Subject, rows: Rows) -> Any:
        X = in_type(rows.X, name)
        return None if X is None else (rows.with_(X), {})

    return change


def _fit_weight_zero(subject: Subject, rows: Rows) -> Any:
    """Rows of weight 0 that contradict the others."""
    if "sample_weight" not in subject.fit or "prun" in subject.name:
        return None
    again = rows.take(np.concatenate([_everything(rows), np.arange(6)]))
    weights = np.concatenate([rows.roles["weights"], np.zeros(6, dtype=int)])
    labels = again.roles["labels"].copy()
    labels[-6:] = (labels[-6:] + 1) % 3
    return again.with_(weights=weights, labels=labels), {}


def _fit_again(subject: Subject, rows: Rows) -> Any:
    return rows, {}


FITTED = [
    Relation("fitted again", _fit_again),
    Relation("rows in another order", _fit_rows, keeps="value", always=True),
    Relation("columns in another order", _fit_columns, keeps="value"),
    Relation("columns under other names", _fit_names, keeps="value"),
    Relation("a column that is constant", _fit_constant_column, keeps="value"),
    Relation("columns without names", _fit_without_names, keeps="value"),
    Relation("classes under other names", _fit_classes, keeps="value"),
    Relation("groups under other names", _fit_groups, keeps="value"),
    Relation("actions in another order", _fit_actions, keeps="value", always=True),
    Relation("actions under other names", _fit_named_actions, keeps="value"),
    Relation("columns times powers of two", _fit_scaled_columns, keeps="model"),
    Relation("columns times minus one", _fit_negated_columns, keeps="value"),
    Relation("every row twice", _fit_every_row_twice, keeps="value", factor=2),
    Relation("weights as repeated rows", _fit_weights_as_rows, keeps="value", always=True),
    Relation("weights of another scale", _fit_scaled_weights, keeps="model", factor=4),
    Relation("rows of weight 0", _fit_weight_zero, keeps="model"),
    Relation("gains times four", _fit_scaled_gains, keeps="scaled"),
    Relation("another index", _as_fit(_other_index)),
    *(Relation(f"roles as {n}", _as_fit(_roles_as(f)), MAY[n]) for n, f in FORMS.items()),
    Relation("roles without names", _as_fit(_roles_as(unnamed)), keeps="value"),
    *(Relation(f"columns of {name}", _fit_typed(name)) for name in TYPES),
    *(Relation(name, _as_fit(_contained(name)), keeps="model") for name in CONTAINERS),
    Relation("sparse rows", _as_fit(_sparse(sparse.csr_matrix)), keeps="model"),
    Relation("sparse columns", _as_fit(_sparse(sparse.csc_array)), keeps="model"),
]
