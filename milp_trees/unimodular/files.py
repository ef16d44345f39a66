"""Model files as matrices: MPS and LP through HiGHS, and sparse matrices of SciPy."""

from __future__ import annotations

import gzip
import shutil
import zipfile
import zlib
from pathlib import Path

import numpy as np
from scipy import sparse

from milp_trees.errors import DataError
from milp_trees.linear import scratch
from milp_trees.unimodular.reading import NamedMatrix, canonical, read_matrix


def read_model_file(path: Path) -> NamedMatrix:
    """The constraint matrix of a file, with its names of rows and columns.

    Parameters
    ----------
    path : Path
        `.mps`, `.lp`, each also with `.gz`, or `.npz` (`scipy.sparse.save_npz`).

    Raises
    ------
    DataError
        The content of the file does not fit its ending.
    """
    if path.suffix.lower() == ".npz":
        try:
            return read_matrix(sparse.load_npz(path))
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise DataError(
                f"{path} is no sparse matrix of scipy.sparse.save_npz: {str(error).rstrip('.')}."
            ) from None
    if path.suffix.lower() != ".gz":
        return _by_highs(path)
    with scratch.folder() as folder:
        plain = folder / path.stem
        try:
            with gzip.open(path) as packed, plain.open("wb") as unpacked:
                shutil.copyfileobj(packed, unpacked)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise DataError(
                f"{path} is not gzipped, or is damaged: {str(error).rstrip('.')}."
            ) from None
        return _by_highs(plain)


def _by_highs(path: Path) -> NamedMatrix:
    import highspy

    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if solver.readModel(str(path)) == highspy.HighsStatus.kError:
        raise DataError(
            f"{path.name} cannot be read as a model: HiGHS refuses it. Check that it is an MPS or LP file."
        )
    lp = solver.getLp()
    if (
        not lp.num_col_
    ):  # HiGHS reads an LP file without any known section as a model without variables
        raise DataError(
            f"{path.name} holds no model: no variable was found in it. Check that it is an MPS or LP file."
        )
    shape = (lp.num_row_, lp.num_col_)
    parts = (
        np.array(lp.a_matrix_.value_, dtype=float),
        np.array(lp.a_matrix_.index_),
        np.array(lp.a_matrix_.start_),
    )
    by_column = lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    A = (
        sparse.csc_matrix(parts, shape=shape)
        if by_column
        else sparse.csr_matrix(parts, shape=shape)
    )
    rows, columns = (list(names) for names in (lp.row_names_, lp.col_names_))
    return NamedMatrix(
        canonical(A),
        tuple(rows if len(rows) == shape[0] else (f"r{i}" for i in range(shape[0]))),
        tuple(columns if len(columns) == shape[1] else (f"x{j}" for j in range(shape[1]))),
    )
