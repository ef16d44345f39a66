"""A matrix model as text: compact, deterministic, with the names of the Pyomo model."""

from __future__ import annotations

import numpy as np

from milp_trees.mip.linear.matrix import MatrixModel


def model_text(matrix: MatrixModel) -> str:
    """Objective, rows and columns of a model, one per line, with their Pyomo names."""
    names = [v.name for v in matrix.columns] if matrix.columns else matrix.names()[0]
    where = np.flatnonzero(matrix.c)
    lines = [f"min  {matrix.offset:g}{_sum(matrix.c[where], where, names)}", ""]
    A = matrix.A.tocsr().sorted_indices()
    for i in range(matrix.n_rows):
        part = slice(A.indptr[i], A.indptr[i + 1])
        label = matrix.row_labels[i] if matrix.row_labels else f"r{i}"
        lines.append(
            f"{label}: {_bounded(_sum(A.data[part], A.indices[part], names).strip() or '0', matrix.row_lower[i], matrix.row_upper[i])}"
        )
    lines.append("")
    for j, name in enumerate(names):
        kind = "integer" if matrix.integer[j] else "continuous"
        lines.append(f"{_bounded(name, matrix.lower[j], matrix.upper[j])}  {kind}")
    return "\n".join(lines) + "\n"


def _sum(coefficients: np.ndarray, columns: np.ndarray, names: list[str]) -> str:
    parts = []
    for a, j in zip(coefficients.tolist(), columns.tolist(), strict=True):
        if a:
            size = "" if abs(a) == 1 else f"{abs(a):.12g} "
            parts.append(f" {'-' if a < 0 else '+'} {size}{names[j]}")
    return "".join(parts)


def _bounded(body: str, low: float, up: float) -> str:
    if low == up:
        return f"{body} == {low:.12g}"
    left = "" if np.isinf(low) else f"{low:.12g} <= "
    right = "" if np.isinf(up) else f" <= {up:.12g}"
    return f"{left}{body}{right}" if left or right else f"{body} free"
