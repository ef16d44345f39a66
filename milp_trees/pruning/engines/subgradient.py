r"""`subgradient`: projected subgradient steps on the duals of the constraints that couple trees.

The method is that of Nan, Wang, Saligrama (NeurIPS 2016, *Pruning random forests for prediction on
a budget*). It is a heuristic with a bound, for comparison with `dantzig-wolfe` and `min-cut`.

At duals :math:`\pi` the best pruning y of every tree is computed, and every purchase is made whose
reduced price is negative; the link (h, p) has the subgradient :math:`g = y_h - W_p`, and

.. math:: \pi \leftarrow \Big[\pi + \frac{1 + m}{k + m} \cdot \frac{\text{best primal} - \text{dual}}{\lVert g\rVert^2} \, g\Big]_+

at step k with m = 500. The prunings of a step, with the price of everything they need, are an
incumbent. The bound is that of `dantzig-wolfe`, in integers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.limits import Limits
from milp_trees.common.registering import register
from milp_trees.pruning.engines.dantzig_wolfe.method import Decomposition

if TYPE_CHECKING:
    from milp_trees.pruning.engines.dantzig_wolfe.run import PricingRun


@register
@dataclass(frozen=True)
class Subgradient(Decomposition):
    """Projected subgradient on the coupling duals.

    Parameters
    ----------
    steps : int, default=50
        Largest number of steps.
    damping : int, default=500
        The m of the step length; with a larger m, steps stay long for more iterations.
    jobs, merge, cluster
        As for `dantzig-wolfe`; `merge` is off as in the paper.
    """

    name: ClassVar[str] = "subgradient"  # type: ignore[misc]
    title: ClassVar[str] = (
        "Projected subgradient on what couples the trees (heuristic with a bound)"
    )
    exact: ClassVar[bool] = False  # type: ignore[misc]

    steps: int = 50
    damping: int = 500
    jobs: int = 1
    merge: bool = False
    cluster: Any = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps < 1 or self.damping < 0:
            raise DataError(
                f"subgradient takes steps of at least 1 and a damping of at least 0; got {self.steps} and {self.damping}."
            )

    def solve(self, run: PricingRun, limits: Limits) -> dict[str, Any]:
        run.attempt(lambda: self._steps(run))
        return {"limit": run.limit, "model_size": run.sizes}

    def _steps(self, run: PricingRun) -> None:
        p = run.coupled
        links, pairs = np.zeros(p.n_links), np.zeros(len(p.above))
        for k in range(1, self.steps + 1):
            bound, _, keep, rest = run.price(links, pairs)
            run.take(keep)
            run.report()
            bought = rest < 0
            over_links = keep[p.node].astype(float) - bought[p.purchase]
            over_pairs = bought[p.above[:, 0]].astype(float) - bought[p.above[:, 1]]
            square = float((over_links**2).sum() + (over_pairs**2).sum())
            if run.closed or not square:
                return
            step = (1 + self.damping) / (k + self.damping) * float(run.value - bound) / square
            links = np.maximum(links + step * over_links, 0.0)
            pairs = np.maximum(pairs + step * over_pairs, 0.0)
