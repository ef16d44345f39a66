"""What losses prepare in arrays says the same as the plain way of doing it."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from milp_trees.tasks.loss_sums import chains_of
from milp_trees.tasks.rates import Rates, kinds_of
from milp_trees.tasks.regression import _rounded


def test_chains_hold_nested_tests_and_every_test_once():
    rng, seen = np.random.default_rng(0), 0
    for trial in range(200):
        n, F = int(rng.integers(1, 140)), int(rng.integers(1, 12))
        limits = rng.permutation(12)[:F]
        X = (rng.integers(0, 12, n)[:, None] <= limits).astype(np.uint8)
        if trial % 2:
            X = rng.integers(0, 2, (n, F)).astype(np.uint8)
        chains = chains_of(X)
        assert sorted(f for chain in chains for f in chain) == list(range(F))
        for chain in chains:
            for inner, outer in itertools.pairwise(chain):
                assert (X[:, inner] <= X[:, outer]).all()
                assert X[:, inner].sum() < X[:, outer].sum()
        if not trial % 2 and len(set(X.sum(axis=0).tolist())) == F:
            assert len(chains) == 1
            seen += F > 2
    assert seen > 10
    assert chains_of(np.zeros((0, 2), dtype=np.uint8)) == [[0], [1]]


@pytest.mark.parametrize("most", [3, 10**6])
def test_kinds_are_the_different_rows(most):
    rng = np.random.default_rng(1)
    columns = (
        rng.integers(0, min(most, 40), 60),
        rng.integers(0, 2, 60).astype(bool),
        rng.integers(0, most, 60) / 4,
        np.ones(60),
    )
    first, kind = kinds_of(*columns)
    rows = np.column_stack([np.asarray(c, dtype=float) for c in columns])
    expected = np.unique(rows, axis=0)
    assert np.array_equal(rows[first], expected)
    assert np.array_equal(rows[first[kind]], rows)


@pytest.mark.parametrize("n_leaves", [3, 5000])
def test_rates_add_up_by_leaf_whatever_their_size(n_leaves):
    rng = np.random.default_rng(2)
    amounts = [int(x) for x in rng.integers(0, 5, 20)]
    exposures = [
        int(x) << int(k) for x, k in zip(rng.integers(1, 2**50, 20), range(20), strict=True)
    ]
    kind, leaf = rng.integers(0, 20, 300), rng.integers(0, 3, 300)
    rates = Rates(amounts, exposures, Fraction(1), Fraction(1, 3), kind)
    found = rates.summed(leaf, n_leaves)
    assert len(found) == n_leaves
    for t in range(3):
        own = kind[leaf == t].tolist()
        assert found[t] == (sum(amounts[k] for k in own), sum(exposures[k] for k in own))
    assert not any(map(any, found[3:]))
    assert rates.total() == tuple(map(sum, zip(*found, strict=True)))


def test_what_rounding_to_53_bits_loses_is_stated():
    rng = np.random.default_rng(3)
    whole = np.array(
        [[int(x) << 40, -int(x)] for x in rng.integers(-(2**60), 2**60, 50)], dtype=object
    )
    step, near, lost = _rounded(whole)
    off = [abs(x - step * int(m)) for x, m in zip(whole.ravel(), near.ravel(), strict=True)]
    assert max(off) <= step // 2
    assert lost == float(Fraction(sum(off), step))
    assert np.abs(near).sum(axis=0).max() < 2**53
    small = np.array([[3], [-4]])
    assert _rounded(small)[0] == 1
    assert np.array_equal(_rounded(small)[1], small)
    # Sums beyond 64 bits of numbers that fit.
    many = np.full((2**12, 1), 2**52)
    assert np.abs(_rounded(many)[1]).sum() <= 2**53
