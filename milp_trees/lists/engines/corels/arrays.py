"""The arrays of a search over prefixes: room for more, and collection of dead prefixes.

Loads numba.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from milp_trees.common.compiling.kernels import kernel
from milp_trees.lists.engines.corels import records as r
from milp_trees.lists.engines.corels.meeting import rehash
from milp_trees.lists.engines.corels.search import hopeless
from milp_trees.lists.engines.corels.sets import sink

#: Prefixes for which there is room at first.
FIRST = 2**12
#: Largest number of prefixes: numbers have 31 bits.
MOST = 2**31 - 2


class PrefixArrays(NamedTuple):
    """Everything of a search that grows."""

    trie: r.Trie
    queue: r.Queue
    places: np.ndarray

    @property
    def bytes(self) -> int:
        """Bytes of all arrays."""
        return sum(a.nbytes for a in (*self.trie, *self.queue, self.places))

    @property
    def bytes_per_prefix(self) -> float:
        """Bytes for each prefix for which there is room, without the masks of expanded ones."""
        return (self.bytes - self.trie.masks.nbytes) / len(self.trie.parent)


def begin(n_antecedents: int, floor: int) -> PrefixArrays:
    """Arrays with the empty prefix, which is in the queue."""
    room = max(FIRST, 4 * n_antecedents)
    words = max(1, -(-n_antecedents // 64))
    trie = r.Trie(
        parent=np.full(room, -1, dtype=np.int32),
        antecedent=np.full(room, -1, dtype=np.int32),
        length=np.zeros(room, dtype=np.int16),
        bound=np.full(room, floor, dtype=np.int64),
        dead=np.zeros(room, dtype=np.uint8),
        mask=np.full(room, -1, dtype=np.int32),
        masks=np.zeros((FIRST // 4, words), dtype=np.uint64),
    )
    trie.masks[0] = _ones(n_antecedents, words)
    queue = r.Queue(np.zeros(room, dtype=np.int64), np.zeros(room, dtype=np.int32))
    return PrefixArrays(trie, queue, np.zeros(_power(2 * room), dtype=np.int64))


def _ones(n: int, words: int) -> np.ndarray:
    bits = np.zeros(64 * words, dtype=np.uint8)
    bits[:n] = 1
    return np.packbits(bits, bitorder="little").view("<u8").astype(np.uint64)


def _power(n: int) -> int:
    return 1 << (n - 1).bit_length()


def more_nodes(arrays: PrefixArrays) -> PrefixArrays:
    """Room for twice as many prefixes."""
    room = min(MOST, 2 * len(arrays.trie.parent))
    masks = arrays.trie.masks
    trie = r.Trie._make([*(_longer(a, room) for a in arrays.trie[:-1]), masks])
    return PrefixArrays(trie, r.Queue(*(_longer(a, room) for a in arrays.queue)), arrays.places)


def more_masks(arrays: PrefixArrays) -> PrefixArrays:
    """Room for the masks of twice as many expanded prefixes."""
    masks = arrays.trie.masks
    return arrays._replace(trie=arrays.trie._replace(masks=_longer(masks, 2 * len(masks))))


def more_places(arrays: PrefixArrays) -> PrefixArrays:
    """A map with twice as many places."""
    larger = np.zeros(2 * len(arrays.places), dtype=np.int64)
    rehash(arrays.places, larger)
    return arrays._replace(places=larger)


def _longer(array: np.ndarray, room: int) -> np.ndarray:
    out = np.empty((room, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out


# -- collection of dead prefixes -----------------------------------------------------------------


@kernel
def collect(instance, settings, trie, queue, places, counters, number):
    """Remove all prefixes that no bound allows to extend any more, and those that are dominated.

    What is left is numbered anew in the same order. Expanded prefixes stay where their bound allows
    an extension: they stand for others in the map. A prefix that stays has no smaller bound than
    its parent, so its parent stays.
    """
    n = counters[r.NODES]
    for i in range(n):
        keep = i == 0 or not (
            trie.dead[i] or hopeless(instance, settings, trie.bound[i], trie.length[i], counters)
        )
        if i and trie.dead[trie.parent[i]]:
            trie.dead[i], keep = 1, False
        number[i] = keep
    new = 0
    for i in range(n):
        if number[i]:
            number[i] = new
            parent = trie.parent[i]
            trie.parent[new] = number[parent] if i else -1
            trie.antecedent[new], trie.length[new] = trie.antecedent[i], trie.length[i]
            trie.bound[new], trie.dead[new] = trie.bound[i], trie.dead[i]
            trie.mask[new] = trie.mask[i]
            new += 1
        else:
            number[i] = -1
    _collect_queue(trie, queue, counters, number)
    _collect_map(places, counters, number)
    _collect_masks(trie, counters, new)
    counters[r.NODES] = new


@kernel(allocates=False)
def _collect_queue(trie, queue, counters, number):
    size = 0
    for i in range(counters[r.QUEUED]):
        node = number[queue.prefix[i]]
        if node >= 0:
            queue.key[size], queue.prefix[size] = queue.key[i], node
            size += 1
    counters[r.QUEUED] = size
    for i in range(size // 2, -1, -1):
        sink(queue, trie.bound, size, i)


@kernel
def _collect_map(places, counters, number):
    kept, at = np.empty(counters[r.MAPPED], dtype=np.int64), 0
    low = np.int64(2**32 - 1)
    for place in places:
        if place and number[(place & low) - 1] >= 0:
            kept[at] = (place & ~low) | (number[(place & low) - 1] + 1)
            at += 1
    places[:] = 0
    rehash(kept[:at], places)
    counters[r.MAPPED] = at


@kernel
def _collect_masks(trie, counters, n):
    """Keep the masks of the expanded prefixes that are left, in the order of their expansion."""
    place = np.zeros(counters[r.MASKS], dtype=np.int32)
    for i in range(n):
        if trie.mask[i] >= 0:
            place[trie.mask[i]] = 1
    new = 1  # the first mask has all antecedents; it belongs to no prefix
    for row in range(1, counters[r.MASKS]):
        if place[row]:
            place[row] = new
            for word in range(trie.masks.shape[1]):
                trie.masks[new, word] = trie.masks[row, word]
            new += 1
    for i in range(n):
        if trie.mask[i] >= 0:
            trie.mask[i] = place[trie.mask[i]]
    counters[r.MASKS] = new
