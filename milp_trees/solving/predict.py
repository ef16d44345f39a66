"""Predicting new rows with the tree, rule list or pruned ensemble of a stored result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.models.array_rows import RawRows
from milp_trees.models.predicted import HAZARDS, NUMBERS, PROBABILITIES, Predicts
from milp_trees.results.reload import reload
from milp_trees.solving.stored_model import (
    asks_single_columns,
    coded_from,
    held_by,
    read_result,
    read_rows,
    stored_ensemble,
    stored_tree,
)

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
    tree, source, target = stored_tree(stored, result)
    categories, numbers = held_by(tree, source)
    kind = None if tree.predicts is None else tree.predicts.kind
    if proba and kind in (NUMBERS, HAZARDS):
        raise DataError("This tree predicts numbers, which have no classes; leave out --proba.")
    shares = None
    if proba and kind is None:  # before the new rows are read
        shares = _shares(tree, source, data)
    frame, names = read_rows(table, source, target, categories - {target}, numbers, reading, name)
    single = asks_single_columns(tree)
    routes = tree.routes(RawRows(tree.features, frame) if single else frame)
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


def _with_ensemble(
    stored: dict[str, Any],
    table: str | Path,
    reading: dict[str, Any],
    name: str | None,
    proba: bool,
) -> Predictions:
    """Predictions by the votes (or means) of a pruned ensemble, as in `predict_file`."""
    from milp_trees.data.numeric import coded

    ensemble, source, feature_of, target = stored_ensemble(stored)
    labelled = None if ensemble.classes is None else target
    texts, numbers = coded_from(ensemble, feature_of)
    if proba and ensemble.classes is None:
        raise DataError("This ensemble predicts numbers, which have no classes; leave out --proba.")
    frame, names = read_rows(table, source, labelled, texts, numbers, reading, name)
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
