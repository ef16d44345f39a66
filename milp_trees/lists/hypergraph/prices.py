"""Multipliers of side rows for lists that are known, as planes over the multipliers."""

from __future__ import annotations

import numpy as np

from milp_trees.engines.lagrangian.multipliers import Multipliers, best_for_planes
from milp_trees.tasks.views import CostMatrix

#: Numerators of multipliers have about so many bits.
BITS = 20
#: Largest multiplier, in units in which they are about 1.
BOX = 16.0


def best_prices(planes: np.ndarray, view: CostMatrix) -> Multipliers | None:
    """Multipliers of the largest minimum of the planes of lists, rounded."""
    found = best_for_planes(planes, view.side, BOX)
    return None if found is None else rounded(np.array(found.multipliers), view)


def rounded(values: np.ndarray, view: CostMatrix) -> Multipliers:
    """Multipliers over a power of two whose costs fit into 64 bits; zero if none do."""
    largest = float(np.abs(values).max(initial=0))
    most = 0 if not largest else min(50, max(0, BITS - int(np.floor(np.log2(largest)))))
    for bits in range(most, -1, -1):
        found = Multipliers(2**bits, tuple(round(v * 2**bits) for v in values.tolist()))
        if any(found.numerators) and found.act_on(view.side) and found.fits(view):
            return found
    return Multipliers.none(len(values))
