"""The number of leaves of a tree or a rule list by cross-validation, for any task.

On every fold the best models of all sizes are found on the training rows, in one run where an engine
can, and scored on the other rows by the task's own value (van der Linden, de Weerdt, Demirović 2023,
*STreeD*, tune their trees in this way).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError, Infeasible
from milp_trees.common.limits import Limit, Limits
from milp_trees.methods.callback import current_progress
from milp_trees.models.space import Space, Trees
from milp_trees.problems.problem import Problem
from milp_trees.solving.solve import path_of_sizes

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.data.dataset import Dataset
    from milp_trees.methods.method import Method
    from milp_trees.results.size_path import SizePath

#: Rows for training, and rows for the score.
Fold = tuple[np.ndarray, np.ndarray]
#: From a problem, a number of leaves, a method and limits to the best models of all sizes.
Paths = Callable[[Problem, int, Any, Limits], "SizePath"]


@dataclass(frozen=True, eq=False)
class SizeChoice:
    """The size with the best mean score.

    Parameters
    ----------
    max_depth, max_leaf_nodes : int
        The chosen limits. Of several equally good ones it is the fewest leaves, then the smallest
        depth.
    value : float
        Mean over the folds of the task's value on the rows that were left out.
    depths, leaves : int array of shape (candidates,)
        Limits of every candidate.
    scores : float array of shape (folds, candidates)
        The values; NaN where a fold has no feasible tree of that size.
    proven : bool
        Whether every tree that was scored is proven to be the best of its size.
    """

    max_depth: int | None
    max_leaf_nodes: int
    value: float
    depths: tuple[int | None, ...]
    leaves: np.ndarray
    scores: np.ndarray
    proven: bool = True

    def table(self) -> pd.DataFrame:
        """A row per candidate: its limits, and mean and standard deviation of its scores."""
        import pandas as pd

        return pd.DataFrame(
            {
                "max_depth": self.depths,
                "max_leaf_nodes": self.leaves,
                "mean": self.scores.mean(axis=0),
                "std": self.scores.std(axis=0),
            }
        )


def choose_size(
    problem: Problem,
    max_leaf_nodes: int,
    folds: int | Iterable[Fold] = 5,
    *,
    max_depths: Sequence[int] | None = None,
    method: str | Method | None = None,
    limits: Limits | None = None,
    seed: int = 0,
    paths: Paths | None = None,
) -> SizeChoice:
    """Choose the number of leaves, and if wanted the depth, by cross-validation.

    Parameters
    ----------
    problem : Problem
        Its limit on leaves is replaced.
    max_leaf_nodes : int
        Largest number of leaves that is tried.
    folds : int, or iterable of (rows for training, rows for the score), default=5
        A number of random folds, stratified by the class (or treatment) if there is one.
    max_depths : sequence of int, optional
        Depth limits of trees that are tried; by default that of the problem alone.
    method : str, Method or None
        None: the default method for sizes.
    limits : Limits, optional
        For each fold and depth.
    seed : int, default=0
        Seed of the random folds.
    paths : callable, optional
        Called with a problem, the largest number of leaves, `method` and `limits`; the best models
        of all sizes. By default a run that finds none is an error.

    Returns
    -------
    SizeChoice

    Raises
    ------
    DataError
        There is no fold, or the task cannot be scored on the rows of a fold.
    Infeasible
        No size has a feasible tree on every fold.
    NothingFound, SolverFailure
        A run found no tree within the limits, or failed.
    KeyboardInterrupt
        The user interrupted a run on a fold.
    """
    if not isinstance(folds, Iterable):
        parts = random_folds(problem, folds, seed)
    else:
        parts = list(folds)
    if not parts:
        raise DataError("There are no folds; give a number of at least 2, or pairs of rows.")
    # The space checks the limits, before anything is computed with them.
    if max_depths is not None and (not isinstance(max_depths, Iterable) or not len(max_depths)):
        raise DataError(
            f"max_depths must be a list of at least one depth, such as [1, 2, 3]; got {max_depths!r}."
        )
    own = getattr(problem.space, "max_depth", None)
    given = [own] if max_depths is None else list(max_depths)
    for depth in given:
        limited(problem.space, depth, max_leaf_nodes)
    depths = given if max_depths is None else sorted({int(d) for d in max_depths})
    sizes = [(d, k) for d in depths for k in range(1, _most(d, max_leaf_nodes) + 1)]
    run = paths or _paths
    scores, proven = [], True
    for train, test in parts:
        row: list[float] = []
        for d in depths:
            most = _most(d, max_leaf_nodes)
            stated = replace(
                problem,
                dataset=problem.dataset.subset(train),
                space=limited(problem.space, d, most),
            )
            path = run(stated, most, method, limits or Limits())
            if path.limit is Limit.INTERRUPTED:  # not one fold is meant, but all of them
                raise KeyboardInterrupt
            row += _scores(path, most, problem.dataset.subset(test))
            proven = proven and path.proven
        scores.append(row)
    values = np.array(scores)
    means = values.mean(axis=0)
    if np.isnan(means).all():
        raise Infeasible(
            "No size has a feasible tree on every fold; loosen the constraints, or lower min_samples_leaf."
        )
    sign = 1.0 if problem.task.sense == "min" else -1.0
    order = sorted(
        (i for i in range(len(sizes)) if not np.isnan(means[i])),
        key=lambda i: (sign * round(float(means[i]), 12), sizes[i][1], sizes[i][0] or 0),
    )
    best = order[0]
    return SizeChoice(
        *sizes[best],
        float(means[best]),
        tuple(d for d, _ in sizes),
        np.array([k for _, k in sizes]),
        values,
        proven,
    )


def limited(space: Space, depth: int | None, most: int) -> Space:
    """The models of a space up to a size."""
    if isinstance(space, Trees):
        return replace(space, max_depth=depth).with_leaves(most)
    if depth is not None:
        raise DataError(
            f"max_depths belongs to trees, and the models here are {space.name}; leave it out."
        )
    return space.with_leaves(most)


def _most(depth: int | None, leaves: int) -> int:
    return leaves if depth is None else min(leaves, 2 ** min(depth, 40))


def _paths(problem: Problem, most: int, method: Any, limits: Limits) -> SizePath:
    return path_of_sizes(problem, most, method, limits, current_progress())


def _scores(path: SizePath, most: int, test: Dataset) -> list[float]:
    """Values of the best models of 1, 2, … leaves on the rows left out; NaN without one."""
    known: dict[int, float] = {}
    task = path.problem.task.for_other_rows(path.problem.dataset)
    by_leaves = {p.leaves: p.predictor for p in path.points}
    out = []
    for k in range(1, most + 1):
        model = by_leaves.get(k)
        if model is None:
            out.append(float("nan"))
            continue
        if id(model) not in known:
            known[id(model)] = task.value(model.routes(test), test).number
        out.append(known[id(model)])
    return out


def random_folds(problem: Problem, n: int, seed: int) -> list[Fold]:
    """Random folds, stratified by the class or the treatment of the rows."""
    rows = problem.dataset
    rows.refuse_counts("Cross-validation")
    if not isinstance(n, int | np.integer) or not 2 <= n <= rows.n_rows:
        raise DataError(
            f"The number of folds must be a whole number between 2 and the number of rows, {rows.n_rows}; got {n}."
        )
    strata: Any = rows.y if rows.classes is not None else rows.treatments
    rng = np.random.default_rng(seed)
    order = rng.permutation(rows.n_rows)
    if strata is not None:  # rows of one stratum are dealt out one after the other
        codes = np.unique(np.asarray(strata), return_inverse=True)[1]
        order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(rows.n_rows, dtype=np.int64)
    fold[order] = np.arange(rows.n_rows) % n
    return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(n)]
