"""A model as an MPS, LP or OPB file that all solvers read in the same way.

The readers were compared on files that they might misunderstand (`docs/reference/solvers.md` has the table).
Parts that they read differently are never written: the constant of the objective, rows with two
sides, rows without sides, fractional bounds of integer columns, models without rows.
"""

from __future__ import annotations

import gzip
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from milp_trees.common.errors import DataError
from milp_trees.common.writing import write_whole
from milp_trees.mip.linear.lp import lp_text
from milp_trees.mip.linear.mps import mps_text
from milp_trees.mip.linear.names import safe_names
from milp_trees.mip.linear.pseudo_boolean import constraints, opb_text, pseudo_boolean

if TYPE_CHECKING:
    from milp_trees.mip.linear.matrix import MatrixModel

#: Endings of model files.
SUFFIXES = (".mps", ".lp", ".mps.gz", ".lp.gz")
#: Name of the column that is fixed at 1 and has the constant of the objective as its cost.
CONSTANT = "objective_constant"
#: Characters in a line of comments.
COMMENT_WIDTH = 110


@dataclass(frozen=True, eq=False)
class FileModel:
    """A model in the form in which it is written to a file.

    Parameters
    ----------
    model : MatrixModel
        Without a constant in the objective; every row has one side or is an equation.
    columns, rows : list of str
        Names in the file.
    source : int array of shape (number of rows,)
        For every row of the file, the row of the model that it comes from; -1 for a row that only
        the file has.
    """

    model: MatrixModel
    columns: list[str]
    rows: list[str]
    source: np.ndarray

    def point(self, x: np.ndarray) -> np.ndarray:
        """A point of the model as values for all columns of the file."""
        return np.concatenate([x, np.ones(self.model.n_variables - len(x))])

    def text(self, suffix: str, comments: Iterable[str] = ()) -> str:
        """The file's text for the suffix `.mps`, `.lp` or `.opb`, after lines of comments."""
        if suffix == ".opb":
            size = (
                f"* #variable= {len(self.columns)} #constraint= {len([*constraints(self.model)])}\n"
            )
            return size + _commented("*", comments) + opb_text(self.model, self.columns)
        if suffix == ".lp":
            return _commented("\\", comments) + lp_text(self.model, self.columns, self.rows)
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", self.model.name) or "model"
        return _commented("*", comments) + mps_text(self.model, self.columns, self.rows, name)


def opb_model(file: FileModel) -> FileModel:
    """The model of a file as a pseudo-Boolean problem, with the columns x1, x2, and so on."""
    model = pseudo_boolean(file.model)
    more = model.n_rows - len(file.rows)
    return FileModel(
        model,
        [f"x{j + 1}" for j in range(model.n_variables)],
        safe_names([*file.rows, *["fixed"] * more], "r"),
        np.concatenate([file.source, np.full(more, -1)]),
    )


def file_model(model: MatrixModel) -> FileModel:
    """The model in a form that all readers understand in the same way, with the same optimum."""
    columns, rows = model.names()
    model = replace(model, lower=np.where(model.integer, np.ceil(model.lower) + 0.0, model.lower))
    model = replace(
        model,
        upper=np.where(model.integer, np.floor(model.upper) + 0.0, model.upper),
        row_labels=[],
        row_indices=[],
    )
    if model.offset or not model.n_variables:
        model, columns = _with_constant_column(model), safe_names([*columns, CONSTANT], "x")
    low, up = model.row_lower, model.row_upper
    sides = [(i, side) for i in range(model.n_rows) for side in _sides(float(low[i]), float(up[i]))]
    source = np.array([i for i, _ in sides], dtype=np.int64)
    model = replace(
        model,
        A=sparse.csr_matrix(model.A[source]),
        row_lower=np.array([-np.inf if side == "up" else low[i] for i, side in sides], dtype=float),
        row_upper=np.array([np.inf if side == "low" else up[i] for i, side in sides], dtype=float),
    )
    two_sided = np.bincount(source, minlength=len(rows)) == 2
    names = [f"{rows[i]}_{side}" if two_sided[i] else rows[i] for i, side in sides]
    if not names:  # GLPK's LP reader requires a row
        one = sparse.csr_matrix((1, model.n_variables))
        model = replace(model, A=one, row_lower=np.array([-np.inf]), row_upper=np.zeros(1))
        names, source = ["no_rows"], np.array([-1])
    return FileModel(model, columns, safe_names(names, "r"), source)


def _sides(low: float, up: float) -> Iterator[str]:
    """The sides of a row that become rows of the file.

    An equation is one row; a row without finite sides forbids nothing and is left out.
    """
    if low == up:
        yield "both"
        return
    if np.isfinite(low):
        yield "low"
    if np.isfinite(up):
        yield "up"


def _with_constant_column(model: MatrixModel) -> MatrixModel:
    """The model with the constant of the objective as the cost of a column that is fixed at 1.

    GLPK reads a constant with the opposite sign, and PuLP ignores it.
    """
    return replace(
        model,
        c=np.append(model.c, model.offset),
        offset=0.0,
        A=sparse.csr_matrix(sparse.hstack([model.A, sparse.csr_matrix((model.n_rows, 1))])),
        lower=np.append(model.lower, 1.0),
        upper=np.append(model.upper, 1.0),
        integer=np.append(model.integer, False),
        columns=[],
    )


def suffix_of(path: Path, allowed: Sequence[str] = SUFFIXES) -> str:
    """The ending of the name of a model file."""
    found = next(
        (s for s in sorted(allowed, key=len, reverse=True) if path.name.lower().endswith(s)), None
    )
    if found is None:
        raise DataError(
            f"A model file ends in {', '.join(allowed[:-1])} or {allowed[-1]}; got {path.name!r}."
        )
    return found


def write_model(model: MatrixModel, path: str | Path, comments: Iterable[str] = ()) -> Path:
    """Write a model as `.mps` or `.lp`, either with `.gz`. The same model gives the same bytes."""
    path = Path(path)
    write_text(path, file_model(model).text(suffix_of(path).removesuffix(".gz"), comments))
    return path


def write_text(path: Path, text: str) -> None:
    """Write ASCII text; if the path ends in `.gz` it is gzipped without time and name."""
    data = text.encode("ascii")
    write_whole(path, gzip.compress(data, mtime=0) if path.name.lower().endswith(".gz") else data)


def _commented(mark: str, lines: Iterable[str]) -> str:
    """Lines of comments.

    Other characters than ASCII are written as escapes, because some readers accept ASCII only.
    """
    out = []
    for line in lines:
        plain = " ".join(line.split()).encode("ascii", "backslashreplace").decode()
        out += [
            f"{mark} {part}".rstrip() + "\n"
            for part in textwrap.wrap(plain, COMMENT_WIDTH, subsequent_indent="  ") or [""]
        ]
    return "".join(out)
