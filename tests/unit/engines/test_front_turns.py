"""Trees of every size in turns with searches for fewer leaves, against the search alone."""

import numpy as np
from random_views import random_view

import milp_trees as mt
from milp_trees.common.limits import Limits
from milp_trees.engines.dp.by_leaves import fronts, turns
from milp_trees.methods.watch import Watch
from milp_trees.results.result import Limit


class Counting(Watch):
    """Says after some looks that the time is over."""

    def __init__(self, looks):
        super().__init__(Limits(time=1000))
        self.looks = looks

    def over(self, ended=None):
        self.looks -= 1
        return Limit.TIME if self.looks <= 0 else None


def test_stopped_or_not_values_are_reached_and_bounds_hold(monkeypatch):
    monkeypatch.setattr(turns, "SHARE", 1e12)  # searches for fewer leaves begin at once
    fewer, kept, begun = 0, turns.Turns._keep, []
    monkeypatch.setattr(
        turns.Turns, "_keep", lambda self, search: (begun.append(1), kept(self, search))
    )
    stopped = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        view = random_view(rng).reduce()
        space = mt.Trees(None if seed % 3 else 4, max_leaf_nodes=int(rng.integers(5, 9)))
        monkeypatch.setattr(fronts, "QUOTA", 5e8)
        want = turns.solve_sizes(view, space).sizes
        monkeypatch.setattr(fronts, "QUOTA", 10.0)
        for looks in (int(rng.integers(1, 25)), 10**6):
            begun.clear()
            found = turns.solve_sizes(view, space, Counting(looks))
            fewer += len(begun) > 0
            stopped += found.limit is not None
            for size, exact in zip(found.sizes, want, strict=True):
                if size.Z is None:
                    assert found.limit or exact.Z is None
                    continue
                assert size.bound <= exact.Z <= size.Z
                assert found.limit or size.Z == exact.Z
                assert size.tree.n_leaves <= size.leaves
                assert view.objective(size.tree) <= size.Z
    assert fewer > 10
    assert stopped > 10
