"""What a search knows at a moment: its bound and what remains to be searched. Loads numba."""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.lists.engines.corels import records as r
from milp_trees.lists.engines.corels.arrays import PrefixArrays
from milp_trees.lists.engines.corels.prepare import PreparedPrefixes
from milp_trees.lists.engines.corels.search import hopeless
from milp_trees.lists.engines.corels.space import log10_space
from milp_trees.results.history import BY_LENGTH, COLUMNS


@kernel(allocates=False)
def survey(instance, settings, trie, queue, counters, counts):
    """Count the prefixes that may still be extended, by length and by how many rules at most.

    The result is the smallest bound of a list that extends one of them, at most the incumbent.
    """
    for i in range(1, counters[r.NODES]):
        trie.dead[i] |= trie.dead[trie.parent[i]]
    best, price, lowest = counters[r.BEST], instance.cheapest[1], counters[r.BEST]
    for i in range(counters[r.QUEUED]):
        node = queue.prefix[i]
        bound, length = trie.bound[node], np.int64(trie.length[node])
        if trie.dead[node] or hopeless(instance, settings, bound, length, counters):
            continue
        lowest = min(lowest, bound + price)
        most = len(instance.prices) - length
        if settings.limited:
            most = min(most, settings.max_length - length)
        if price > 0:
            most = min(most, max(np.int64(0), (best - bound) // price))
        counts[length, min(most, counts.shape[1] - 1)] += 1
    return lowest


class Moments:
    """The history of a search, as equally long lists.

    Parameters
    ----------
    prepared : PreparedPrefixes
    value : callable
        The natural value of an objective, as a float.
    """

    def __init__(self, prepared: PreparedPrefixes, value: Any) -> None:
        self.prepared, self.value = prepared, value
        self.columns: dict[str, list[Any]] = {name: [] for name in (*COLUMNS, BY_LENGTH)}

    def look(self, arrays: PrefixArrays, counters: np.ndarray) -> tuple[int, np.ndarray]:
        """The bound, and the numbers of prefixes by length and largest number of further rules."""
        instance, settings = self.prepared.instance, self.prepared.settings
        shape = (int(counters[r.LONGEST]) + 1, int(counters[r.MOST]) + 1)
        counts = np.zeros(shape, dtype=np.int64)
        lowest = survey(instance, settings, arrays.trie, arrays.queue, counters, counts)
        return int(lowest), counts

    def add(self, seconds: float, arrays: PrefixArrays, counters: np.ndarray) -> int:
        """Add a moment."""
        lowest, counts = self.look(arrays, counters)
        constant, n = self.prepared.constant, len(self.prepared.instance.prices)
        by_length = counts.sum(axis=1)
        longest = self._longest(int(counters[r.BEST]))
        places = np.argwhere(counts)
        fine = [(int(j), int(k), int(counts[j, k])) for j, k in places]
        coarse = [(j, longest - j, int(q)) for j, q in enumerate(by_length) if q]
        row = {
            "seconds": seconds,
            "incumbent": self.value(constant + int(counters[r.BEST])),
            "bound": self.value(constant + lowest),
            "prefixes": int(counters[r.EXPANDED]),
            "queue": int(by_length.sum()),
            "map": int(counters[r.MAPPED]),
            "longest": int(counters[r.LONGEST]),
            "best_length": int(counters[r.BEST_LENGTH]),
            "log10_space_coarse": log10_space(coarse, n),
            "log10_space_fine": log10_space(fine, n),
            BY_LENGTH: by_length.tolist(),
        }
        for name, entry in row.items():
            self.columns[name].append(entry)
        return lowest

    def _longest(self, best: int) -> int:
        """Largest length of a list that can still be better, from the incumbent alone."""
        instance, settings = self.prepared.instance, self.prepared.settings
        price = int(instance.cheapest[1])
        allowed = (best + self.prepared.rows_apart) // price if price else settings.max_length
        return min(allowed, settings.max_length)
