"""`dp-lists` in turns with searches for shorter lists, against brute force."""

import math

import numpy as np
from test_dp_lists import brute_force, random_search, random_view

from milp_trees.common.limits import Limit
from milp_trees.lists.engines.dp_lists import lengths
from milp_trees.lists.engines.dp_lists import search as searching


def lengthening(rng, view, longest, least=1):
    """All searches of one run have the same switches."""
    seed = int(rng.integers(2**32))

    def make(length, part):
        return random_search(np.random.default_rng(seed), view, length, least)

    return lengths.Lengthening(make, longest)


def test_lists_from_shorter_searches_and_their_proofs_are_right(monkeypatch):
    ended = better = stopped = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        view = random_view(rng)
        longest = None if rng.random() < 0.4 else int(rng.integers(0, 6))
        least = int(rng.choice([1, 1, 2, 3]))
        monkeypatch.setattr(searching, "QUOTA", int(rng.choice([1, 50])))
        monkeypatch.setattr(lengths, "PARTS", int(rng.choice([1, 5, 200])))
        want, nodes = brute_force(view, longest, least), int(rng.integers(1, 15))
        search = lengthening(rng, view, longest, least)
        bounds = []

        def between(search=search, bounds=bounds, want=want):
            bounds.append(search.bound)
            assert search.bound <= want <= search.value

        limit = search.run(between, nodes, late=0 if rng.random() < 0.3 else math.inf)
        assert search.expanded <= nodes
        assert bounds == sorted(bounds)
        assert limit is Limit.NODES or search.value == want
        assert view.objective(search.found) <= search.value
        assert longest is None or search.found.length <= longest
        stopped += limit is Limit.NODES
        ended += limit is None and search.whole.bound < want
        better += search.best is not search.whole
    assert stopped > 10
    assert ended > 2  # by a shorter search: the whole one had not proved the optimum
    assert better > 3
