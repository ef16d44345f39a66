"""Matrices for the tests of total unimodularity, and the slow definition."""

import json
from itertools import combinations

import numpy as np

from milp_trees.unimodular import (
    verify_unimodularity,
)

#: R. E. Bixby's and P. Seymour's: totally unimodular, but neither a network matrix nor the
#: transpose of one (Schrijver 1986, section 19.4).
R10 = np.array(
    [[1, -1, 0, 0, -1], [-1, 1, -1, 0, 0], [0, -1, 1, -1, 0], [0, 0, -1, 1, -1], [-1, 0, 0, -1, 1]]
)


def two_sum(a, b):
    """Joined at the last row of a and the first column of b: totally unimodular iff both are."""
    below = np.hstack([np.outer(b[:, 0], a[-1]), b[:, 1:]])
    return np.vstack(
        [np.hstack([a[:-1], np.zeros((len(a) - 1, b.shape[1] - 1), dtype=int)]), below]
    )


def random_case(rng, kind):
    m, n = map(int, rng.integers(2, 11, 2))
    if kind == 0:
        dense = rng.uniform(0.05, 0.4)
        return rng.choice([-1, 0, 1], (m, n), p=[dense, 1 - 2 * dense, dense])
    if kind == 1:
        a = random_network(rng, m, n, rng.random())
        return a if rng.random() < 0.5 else a.T.copy()
    if kind == 2:  # all but totally unimodular, or just still so
        a = random_network(rng, m, n, rng.random())
        i, j = int(rng.integers(m)), int(rng.integers(n))
        a[i, j] = rng.choice([k for k in (-1, 0, 1) if k != a[i, j]])
        return a
    a = two_sum(R10, R10) if rng.random() < 0.3 else two_sum(R10, random_network(rng, 6, 5))
    a = a[rng.permutation(len(a))][:, rng.permutation(a.shape[1])]
    if rng.random() < 0.5:
        i, j = int(rng.integers(len(a))), int(rng.integers(a.shape[1]))
        a[i, j] = 0 if a[i, j] else 1
    return a


def assert_proven(a, answer):
    """The proof of an answer holds on its own; of a determinant, in other arithmetic too."""
    verify_unimodularity(a, answer)
    if answer.answer == "no":
        found = answer.submatrix
        assert len(set(found.rows)) == len(set(found.columns)) == len(found.rows)
        assert (
            round(np.linalg.det(np.asarray(a)[np.ix_(found.rows, found.columns)].astype(float)))
            == found.determinant
        )
        assert abs(found.determinant) >= 2
    json.dumps(answer.to_json(), allow_nan=False)


#: From Lemma 4.1's differenced rows above the rows w <= W of Nan, Wang, Saligrama (2016): the
#: matrix the printed proof of Theorem 4.2 argues about.
PUBLISHED = np.array([
    [-1, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, -1, -1, 0, 0, 0, 0],
    [0, 0, 0, 1, 0, 1, 0, 0],
    [0, 0, 1, 0, 1, 0, 0, 0],
    [1, 0, 0, 0, 0, 0, -1, 0],
    [0, 0, 0, 0, 1, 0, -1, 0],
    [0, 1, 0, 0, 0, 0, 0, -1],
    [0, 0, 0, 0, 0, 1, 0, -1],
])  # fmt: skip


def random_network(rng, m, n, chain=0.5, longest=None):
    """Random paths in a random directed tree, rows and columns shuffled and negated."""
    parent = [
        0,
        *(v - 1 if rng.random() < chain else int(rng.integers(0, v)) for v in range(1, m + 1)),
    ]
    depth = [0] * (m + 1)
    for v in range(1, m + 1):
        depth[v] = depth[parent[v]] + 1
    a = np.zeros((m, n), dtype=int)
    for j in range(n):
        while True:
            u, v = map(int, rng.integers(0, m + 1, 2))
            column = np.zeros(m, dtype=int)
            while u != v:
                if depth[u] >= depth[v]:
                    column[u - 1], u = 1, parent[u]
                else:
                    column[v - 1], v = -1, parent[v]
            if longest is None or np.abs(column).sum() <= longest:
                break
        a[:, j] = column
    a = a[rng.permutation(m)][:, rng.permutation(n)]
    return a * rng.choice([-1, 1], m)[:, None] * rng.choice([-1, 1], n)


def tu_by_definition(a):
    """All subdeterminants, one by one: the slow, short oracle."""
    for k in range(1, min(a.shape) + 1):
        columns = np.array(list(combinations(range(a.shape[1]), k)))
        for rows in combinations(range(a.shape[0]), k):
            dets = np.linalg.det(np.moveaxis(a[list(rows)][:, columns], 1, 0).astype(float))
            if np.abs(np.rint(dets)).max() > 1:
                return False
    return True


R10_OTHER = np.array(
    [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 0, 1, 1, 0], [1, 0, 0, 1, 1], [1, 1, 0, 0, 1]]
)
