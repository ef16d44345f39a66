"""Claims about trees with side rows: multipliers price the rows, and the claims are about that.

For every feasible tree the priced cost, `q Z + Σ mu_j s_j`, is at most `q Z + Σ mu_j b_j`, where
`b_j` is the limit that the multiplier acts on (Geoffrion 1974). A bound on the priced costs of all
trees is therefore one on `Z`. The gap that is left to the best feasible tree is closed by the checker
(`check_gap.py`), which lists the trees between the two.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from milp_trees.common.compiling import run_clock
from milp_trees.common.errors import Unsupported
from milp_trees.engines.dp.method import solve_view
from milp_trees.engines.dp.proofs.leaves import prove_few_leaves
from milp_trees.engines.dp.proofs.trees import prove_trees
from milp_trees.engines.lagrangian.dual import Dual
from milp_trees.engines.lagrangian.incumbent import Incumbent
from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.methods.claims import Claims
from milp_trees.methods.trace import Trace
from milp_trees.methods.watch import Watch
from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix


def prove_priced(view: CostMatrix, space: Trees, Z: int, watch: Watch) -> Claims:
    """Claims that prove the Lagrangian bound of a view with side rows."""
    reduced = view.reduce()
    dual = Dual(reduced, space, Incumbent(reduced, Trace(None), run_clock()), watch)
    dual.maximise()
    if dual.best is None:
        raise Unsupported("There is no proof that nothing is feasible.")
    priced = price(view, dual.best)
    least, _ = solve_view(priced, space, watch)
    if least is None:
        raise Unsupported("There is no proof that nothing is feasible.")
    prove = prove_few_leaves if space.limits_leaves else prove_trees
    claims = prove(priced, priced.reduce(), space, least, watch)
    q, below = dual.best.denominator, least
    for mu, row in zip(dual.best.numerators, view.side, strict=True):
        below -= mu * int((row.upper if mu > 0 else row.lower) or 0)
    notes = {**claims.notes, "closed": True} if -(-below // q) < Z else claims.notes
    return replace(claims, multipliers=dual.best.numerators, denominator=q, notes=notes)


def price(view: CostMatrix, multipliers: Multipliers) -> CostMatrix:
    """The view without side rows whose costs are `q c + Σ mu_j coefs_j`."""
    if not multipliers.fits(view):
        raise Unsupported("The priced costs are too large for exact sums in 64 bits.")
    q = multipliers.denominator
    costs = q * view.costs
    for mu, row in zip(multipliers.numerators, view.side, strict=True):
        costs = costs + mu * row.coefs
    return replace(
        view,
        costs=np.ascontiguousarray(costs),
        leaf_cost=q * view.leaf_cost,
        split_costs=q * view.split_costs,
        side=(),
    )
