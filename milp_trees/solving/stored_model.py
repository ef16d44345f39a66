"""The model of a stored result, and the rows of tables as it asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.data.categories import made
from milp_trees.data.feature import BinaryFeature
from milp_trees.data.formats import PLAIN
from milp_trees.data.read import NO_VALUE, TARGET, Table, read_table
from milp_trees.data.reading import Reading
from milp_trees.models.space import predictor_class
from milp_trees.results.result import Status
from milp_trees.results.stored import stored_results
from milp_trees.results.strict_json import read_json

if TYPE_CHECKING:
    import pandas as pd


def model_and_rows(
    result: str | Path, tables: Iterable[str | Path], **reading: Any
) -> tuple[Any, list[pd.DataFrame], dict[str, Any]]:
    """The model of a stored result, and the rows of tables by the names that it asks for.

    Parameters
    ----------
    result : path
    tables : iterable of path
        They are read like the training rows; the target is left out.
    reading
        How they are read, where that differs.

    Returns
    -------
    model : Tree, RuleList or Ensemble
    frames : list of DataFrame
        Of an ensemble with its columns in their order.
    source : dict
        Where the training rows are from, as the result states it.
    """
    stored = read_result(result)
    if isinstance(stored["predictor"], dict) and stored["predictor"].get("kind") == "ensemble":
        ensemble, source, feature_of, _ = stored_ensemble(stored)
        texts, numbers = coded_from(ensemble, feature_of)
        frames = [read_rows(t, source, None, texts, numbers, reading)[0] for t in tables]
        return ensemble, [_coded_frame(f, ensemble, feature_of) for f in frames], source
    tree, source, target = stored_tree(stored, result)
    categories, numbers = held_by(tree, source)
    frames = []
    for table in tables:
        frame, _ = read_rows(table, source, None, categories - {target}, numbers, reading)
        frames.append(frame.drop(columns=[target], errors="ignore"))
    return tree, frames, source


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


def stored_tree(
    stored: dict[str, Any], result: str | Path
) -> tuple[Any, dict[str, Any], str | None]:
    """The tree or rule list of a stored result, where its data are from, and its target."""
    kind = stored["predictor"].get("kind") if isinstance(stored["predictor"], dict) else None
    model = predictor_class(str(kind).replace("-", " "))
    try:
        tree, source = model.from_json(stored["predictor"]), dict(stored["problem"]["data"])
        hash((tree.splits, target := dict(source.get("columns") or {}).get("target")))
    except (DataError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"The {model.noun} in {result} is damaged ({type(error).__name__}: {error}); solve again."
        ) from error
    return tree, source, target


def stored_ensemble(
    stored: dict[str, Any],
) -> tuple[Any, dict[str, Any], dict[str, str], str]:
    """The ensemble of a stored result, where its data are from, its coded columns, its target."""
    from milp_trees.results.restore import space_of

    try:
        ensemble = space_of(stored["problem"]["space"]).read(stored["predictor"])
        source = dict(stored["problem"]["data"])
        return (
            ensemble,
            source,
            dict(source.get("feature_of", {})),
            source["columns"]["target"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"The stored result is damaged ({type(error).__name__}: {error}); solve again."
        ) from error


def held_by(tree: Any, source: dict[str, Any]) -> tuple[set[str], set[str]]:
    """The columns of categories that a tree or rule list asks for, and those of numbers."""
    if not asks_single_columns(tree):
        part_of = dict(source.get("feature_of") or {})
        asked = {c for split in tree.splits for c in split.columns}
        return {part_of[c] for c in asked if c in part_of}, asked - set(part_of)
    tests = [t for split in tree.splits for t in split.features]
    kinds = {
        (t.column, kind)
        for t in tests
        for kind in ([t.kind] if t.kind != "missing" else _kinds_of(t.column, source))
    }
    ordered = {t.column for t in tests if t.order}
    categories = {column for column, kind in kinds if kind in ("==", "in")} | ordered
    return categories, {column for column, kind in kinds if kind in ("<=", "is")} - ordered


def asks_single_columns(tree: Any) -> bool:
    """Whether all questions of a model are binary features; others combine numeric columns."""
    return all(isinstance(t, BinaryFeature) for split in tree.splits for t in split.features)


def _kinds_of(column: str, source: dict[str, Any]) -> set[str]:
    """The kinds of all questions that the training column gave, as far as they are stored."""
    rule = dict(source.get("binarizer") or {}).get("columns", {}).get(column)
    if isinstance(rule, int):  # so many thresholds
        return {"<="}
    found = rule.get("tests", []) if isinstance(rule, dict) else []
    return {"==" if rule.get("order") and kind == "<=" else kind for kind, *_ in found}


def coded_from(ensemble: Any, feature_of: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """The columns of text that an ensemble's columns code, and those of numbers."""
    return set(feature_of.values()), {c for c in ensemble.columns if c not in feature_of}


def _coded_frame(frame: pd.DataFrame, ensemble: Any, feature_of: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    from milp_trees.data.numeric import coded

    return pd.DataFrame(coded(frame, ensemble.columns, feature_of), columns=list(ensemble.columns))


def read_rows(
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
