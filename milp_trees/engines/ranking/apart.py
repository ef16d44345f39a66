"""The bound that tells apart which open leaves are split: with a penalty per leaf, each that is
costs at least one leaf.

Let t of the open leaves be split in a tree with e further leaves. Each of the t uses at least one
of them, so none is split deeper than s = e - t + 1 levels, and the others stay leaves. The bound of
a partial tree is the best over all such sets and all s; taking the curves of depth s for the set
alone, it is never above that of `look_ahead`, which lets all open leaves be split for the price of
the e.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from milp_trees.engines.ranking import kernels

#: Open leaves besides the two new ones that are told apart; the others may be split whichever are.
MOST_APART = 5


class Choice(NamedTuple):
    """Which leaves are split: some told apart, the left and right new one; into how many levels,
    for how many further leaves.
    """

    apart: tuple[int, ...]
    left: bool
    right: bool
    levels: int
    others_levels: int
    further: int
    last: bool


def choices(
    depths: list[int], free_depth: int, side_depth: int, deepest: int, room: int | None
) -> Iterator[Choice]:
    """All sets and numbers of levels.

    Parameters
    ----------
    depths : list of int
        Depth left for the leaves that are told apart.
    free_depth, side_depth : int
        Depth left for the other leaves (0: there are none), and for the two new ones.
    deepest : int
        Largest number of levels that has a curve of its own.
    room : int or None
        Most further leaves.
    """
    for bits in range(1 << len(depths)):
        apart = tuple(i for i in range(len(depths)) if bits >> i & 1)
        for left in (False, True) if side_depth else (False,):
            for right in (False, True) if side_depth else (False,):
                t = len(apart) + left + right
                if not t and not free_depth:
                    continue
                # Leaves that are not told apart get what is left: e - t levels, or all e if no
                # other is split.
                own = max([depths[i] for i in apart] + [side_depth * (left or right)])
                most = max(1, min(deepest, max(own, free_depth + (t > 0))))
                for s in range(1, most + 1):
                    further = max(t, 1) + s - 1
                    if room is None or further <= room:
                        yield Choice(apart, left, right, s, s - (t > 0), further, s == most)


def best_choice(
    found: Iterator[tuple[Choice, np.ndarray, np.ndarray]],
    incumbent: tuple[int, float],
    penalty: int,
    children: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Best units per child over all choices, and the most further leaves with which it may still be
    better than the incumbent.
    """
    whole, fraction = np.full(children, -(2**62), dtype=np.int64), np.zeros(children)
    room = np.zeros(children, dtype=np.int64)
    for choice, w, f in found:
        kernels.keep_best(
            whole, fraction, room, w, f, choice.further, choice.last, *incumbent, penalty
        )
    return whole, fraction, room
