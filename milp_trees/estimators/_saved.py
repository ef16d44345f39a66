"""Fitted estimators as JSON files: parameters, model and certificate, without the training rows."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from milp_trees.common.errors import DataError, MilpTreesError
from milp_trees.common.writing import write_whole
from milp_trees.data.outline import Outline
from milp_trees.estimators._json_values import NoJson, read, written
from milp_trees.results.restore import problem_of
from milp_trees.results.stored import result_from_json

#: What such a file is called, and the version that is written and read.
FORMAT, VERSION = "milp-trees estimator", 1
#: Parameters that only `fit` uses, and that are left out.
OF_FIT = ("start", "progress")
#: Fitted attributes that are left out where they have no JSON form.
REPORTS = ("size_path_", "pruning_path_", "value_", "leaves_", "fairness_")


def save(estimator: Any, path: Any) -> None:
    """Write a fitted estimator to a file; see `OptimalTreeClassifier.save`."""
    check_is_fitted(estimator)
    known = estimator._known_drops()
    parameters = estimator.get_params(deep=False)
    state = {
        k: v
        for k, v in vars(estimator).items()
        if k not in parameters and k not in ("result_", "_drops") and not k.startswith("_sklearn")
    }
    if "binarizer_" in state:
        state["binarizer_"] = state["binarizer_"].only(estimator._tests())
    fitted, left_out = {}, []
    for name, value in state.items():
        try:
            fitted[name] = written(value)
        except NoJson as why:
            if name not in REPORTS:
                raise DataError(
                    f"This {type(estimator).__name__} cannot be written as JSON: its {name} is special, and {why}; use pickle."
                ) from None
            left_out.append(name)
    stated = {}
    for name, value in parameters.items():
        try:
            stated[name] = written(None if name in OF_FIT else value)
        except NoJson as why:
            raise DataError(
                f"The parameter {name}={value!r} cannot be written, because {why}; replace it by a name or a number with set_params, or use pickle."
            ) from None
    result = estimator.result_.without_rows()
    data = result.problem.dataset
    document = {
        "format": FORMAT,
        "version": VERSION,
        "class": type(estimator).__name__,
        "parameters": stated,
        "fitted": fitted,
        "left_out": left_out,
        "drops": [float(d) for d in known],
        "result": result.to_json(),
        "rows": written(data.to_json()),
    }
    text = json.dumps(document, indent=1, allow_nan=False)
    write_whole(path, text + "\n")


def load(cls: Any, path: Any) -> Any:
    """Read a fitted estimator from a file; see `OptimalTreeClassifier.load`."""
    document = _document(path)
    kinds = {kind.__name__: kind for kind in _subclasses(cls)}
    if document["class"] not in kinds:
        raise DataError(
            f"{path} holds a fitted {document['class']}, which is no {cls.__name__}; call {document['class']}.load."
        )
    try:
        given = {name: read(value) for name, value in document["parameters"].items()}
        estimator = kinds[document["class"]](**given)
        for name, value in document["fitted"].items():
            setattr(estimator, name, read(value))
        row = document["result"]
        outline = Outline.from_json(read(document["rows"]))
        estimator.result_ = result_from_json(row, problem_of(row["problem"], dataset=outline))
        estimator._drops = (estimator._fitted, np.array(document["drops"], dtype=float))
    except (MilpTreesError, KeyError, TypeError, ValueError, AttributeError) as why:
        raise DataError(
            f"{path} is damaged, or was written by another version of milp-trees ({type(why).__name__}: {why}); fit the estimator again."
        ) from None
    return estimator


def _document(path: Any) -> Mapping[str, Any]:
    """The document in a file, whose format and version are known."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, ValueError):
        raise DataError(f"{path} is no JSON file; give a file that save has written.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(
            f"{path} holds no fitted estimator; give a file that save of an estimator has written."
        )
    if document.get("version") != VERSION:
        raise DataError(
            f"{path} has version {document.get('version')!r} of the format; this milp-trees reads version {VERSION}. Install the one that wrote it."
        )
    return document


def _subclasses(cls: Any) -> list[Any]:
    """A class and all classes that are derived from it."""
    return [cls, *(kind for below in cls.__subclasses__() for kind in _subclasses(below))]
