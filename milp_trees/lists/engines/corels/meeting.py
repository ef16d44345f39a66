"""Compiled symmetry-aware map: prefixes that capture the same rows, or permute one another.

The map is a table with open addressing. A place holds a number plus one and 32 bits of its key; an
equal key is always confirmed by comparing the sets themselves. Loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.engines.kit.rowsets import hash_of, mixed
from milp_trees.lists.engines.corels import records as r
from milp_trees.lists.engines.corels.sets import rest_of

_LOW = np.int64(2**32 - 1)


@kernel(allocates=False)
def _permutes(trie, a, b):
    """Whether two prefixes of one length have the same antecedents; no prefix repeats one."""
    while a > 0:
        c = b
        while c > 0 and trie.antecedent[c] != trie.antecedent[a]:
            c = trie.parent[c]
        if c <= 0:
            return False
        a = trie.parent[a]
    return True


@kernel(allocates=False)
def _equivalent(instance, trie, kind, known, node, rest, other):
    """Whether a known prefix stands for the new one."""
    if kind == r.PERMUTATIONS:
        return trie.length[known] == trie.length[node] and _permutes(trie, known, node)
    rest_of(instance, trie, known, other)
    different = np.uint64(0)
    for q in range(len(rest)):
        different |= rest[q] ^ other[q]
    return not different


@kernel(allocates=False)
def _key(instance, trie, kind, node, rest):
    if kind == r.CAPTURED:
        return hash_of(rest)
    key = np.uint64(0)
    while node > 0:
        key ^= instance.keys[trie.antecedent[node]]
        node = trie.parent[node]
    return mixed(key)


@kernel(allocates=False)
def meet(instance, settings, trie, places, node, rest, other, counters):
    """Enter a new prefix into the map; False if a known one is at least as good.

    A known prefix that is worse is marked as dead and loses its place. If the length of lists is
    limited, only a prefix that is not longer can be better.
    """
    tag = np.int64(_key(instance, trie, settings.map, node, rest) >> np.uint64(32))
    at, last = tag & (len(places) - 1), len(places) - 1
    while places[at]:
        if (places[at] >> 32) & _LOW == tag:
            known = (places[at] & _LOW) - 1
            if _equivalent(instance, trie, settings.map, known, node, rest, other):
                longer = settings.limited and trie.length[known] > trie.length[node]
                shorter = settings.limited and trie.length[known] < trie.length[node]
                if trie.bound[known] <= trie.bound[node] and not longer:
                    return False
                if trie.bound[node] <= trie.bound[known] and not shorter:
                    trie.dead[known] = 1
                    counters[r.REPLACED] += 1
                    places[at] = (tag << 32) | (node + 1)
                    return True
        at = (at + 1) & last
    places[at] = (tag << 32) | (node + 1)
    counters[r.MAPPED] += 1
    return True


@kernel
def rehash(places, larger):
    """Enter all places of one table into a larger one."""
    last = len(larger) - 1
    for place in places:
        if place:
            at = ((place >> 32) & _LOW) & last
            while larger[at]:
                at = (at + 1) & last
            larger[at] = place
