"""The bound that depends on which open leaves are split.

With a penalty per leaf, every open leaf that is split costs at least one leaf more.

Let t of the open leaves be split in a tree with e further leaves. Each of the t uses at least one
of them, so none is split deeper than s = e - t + 1 levels, and the others stay leaves. The bound of
a partial tree is the best over all such sets and all s. It uses the curves of depth s for the set
alone, so it is never above that of `look_ahead`, which lets all open leaves be split for the price
of the e leaves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from milp_trees.engines.partial_trees import kernels

#: Number of open leaves, besides the two new ones, that are considered one by one; the others are
#: bounded as if they could always be split.
MOST_APART = 5


class Choice(NamedTuple):
    """Which leaves are split, into how many levels, and for how many further leaves.

    The leaves are some of the old ones, the left new one and the right new one.
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
    """All choices of split leaves and numbers of levels."""
    for bits in range(1 << len(depths)):
        apart = tuple(i for i in range(len(depths)) if bits >> i & 1)
        for left in (False, True) if side_depth else (False,):
            for right in (False, True) if side_depth else (False,):
                t = len(apart) + left + right
                if not t and not free_depth:
                    continue
                # Leaves that are not considered by themselves get the rest: e - t levels, or all e
                # if no other leaf is split.
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
    """The best units per child over all choices."""
    whole, fraction = np.full(children, -(2**62), dtype=np.int64), np.zeros(children)
    room = np.zeros(children, dtype=np.int64)
    for choice, w, f in found:
        kernels.keep_best(
            whole, fraction, room, w, f, choice.further, choice.last, *incumbent, penalty
        )
    return whole, fraction, room
