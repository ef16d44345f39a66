"""Model files as matrices: MPS and LP through HiGHS, and sparse matrices of SciPy."""

from __future__ import annotations

import zipfile
from pathlib import Path

from scipy import sparse

from milp_trees.common.errors import DataError
from milp_trees.mip.linear.reading import read_model
from milp_trees.unimodular.reading import NamedMatrix, canonical, read_matrix


def read_model_file(path: Path) -> NamedMatrix:
    """The constraint matrix of a file, with its names of rows and columns."""
    if path.suffix.lower() == ".npz":
        try:
            return read_matrix(sparse.load_npz(path))
        except (ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            raise DataError(
                f"{path} is no sparse matrix of scipy.sparse.save_npz: {str(error).rstrip('.')}."
            ) from None
    file = read_model(path)
    return NamedMatrix(canonical(file.model.A), tuple(file.rows), tuple(file.columns))
