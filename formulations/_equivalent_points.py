r"""Cuts for rows that few tests separate (Keegan, Forbes, Corry, Abolghasemi 2025), for BendersOCT.

Let J be rows that are equal in all tests but those of a small set :math:`F_J`. If no row of J meets
a test of :math:`F_J`, all of J end at one node and get one action. With the gains of `_gains`, and
:math:`R_J=\max_k\sum_{i\in J}r_{ik}` the most that one action gains on J,

.. math:: \sum_{i\in J}\rho_ig_i\le R_J+\Bigl(\sum_{i\in J}\rho_i-R_J\Bigr)\beta_J,

where :math:`\beta_J` is 1 if the rows meet a test of :math:`F_J`. Of the paper's ways to limit
:math:`\beta_J` the tightest is a recursion over the nodes (its disaggregated form),

.. math::
   \alpha_{Jv}\le\sum_{f\in F_J}b_{vf}+\alpha^L_{Jv}+\alpha^R_{Jv},\quad
   \alpha^L_{Jv}\le\alpha_{J,2v},\ \sum_{f\notin F_J:x_f=0}b_{vf},\quad
   \alpha^R_{Jv}\le\alpha_{J,2v+1},\ \sum_{f\notin F_J:x_f=1}b_{vf},

with :math:`\beta_J=\alpha_{J1}`. This is a flow from the root to the tests of :math:`F_J`, so here
it is projected out as the flows of the rows are: for every set S of nodes as in `benders_oct`,

.. math:: \beta_J\le\sum_{v\in S\cap B}\sum_{f\in F_J}b_{vf}+\sum_{v\in S\cap B,\,2v\notin S}\ \sum_{f\notin F_J:x_f=0}b_{vf}+\sum_{v\in S\cap B,\,2v+1\notin S}\ \sum_{f\notin F_J:x_f=1}b_{vf},

and the minimum cut is found in closed form. No variable is added, and the bound is the same. The
paper has misclassification and one row per row of data. Costs :math:`r_{ik}` of any kind, merged
rows, and side constraints (:math:`\sum_kr_{ik}h_{ik}` in place of :math:`\rho_ig_i`) are ours; a
node that predicts early separates no rows, so nothing changes there.

The paper's further choices are not here. *Strengthened Benders cuts*, with half of
:math:`\sum_fb_{vf}` and half of the sibling's label, are the mean of two cuts of `benders_oct`, and
all of those are separated. Its *group selection* variables are not needed for the bound of J.

Reference: Keegan, Forbes, Corry, Abolghasemi (2025), "Acceleration techniques for learning optimal
classification trees with integer programming", arXiv:2511.18791, and its public code. Numbering:
ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse

from milp_trees.tasks.views import CostMatrix

#: Largest number of cuts that are added at once, the most violated first.
MOST = 1000
#: Rows whose distances to all others are looked at together, and pairs of them.
BLOCK, PAIRS = 512, 20_000


def sets_of_rows(X: np.ndarray, most_tests: int) -> Iterator[tuple[np.ndarray, tuple[int, ...]]]:
    """Sets of two or more rows, as large as can be, and the tests in which they differ.

    Parameters
    ----------
    X : uint8 array of shape (n, F)
        Features of the rows.
    most_tests : int
        The largest number of tests.

    Yields
    ------
    (int array, tuple of int)
        The rows, and exactly those tests that are true on some of them and false on others.
    """
    n, F = X.shape
    if not n:
        return
    # Rows with equal sums are candidates only: the tests in which they differ are compared exactly.
    word = np.random.default_rng(0).integers(0, 2**63, F, dtype=np.uint64)
    whole = (X * word).sum(axis=1, dtype=np.uint64)
    for size in range(min(most_tests, F) + 1):
        for tests in _candidates(X, size):
            chosen = list(tests)
            key = whole - (X[:, chosen] * word[chosen]).sum(axis=1, dtype=np.uint64)
            order = np.argsort(key, kind="stable")
            starts = np.flatnonzero(np.diff(key[order], prepend=~key[order[:1]]))
            ends = np.append(starts[1:], n)
            several = ends - starts > 1
            for f in chosen:  # most sets do not differ in all of the tests, and are left here
                true = np.add.reduceat(X[order, f].astype(np.int64), starts)
                several &= (true > 0) & (true < ends - starts)
            for first, last in zip(starts[several].tolist(), ends[several].tolist(), strict=True):
                rows = order[first:last]
                differ = np.flatnonzero((X[rows] != X[rows[0]]).any(axis=0))
                if tuple(differ.tolist()) == tests:
                    yield np.sort(rows), tests


def _candidates(X: np.ndarray, size: int) -> Iterable[tuple[int, ...]]:
    """Sets of tests of a size, with all those in which some set of rows differs.

    Rows that differ in one or two tests include two that differ in these and no others; with more
    tests that need not be so, and all sets of tests are candidates.
    """
    F = X.shape[1]
    if size not in (1, 2):
        return combinations(range(F), size)
    wide = X.astype(np.float32)
    ones = wide.sum(axis=1)
    found: set[tuple[int, ...]] = set()
    for start in range(0, len(X), BLOCK):
        part = slice(start, start + BLOCK)
        distance = ones[part, None] + ones[None, :] - 2 * (wide[part] @ wide.T)
        i, j = np.nonzero(np.triu(distance == size, start + 1))
        for k in range(0, len(i), PAIRS):
            differ = X[start + i[k : k + PAIRS]] != X[j[k : k + PAIRS]]
            first, last = differ.argmax(axis=1), F - 1 - differ[:, ::-1].argmax(axis=1)
            pairs = np.unique(np.stack([first, last], axis=1), axis=0).tolist()
            found.update((f, g)[:size] for f, g in pairs)
    return sorted(found)


@dataclass(eq=False)
class EquivalentPointCuts:
    """Finds the cuts of sets of rows that few tests separate.

    Parameters
    ----------
    gained : sparse array of shape (sets, columns of the model)
        What the rows of a set gain, as a share of the most that they can gain.
    together : array of shape (sets,)
        The share that they gain by the best single action.
    separating, false, true : uint8 arrays of shape (sets, F)
        The tests that separate the rows; the others, by their outcome on all rows of the set.
    b : int array of shape (branch nodes, F)
        Columns of the variables; node v is at position v - 1.
    """

    gained: sparse.csr_matrix
    together: np.ndarray
    separating: np.ndarray
    false: np.ndarray
    true: np.ndarray
    b: np.ndarray

    def separate(self, x: np.ndarray, tolerance: float) -> tuple[sparse.csr_matrix, np.ndarray]:
        """Rows `A x <= upper` that the point violates."""
        apart, cut_left, cut_right = self._flows(x)
        violation = self.gained @ x - self.together - (1 - self.together) * apart
        order = np.argsort(-violation, kind="stable")[:MOST]
        sets = order[violation[order] > tolerance]
        return self._rows(sets, cut_left[sets], cut_right[sets]), self.together[sets]

    def _flows(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The limit of beta of every set, and at every branch node the arcs in its minimum cut."""
        m, B = len(self.together), len(self.b)
        flow = np.zeros((m, 2 * B + 1))
        cut_left, cut_right = np.zeros((m, B), dtype=bool), np.zeros((m, B), dtype=bool)
        if B:
            tests = x[self.b].T
            flow[:, :B] = self.separating @ tests
            left, right = self.false @ tests, self.true @ tests
        for v in range(B, 0, -1):
            for cap, cut, child in ((left, cut_left, 2 * v), (right, cut_right, 2 * v + 1)):
                below = flow[:, child - 1]
                cut[:, v - 1] = cap[:, v - 1] < below
                flow[:, v - 1] += np.minimum(cap[:, v - 1], below)
        return flow[:, 0], cut_left, cut_right

    def _rows(
        self, sets: np.ndarray, cut_left: np.ndarray, cut_right: np.ndarray
    ) -> sparse.csr_matrix:
        """The cuts of some sets as a matrix over all columns."""
        at, column, value = [], [], []
        inside = np.zeros((len(sets), 2 * len(self.b) + 1), dtype=bool)
        inside[:, 0] = True
        for v in range(1, len(self.b) + 1):
            left, right = cut_left[:, v - 1], cut_right[:, v - 1]
            here = inside[:, v - 1]
            inside[:, 2 * v - 1], inside[:, 2 * v] = here & ~left, here & ~right
            counted = self.separating[sets] + left[:, None] * self.false[sets]
            i, f = np.nonzero((counted + right[:, None] * self.true[sets]) * here[:, None])
            at.append(i)
            column.append(self.b[v - 1][f])
            value.append(1 - self.together[sets[i]])
        none = np.zeros(0, dtype=np.int64)
        entries = (
            np.concatenate([*value, none]),
            (np.concatenate([*at, none]), np.concatenate([*column, none])),
        )
        limit = sparse.csr_matrix(entries, shape=(len(sets), self.gained.shape[1]))
        return sparse.csr_matrix(self.gained[sets] - limit)


def equivalent_point_cuts(
    view: CostMatrix, most_tests: int, gain_columns: sparse.csr_matrix, b: np.ndarray
) -> EquivalentPointCuts:
    """The separator for all sets of rows of a view that cannot all gain their most together.

    Parameters
    ----------
    view : CostMatrix
    most_tests : int
        The largest number of tests that separate the rows of a set.
    gain_columns : sparse array of shape (n, columns of the model)
        What every row gains, in units of the view.
    b : int array of shape (branch nodes, F)
        Columns of the variables; node v is at position v - 1.

    Returns
    -------
    EquivalentPointCuts
    """
    X = np.asarray(view.X, dtype=np.uint8)
    n, F = X.shape
    gain = view.costs.max(axis=1, keepdims=True) - view.costs
    largest = gain.max(axis=1)
    sets: list[tuple[np.ndarray, tuple[int, ...], int, int]] = []
    for rows, tests in sets_of_rows(X, most_tests):
        apart, best = int(largest[rows].sum()), int(gain[rows].sum(axis=0).max())
        if best < apart:
            sets.append((rows, tests, best, apart))
    share = sparse.lil_matrix((len(sets), n))
    differ = np.zeros((len(sets), F), dtype=np.uint8)
    for j, (rows, tests, _, apart) in enumerate(sets):
        share[j, rows] = 1 / apart
        differ[j, list(tests)] = 1
    first = X[[rows[0] for rows, *_ in sets]] if sets else differ
    return EquivalentPointCuts(
        gained=sparse.csr_matrix(share.tocsr() @ gain_columns),
        together=np.array([best / apart for _, _, best, apart in sets]),
        separating=differ,
        false=(1 - first) * (1 - differ),
        true=first * (1 - differ),
        b=b,
    )
