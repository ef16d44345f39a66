"""LP files in the dialect that all readers have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from milp_trees.mip.linear.matrix import MatrixModel

#: Characters in a line. Some readers cut or reject lines of more than 255 characters.
WIDTH = 120


def lp_text(model: MatrixModel, columns: Sequence[str], rows: Sequence[str]) -> str:
    """The text of an LP file, without the constant of the objective.

    Section names are written in full, because CBC reads `bin` and `gen` as variables. Every row and
    the objective have at least one term, because GLPK requires it. Every column occurs in the
    objective or in a row, because CBC ignores other columns.
    """
    idle = np.diff(model.A.tocsc().indptr) == 0
    wanted = np.flatnonzero((model.c != 0) | idle)
    if not len(wanted):
        wanted = np.zeros(1, dtype=np.int64)
    lines = ["Minimize", *_wrapped(" obj:", _terms(model.c[wanted], wanted, columns)), "Subject To"]
    A = model.A.tocsr().sorted_indices()
    starts = A.indptr.tolist()
    for i, name in enumerate(rows):
        here = slice(starts[i], starts[i + 1])
        terms = (
            _terms(A.data[here], A.indices[here], columns)
            if starts[i + 1] > starts[i]
            else iter([f"+ 0 {columns[0]}"])
        )
        lines += _wrapped(
            f" {name}:", [*terms, _side(float(model.row_lower[i]), float(model.row_upper[i]))]
        )
    lines += ["Bounds", *_bounds(model, columns)]
    binary = model.integer & (model.lower == 0) & (model.upper == 1)
    for section, chosen in (("Binaries", binary), ("Generals", model.integer & ~binary)):
        if chosen.any():
            lines += [section, *_wrapped("", (columns[j] for j in np.flatnonzero(chosen).tolist()))]
    return "\n".join([*lines, "End", ""])


def _side(low: float, up: float) -> str:
    if low == up:
        return f"= {spelled(low)}"
    return f"<= {spelled(up)}" if np.isinf(low) else f">= {spelled(low)}"


def _terms(coefficients: np.ndarray, columns: np.ndarray, names: Sequence[str]) -> Iterator[str]:
    for a, j in zip(coefficients.tolist(), columns.tolist(), strict=True):
        size = "" if abs(a) == 1 else f"{spelled(abs(a))} "
        yield f"{'-' if a < 0 else '+'} {size}{names[j]}"


def _bounds(model: MatrixModel, names: Sequence[str]) -> Iterator[str]:
    for name, low, up in zip(names, model.lower.tolist(), model.upper.tolist(), strict=True):
        if low == up:
            yield f" {name} = {spelled(low)}"
        elif np.isinf(low) and np.isinf(up):
            yield f" {name} free"
        elif np.isinf(up):
            yield f" {name} >= {spelled(low)}"
        else:
            yield f" {'-inf' if np.isinf(low) else spelled(low)} <= {name} <= {spelled(up)}"


def _wrapped(head: str, words: Iterable[str]) -> Iterator[str]:
    line = head
    for word in words:
        if len(line) + len(word) >= WIDTH and line.strip():
            yield line
            line = " "
        line = f"{line} {word}"
    yield line


def spelled(value: float) -> str:
    """A number with all its digits; integers without a decimal point."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
