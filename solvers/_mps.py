"""A free-format MPS file and a complete start for solvers that are executables. Columns are called x0, x1, …, rows r0, r1, …."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from milp_trees.matrix import MatrixModel


def write_mps(model: MatrixModel, path: Path) -> None:
    """Write a model; the constant of the objective is left out, because solvers disagree about its sign."""
    lower, upper = model.row_lower, model.row_upper
    kept = np.isfinite(lower) | np.isfinite(upper)
    ranged = np.isfinite(lower) & np.isfinite(upper) & (lower < upper)
    kind = np.where(lower == upper, "E", np.where(np.isfinite(lower), "G", "L"))
    rhs = np.where(kind == "L", upper, lower)
    lines = ["NAME model FREE", "ROWS", " N obj"]
    rows = np.flatnonzero(kept).tolist()
    lines += [f" {kind[i]} r{i}" for i in rows]
    lines.append("COLUMNS")
    lines += _columns(model, kept)
    lines.append("RHS")
    lines += [f" RHS r{i} {float(rhs[i])!r}" for i in rows if rhs[i] != 0]
    lines.append("RANGES")
    lines += [f" RNG r{i} {float(upper[i] - lower[i])!r}" for i in np.flatnonzero(ranged).tolist()]
    lines.append("BOUNDS")
    lines += _bounds(model)
    lines += ["ENDATA", ""]
    path.write_text("\n".join(lines))


def _columns(model: MatrixModel, kept: np.ndarray) -> list[str]:
    A = model.A.tocsc()
    # There are few different coefficients: each is spelled once.
    values, which = np.unique(A.data, return_inverse=True)
    spelled = [repr(float(v)) for v in values]
    starts, rows, which, used = A.indptr.tolist(), A.indices.tolist(), which.tolist(), kept.tolist()
    integer, costs = model.integer.tolist(), model.c.tolist()
    lines, inside = [], False
    for j, cost in enumerate(costs):
        if integer[j] != inside:
            inside = integer[j]
            lines.append(f" MARKER 'MARKER' '{'INTORG' if inside else 'INTEND'}'")
        lines.append(f" x{j} obj {cost!r}")
        lines += [f" x{j} r{rows[k]} {spelled[which[k]]}" for k in range(starts[j], starts[j + 1]) if used[rows[k]]]
    if inside:
        lines.append(" MARKER 'MARKER' 'INTEND'")
    return lines


def _bounds(model: MatrixModel) -> list[str]:
    lines = []
    for j, (low, up) in enumerate(zip(model.lower.tolist(), model.upper.tolist(), strict=True)):
        if low == up:
            lines.append(f" FX BND x{j} {low!r}")
            continue
        # Said even where it is the default: the default of integer columns differs from reader to reader.
        lines.append(f" MI BND x{j}" if low == -np.inf else f" LO BND x{j} {low!r}")
        lines.append(f" PL BND x{j}" if up == np.inf else f" UP BND x{j} {up!r}")
    return lines


def write_start(x: np.ndarray, objective: float, path: Path) -> None:
    """A solution file with a value for every column, as CBC reads it."""
    lines = [f"Stopped on time - objective value {objective!r}"]
    lines += [f"{j} x{j} {value!r} 0" for j, value in enumerate(x.tolist())]
    path.write_text("\n".join([*lines, ""]))
