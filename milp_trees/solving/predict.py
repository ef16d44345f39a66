"""Predicting new rows with the tree, rule list or pruned ensemble of a stored result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.data.categories import made
from milp_trees.data.formats import PLAIN
from milp_trees.data.read import NO_VALUE, TARGET, Table, read_table
from milp_trees.data.reading import Reading
from milp_trees.models.array_rows import RawRows
from milp_trees.models.predicted import HAZARDS, NUMBERS, PROBABILITIES, Predicts
from milp_trees.models.space import predictor_class
from milp_trees.results.reload import reload
from milp_trees.results.result import Status
from milp_trees.results.stored import stored_results
from milp_trees.results.strict_json import read_json

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Predictions:
    """What a stored model says of the rows of a table.

    Parameters
    ----------
    labels : list
        The label of every row.
    note : str
        A sentence about their accuracy; empty if the table does not hold the target.
    names : list
        What tells the rows apart: the values of a column, or their numbers from 0.
    shares : mapping of label to list of float
        The probability of each class for every row; empty if it was not asked for.
    outputs : tuple of str
        Names of the numbers in a label, if a label is a list of several.
    """

    labels: list[Any]
    note: str
    names: list[Any]
    shares: Mapping[Any, list[float]]
    outputs: tuple[str, ...] = ()


def predict_file(result: str | Path, table: str | Path, **reading: Any) -> tuple[list[Any], str]:
    """Predictions for the rows of a table, and a sentence about their accuracy."""
    found = predictions(result, table, **reading)
    return found.labels, found.note


def predictions(
    result: str | Path,
    table: str | Path,
    *,
    name: str | None = None,
    proba: bool = False,
    data: str | Path | None = None,
    **reading: Any,
) -> Predictions:
    """Predictions for the rows of a table, and a sentence about their accuracy.

    The sentence is empty if the table does not hold the target.
    A table without a header has the columns of the training file, with or without its target.
    """
    stored = read_result(result)
    kind = stored["predictor"].get("kind") if isinstance(stored["predictor"], dict) else None
    if kind == "ensemble":
        return _with_ensemble(stored, table, reading, name, proba)
    model = predictor_class(str(kind).replace("-", " "))
    try:
        tree, source = model.from_json(stored["predictor"]), dict(stored["problem"]["data"])
        hash((tree.splits, target := dict(source.get("columns") or {}).get("target")))
    except (DataError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"The {model.noun} in {result} is damaged ({type(error).__name__}: {error}); solve again."
        ) from error
    tests = [t for split in tree.splits for t in split.features]
    kinds = {
        (t.column, kind)
        for t in tests
        for kind in ([t.kind] if t.kind != "missing" else _kinds_of(t.column, source))
    }
    ordered = {t.column for t in tests if t.order}
    categories = {column for column, kind in kinds if kind == "=="} | ordered
    numbers = {column for column, kind in kinds if kind in ("<=", "is")} - ordered
    kind = None if tree.predicts is None else tree.predicts.kind
    if proba and kind in (NUMBERS, HAZARDS):
        raise DataError("This tree predicts numbers, which have no classes; leave out --proba.")
    shares = None
    if proba and kind is None:  # before the new rows are read
        shares = _shares(tree, source, data)
    frame, names = _read(table, source, target, categories - {target}, numbers, reading, name)
    rows = RawRows(tree.features, frame)
    routes = tree.routes(rows)
    labels = tree.predict(frame).tolist()
    if tree.predicts is not None:
        return _numbers(tree.predicts, labels, frame, names, source, proba)
    compared = target is not None and target in frame.columns
    note = _right(labels, frame[target].tolist(), str(target)) if compared else ""
    of_rows = {} if shares is None else {c: of[routes.leaf].tolist() for c, of in shares.items()}
    return Predictions(labels, note, names, of_rows)


def _numbers(
    predicts: Predicts,
    found: list[Any],
    frame: pd.DataFrame,
    names: list[Any],
    source: Mapping[str, Any],
    proba: bool,
) -> Predictions:
    """The predictions of a tree whose leaves hold numbers, or probabilities of classes."""
    columns = dict(source.get("columns") or {})
    target = columns.get("target")
    if predicts.kind == PROBABILITIES:
        labels: list[Any] = [predicts.names[int(np.argmax(row))] for row in found]
        note = ""
        if target in frame.columns:
            note = _right(labels, frame[target].tolist(), str(target))
        shares = list(map(list, zip(*found, strict=True)))
        return Predictions(
            labels, note, names, dict(zip(predicts.names, shares, strict=True)) if proba else {}
        )
    if predicts.kind == HAZARDS:
        return Predictions(found, "", names, {})
    table = found if predicts.several else [[value] for value in found]
    targets = columns.get("targets") or [target]
    notes = [
        _error([row[j] for row in table], frame[c], str(c))
        for j, c in enumerate(targets)
        if c in frame.columns
    ]
    outputs = predicts.names if predicts.several else ()
    return Predictions(found, " ".join(notes), names, {}, outputs)


def _error(predicted: list[float], column: pd.Series, target: str) -> str:
    """A sentence on how far predictions are from a column: RMSE and R²."""
    try:
        true = column.to_numpy(dtype=float)
    except (TypeError, ValueError):
        true = np.array([np.nan])
    if not np.isfinite(true).all():
        return f"The column {target!r} holds something else than numbers; the predictions are not compared with it."
    squares = float(((true - np.array(predicted)) ** 2).sum())
    spread = float(((true - true.mean()) ** 2).sum())
    share = f", and R² is {1 - squares / spread:.6g}" if spread else ""
    return f"The root mean squared error against the column {target!r} is {np.sqrt(squares / len(true)):.6g}{share}."


def _shares(tree: Any, source: dict[str, Any], data: str | Path | None) -> dict[Any, np.ndarray]:
    """For each class its share of the weighted training rows in every leaf."""
    if "path" not in source:
        raise DataError(
            "Probabilities are shares of the training rows, and this result was made from arrays in memory; in Python, OptimalTreeClassifier(…).predict_proba gives them."
        )
    try:
        train, _ = reload(source, data)
    except DataError as error:
        raise DataError(
            f"Probabilities are shares of the training rows. {error} Say with --data where those are."
        ) from None
    if train.sha256 != source.get("arrays_sha256"):
        raise DataError(
            f"{data or source['path']} is not the table that the model was made from; say with --data where that is, or leave out --proba."
        )
    if train.y is None or train.classes is None:
        raise DataError(
            "Probabilities are shares of classes, and these data have none; leave out --proba."
        )
    weights = train.row_weights * train.row_counts
    leaf = tree.routes(train).leaf
    held = np.zeros((tree.routes(train).n_leaves, len(train.classes)))
    np.add.at(held, (leaf, train.y), weights)
    totals = held.sum(axis=1, keepdims=True)
    held = np.divide(held, totals, out=np.full_like(held, 1 / held.shape[1]), where=totals > 0)
    return dict(zip(train.classes, held.T, strict=True))


def _kinds_of(column: str, source: dict[str, Any]) -> set[str]:
    """The kinds of all questions that the training column gave, as far as they are stored."""
    rule = dict(source.get("binarizer") or {}).get("columns", {}).get(column)
    if isinstance(rule, int):  # so many thresholds
        return {"<="}
    found = rule.get("tests", []) if isinstance(rule, dict) else []
    return {"==" if rule.get("order") and kind == "<=" else kind for kind, *_ in found}


def _with_ensemble(
    stored: dict[str, Any],
    table: str | Path,
    reading: dict[str, Any],
    name: str | None,
    proba: bool,
) -> Predictions:
    """Predictions by the votes (or means) of a pruned ensemble, as in `predict_file`."""
    from milp_trees.data.numeric import coded
    from milp_trees.results.restore import space_of

    try:
        ensemble = space_of(stored["problem"]["space"]).read(stored["predictor"])
        source = dict(stored["problem"]["data"])
        feature_of, target = dict(source.get("feature_of", {})), source["columns"]["target"]
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"The stored result is damaged ({type(error).__name__}: {error}); solve again."
        ) from error
    labelled = None if ensemble.classes is None else target
    texts = set(feature_of.values())
    numbers = {c for c in ensemble.columns if c not in feature_of}
    if proba and ensemble.classes is None:
        raise DataError("This ensemble predicts numbers, which have no classes; leave out --proba.")
    frame, names = _read(table, source, labelled, texts, numbers, reading, name)
    X = coded(frame, ensemble.columns, feature_of)
    labels = ensemble.predict(X).tolist()
    shares: dict[Any, list[float]] = {}
    if proba:
        mean = ensemble.mean_value(ensemble.walk(X).leaf)
        shares = {c: mean[:, k].tolist() for k, c in enumerate(ensemble.classes or ())}
    note = ""
    if target in frame.columns and ensemble.classes is None:
        note = _off(labels, frame[target].tolist(), target)
    elif target in frame.columns:
        note = _right(labels, frame[target].tolist(), target)
    return Predictions(labels, note, names, shares)


def _off(labels: list[Any], true: list[Any], target: str) -> str:
    """The error of numbers against a column."""
    try:
        off = sum((a - float(b)) ** 2 for a, b in zip(labels, true, strict=True)) / len(labels)
    except (TypeError, ValueError):
        return f"The column {target!r} holds something else than numbers; the predictions are not compared with it."
    return f"The mean squared error against the column {target!r} is {off:.6g}."


def _right(labels: list[Any], true: list[Any], target: str) -> str:
    right = sum(str(a) == str(b) for a, b in zip(labels, true, strict=True))
    return f"{right} of {len(labels)} rows are predicted as the column {target!r} says ({100 * right / len(labels):.2f} %)."


def read_result(path: str | Path) -> dict[str, Any]:
    """The stored result with a tree; of several results the best.

    The tree of a result with an error is not used, since it may violate the problem.
    """
    rows = stored_results(read_json(path), path)
    kept: list[dict[str, Any]] = [row for row in rows if row["predictor"] is not None]
    found = [row for row in kept if row.get("status") != Status.ERROR.value]
    if not found:
        raise DataError(
            f"{path} holds no tree{' but those of runs that ended in an error' if kept else ''}."
        )
    if not all(
        isinstance(row["objective"], (int, float)) and row["sense"] in ("min", "max")
        for row in found
    ):
        raise DataError(
            f"A result in {path} is damaged: it holds a tree whose objective is no number, or whose sense is neither min nor max."
        )
    return min(
        found, key=lambda row: row["objective"] if row["sense"] == "min" else -row["objective"]
    )


def _read(
    path: str | Path,
    source: dict[str, Any],
    target: str | None,
    texts: set[str],
    numbers: set[str],
    given: dict[str, Any],
    name: str | None = None,
) -> tuple[pd.DataFrame, list[Any]]:
    """The rows of a table, by the names that are used in the model, and what names the rows.

    Labels, columns of text, numbers and dates are read like those of the training rows.
    """
    maps = source.get("categories", {})
    reading = Reading.from_json(source.get("reading", {})).elsewhere().stating(given)
    plain = {name: PLAIN for name in numbers if name not in reading.formats}
    options: dict[str, Any] = {
        "labels": [target] if target else [],
        "text": sorted({*texts, *maps, *({name} - numbers if name else ())}),
        "numeric_target": True,
        "reading": replace(reading, formats={**plain, **reading.formats}),
    }
    if str(path) == source.get("path"):
        from milp_trees.data.load import read_named

        table = read_named(path, alone=True, **options)
    else:
        table = read_table(path, alone=True, **options)
    requested = numbers | texts | {*options["labels"]}
    twice = [first for first in table.repeated.values() if first in requested]
    if twice and dict(table.repeated) != source.get("repeated"):
        raise DataError(
            f"{path} has two columns called {twice[0]!r}, which the model asks for; rename or remove the one that is not meant."
        )
    # A column without values is all missing values, for which the model has an answer or none.
    wrong = [p for p in table.problems if p.column in numbers | texts and p.what != NO_VALUE]
    if wrong:
        raise DataError(
            f"{path} does not fit the training rows: "
            + " ".join(
                f"the column {p.column!r} {p.what}; {p.remedy or 'correct it'}." for p in wrong
            )
        )
    frame = _frame(table, source)
    if name is not None and name not in frame.columns:
        raise DataError(
            f"{path} has no column {name!r} to name the rows; its columns are {', '.join(map(str, frame.columns[:20]))}."
        )
    if name is None:
        names: list[Any] = list(range(len(frame)))
    else:
        gaps = frame[name].isna()
        names = [None if gap else n for n, gap in zip(frame[name].tolist(), gaps, strict=True)]
    return made(frame, maps), names


def _frame(table: Table, source: dict[str, Any]) -> pd.DataFrame:
    """The columns of a table, by the names that are used in the tree."""
    frame = table.frame
    if table.header:
        return frame
    trained = source.get("width")
    if trained is not None and frame.shape[1] == trained - 1:
        return frame.set_axis([str(j) for j in range(frame.shape[1])], axis=1)
    if trained is not None and frame.shape[1] != trained:
        raise DataError(
            f"The table has {frame.shape[1]} columns and no header; the training data had {trained} (the target, {TARGET!r}, may be left out)."
        )
    return frame
