r"""Rival cuts (ours): rows with different best actions gain all only if a test separates them.

With the gains of `_gains`, :math:`c_{ij}=\max_k(\frac{r_{ik}}{\rho_i}+\frac{r_{jk}}{\rho_j})<2`
(for misclassification: rows of two classes, 1) and the features :math:`\Delta_{ij}=\{f:x_{if}\ne
x_{jf}\}`,

.. math:: g_i+g_j\le c_{ij}+(2-c_{ij})\sum_{v\in B}\sum_{f\in\Delta_{ij}}b_{vf}.

For rows with equal features this is the equivalent-points cut. If few features differ, the cut is
strong, so every row is paired with its nearest rivals. In models with a block per row the bound of
the relaxation at the root is almost 0 without these cuts; with one per row it is half the optimum
or more (depth 2).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse

from milp_trees.mip.linear.matrix import matrix_rows
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

from . import _gains as gains

#: Number of rows whose distances to all others are in memory at a time.
BLOCK = 1024


@lru_cache(maxsize=4)
def nearest_rivals(view: CostMatrix, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of every scored row with its `count` nearest rivals, each pair once, and their c.

    The shapes are (pairs, 2) and (pairs,).
    """
    share, largest = gains.shares(view)
    scored = np.flatnonzero(largest)
    best = (share[scored] == 1).astype(np.float32)
    X = view.X[scored].astype(np.float32)
    ones = X.sum(axis=1)
    found: set[tuple[int, int]] = set()
    for start in range(0, len(scored), BLOCK):
        part = slice(start, start + BLOCK)
        distance = ones[part, None] + ones[None, :] - 2 * (X[part] @ X.T)
        distance[best[part] @ best.T > 0] = np.inf
        here = np.arange(len(distance))
        for _ in range(min(count, len(scored))):
            nearest = distance.argmin(axis=1)
            reachable = np.isfinite(distance[here, nearest])
            found.update(
                (min(i, j), max(i, j))
                for i, j in zip(
                    (start + here[reachable]).tolist(), nearest[reachable].tolist(), strict=True
                )
            )
            distance[here, nearest] = np.inf
    pairs = scored[np.array(sorted(found), dtype=np.int64).reshape(-1, 2)]
    return pairs, (share[pairs[:, 0]] + share[pairs[:, 1]]).max(axis=1)


def add_rivals(m: Any, view: CostMatrix, space: Trees, count: int) -> None:
    """The cuts, as one block of rows over g and b."""
    pairs, joint = nearest_rivals(view, count)
    if not len(pairs) or not space.depth:
        return
    F = view.n_features
    variables, gain = _gain_of_rows(m, view)
    gained = gain[pairs[:, 0]] + gain[pairs[:, 1]]
    differ = sparse.csr_matrix(view.X[pairs[:, 0]] != view.X[pairs[:, 1]], dtype=float)
    tests = sparse.diags(joint - 2) @ differ
    A = sparse.hstack([gained, *[tests] * len(m.branch)], format="csr")
    columns = [*variables, *(m.b[v, f] for v in m.branch for f in range(F))]
    lower = np.full(len(pairs), -np.inf)
    m.rivals = matrix_rows(
        columns,
        A,
        lower,
        joint,
        doc="two rows with different best actions gain all only if a test separates them",
    )


def _gain_of_rows(m: Any, view: CostMatrix) -> tuple[list[Any], sparse.csr_matrix]:
    """Variables, and by how much each makes every row gain; shape (n, number of variables)."""
    share, _ = gains.shares(view)
    if view.side:
        n, K = share.shape
        rows, columns = np.repeat(np.arange(n), K), np.arange(n * K)
        entries = (share.ravel(), (rows, columns))
        gain = sparse.csr_matrix(entries, shape=(n, n * K))
        gain.eliminate_zeros()
        return [m.h[i, k] for i in range(n) for k in range(K)], gain
    scored = list(m.scored)
    entries = (np.ones(len(scored)), (scored, np.arange(len(scored))))
    return list(m.g.values()), sparse.csr_matrix(entries, shape=(view.n_rows, len(scored)))


def rival_sizes(view: CostMatrix, space: Trees, count: int) -> tuple[int, int]:
    """Rows and nonzeros of the cuts."""
    pairs, _ = nearest_rivals(view, count)
    if not space.depth:
        return 0, 0
    differ = int((view.X[pairs[:, 0]] != view.X[pairs[:, 1]]).sum())
    share, _ = gains.shares(view)
    gained = int(np.count_nonzero(share[pairs])) if view.side else 2 * len(pairs)
    return len(pairs), gained + (2**space.depth - 1) * differ
