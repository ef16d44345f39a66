"""Generated data are what their names say."""

import numpy as np
from row_tests import each_row

import milp_trees as mt
from milp_trees.data.generate import planted_list


@each_row("rules, literals, classes", [(0, 1, 2), (1, 1, 2), (3, 2, 2), (4, 1, 3)])
def test_a_planted_list_gives_the_labels(rules, literals, classes):
    """Some order of disjoint conjunctions explains every row, and no shorter list is told."""
    data = planted_list(400, 8, rules, literals, classes, seed=5)
    requested = np.random.default_rng(5)
    requested.integers(0, 2, (400, 8), dtype=np.uint8)  # the rows are drawn first
    columns = requested.permutation(8)[: rules * literals].reshape(rules, literals)
    for row, label in zip(data.X, data.y, strict=True):
        first = [k for k in range(rules) if row[columns[k]].all()]
        assert label == (first[0] if first else rules) % classes


def test_noise_is_the_share_of_other_labels():
    clean, noisy = (mt.load(f"planted-list:rows=200,noise={noise},seed=3") for noise in (0, 0.1))
    assert (clean.X == noisy.X).all()
    assert (clean.y != noisy.y).sum() == 20
