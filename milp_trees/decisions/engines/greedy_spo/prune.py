r"""Weakest-link pruning by decision loss.

It is that of Breiman, Friedman, Olshen, Stone (1984), with the SPO loss of Elmachtoub, Liang,
McNellis (2020).

The link of a node t is :math:`g(t) = (R(t) - R(T_t)) / (|T_t| - 1)` with R the node's share of the
training loss as a leaf and :math:`R(T_t)` that of the :math:`|T_t|` leaves below. Collapsing the
weakest links one after the other gives nested subtrees and breakpoints :math:`0 = \alpha_0 <
\alpha_1 < \dots`; the subtree of :math:`[\alpha_q, \alpha_{q+1})` is judged on validation rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from milp_trees.decisions.engines.greedy_spo import kernels
from milp_trees.decisions.engines.greedy_spo.criteria import ROUNDING
from milp_trees.methods.growing.tree import GrownTree

if TYPE_CHECKING:
    import pandas as pd

#: Two validation errors are equal when they differ by less than this share of the better one.
EQUAL = 1e-5


@dataclass(frozen=True, eq=False)
class PruningPath:
    r"""The subtrees of weakest-link pruning, largest first.

    Parameters
    ----------
    breakpoints : float array of shape (m,)
        :math:`\alpha_q` at which each subtree begins to be the best; the first is 0.
    leaves : int array of shape (m,)
    training : float array of shape (m,)
        Training loss (criterion of pruning) per unit of weight.
    validation : float array of shape (m,), or None
        Mean loss on the validation rows, with the leaves' training decisions.
    error : float array of shape (m,), or None
        Standard error of that mean.
    chosen : int
        Number of the subtree that was kept.
    """

    breakpoints: np.ndarray
    leaves: np.ndarray
    training: np.ndarray
    validation: np.ndarray | None = None
    error: np.ndarray | None = None
    chosen: int = 0

    @property
    def alphas(self) -> np.ndarray:
        r"""One parameter per subtree: :math:`\sqrt{\alpha_q\alpha_{q+1}}`; the last is infinite."""
        after = np.append(self.breakpoints[1:], np.inf)
        out: np.ndarray = np.sqrt(self.breakpoints * np.where(np.isinf(after), 1.0, after))
        out[-1] = np.inf
        return out

    @property
    def alpha(self) -> float:
        """The parameter of the subtree that was kept."""
        return float(self.alphas[self.chosen])

    def to_frame(self) -> pd.DataFrame:
        """One row per subtree."""
        import pandas as pd

        columns = {
            "alpha": self.alphas,
            "begins": self.breakpoints,
            "leaves": self.leaves,
            "training": self.training,
        }
        if self.validation is not None and self.error is not None:
            columns |= {"validation": self.validation, "standard_error": self.error}
        return pd.DataFrame({**columns, "chosen": np.arange(len(self.leaves)) == self.chosen})


def collapse_at(tree: GrownTree, total: float) -> np.ndarray:
    """The parameter at which every inner node becomes a leaf; infinite at the tree's own leaves."""
    at: np.ndarray = kernels.weakest_links(
        tree.parent, tree.left, tree.right, tree.loss / total, tree.slack / total
    )
    return at


def pruning_path(tree: GrownTree, total: float, at: np.ndarray | None = None) -> PruningPath:
    """All subtrees."""
    at = collapse_at(tree, total) if at is None else at
    breakpoints = np.unique(np.append(0.0, at[np.isfinite(at)]))
    leaves = over_leaves(tree, at, breakpoints, np.ones(tree.n_nodes)).astype(np.int64)
    return PruningPath(breakpoints, leaves, over_leaves(tree, at, breakpoints, tree.loss / total))


def over_leaves(
    tree: GrownTree, at: np.ndarray, breakpoints: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Sums of nodes' values over the leaves of every subtree."""
    begin = np.where(
        np.isfinite(at), np.searchsorted(breakpoints, np.where(np.isfinite(at), at, 0.0)), 0
    )
    end = np.where(tree.parent < 0, len(breakpoints), begin[tree.parent])
    changes = np.zeros((len(breakpoints) + 1, *values.shape[1:]))
    alive = begin < end
    np.add.at(changes, begin[alive], values[alive])
    np.add.at(changes, end[alive], -values[alive])
    sums: np.ndarray = np.cumsum(changes, axis=0)[:-1]
    return sums


def prune(
    tree: GrownTree, total: float, compared: Judged, slack: float | str = 0
) -> tuple[GrownTree, PruningPath]:
    """The smallest subtree whose mean validation loss is close enough to the least one."""
    at = collapse_at(tree, total)
    path = pruning_path(tree, total, at)
    sums = (
        over_leaves(tree, at, path.breakpoints, np.column_stack([compared.loss, compared.squares]))
        / compared.weight
    )
    mean = sums[:, 0]
    error = np.sqrt(np.maximum(sums[:, 1] - mean**2, 0.0) / compared.n)
    best = int(mean.argmin())
    allowed = (
        mean[best]
        + max(error[best] if slack == "one-se" else float(slack), EQUAL * abs(mean[best]))
        + ROUNDING * float(np.abs(mean).max())
    )
    chosen = int(np.flatnonzero(mean <= allowed)[-1])
    path = replace(path, validation=mean, error=error, chosen=chosen)
    return tree.cut_back(at <= path.breakpoints[chosen]), path


@dataclass(frozen=True, eq=False)
class Judged:
    """Validation rows in every node of a tree.

    Parameters
    ----------
    loss, squares : float arrays of shape (nodes,)
        Weighted sums of the losses, and of their squares, of the rows that pass a node, were it a
        leaf.
    weight : float
        Total weight of the rows.
    n : int
        Number of rows.
    """

    loss: np.ndarray
    squares: np.ndarray
    weight: float
    n: int


def reference(
    tree: GrownTree,
    leaf: np.ndarray,
    weights: np.ndarray,
    loss: Callable[[np.ndarray, int], np.ndarray],
) -> Judged:
    """Losses of validation rows in every node."""
    order = np.argsort(leaf, kind="stable")
    ends = np.searchsorted(leaf[order], np.arange(tree.n_nodes + 1))
    rows = [order[ends[t] : ends[t + 1]] for t in range(tree.n_nodes)]
    out = np.zeros((tree.n_nodes, 2))
    for t in range(tree.n_nodes - 1, -1, -1):
        if tree.left[t] >= 0:
            rows[t] = np.concatenate([rows[tree.left[t]], rows[tree.right[t]]])
        lost = loss(rows[t], t)
        out[t] = weights[rows[t]] @ lost, weights[rows[t]] @ lost**2
    return Judged(out[:, 0], out[:, 1], float(weights.sum()), len(leaf))
