"""A block of linear rows, stored as a sparse matrix inside a Pyomo model.

Pyomo has `MatrixConstraint` for this, but its mapping methods do not accept the `sort` argument
that every Pyomo 6.10 writer passes. The methods below do, and rows are made only when they are
read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pyomo.core.base.component import ActiveComponent
from pyomo.core.base.constraint import ConstraintData, IndexedConstraint
from pyomo.core.base.set_types import Any as AnySet
from pyomo.core.expr.numeric_expr import LinearExpression
from pyomo.core.expr.relational_expr import (
    EqualityExpression,
    InequalityExpression,
    RangedExpression,
)
from scipy import sparse


class MatrixRows(IndexedConstraint):  # type: ignore[misc]  # Pyomo has no types
    """Rows `lower <= A x <= upper`; see `milp_trees.mip.linear.matrix.matrix_rows`."""

    def __init__(
        self,
        variables: Sequence[Any],
        matrix: sparse.csr_matrix,
        lower: np.ndarray,
        upper: np.ndarray,
        doc: str,
    ) -> None:
        super().__init__(AnySet, doc=doc)
        self.variables = list(variables)
        self.matrix = matrix
        self.row_lower = np.asarray(lower, dtype=float)
        self.row_upper = np.asarray(upper, dtype=float)

    def construct(self, data: Any = None) -> None:
        self._constructed = True

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __contains__(self, index: Any) -> bool:
        return isinstance(index, (int, np.integer)) and 0 <= int(index) < len(self)

    def keys(self, sort: Any = None) -> Any:
        return range(len(self))

    def values(self, sort: Any = None) -> Any:
        return (self[i] for i in range(len(self)))

    def items(self, sort: Any = None) -> Any:
        return ((i, self[i]) for i in range(len(self)))

    def set_bounds(self, lower: np.ndarray, upper: np.ndarray) -> None:
        """Give the rows other sides, which may be infinite."""
        self.row_lower = np.asarray(lower, dtype=float)
        self.row_upper = np.asarray(upper, dtype=float)
        self._data.clear()  # rows that were read have the sides of before

    def activate(self) -> None:
        """Activate the whole block; Pyomo's own method would make every row first."""
        ActiveComponent.activate(self)

    def deactivate(self) -> None:
        """Deactivate the whole block."""
        ActiveComponent.deactivate(self)

    def __getitem__(self, i: int) -> ConstraintData:
        if i not in self._data:
            here = slice(*self.matrix.indptr[i : i + 2])
            body = LinearExpression(
                linear_coefs=self.matrix.data[here].tolist(),
                linear_vars=[self.variables[j] for j in self.matrix.indices[here]],
            )
            low, up = self.row_lower[i], self.row_upper[i]
            if low == up:
                expr = EqualityExpression((body, low))
            elif np.isinf(low):
                expr = InequalityExpression((body, up), False)
            elif np.isinf(up):
                expr = InequalityExpression((low, body), False)
            else:
                expr = RangedExpression((low, body, up), False)
            data = ConstraintData(expr, component=self)
            data._index = i
            self._data[i] = data
        return self._data[i]
