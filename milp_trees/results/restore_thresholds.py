"""The thresholds of a stored result, found again, and their stated numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import VerificationError
from milp_trees.data.dates import is_threshold
from milp_trees.data.rules import n_thresholds
from milp_trees.results.json import number

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: What is recomputed of the statement on thresholds; the rest was found while they were chosen.
CHECKED = ("used", "of", "greedy_tree")


def same_part(name: str, stated: Any, own: Any) -> None:
    """Compare two descriptions."""
    if stated == own:
        return
    if isinstance(stated, Mapping) and isinstance(own, Mapping):
        for key in sorted({*stated, *own}):
            if key not in own:
                raise VerificationError(
                    f"The result states {name}.{key}, which means nothing there."
                )
            if key not in stated:
                raise VerificationError(
                    f"The result does not state {name}.{key}; it is {brief(own[key])}."
                )
            same_part(f"{name}.{key}", stated[key], own[key])
    raise VerificationError(
        f"The result states {name} {brief(stated)}; made again it is {brief(own)}."
    )


def brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}…"


def thresholds_again(
    data: Mapping[str, Any], dataset: Dataset, path: str | Path | None
) -> tuple[str, tuple[str, ...], Dataset | None]:
    """Compute the thresholds anew with the stated binarizer."""
    if "binarizer" not in data:
        return "", (), None
    from milp_trees.data.binarize import THRESHOLD_NOTES, Binarizer
    from milp_trees.results.reload import reload

    stated = data["binarizer"]
    kind, given = stated["kind"], stated["given"]
    if not all(
        number(t) or is_threshold(t)
        for rule in stated["columns"].values()
        if isinstance(rule, list)
        for t in rule
    ):
        raise VerificationError(
            "The result is damaged: the thresholds in problem.data.binarizer.columns must be numbers or dates."
        )
    if not isinstance(given, bool):
        raise VerificationError(
            f"The result is damaged: problem.data.binarizer.given must be true or false; it is {given!r}."
        )
    if not given and kind != "tree-guess":
        again, _ = reload(data, path, Binarizer(kind=kind, **stated["parameters"]))
        if not _same_tests(again, dataset):
            raise VerificationError(
                f"The tests are not those that the binarizer {kind!r} finds on these rows with the stated parameters."
            )
        _same_counts(data, again.source.get("thresholds"))
        if again.threshold_note != dataset.threshold_note:
            raise VerificationError(
                f"The result states the note {dataset.threshold_note!r} on its thresholds; found again it is {again.threshold_note!r}."
            )
        message = f"{_spelled(kind, stated['parameters'])}, found again on these rows"
        return message, ("problem.data.binarizer.parameters",), again.complete
    if "grouped" in data:  # all midpoints of a large table are too many to be counted
        return f"given ({kind}), not found again", ("problem.data.binarizer",), None
    sets = stated["parameters"].get("category_sets", 0)
    every_one = Binarizer(kind="midpoints", max_categories=10**9, category_sets=sets)
    complete, _ = reload(data, path, every_one)
    every = complete.source.get("thresholds", {}).get("of", 0)
    _same_counts(data, {"used": n_thresholds(dataset.features), "of": every} if every else None)
    fewer = _counts(dataset).items() != _counts(complete).items()
    where = "guessed by boosted trees" if kind == "tree-guess" and not given else f"given ({kind})"
    if not given and dataset.source.get("threshold_note", "") != (
        THRESHOLD_NOTES[kind] if fewer else ""
    ):
        raise VerificationError(
            f"The result states the note {dataset.threshold_note!r} on its thresholds; they are {'fewer than' if fewer else ''} all midpoints."
        )
    loose = (
        "problem.data.binarizer",
        *(("problem.data.threshold_note",) if given and dataset.threshold_note else ()),
        *(f"problem.data.thresholds.{n}" for n in data.get("thresholds", {}) if n not in CHECKED),
    )
    return (
        f"{where}, not found again; {'fewer than' if fewer else 'as many as'} all midpoints of these rows",
        loose,
        complete,
    )


def _same_counts(data: Mapping[str, Any], found: Any) -> None:
    """Compare the stated numbers of thresholds, if there are any, with those found again."""
    stated = data.get("thresholds")
    if stated is None:
        return
    own = {"used": 0, "of": 0} if found is None else found
    same_part("problem.data.thresholds", {k: stated.get(k) for k in own}, own)


def _spelled(kind: str, parameters: Mapping[str, Any]) -> str:
    """A binarizer as the command line writes it, such as `quantiles:5`."""
    return f"quantiles:{parameters['n_bins']}" if kind == "quantiles" else kind


def _counts(dataset: Dataset) -> dict[str, int]:
    """Number of features of every column."""
    out: dict[str, int] = {}
    for test in dataset.features:
        out[test.column] = out.get(test.column, 0) + 1
    return out


def _same_tests(a: Dataset, b: Dataset) -> bool:
    """Whether the features of two datasets divide the rows in the same way.

    A threshold may lie anywhere between the same two values.
    """
    requested = [[(t.column, t.kind, t.missing) for t in data.features] for data in (a, b)]
    if requested[0] != requested[1]:
        return False
    if a.ranked is not None and b.ranked is not None:
        pairs = zip(a.ranked.least_codes(), b.ranked.least_codes(), strict=True)
        return all(np.array_equal(mine, other) for mine, other in pairs)
    return bool(np.array_equal(a.X, b.X))
