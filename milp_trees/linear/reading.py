"""A model file read back: MPS and LP, plain and gzipped, through the reader of HiGHS."""

from __future__ import annotations

import contextlib
import gzip
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy import sparse

from milp_trees.errors import DataError
from milp_trees.linear import scratch
from milp_trees.linear.files import FileModel
from milp_trees.linear.matrix import MatrixModel
from milp_trees.linear.silent_highs import silent_highs


def read_model(path: str | Path) -> FileModel:
    """The model in a file, with its names of columns and rows.

    Parameters
    ----------
    path : str or Path
        `.mps` or `.lp`, either with `.gz`.

    Returns
    -------
    FileModel
        A model that is maximised in the file is returned with the opposite costs.

    Raises
    ------
    DataError
        The content of the file does not fit its ending.
    """
    path = Path(path)
    with unpacked(path) as plain:
        return _by_highs(plain, path.name)


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The file itself, or during the block a copy without compression if its name ends in `.gz`.

    Raises
    ------
    DataError
        The file cannot be uncompressed.
    """
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

    solver = silent_highs()
    if solver.readModel(str(path)) == highspy.HighsStatus.kError:
        raise DataError(
            f"{name} cannot be read as a model: HiGHS refuses it. Check that it is an MPS or LP file."
        )
    lp = solver.getLp()
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
