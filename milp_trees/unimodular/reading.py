"""Input of the checks as one sparse matrix with names; exact determinants; the time limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.common.errors import DataError
from milp_trees.mip.linear.matrix import MatrixModel, compile_model


@dataclass(frozen=True, eq=False)
class NamedMatrix:
    """A sparse matrix and the names of its rows and columns.

    Parameters
    ----------
    A : scipy.sparse.csr_matrix, shape (m, n)
        Canonical (no stored zeros, sorted, summed). int8 if all entries are 0, 1 or -1, otherwise
        of the given type.
    aliases : dict
        Other forms of column names → index, such as those that are safe for file formats.
    """

    A: sparse.csr_matrix
    row_names: tuple[str, ...]
    column_names: tuple[str, ...]
    aliases: dict[str, int] = field(default_factory=dict, repr=False)

    @property
    def is_sign_matrix(self) -> bool:
        """Whether all entries are 0, 1 or -1."""
        return bool(self.A.dtype == np.int8)

    def part(self, rows: Sequence[int], columns: Sequence[int]) -> NamedMatrix:
        """A submatrix with its names."""
        A = canonical(self.A[list(rows)][:, list(columns)])
        return NamedMatrix(
            A, tuple(self.row_names[i] for i in rows), tuple(self.column_names[j] for j in columns)
        )

    def to_json(self) -> dict[str, Any]:
        """The names of rows and columns, and the entries as triples (row, column, value)."""
        coo = self.A.tocoo()
        entries = zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
        return {
            "rows": list(self.row_names),
            "columns": list(self.column_names),
            "entries": [list(entry) for entry in entries],
        }


def read_matrix(matrix: Any) -> NamedMatrix:
    """Read an array (or nested lists), a sparse matrix, a `MatrixModel` or a Pyomo model.

    Rows and columns keep their names. For a model it is the matrix of its constraints: bounds and
    slacks are unit rows and columns, so they do not matter for total unimodularity.
    """
    if isinstance(matrix, NamedMatrix):
        return matrix
    if hasattr(matrix, "component_data_objects"):
        matrix = _compiled(matrix)
    if isinstance(matrix, MatrixModel):
        safe, rows = matrix.names()
        columns = [v.name for v in matrix.columns] if matrix.columns else safe
        return NamedMatrix(
            canonical(matrix.A),
            tuple(rows),
            tuple(columns),
            {name: j for j, name in enumerate(safe)},
        )
    if not sparse.issparse(matrix):
        try:
            matrix = np.asarray(matrix)
        except ValueError:
            raise DataError(
                "The rows of the matrix have different lengths; give a rectangular array."
            ) from None
        if matrix.ndim != 2 or matrix.dtype.kind not in "biuf":
            kind = f"{matrix.ndim} dimension(s) and type {matrix.dtype}"
            raise DataError(
                f"A matrix of numbers with two dimensions is needed; got {kind}. A sparse matrix, MatrixModel or Pyomo model is taken too."
            )
    A = canonical(matrix)
    return NamedMatrix(
        A, tuple(f"r{i}" for i in range(A.shape[0])), tuple(f"x{j}" for j in range(A.shape[1]))
    )


def canonical(matrix: Any) -> sparse.csr_matrix:
    """A CSR copy without stored zeros, sorted; int8 if it holds only 0, 1 and -1."""
    A = sparse.csr_matrix(matrix, dtype=np.int64 if matrix.dtype == bool else None, copy=True)
    A.sum_duplicates()
    A.eliminate_zeros()
    A.sort_indices()
    if not np.isfinite(A.data).all():
        raise DataError("The matrix has entries that are not finite; give finite numbers.")
    return A.astype(np.int8) if np.isin(A.data, (1, -1)).all() else A


def _compiled(model: Any) -> MatrixModel:
    """The matrix of a Pyomo model; its objective is ignored."""
    import pyomo.environ as pyo
    from pyomo.common.errors import InvalidConstraintError
    from pyomo.common.modeling import unique_component_name

    goals = list(model.component_data_objects(pyo.Objective, active=True))
    if len(goals) != 1 or goals[0].sense != pyo.minimize:
        model = model.clone()  # the caller's model is not changed
        for goal in model.component_data_objects(pyo.Objective, active=True):
            goal.deactivate()
        model.add_component(unique_component_name(model, "no_objective"), pyo.Objective(expr=0.0))
    try:
        return compile_model(model)
    except InvalidConstraintError as error:
        raise DataError(f"Only linear constraints make a matrix: {error}") from None


def determinant(rows: Sequence[Sequence[Any]]) -> int | Fraction:
    """The determinant in exact arithmetic; an int if it is an integer.

    The method is Gaussian elimination over the rationals.
    """
    work = [[Fraction(x) for x in row] for row in rows]
    value = Fraction(1)
    for k in range(len(work)):
        pivot = next((i for i in range(k, len(work)) if work[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            work[k], work[pivot] = work[pivot], work[k]
            value = -value
        value *= work[k][k]
        for i in range(k + 1, len(work)):
            if factor := work[i][k] / work[k][k]:
                work[i] = [a - factor * b for a, b in zip(work[i], work[k], strict=True)]
    return int(value) if value.denominator == 1 else value
