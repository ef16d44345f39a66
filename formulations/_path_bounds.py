r"""Cuts from best subtrees below a path (Keegan, Forbes, Corry, Abolghasemi 2025), for BendersOCT.

A path P to a node v fixes a test and an outcome at every node above v; I are the rows that have all
its outcomes. Let :math:`G` be the most that the rows I gain, less the price of its splits, by a tree
with as many levels as are below v. It is known for one or two levels from the sums
:math:`\sum_ir_{ik}x_{if}x_{ig}`, as in the depth-two search of dynamic programmes. Then

.. math:: \sum_{i\in I}\rho_ig_i-\sum_{u\in\text{subtree}(v)}\sum_f\pi_fb_{uf}\le G+\Bigl(\sum_{i\in I}\rho_i-G\Bigr)\sum_{(u,f)\in P}(1-b_{uf}),

where :math:`\pi_f` is the price of a split. If the tree has the tests of P, the rows I reach v and
no subtree gains more. Otherwise the right side is at least :math:`\sum_{i\in I}\rho_i`. Prices are
not negative.

The paper adds the cut where all tests of a path are 1 in the relaxation. Here all paths are looked
at whose tests may violate one, :math:`\sum(1-b_{uf})<1`, so that points with shared tests are cut
off too. At the root nothing is added: there the cut would state the optimum of the whole problem.
Costs of any kind, merged rows, penalties, and side constraints (:math:`\sum_kr_{ik}h_{ik}` in place
of :math:`\rho_ig_i`) are ours; limits on leaves only lower what a subtree can gain. Coefficients are
optimal values of subproblems, so a bound from these cuts rests on that small search as well.

Reference: Keegan, Forbes, Corry, Abolghasemi (2025), "Acceleration techniques for learning optimal
classification trees with integer programming", arXiv:2511.18791, and its public code. Numbering:
ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

#: Largest number of cuts that are added at once, the most violated first.
MOST = 500
#: The largest number of levels of a subtree.
LEVELS = 2

#: Tests and outcomes from the root on.
Path = tuple[tuple[int, int], ...]


def most_gained(gain: np.ndarray, X: np.ndarray, price: np.ndarray, levels: int) -> int:
    """The most that rows gain, less the price of splits, by a tree of zero to two levels.

    Parameters
    ----------
    gain : int array of shape (n, K)
        What every action gains on every row.
    X : uint8 array of shape (n, F)
        Features of the rows.
    price : int array of shape (F,)
        Price of a split by its test.
    levels : int
        0, 1 or 2.

    Returns
    -------
    int
    """
    total = gain.sum(axis=0)
    if not levels or not X.shape[1]:
        return int(total.max())
    true = gain.T @ X  # (K, F)
    if levels == 1:
        return int(_best_split(total[:, None], true[:, None, :], price)[0])
    wide = X.astype(np.int64)
    both = np.stack([(wide * g[:, None]).T @ wide for g in gain.T])  # (K, F, F)
    right = _best_split(true, both, price)
    left = _best_split(total[:, None] - true, true[:, None, :] - both, price)
    return max(int(total.max()), int((left + right - price).max()))


def _best_split(total: np.ndarray, true: np.ndarray, price: np.ndarray) -> np.ndarray:
    """Best gain of a leaf or one split, from sums of shapes (K, sets) and (K, sets, F)."""
    split = true.max(axis=0) + (total[:, :, None] - true).max(axis=0) - price
    return np.maximum(total.max(axis=0), split.max(axis=1))


@dataclass(eq=False)
class PathBoundCuts:
    """Finds the cuts of paths to the roots of subtrees of a number of levels.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        Features of the rows.
    gain : int array of shape (n, K)
        What every action gains on every row.
    price : int array of shape (F,)
        Price of a split by its test.
    gained : sparse array of shape (n, columns of the model)
        What the rows gain.
    b : int array of shape (branch nodes, F)
        Columns of the variables; node v is at position v - 1.
    levels : int
        Levels of the subtrees, 1 or 2.
    """

    X: np.ndarray
    gain: np.ndarray
    price: np.ndarray
    gained: sparse.csr_matrix
    b: np.ndarray
    levels: int
    known: dict[frozenset[tuple[int, int]], tuple[np.ndarray, int, int]] = field(
        default_factory=dict
    )

    def separate(self, x: np.ndarray, tolerance: float) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Rows `A x <= upper` that the point violates, by a share of what the rows can gain."""
        gains, tests = self.gained @ x, x[self.b]
        prices = tests @ self.price
        found = []
        for v, path, missing in self._paths(tests, tolerance):
            rows, best, most = self._subtree(path)
            paid = sum(prices[u - 1] for u in self._below(v))
            violation = gains[rows].sum() - paid - best - (most - best) * missing
            if violation > tolerance * max(most, 1):
                found.append((violation / most, v, path))
        found.sort(key=lambda one: -one[0])
        cuts = [self._cut(v, path) for _, v, path in found[:MOST]]
        columns = self.gained.shape[1]
        A = sparse.vstack([sparse.csr_matrix((0, columns)), *(cut for cut, _ in cuts)], "csr")
        return sparse.csr_matrix(A), np.array([upper for _, upper in cuts], dtype=float)

    def _below(self, v: int) -> list[int]:
        """Branch nodes of the subtree of v."""
        return [u for j in range(self.levels) for u in range(v << j, (v + 1) << j)]

    def _paths(self, tests: np.ndarray, tolerance: float) -> Iterator[tuple[int, Path, float]]:
        """Roots of subtrees, the paths to them with less than one test missing, and how much is."""
        depth = len(self.b).bit_length()
        above = depth - self.levels
        if above < 1:
            return
        stack: list[tuple[int, Path, float]] = [(1, (), 0.0)]
        while stack:
            v, path, missing = stack.pop()
            if len(path) == above:
                yield v, path, missing
                continue
            less = missing + 1 - tests[v - 1]
            for f in np.flatnonzero(less < 1 - tolerance).tolist():
                for side in (0, 1):
                    stack.append((2 * v + side, (*path, (f, side)), float(less[f])))

    def _subtree(self, path: Path) -> tuple[np.ndarray, int, int]:
        """Rows of a path, the most that a subtree gains on them, and the most that they can."""
        key = frozenset(path)
        if key not in self.known:
            here = np.ones(len(self.X), dtype=bool)
            for f, side in path:
                here &= self.X[:, f] == side
            rows = np.flatnonzero(here)
            gain = self.gain[rows]
            best = most_gained(gain, self.X[rows], self.price, self.levels)
            self.known[key] = rows, best, int(gain.max(axis=1, initial=0).sum())
        return self.known[key]

    def _cut(self, v: int, path: Path) -> tuple[sparse.csr_matrix, float]:
        """The cut of a path, as a share of what its rows can gain."""
        rows, best, most = self._subtree(path)
        left = np.asarray(self.gained[rows].sum(axis=0)).ravel()
        for u in self._below(v):
            left[self.b[u - 1]] -= self.price
        nodes = [v >> j for j in range(len(path), 0, -1)]
        for u, (f, _) in zip(nodes, path, strict=True):
            left[self.b[u - 1, f]] += most - best
        upper = best + (most - best) * len(path)
        return sparse.csr_matrix(left / most), upper / most
