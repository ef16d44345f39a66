"""Free-format MPS files. Numbers are written with all their digits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from milp_trees.mip.linear.matrix import MatrixModel


def write_mps(model: MatrixModel, path: Path) -> None:
    """Write a model for a solver that runs as a program.

    Columns are called x0, x1, …, and rows r0, r1, …. The constant of the objective is left out,
    because solvers disagree about its sign.
    """
    columns, rows = (
        [f"x{j}" for j in range(model.n_variables)],
        [f"r{i}" for i in range(model.n_rows)],
    )
    path.write_text(mps_text(model, columns, rows))


def mps_text(
    model: MatrixModel, columns: Sequence[str], rows: Sequence[str], name: str = "model"
) -> str:
    """The text of an MPS file, without the constant of the objective."""
    lower, upper = model.row_lower, model.row_upper
    kept = np.isfinite(lower) | np.isfinite(upper)
    ranged = np.isfinite(lower) & np.isfinite(upper) & (lower < upper)
    kind = np.where(lower == upper, "E", np.where(np.isfinite(lower), "G", "L"))
    rhs = np.where(kind == "L", upper, lower)
    lines = [f"NAME {name} FREE", "ROWS", " N obj"]
    used = np.flatnonzero(kept).tolist()
    lines += [f" {kind[i]} {rows[i]}" for i in used]
    lines.append("COLUMNS")
    lines += _columns(model, kept, columns, rows)
    lines.append("RHS")
    lines += [f" RHS {rows[i]} {float(rhs[i])!r}" for i in used if rhs[i] != 0]
    if ranged.any():  # written only if needed, because PuLP's reader does not accept this section
        lines.append("RANGES")
        lines += [
            f" RNG {rows[i]} {float(upper[i] - lower[i])!r}"
            for i in np.flatnonzero(ranged).tolist()
        ]
    lines.append("BOUNDS")
    lines += _bounds(model, columns)
    lines += ["ENDATA", ""]
    return "\n".join(lines)


def _columns(
    model: MatrixModel, kept: np.ndarray, names: Sequence[str], row_names: Sequence[str]
) -> list[str]:
    A = model.A.tocsc()
    # There are few different coefficients, so each is formatted once.
    values, which = np.unique(A.data, return_inverse=True)
    spelled = [repr(float(v)) for v in values]
    starts, rows, which, used = A.indptr.tolist(), A.indices.tolist(), which.tolist(), kept.tolist()
    integer, costs = model.integer.tolist(), model.c.tolist()
    lines, inside = [], False
    for j, (name, cost) in enumerate(zip(names, costs, strict=True)):
        if integer[j] != inside:
            inside = integer[j]
            lines.append(f" MARKER 'MARKER' '{'INTORG' if inside else 'INTEND'}'")
        lines.append(f" {name} obj {cost!r}")
        lines += [
            f" {name} {row_names[rows[k]]} {spelled[which[k]]}"
            for k in range(starts[j], starts[j + 1])
            if used[rows[k]]
        ]
    if inside:
        lines.append(" MARKER 'MARKER' 'INTEND'")
    return lines


def _bounds(model: MatrixModel, names: Sequence[str]) -> list[str]:
    """Both bounds of every column, including defaults.

    The defaults of integer columns differ between readers. An infinite bound is written before the
    other bound, because for PuLP's reader `PL` also sets the lower bound to 0, and `MI` the upper
    one.
    """
    lines = []
    for name, low, up in zip(names, model.lower.tolist(), model.upper.tolist(), strict=True):
        if low == up:
            lines.append(f" FX BND {name} {low!r}")
        elif low == -np.inf:
            lines.append(
                f" FR BND {name}" if up == np.inf else f" MI BND {name}\n UP BND {name} {up!r}"
            )
        else:
            lines.append(
                f" PL BND {name}\n LO BND {name} {low!r}"
                if up == np.inf
                else f" LO BND {name} {low!r}\n UP BND {name} {up!r}"
            )
    return lines
