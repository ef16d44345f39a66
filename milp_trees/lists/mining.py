"""Mining of conjunctions: all sets of literals whose rows are neither too few nor too many.

Literals are rows of bits. Conjunctions grow by one literal at a time, in lexicographic order of
their literals, so the first of several with the same rows is met first. One that adds nothing (its
rows are those of an earlier one) is not extended either: with an earlier one in its place, every
extension has the same rows and comes earlier, or is shorter.
"""

from __future__ import annotations

import numpy as np

from milp_trees.common.errors import DataError

#: Most bytes of conjunctions that are kept while mining, each with its rows and about 300 bytes more.
MOST_BYTES = 2**30


def packed(X: np.ndarray) -> np.ndarray:
    """The columns of a 0/1 matrix of shape (n, L) as bits, uint64 of shape (L, words)."""
    n, L = X.shape
    bits = np.zeros((L, 8 * -(-n // 64)), dtype=np.uint8)
    bits[:, : -(-n // 8)] = np.packbits(X.T, axis=1)
    return bits.view(np.uint64)


def conjunctions(
    literals: np.ndarray, rows: int, size: int, least: int, keep_equal: bool = False
) -> tuple[list[tuple[int, ...]], np.ndarray, np.ndarray]:
    """Conjunctions that hold on at least `least` rows, but not on all; one for each set of rows.

    The time is proportional to (number of conjunctions kept) × literals × rows / 64.

    Parameters
    ----------
    literals : uint64 array of shape (L, words)
        The rows of each literal, as `packed` gives them.
    rows : int
        Number of rows.
    size : int
        Largest number of literals in a conjunction.
    least : int
        Smallest number of rows, at least 1.
    keep_equal : bool, default=False
        Keep all conjunctions that hold on the same rows.

    Returns
    -------
    members : list of tuple of int
        Indices of the literals of each conjunction; shorter ones first, then in lexicographic
        order.
    bits : uint64 array of shape (M, words)
        Rows of each conjunction.
    count : int64 array of shape (M,)
        Number of these rows.

    Raises
    ------
    DataError
        There are more conjunctions than memory is used for.
    """
    found: dict[bytes, tuple[int, ...]] = {}
    count: list[int] = []
    width = literals.shape[1] * literals.itemsize

    def key_of(candidate: np.ndarray, members: tuple[int, ...]) -> bytes:
        return candidate.tobytes() + (np.array(members).tobytes() if keep_equal else b"")

    def keep(candidates: np.ndarray, members: list[tuple[int, ...]]) -> None:
        held = np.bitwise_count(candidates).sum(axis=1, dtype=np.int64)
        for i in np.flatnonzero((held >= least) & (held < rows)).tolist():
            if found.setdefault(key_of(candidates[i], members[i]), members[i]) is members[i]:
                count.append(int(held[i]))
        if len(found) * (8 * literals.shape[1] + 300) > MOST_BYTES:
            raise DataError(
                f"There are more than {len(found)} conjunctions of at most {size} literals on {rows} rows, too many to keep; raise min_support or lower max_literals."
            )

    keep(literals, [(j,) for j in range(len(literals))])
    single = np.array([m[0] for m in found.values()], dtype=np.int64)
    level = list(found.items())
    for _ in range(size - 1):
        seen = len(found)
        for key, parent in level:
            last = single[np.searchsorted(single, parent[-1], side="right") :]
            mine = np.frombuffer(key[:width], dtype=np.uint64)
            keep(literals[last] & mine, [(*parent, j) for j in last.tolist()])
        level = list(found.items())[seen:]
    joined = b"".join(key[:width] for key in found)
    bits = np.frombuffer(joined, dtype=np.uint64).reshape(len(found), literals.shape[1])
    return list(found.values()), bits, np.array(count, dtype=np.int64)
