"""Multipliers of side rows for lists that are known, as planes over the multipliers."""

from __future__ import annotations

import numpy as np

from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.tasks.views import CostMatrix

#: Numerators of multipliers have about so many bits.
BITS = 20


def best_prices(planes: np.ndarray, view: CostMatrix) -> Multipliers | None:
    """Multipliers of the largest minimum of `cost + Σ multiplier · (total - bound)`, rounded."""
    from scipy.optimize import linprog

    planes = planes.astype(float)
    acts = [
        (j, sign, at)
        for j, row in enumerate(view.side)
        for sign, at in ((1.0, row.upper), (-1.0, row.lower))
        if at is not None
    ]
    if not acts:
        return None
    excess = np.column_stack([sign * (planes[:, 1 + j] - at) for j, sign, at in acts])
    size = np.maximum(1.0, np.abs(excess).max(axis=0))
    worth = max(1.0, float(np.ptp(planes[:, 0])))
    # In units in which multipliers are about 1: top - Σ multiplier · excess <= cost.
    found = linprog(
        [-1.0, *[0.0] * len(acts)],
        A_ub=np.column_stack([np.ones(len(planes)), -excess / size]),
        b_ub=(planes[:, 0] - planes[:, 0].min()) / worth,
        bounds=[(None, None), *[(0.0, 16.0)] * len(acts)],
        method="highs",
    )
    if not found.success or not np.isfinite(found.x).all():
        return None
    values = np.zeros(len(view.side))
    for (j, sign, _), value, s in zip(acts, found.x[1:], size, strict=True):
        values[j] += sign * value * worth / s
    return rounded(values, view)


def rounded(values: np.ndarray, view: CostMatrix) -> Multipliers:
    """Multipliers over a power of two whose costs fit into 64 bits; zero if none do."""
    largest = float(np.abs(values).max(initial=0))
    most = 0 if not largest else min(50, max(0, BITS - int(np.floor(np.log2(largest)))))
    for bits in range(most, -1, -1):
        found = Multipliers(2**bits, tuple(round(v * 2**bits) for v in values.tolist()))
        if any(found.numerators) and found.act_on(view.side) and found.fits(view):
            return found
    return Multipliers.none(len(values))
