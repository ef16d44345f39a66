"""Shattering inequalities (Boutilier, Michini, Zhou 2022) in models with a variable per test.

No test sends all rows of A to the left and all rows of B to the right, so at every node at most
|A| + |B| - 1 of them go these ways. Where tests are variables b[v,f] this is implied: a row goes
left by at most the sum of b over its false tests, and the sum over all rows of A and B counts every
test at most |A| + |B| - 1 times. Where a test is a threshold with large constants it is not.
"""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import milp_trees as mt
from milp_trees import Trees
from milp_trees.mip.linear.matrix import compile_model
from milp_trees.mip.registry import registry
from milp_trees.testing.solve import minimise

X = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])
PROBLEM = mt.Problem(mt.Dataset(X, y=[0, 1, 1, 0, 0, 1]), mt.Accuracy(), Trees(2))


def unseparated(X, most=3):
    """Sets of rows with a side each that no test gives them all, and every smaller set gets."""
    found = []
    for size in range(1, most + 1):
        for rows in combinations(range(len(X)), size):
            for sides in range(2**size):
                side = np.array([sides >> j & 1 for j in range(size)])
                wrong = X[list(rows)] != side[:, None]
                if not wrong.any(axis=0).all():
                    continue
                smaller = (np.delete(wrong, j, axis=0) for j in range(size))
                if all(not part.any(axis=0).all() for part in smaller):
                    found.append([(i, int(s)) for i, s in zip(rows, side, strict=True)])
    return found


def most_that_go(label, goes):
    """The largest left side of an inequality over the relaxation, above what it allows.

    `goes(m, i, v, side)` is the list of variables whose sum is 1 iff row i goes there at node v.
    """
    f = registry.spelled("formulations", label)
    m = f.build(PROBLEM, incomplete=True)
    matrix = compile_model(m)
    at = {id(x): j for j, x in enumerate(matrix.columns)}
    over = []
    for pairs in unseparated(np.asarray(m.view.X, dtype=int)):
        for v in (1, 2):
            c = np.zeros(matrix.n_variables)
            for i, side in pairs:
                for x in goes(m, i, v, side):
                    c[at[id(x)]] -= 1
            largest = -minimise(replace(matrix, c=c, offset=0.0), relax=True).objective
            over.append(largest - (len(pairs) - 1))
    assert len(over) > 20
    return max(over)


@pytest.mark.parametrize("label", ["cut", "cut-w", "mcf1", "mcf2"])
def test_they_are_implied_where_rows_pass_nodes(label):
    """By q, for every set of up to three rows; larger sets are added up alike."""
    over = most_that_go(label, lambda m, i, v, side: [m.q[i, 2 * v + side]])
    assert over == pytest.approx(0, abs=1e-7), "they hold, and are tight"


@pytest.mark.parametrize("label", ["flow-oct", "flow-oct:sinks=multi"])
def test_they_are_implied_where_rows_flow(label):
    over = most_that_go(label, lambda m, i, v, side: [m.z[i, 2 * v + side]])
    assert over == pytest.approx(0, abs=1e-7)


def test_they_are_not_implied_where_a_test_is_a_threshold():
    """OCT's large constants let a part of every row go either way."""

    def goes(m, i, v, side):
        u = 2 * v + side
        return [m.z[i, t] for t in m.leaves if u in (t, t >> 1)]

    assert most_that_go("oct", goes) > 0.5
