"""The data of a proof's statement: how the checker gets its features and costs.

A statement names the data file and how it is read, if the checker's own reader makes the same
features and costs of it as this package; otherwise the proof holds the rows themselves.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.data.antecedent import Antecedent
from milp_trees.data.reading import SPACE
from milp_trees.tasks.loss_sums import LossSums, Squares
from milp_trees.tasks.views import CostMatrix, LeafSums
from milp_trees.verification import check_loss, proof_reading
from milp_trees.verification.same_answers import same_answers

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: Texts that stand for a missing value, in statements of tables.
MISSING = ["", "NA", "NaN", "nan", "N/A", "n/a", "NULL", "null", "None", "?"]


def data_of(problem: Problem, view: CostMatrix, rows: bool = False) -> dict[str, Any]:
    """How the checker gets features and costs: from the data file, or from the proof itself."""
    for form in () if rows else _forms(problem):
        found = _read(problem, view, form)
        if found is not None:
            return found
    return {**_rows(view), "costs": {"kind": "listed", "values": view.costs.tolist()}}


def data_of_squares(
    problem: Problem, view: LossSums, squares: Squares, rows: bool = False
) -> dict[str, Any]:
    """How the checker gets features, targets and weights of a squared error."""
    plain = {"weights": "rows" if (squares.w * squares.weight == 1).all() else _weights(squares)}
    for form in () if rows else _forms(problem):
        found = _read_squares(problem, view, squares, form)
        if found is not None:
            return {**plain, **found}
    columns = [[int(v) for v in column] for column in squares.y.T.tolist()]
    targets = {"unit": _ratio(squares.unit), "listed": columns}
    return {**_rows(view), **plain, "targets": targets}


def _ratio(number: Fraction) -> str:
    return f"{number.numerator}/{number.denominator}"


def _weights(squares: Squares) -> dict[str, Any]:
    return {"unit": _ratio(squares.weight), "listed": [[int(v) for v in squares.w.tolist()]]}


def _rows(view: LeafSums) -> dict[str, Any]:
    """Features and their answers in the proof itself."""
    digits = (np.asarray(view.X, dtype=np.uint8) + ord("0")).tobytes().decode("ascii")
    F = view.n_features
    return {
        "data": {"kind": "rows", "X": [digits[F * i : F * (i + 1)] for i in range(view.n_rows)]},
        "features": [t.name for t in view.features],
    }


def _read_squares(
    problem: Problem, view: LossSums, squares: Squares, form: dict[str, Any]
) -> dict[str, Any] | None:
    """Features, targets and weights, if the checker reads the same ones from the file."""
    if any(f.order for t in view.features for f in t.features):
        return None
    features = [_literals(t) for t in view.features]
    targets = {"unit": _ratio(squares.unit), "columns": _targets(problem)}
    try:
        table = proof_reading.Table(form, problem.dataset.source["path"])
        if table.n != view.n_rows or not same_answers(table, features, view):
            return None
        if not _same_numbers(table, targets, squares.y):
            return None
        found = {"data": form, "features": features, "targets": targets}
        name = problem.dataset.source.get("columns", {}).get("weights")
        weights = {"unit": _ratio(squares.weight), "columns": [str(name)]}
        if name is not None and _same_numbers(table, weights, squares.w[:, None]):
            found["weights"] = weights
    except (*proof_reading.FAULTS, proof_reading.Wrong):
        return None
    return found


def _same_numbers(table: proof_reading.Table, form: dict[str, Any], numbers: np.ndarray) -> bool:
    """Whether the checker reads some numbers from the columns of a table."""
    try:
        found = check_loss.whole(form, table)[0]
    except (*proof_reading.FAULTS, proof_reading.Wrong):
        return False
    return bool(found.shape == numbers.shape and (found == numbers).all())


def _targets(problem: Problem) -> list[str]:
    """Names of the columns that are predicted."""
    dataset = problem.dataset
    if dataset.target_names is not None:
        return list(dataset.target_names)
    return [str(dataset.source.get("columns", {}).get("target"))]


def _forms(problem: Problem) -> Iterator[dict[str, Any]]:
    """Ways to read the data file, the likely ones first; none if there is no text file."""
    dataset = problem.dataset
    source = dict(dataset.source)
    path = Path(str(source.get("path", "")))
    if "test_size" in source or dataset.counts is not None or not path.is_file():
        return
    reading = source.get("reading", {})
    encoding = reading.get("encoding") or "utf-8-sig"
    zipped = path.read_bytes()[:2] == b"\x1f\x8b"
    try:
        # as text: a line may end with a carriage return alone
        with (gzip.open if zipped else open)(path, "rt", encoding=encoding) as file:
            first = next(islice(file, 1)).strip()
    except (OSError, StopIteration, UnicodeError, LookupError):
        return
    sep = reading.get("sep") or ("," if "," in first else SPACE)
    fields = first.split() if sep == SPACE else next(csv.reader([first], delimiter=sep))
    fields = [f.strip() for f in fields]
    columns = source.get("columns", {})
    known = {t.column for t in dataset.features if hasattr(t, "column")}
    header = known | {*_targets(problem)} <= {*fields}
    usual = {
        "kind": "table",
        "delimiter": None if sep == SPACE else sep,
        "quote": '"',
        "encoding": encoding,
        "decimal": reading.get("decimal") or ".",
        "missing": MISSING,
        "gzip": zipped,
    }
    if header:
        yield {**usual, "skip": 1, "names": fields}
        return
    target, features = str(columns.get("target")), [str(c) for c in source.get("features", ())]
    if len(features) + 1 == len(fields):
        yield {**usual, "skip": 0, "names": [target, *features]}
        yield {**usual, "skip": 0, "names": [*features, target]}


def _read(problem: Problem, view: CostMatrix, form: dict[str, Any]) -> dict[str, Any] | None:
    """Features and costs, if the checker reads the same ones from the file; else None."""
    source = problem.dataset.source
    if any(f.accepted for t in view.features for f in t.features):
        return None  # the checker knows no order and no sets of categories
    features = [_literals(t) for t in view.features]
    target = str(source.get("columns", {}).get("target"))
    cells = _digits(form, source["path"])
    if cells is not None and cells.shape[0] == view.n_rows:
        answers = _asked(cells, form["names"], features)
        if answers is not None and np.array_equal(answers, np.asarray(view.X, dtype=bool)):
            digits = cells[:, form["names"].index(target)] - ord("0")
            return {"data": form, "features": features, "costs": _costs(digits, target, view)}
    try:
        table = proof_reading.Table(form, source["path"])
        if table.n != view.n_rows:
            return None
        if not same_answers(table, features, view):
            return None
        known = target in form["names"]
        texts: Any = np.array(table.column(target, numbers=False)[0], dtype=str) if known else None
        costs = _costs(texts, target, view)
        if not np.array_equal(table.costs(costs), view.costs):
            return None
    except (*proof_reading.FAULTS, proof_reading.Wrong):
        return None
    return {"data": form, "features": features, "costs": costs}


def _literals(test: Any) -> list[list[Any]]:
    """A feature, or a conjunction of features and negations, as literals."""
    if isinstance(test, Antecedent):
        return [_literal(literal.feature, literal.value) for literal in test.literals]
    return [_literal(test, True)]


def _literal(test: Any, yes: Any) -> list[Any]:
    value = test.value
    plain = value if value is None or isinstance(value, float) else str(value)
    return [test.column, test.kind, plain, test.missing, bool(yes)]


def _digits(form: dict[str, Any], path: str) -> np.ndarray | None:
    """The cells of a table of single digits as characters, or None if it is another table.

    The checker's reader gives the same cells; this one is a hundred times faster.
    """
    if form["encoding"] not in ("utf-8", "utf-8-sig") or form["skip"]:
        return None
    raw = proof_reading.unpacked(path).rstrip(b"\r\n") + b"\n"
    first = raw[: raw.find(b"\n") + 1]
    width, length = len(form["names"]), len(first)
    if len(raw) % length or first.rstrip() != first.rstrip(b"\r\n"):
        return None
    lines = np.frombuffer(raw, dtype=np.uint8).reshape(-1, length)
    digit = (lines[0] >= ord("0")) & (lines[0] <= ord("9"))
    mark = (form["delimiter"] or " ").encode()
    if mark.join(bytes([c]) for c in lines[0, digit]) != first.rstrip() or digit.sum() != width:
        return None
    cells = lines[:, digit]
    same = (lines[:, ~digit] == lines[0, ~digit]).all()
    return cells if same and cells.min() >= ord("0") and cells.max() <= ord("9") else None


def _asked(cells: np.ndarray, names: list[str], features: list[Any]) -> np.ndarray | None:
    """Answers of features that are 0/1 columns, if all are."""
    plain = all(len(f) == 1 and f[0][1] == "is" and f[0][4] for f in features)
    place = {name: j for j, name in enumerate(names)}
    if not plain or not all(f[0][0] in place for f in features):
        return None
    requested = cells[:, [place[f[0][0]] for f in features]]
    return requested == ord("1") if requested.max(initial=0) <= ord("1") else None


def _costs(texts: np.ndarray | None, target: str, view: CostMatrix) -> dict[str, Any]:
    """Costs that follow from the texts of the target, as a matrix; otherwise those of all rows."""
    listed = {"kind": "listed", "values": view.costs.tolist()}
    if texts is None:
        return listed
    classes, first, code = np.unique(texts, return_index=True, return_inverse=True)
    matrix = view.costs[first]
    if len(classes) > view.n_rows // 2 or not np.array_equal(matrix[code.ravel()], view.costs):
        return listed
    return {
        "kind": "matrix",
        "column": target,
        "classes": [str(c) for c in classes.tolist()],
        "matrix": matrix.tolist(),
    }
