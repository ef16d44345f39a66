"""What proofs of trees share: numbers of tests, and the last claims, to compare new ones with."""

from __future__ import annotations

import numpy as np

from milp_trees.engines.dp.contexts import Context
from milp_trees.engines.dp.proofs.kernels import most_similar
from milp_trees.tasks.views import LeafSums

#: Recent claims of every depth that are compared with a new one.
KEPT = 128
#: A similar claim is named as a help if it gives at least this share of the bound; then it also
#: settles some tests, which makes a check a tenth faster.
HELPFUL = 0.4
#: Levels at which the checker needs no claims about the sides of a test.
FREE = 3


class Recent:
    """The last claims of the same limits, for bounds of similar sets."""

    def __init__(self, n_words: int) -> None:
        self.bits = np.zeros((KEPT, n_words), dtype=np.uint64)
        self.bound = np.zeros(KEPT, dtype=np.int64)
        self.number = [0] * KEPT
        self.count = 0

    def closest(self, data: Context, bits: np.ndarray, bound: int) -> tuple[list[int], int]:
        """The claim that bounds a set best, if it helps towards a bound, and what it gives."""
        filled = min(self.count, KEPT)
        place, low = most_similar(data.address, self.bits, self.bound, filled, bits, 1)
        return ([self.number[place]] if low >= HELPFUL * bound else []), low

    def keep(self, bits: np.ndarray, bound: int, number: int) -> None:
        """Keep a claim in place of the oldest one."""
        at = self.count % KEPT
        self.bits[at], self.bound[at], self.number[at] = bits, bound, number
        self.count += 1


def numbers_of(view: LeafSums, reduced: LeafSums) -> list[int]:
    """What the features of a presolved view are called in the paths of claims."""
    index = view.index
    return [index[test] + 1 for test in reduced.features]
