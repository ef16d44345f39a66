"""Does a stored curve of prunings stand up to recomputation? Every corner is scored on the data, every breakpoint is derived again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees._claims import as_fraction
from milp_trees.errors import VerificationError
from milp_trees.pruning_path import prune_path

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset
    from milp_trees.problem import Problem

#: What a stored curve must have.
NEEDED = ("exact", "breakpoints", "vertices", "rank", "problem")


def verify_curve(data: Mapping[str, Any], dataset: Dataset | None = None, path: str | Path | None = None) -> list[str]:
    """Recompute what a curve claims.

    Parameters
    ----------
    data : mapping
        What `milp-trees prune --path` wrote.
    dataset, path
        As for `verify`.

    Returns
    -------
    list of str
        A sentence per thing that was checked.

    Raises
    ------
    VerificationError
        The first thing that does not hold.
    """
    from milp_trees.verify import problem_of

    missing = [name for name in NEEDED if name not in data]
    if missing:
        raise VerificationError(f"This is not a curve of milp-trees, or it was cut: it has no {missing[0]!r}.")
    problem = problem_of({**data["problem"], "question": "best"}, dataset, path)
    checked = ["The data were read again and are those of the curve.", _check_corners(data, problem)]
    return [*checked, _derive_again(data, problem)]


def _check_corners(data: Mapping[str, Any], problem: Problem) -> str:
    """Error and cost of every stored pruning, from where it sends the rows."""
    ensemble: Any = problem.space.ensemble  # type: ignore[attr-defined]
    rank, corners = np.array(data["rank"], dtype=np.int64), data["vertices"]
    if rank.shape != (ensemble.n_nodes,) or not corners:
        raise VerificationError(f"The curve must say of each of {ensemble.n_nodes} nodes when it goes, and have a corner.")
    for i, corner in enumerate(corners):
        pruned = ensemble.pruned(rank < int(rank.max()) - i)
        task: Any = problem.task
        found = dict(zip(("error", "cost"), task.parts(pruned.routes(problem.dataset), problem.dataset), strict=True), splits=pruned.n_splits)
        for name, value in found.items():
            stated = as_fraction(corner[name], name) if isinstance(corner[name], str) else corner[name]
            if not (value == stated if data["exact"] else abs(float(value) - float(stated)) <= 1e-6 * max(1.0, abs(float(value)))):
                raise VerificationError(f"Corner {i} states {name} {corner[name]}; its pruning has {value}.")
    return f"Error, cost and splits of all {len(corners)} corners were recomputed from their prunings."


def _derive_again(data: Mapping[str, Any], problem: Problem) -> str:
    """The same curve without merging what is needed together."""
    again = prune_path(problem, merge=False).to_json()
    for name in ("breakpoints", "vertices"):
        if data[name] != again[name]:
            raise VerificationError(f"The {name} are not those of the problem: derived again there are {len(again[name])}, and they differ.")
    return f"All {len(again['breakpoints'])} breakpoints were derived again, without merging purchases."
