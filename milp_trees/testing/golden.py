"""Text of a matrix model, compact and deterministic, so that a change of a model shows in review.

`python -m milp_trees.testing.golden FOLDER --refresh` writes one file per registered formulation; without `--refresh` it says what differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from milp_trees.formulation import Formulation
from milp_trees.matrix import MatrixModel, compile_model
from milp_trees.problem import Problem


def model_text(matrix: MatrixModel) -> str:
    """Objective, rows and columns of a model, one a line, with their Pyomo names."""
    names = [v.name for v in matrix.columns] if matrix.columns else matrix.names()[0]
    where = np.flatnonzero(matrix.c)
    lines = [f"min  {matrix.offset:g}{_sum(matrix.c[where], where, names)}", ""]
    A = matrix.A.tocsr().sorted_indices()
    for i in range(matrix.n_rows):
        part = slice(A.indptr[i], A.indptr[i + 1])
        label = matrix.row_labels[i] if matrix.row_labels else f"r{i}"
        lines.append(f"{label}: {_bounded(_sum(A.data[part], A.indices[part], names).strip() or '0', matrix.row_lower[i], matrix.row_upper[i])}")
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


def golden_problem(formulation: Formulation) -> Problem:
    """The smallest problem worth reading that a formulation takes: three rows and two thresholds of one numeric column, depth 1."""
    from milp_trees.space import Trees
    from milp_trees.tasks.classification import Accuracy
    from milp_trees.testing.problems import numeric_dataset

    return Problem(numeric_dataset({"x": [1, 2, 4]}, y=["no", "yes", "no"]), Accuracy(leaf_penalty="1/30"), Trees(1))


def golden_text(formulation: Formulation) -> str:
    """What the golden file of a formulation holds."""
    return model_text(compile_model(formulation.build(golden_problem(formulation))))


def differences(folder: Path, refresh: bool = False) -> list[str]:
    """Names of the formulations whose golden file is absent or differs; with `refresh`, the files are written."""
    from milp_trees.registry import registry

    changed = []
    for name, cls in registry.classes("formulations").items():
        path, text = folder / f"{name}.lp.txt", golden_text(cls())
        if not path.exists() or path.read_text() != text:
            changed.append(name)
            if refresh:
                path.write_text(text)
    return changed


def main(arguments: list[str]) -> int:
    """The command: prints the names that changed; exit code 1 if any does without `--refresh`."""
    refresh = "--refresh" in arguments
    folders = [a for a in arguments if a != "--refresh"]
    if len(folders) != 1:
        sys.stderr.write("usage: python -m milp_trees.testing.golden FOLDER [--refresh]\n")
        return 2
    changed = differences(Path(folders[0]), refresh)
    sys.stdout.write("".join(f"{'wrote' if refresh else 'differs:'} {name}\n" for name in changed))
    return int(bool(changed) and not refresh)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
