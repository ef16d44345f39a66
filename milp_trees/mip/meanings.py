"""Words for the elements of a model's index sets: which rows, tests, actions and nodes they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.tasks.grouping import equal_rows, packed
from milp_trees.tasks.views import CostMatrix, LeafSums

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

Words = Callable[[Any], str]


def tree_words(view: Any, problem: Problem) -> Mapping[str, Words]:
    """Words for the index sets of a formulation of trees.

    These are `rows`, `tests`, `nodes`, `branch`, `leaves`, `actions`, and the rows of the
    constraint `side`.
    """
    words: dict[str, Words] = {
        "rows": row_words(view, problem),
        "features": lambda f: str(view.features[f].name),
    }
    words |= dict.fromkeys(("nodes", "branch", "leaves"), heap_words)
    if isinstance(view, CostMatrix):
        words |= {"actions": lambda k: str(view.actions[k]), "side": lambda j: view.side[j].name}
    return words


def heap_words(v: int) -> str:
    """The path from the root to a node of a complete tree with root 1, children 2v and 2v + 1."""
    way = ["root"] + ["right" if bit == "1" else "left" for bit in f"{v:b}"[1:]]
    return ", ".join(way)


def row_words(view: Any, problem: Problem) -> Words:
    """For a row of a view, the rows of the data (counted from 0) that it stands for."""
    sums = isinstance(view, LeafSums)
    whole: Any = problem.first_view((CostMatrix, LeafSums)) if sums else problem.view(type(view))
    known = np.asarray(getattr(whole, "rows", np.arange(whole.n_rows)))
    # Rows with equal tests are merged, and keep the order in which they first occur.
    group = (
        np.arange(whole.n_rows) if view.n_rows == whole.n_rows else equal_rows(packed(whole.X))[1]
    )
    members: list[list[int]] = [[] for _ in range(view.n_rows)]
    for row, i in zip(known.tolist(), group.tolist(), strict=True):
        members[i].append(row)
    return lambda i: f"row{'s' if len(members[i]) > 1 else ''} {', '.join(map(str, members[i]))}"
