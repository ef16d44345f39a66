"""Kernels that take long where there are many tests, in a thread beside the clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from milp_trees.methods.watch import GO

#: From so many words that a kernel looks at it runs in a thread of its own.
LONG = 5e7

#: Runs a function of `stop` that takes long (`Watch.beside`).
Beside = Callable[[Callable[[np.ndarray], Any]], Any]


class LongKernels:
    """Base of searches whose kernels look at all pairs of tests."""

    tests: np.ndarray
    beside: Beside

    def compiled(self, words: float, work: Callable[[np.ndarray], Any]) -> Any:
        """Run a kernel that looks at so many words for each pair of tests, or does as much."""
        return work(GO) if words * len(self.tests) ** 2 < LONG else self.beside(work)
