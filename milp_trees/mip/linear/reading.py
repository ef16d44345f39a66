"""A model file read back: MPS and LP, plain and gzipped, through the reader of HiGHS."""

from __future__ import annotations

import contextlib
import gzip
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.common import scratch
from milp_trees.common.errors import DataError
from milp_trees.mip.linear.files import FileModel
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.linear.silent_highs import silent_highs


def read_model(path: str | Path) -> FileModel:
    """The model in a file, with its names of columns and rows."""
    path = Path(path)
    with unpacked(path) as plain:
        return _by_highs(plain, path.name)


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The file itself, or during the block a copy without compression if its name ends in `.gz`."""
    if path.suffix.lower() != ".gz":
        yield path
        return
    with scratch.folder() as folder:
        plain = folder / path.stem
        try:
            with gzip.open(path) as packed, plain.open("wb") as target:
                shutil.copyfileobj(packed, target)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError(
                f"{path} is not gzipped, or is damaged: {str(error).rstrip('.')}."
            ) from None
        yield plain


def _by_highs(path: Path, name: str) -> FileModel:
    import highspy

    solver, warnings = silent_highs(), []

    def listen(event: Any) -> None:
        if event.data_out.log_type in (highspy.HighsLogType.kWarning, highspy.HighsLogType.kError):
            warnings.append(event.message.splitlines()[0].partition(":")[2].strip())

    solver.setOptionValue("log_to_console", False)
    solver.setOptionValue("output_flag", True)  # else the callback gets nothing
    solver.cbLogging.subscribe(listen)
    status = solver.readModel(str(path))
    if status == highspy.HighsStatus.kError:
        raise DataError(
            f"{name} cannot be read as a model: HiGHS refuses it. Check that it is an MPS or LP file."
        )
    if warnings or status != highspy.HighsStatus.kOk:
        message = warnings[0] if warnings else "something was left out"
        raise DataError(
            f"{name} was not read as it is written; the reader of HiGHS warns: {message.rstrip('.')}. Mend the file."
        )
    lp = solver.getLp()
    if solver.getModel().hessian_.dim_:
        raise DataError(f"{name} has a quadratic objective; give a linear program.")
    strange = set(lp.integrality_) - {
        highspy.HighsVarType.kContinuous,
        highspy.HighsVarType.kInteger,
    }
    if strange:
        raise DataError(
            f"{name} has variables that are neither continuous nor integer, such as semi-continuous ones; give a linear program."
        )
    if len(set(lp.col_names_)) < len(lp.col_names_):
        raise DataError(f"{name} has two variables of the same name; rename one.")
    if (
        not lp.num_col_
    ):  # HiGHS reads an LP file without any known section as a model without variables
        raise DataError(
            f"{name} holds no model: no variable was found in it. Check that it is an MPS or LP file."
        )
    shape = (lp.num_row_, lp.num_col_)
    parts = (
        np.array(lp.a_matrix_.value_, dtype=float),
        np.array(lp.a_matrix_.index_),
        np.array(lp.a_matrix_.start_),
    )
    by_column = lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    kind = sparse.csc_matrix if by_column else sparse.csr_matrix
    sign = -1.0 if lp.sense_ == highspy.ObjSense.kMaximize else 1.0
    continuous = highspy.HighsVarType.kContinuous
    kinds = [v != continuous for v in lp.integrality_] or np.zeros(shape[1])
    model = MatrixModel(
        lp.model_name_ or "model",
        sign * np.array(lp.col_cost_, dtype=float),
        sign * float(lp.offset_),
        sparse.csr_matrix(kind(parts, shape=shape)),
        np.array(lp.row_lower_, dtype=float),
        np.array(lp.row_upper_, dtype=float),
        np.array(lp.col_lower_, dtype=float),
        np.array(lp.col_upper_, dtype=float),
        np.array(kinds, dtype=bool),
    )
    rows, columns = (list(names) for names in (lp.row_names_, lp.col_names_))
    return FileModel(
        model,
        columns if len(columns) == shape[1] else [f"x{j}" for j in range(shape[1])],
        rows if len(rows) == shape[0] else [f"r{i}" for i in range(shape[0])],
        np.arange(shape[0]),
    )
