"""Sets of rows as words: packing, sums per byte, and the table of sets."""

import numpy as np
import pytest

from milp_trees.engines.kit import rowsets
from milp_trees.lists.engines.dp_lists import bits


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 194])
def test_sums_over_a_set_are_those_of_its_rows(n):
    rng = np.random.default_rng(n)
    X, costs = rng.integers(0, 2, (n, 7)).astype(np.uint8), rng.integers(-5, 9, (n, 3))
    packed, sums, total = rowsets.pack(X), bits.byte_sums(costs), np.zeros(3, dtype=np.int64)
    for j in range(7):
        bits.add_up(packed[j], sums, total)
        assert total.tolist() == costs[X[:, j] == 1].sum(axis=0).tolist()
    assert rowsets.all_rows(n).tolist() == rowsets.pack(np.ones((n, 1), dtype=np.uint8))[0].tolist()


def test_a_table_finds_every_set_and_no_other():
    rng = np.random.default_rng(0)
    slots, known = np.zeros(64, dtype=np.uint64), {}
    sets = np.zeros((3000, 2), dtype=np.uint64)
    for _ in range(3000):
        members = rng.integers(0, 2, (100, 1)) * (np.arange(100) < rng.integers(1, 100))[:, None]
        one = rowsets.pack(members.astype(np.uint8))[0]
        hashed = np.uint64(rowsets.hash_of(one))
        number = rowsets.find(slots, sets, one, hashed)
        if one.tobytes() in known:
            assert number == known[one.tobytes()]
            continue
        assert number < 0
        sets[len(known)] = one
        rowsets.occupy(slots, -1 - number, hashed, len(known))
        known[one.tobytes()] = len(known)
        if 2 * len(known) > len(slots):
            slots = np.zeros(4 * len(slots), dtype=np.uint64)
            rowsets.rehash(slots, sets, len(known))
    assert 1000 < len(known) < 3000
