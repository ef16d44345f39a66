"""Whether the numbers of a proof about trees or rule lists are small enough for its checker."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.methods.claims import Claims
from milp_trees.tasks.views import CostMatrix
from milp_trees.verification.proof_reading import LIMIT


def too_large(view: CostMatrix, minima: Any, claims: Claims | None = None) -> str | None:
    """The sentence that the checker's sums would not be exact, or None."""
    q, mus = (1, ()) if claims is None else (claims.denominator, claims.multipliers)
    priced = q * view.costs.astype(float)
    for mu, row in zip(mus, view.side, strict=False):
        priced += float(mu) * row.coefs
    total = float(np.abs(priced).sum()) + 4.0 * q * (
        view.leaf_cost + int(view.split_costs.max(initial=0))
    )
    # A minimum that every row meets is no limit, and is not summed.
    total += sum(float(w.sum(dtype=float)) for m, w in minima if m > 1 or (w < m).any())
    stated = [abs(row.coefs).max(initial=0) for row in view.side]
    if total < LIMIT / 2 and max(stated, default=0) < LIMIT:
        return None
    return (
        "the checker sums costs, amounts and penalties exactly up to 2^51 units, and here they are"
        f" {total:.3g}; divide them by a common factor, or round them to fewer digits."
    )
