"""The search for lists in plain Python, against the compiled one on many small problems."""

import numpy as np
from test_dp_lists import random_view

from milp_trees.lists.engines.dp_lists.plain import PlainLists
from milp_trees.lists.engines.dp_lists.search import ListSearch
from milp_trees.lists.engines.dp_lists.switches import DpListsSwitches

PROBLEMS = 1000


def test_equals_the_compiled_search():
    """Any costs and prices, with and without limits on the length and on the rows of a rule."""
    seen = {"no rule": 0, "many rules": 0, "limited": 0}
    for seed in range(PROBLEMS):
        rng = np.random.default_rng(seed)
        view = random_view(rng)
        longest = None if rng.random() < 0.4 else int(rng.integers(0, 6))
        least = int(rng.choice([1, 1, 2, 3]))
        search = ListSearch(view, longest, least, DpListsSwitches(tables=4, rows=6), 10**7)
        search.run(lambda: None)
        plain = PlainLists(view, longest, least, int(rng.integers(0, 7)))
        assert search.value == plain.objective(), f"seed {seed}"
        length = search.found.length
        seen["no rule"] += not length
        seen["many rules"] += length > 2
        seen["limited"] += length == longest
    assert min(seen.values()) > 20, seen
