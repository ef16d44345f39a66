"""Relations of a fitted estimator: it is asked about its rows in another form."""

from __future__ import annotations

import copy
import io
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from meta_dtypes import CONTAINERS, TYPES, in_type, shuffled_index
from meta_estimators import Subject
from meta_relation import Relation
from meta_rows import Rows
from scipy import sparse
from sklearn.utils import get_tags


def another_order(rows: Rows) -> np.ndarray:
    return np.random.default_rng(7).permutation(rows.n)


def everything(rows: Rows) -> np.ndarray:
    return np.arange(rows.n)


def _other_order(subject: Subject, model: Any, rows: Rows) -> Any:
    order = another_order(rows)
    return [(model, rows.take(order), order)]


def _two_parts(subject: Subject, model: Any, rows: Rows) -> Any:
    parts = np.split(everything(rows), [rows.n // 3])
    return [(model, rows.take(part), part) for part in parts]


def _row_by_row(subject: Subject, model: Any, rows: Rows) -> Any:
    return [(model, rows.take([i]), np.array([i])) for i in (0, rows.n // 2, rows.n - 1)]


def _every_row_twice(subject: Subject, model: Any, rows: Rows) -> Any:
    twice = np.repeat(everything(rows), 2)
    return [(model, rows.take(twice), twice)]


def other_index(subject: Subject, model: Any, rows: Rows) -> Any:
    order = another_order(rows)
    roles = {name: shuffled_index(part, order[::-1]) for name, part in rows.roles.items()}
    return [(model, Rows(shuffled_index(rows.X, order), roles), everything(rows))]


def _other_columns(subject: Subject, model: Any, rows: Rows) -> Any:
    return [(model, rows.with_(rows.X[list(rows.X)[::-1]]), everything(rows))]


def _renamed_columns(subject: Subject, model: Any, rows: Rows) -> Any:
    names = list(rows.X)
    wrong = rows.X.set_axis([*names[1:], names[0]], axis=1)
    return [(model, rows.with_(wrong), everything(rows))]


def _column_gone(subject: Subject, model: Any, rows: Rows) -> Any:
    return [(model, rows.with_(rows.X.iloc[:, 1:]), everything(rows))]


def _column_more(subject: Subject, model: Any, rows: Rows) -> Any:
    return [(model, rows.with_(rows.X.assign(more=1)), everything(rows))]


def _column_twice(subject: Subject, model: Any, rows: Rows) -> Any:
    again = pd.concat([rows.X, rows.X[["a"]] * 0], axis=1)
    return [(model, rows.with_(again), everything(rows))]


def named_roles(subject: Subject, rows: Rows) -> dict[str, pd.DataFrame]:
    used = {role: rows.roles[role] for role in subject.roles.values()}
    return {role: part for role, part in used.items() if hasattr(part, "columns")}


#: Roles of several columns whose names say nothing.
BY_PLACE = ("pair", "lives")


def _other_order_of_names(subject: Subject, model: Any, rows: Rows) -> Any:
    named = {k: v for k, v in named_roles(subject, rows).items() if k not in BY_PLACE}
    if not named:
        return None
    turned = {role: part[list(part)[::-1]] for role, part in named.items()}
    return [(model, rows.with_(**turned), everything(rows))]


def _wrong_names(subject: Subject, model: Any, rows: Rows) -> Any:
    named = {k: v for k, v in named_roles(subject, rows).items() if k not in BY_PLACE}
    if not named:
        return None
    wrong = {
        role: part.set_axis(list("xyz")[: part.shape[1]], axis=1) for role, part in named.items()
    }
    return [(model, rows.with_(**wrong), everything(rows))]


def roles_as(form: Callable[[Any], Any]) -> Callable[..., Any]:
    def change(subject: Subject, model: Any, rows: Rows) -> Any:
        used = {role: form(rows.roles[role]) for role in subject.roles.values()}
        return [(model, rows.with_(**used), everything(rows))]

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
#: scikit-learn takes whole numbers in an array of objects neither for classes nor in a score; rows
#: of one index in two orders are refused.
MAY = dict.fromkeys(FORMS, "never") | {"objects": "may", "Series": "may"}


def _typed(name: str) -> Callable[..., Any]:
    def change(subject: Subject, model: Any, rows: Rows) -> Any:
        X = in_type(rows.X, name)
        return None if X is None else [(model, rows.with_(X), everything(rows))]

    return change


def contained(name: str) -> Callable[..., Any]:
    def change(subject: Subject, model: Any, rows: Rows) -> Any:
        if "d" in rows.X or (subject.by_column and model is None):
            return None
        if model is not None and subject.name == "binarizer":  # it finds columns by their names
            return None
        X = CONTAINERS[name](rows.X.to_numpy(dtype=float))
        return [(model, rows.with_(X), everything(rows))]

    return change


def as_sparse(form: Any) -> Callable[..., Any]:
    def change(subject: Subject, model: Any, rows: Rows) -> Any:
        takes = get_tags(subject.make() if model is None else model).input_tags.sparse
        if "d" in rows.X or not takes or (model is None and subject.by_column):
            return None
        return [(model, rows.with_(form(rows.X.to_numpy(dtype=float))), everything(rows))]

    return change


def weights_as_rows(subject: Subject, model: Any, rows: Rows) -> Any:
    if "sample_weight" not in subject.roles:
        return None
    again = np.repeat(everything(rows), rows.roles["weights"])
    more = rows.take(again)
    return [(model, more.with_(weights=np.ones(more.n)), again)]


def _another_scale_of_weights(subject: Subject, model: Any, rows: Rows) -> Any:
    if "sample_weight" not in subject.roles:
        return None
    return [(model, rows.with_(weights=rows.roles["weights"] / 8), everything(rows))]


def _another_model(make: Callable[[Any], Any]) -> Callable[..., Any]:
    def change(subject: Subject, model: Any, rows: Rows) -> Any:
        other = make(model)
        return None if other is None else [(other, rows, everything(rows))]

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
    Relation("the table in two parts", _two_parts, keeps="rows"),
    Relation("a row alone", _row_by_row, keeps="rows"),
    Relation("every row twice", _every_row_twice, keeps="rows"),
    Relation("another index", other_index, "may"),
    Relation("columns in another order", _other_columns, "may"),
    Relation("columns under each other's names", _renamed_columns, "must"),
    Relation("a column less", _column_gone, "must"),
    Relation("a column more", _column_more, "may"),
    Relation("a column twice", _column_twice, "must"),
    Relation("actions in another order", _other_order_of_names, "may", always=True),
    Relation("actions under other names", _wrong_names, "must", always=True),
    Relation("weights as repeated rows", weights_as_rows, keeps="scores"),
    Relation("weights of another scale", _another_scale_of_weights, keeps="scores"),
    Relation("pickled", _another_model(lambda m: pickle.loads(pickle.dumps(m))), always=True),
    Relation("copied", _another_model(copy.deepcopy)),
    Relation("dumped by joblib", _another_model(_dumped)),
    Relation("saved and loaded", _another_model(_saved)),
    *(Relation(f"roles as {name}", roles_as(form), MAY[name]) for name, form in FORMS.items()),
    Relation("roles without names", roles_as(unnamed)),
    *(Relation(f"columns of {name}", _typed(name)) for name in TYPES),
    *(Relation(name, contained(name)) for name in CONTAINERS),
    Relation("sparse rows", as_sparse(sparse.csr_matrix)),
    Relation("sparse columns", as_sparse(sparse.csc_array)),
    Relation("sparse coordinates", as_sparse(sparse.coo_array)),
]
