"""Relations of a fit: an estimator is fitted to its rows in another form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from meta_asked import (
    FORMS,
    MAY,
    another_order,
    as_sparse,
    contained,
    everything,
    named_roles,
    other_index,
    roles_as,
    unnamed,
    weights_as_rows,
)
from meta_dtypes import CONTAINERS, TYPES, in_type
from meta_estimators import Subject
from meta_relation import Relation
from meta_rows import Rows
from scipy import sparse


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
    return rows.take(another_order(rows)), {}


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
    named = named_roles(subject, rows)
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
    return rows.take(np.repeat(everything(rows), 2)), {}


@_only(optimal=True)
def _fit_weights_as_rows(subject: Subject, rows: Rows) -> Any:
    found = None
    if "sample_weight" in subject.fit and "sensitive_features" not in subject.fit:
        found = weights_as_rows(subject, None, rows)
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
    again = rows.take(np.concatenate([everything(rows), np.arange(6)]))
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
    Relation("another index", _as_fit(other_index), "may"),
    *(Relation(f"roles as {n}", _as_fit(roles_as(f)), MAY[n]) for n, f in FORMS.items()),
    Relation("roles without names", _as_fit(roles_as(unnamed)), keeps="value"),
    *(Relation(f"columns of {name}", _fit_typed(name)) for name in TYPES),
    *(Relation(name, _as_fit(contained(name)), keeps="model") for name in CONTAINERS),
    Relation("sparse rows", _as_fit(as_sparse(sparse.csr_matrix)), keeps="model"),
    Relation("sparse columns", _as_fit(as_sparse(sparse.csc_array)), keeps="model"),
]
