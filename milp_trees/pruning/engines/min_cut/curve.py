r"""`PruningCurve`: every pruning of an ensemble that is optimal for some price of cost.

It is found by one parametric minimum cut.

Optimal prunings are nested: as :math:`\lambda` rises, splits only disappear (Gallo, Grigoriadis,
Tarjan 1989, for nested cuts; the weakest-link sequence of Breiman, Friedman, Olshen, Stone 1984 is
the case of one tree that pays per leaf). So one number :math:`\theta` per split gives the optimum
for all :math:`\lambda`: keep the splits with :math:`\lambda < \theta`. The points (cost, error) of
these prunings are the corners of the lower convex hull of the points of all prunings. Between two
corners there may be prunings that are the best within a budget but not on the hull; the hull is a
lower bound for their errors.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.common.exact import fraction
from milp_trees.pruning.engines.min_cut.hull_points import HullPoint, PointBelow, row_of

if TYPE_CHECKING:
    import pandas as pd

    from milp_trees.methods.watch import Watch
    from milp_trees.models.ensemble import Ensemble
    from milp_trees.problems.problem import Problem
    from milp_trees.pruning.engines.min_cut.certificate import FlowCertificate
    from milp_trees.pruning.view import NodeGains


def prune_curve(
    problem: Problem | NodeGains,
    cut: str = "push-relabel",
    merge: bool = True,
    watch: Watch | None = None,
) -> PruningCurve:
    """The optimal prunings for all λ at once, exactly.

    Parameters
    ----------
    problem : Problem or NodeGains
        A problem on `PrunedEnsembles`, or the view of one. Its own λ and budget are ignored; use
        `pruned(lam)` and `below(budget)` of the curve.
    cut : {"push-relabel", "ortools", "scipy", "networkx"}
        The program that solves the minimum cuts; the last three are for comparison.
    merge : bool, default=True
        Merge purchases that the same splits need. The curve does not depend on it.
    watch : Watch, optional
        Its limits end the computation; then there is no curve, not even a part.

    Returns
    -------
    PruningCurve


    Raises
    ------
    Stopped
        A limit of the watch was reached.
    DataError
        Numbers might not fit into 64 bits.
    NoView
        The task has no view with errors and prices of nodes.

    Examples
    --------
    >>> import milp_trees as mt
    >>> from milp_trees.pruning.testing.examples import EXAMPLES
    >>> mt.prune_curve(EXAMPLES["two-items"]()).breakpoints
    (Fraction(2, 15), Fraction(3, 20))
    """
    from milp_trees.common.compiling import compiling, interruptible
    from milp_trees.pruning.view import NodeGains

    with compiling("the minimum cut"):
        from milp_trees.pruning.engines.min_cut.closure import closure_of
        from milp_trees.pruning.engines.min_cut.frontier import frontier, frontier_by
        from milp_trees.pruning.engines.min_cut.libraries import cut_by
    ensemble = None
    if not isinstance(problem, NodeGains):
        ensemble, problem = getattr(problem.space, "ensemble", None), problem.view(NodeGains)
    closure = closure_of(problem, merge)
    with interruptible():
        if cut != "push-relabel":
            check = watch.check if watch else lambda: None
            pieces = frontier_by(closure, cut_by(cut, check), check)
        else:
            pieces = (
                watch.beside(lambda stop: frontier(closure, stop)) if watch else frontier(closure)
            )
    rank = np.full(problem.n_nodes, len(pieces.gain), dtype=np.int32)
    rank[closure.splits] = pieces.rank[: closure.n_splits]
    rank.setflags(write=False)
    sizes = {
        "splits": closure.n_splits,
        "merged_purchases": closure.n_items - closure.n_splits,
        "arcs": closure.n_arcs,
        "cuts": pieces.cuts,
        "arcs_of_all_cuts": pieces.arcs,
        "breakpoints": sum(c > 0 for c in pieces.cost.tolist()),
    }
    return PruningCurve(
        problem, rank, tuple(pieces.gain.tolist()), tuple(pieces.cost.tolist()), ensemble, sizes
    )


@dataclass(frozen=True)
class CurveUnits:
    """The part of its view that a finished curve needs."""

    error_unit: Fraction
    cost_unit: Fraction
    cost_offset: Fraction
    root_error: int
    exact: bool
    n_trees: int

    @classmethod
    def of(cls, view: NodeGains | CurveUnits) -> CurveUnits:
        return cls(
            view.error_unit,
            view.cost_unit,
            view.cost_offset,
            view.root_error,
            view.exact,
            view.n_trees,
        )


@dataclass(frozen=True, eq=False)
class PruningCurve:
    """All prunings that are optimal for some λ; `prune_curve` makes it.

    Parameters
    ----------
    view : NodeGains
    rank : int32 array of shape (M,)
        Splits of equal rank disappear together. The largest rank, which leaves have too, is never
        kept for any λ ≥ 0.
    gains, costs : tuples of int
        Saved errors and paid prices of the splits of every rank, in the view's units: rank r is
        kept while `lambda < gains[r] / costs[r]` (in those units), or always if the cost is 0.
    ensemble : Ensemble or None
    sizes : dict
        Items, arcs and cuts of the computation.
    """

    view: NodeGains
    rank: np.ndarray
    gains: tuple[int, ...]
    costs: tuple[int, ...]
    ensemble: Ensemble | None
    sizes: dict[str, int]

    # -- numbers ---------------------------------------------------------------------------------------------

    @cached_property
    def breakpoints(self) -> tuple[Fraction, ...]:
        """Every λ > 0 at which the optimal pruning changes, rising; exact, in natural units."""
        unit = self.view.error_unit / self.view.cost_unit
        return tuple(
            Fraction(g, c) * unit
            for g, c in zip(reversed(self.gains), reversed(self.costs), strict=True)
            if c
        )

    @cached_property
    def theta(self) -> np.ndarray:
        """λ below which each node is kept as a split, as floats of shape (M,).

        It is infinite for nodes that are always kept, and 0 for nodes that never are. To get a
        pruning use `keep`, which compares exactly.
        """
        free = len(self.gains) - len(self.breakpoints)
        by_rank = [*[np.inf] * free, *map(float, reversed(self.breakpoints)), 0.0]
        theta: np.ndarray = np.array(by_rank)[self.rank]
        return theta

    def exact_theta(self, node: int) -> Fraction | None:
        """λ below which a node is kept as a split; None if for every λ, 0 if for none."""
        by_rank = [
            *[None] * (len(self.gains) - len(self.breakpoints)),
            *reversed(self.breakpoints),
            Fraction(0),
        ]
        return by_rank[int(self.rank[node])]

    @cached_property
    def vertices(self) -> tuple[HullPoint, ...]:
        """Corners of the hull, λ rising from 0.

        The first is the pruning of least error (of equal ones the smallest), the last that of least
        cost.
        """
        view, K = self.view, len(self.gains)
        free, ends = K - len(self.breakpoints), (Fraction(0), *self.breakpoints)
        splits = np.cumsum([0, *np.bincount(self.rank, minlength=K + 1)[:K].tolist()]).tolist()
        E, C = [view.root_error], [0]
        for g, c in zip(self.gains, self.costs, strict=True):
            E.append(E[-1] - g)
            C.append(C[-1] + c)
        out = []
        for i, kept in enumerate(range(K, free - 1, -1)):
            until = ends[i + 1] if i + 1 < len(ends) else None
            out.append(
                HullPoint(
                    i,
                    ends[i],
                    until,
                    E[kept] * view.error_unit,
                    C[kept] * view.cost_unit + view.cost_offset,
                    splits[kept],
                )
            )
        return tuple(out)

    # -- asking ----------------------------------------------------------------------------------------------

    def keep(self, lam: Any) -> np.ndarray:
        """Which nodes stay splits in the optimal pruning for λ; bool array of shape (M,).

        Of equally good prunings it is the smallest.

        Raises
        ------
        DataError
            λ is negative or no number.
        """
        keep: np.ndarray = self.rank < len(self.gains) - self._position(lam)
        return keep

    def at(self, lam: Any) -> HullPoint:
        """The corner of the hull that is optimal for λ."""
        return self.vertices[self._position(lam)]

    def _position(self, lam: Any) -> int:
        price = fraction(lam, "lam")
        if price < 0:
            raise DataError(f"lam must not be negative; got {lam!r}.")
        return bisect_right(self.breakpoints, price)

    def pruned(self, lam: Any) -> Ensemble:
        """The ensemble pruned optimally for λ.

        Raises
        ------
        DataError
            λ is negative, or the curve was made from a view without an ensemble.
        """
        if self.ensemble is None:
            raise DataError(
                "This curve was made from a view and has no ensemble; call mt.prune_curve(problem), or take keep(lam)."
            )
        return self.ensemble._sharing(
            self.keep(lam)
        )  # θ never rises from parent to child, so every λ gives a pruning

    def below(self, budget: Any) -> PointBelow:
        """The hull point below a budget on the mean cost of a row, and the hull's bound there.

        The best pruning within the budget may be another one, unless `proven` is true; the
        formulation `ip3-closure` finds it.

        Raises
        ------
        DataError
            Every pruning costs more.
        """
        most = fraction(budget, "budget")
        i = next((p.index for p in self.vertices if p.cost <= most), None)
        if i is None:
            raise DataError(
                f"No pruning costs so little: the cheapest costs {float(self.vertices[-1].cost):.6g}, the budget is {float(most):.6g}."
            )
        point, bound = self.vertices[i], self.vertices[i].error
        if i:
            dearer = self.vertices[i - 1]
            bound += (dearer.error - point.error) * (most - point.cost) / (dearer.cost - point.cost)
        return PointBelow(
            most, point, bound, None if self.ensemble is None else self.pruned(point.lambda_from)
        )

    def certificate(self, lam: Any) -> FlowCertificate:
        """A flow that proves `keep(lam)` optimal; it is checked.

        See `milp_trees.pruning.engines.min_cut.certificate`.

        Raises
        ------
        VerificationError
            It proves nothing, which is an error in this package.
        """
        from milp_trees.common.errors import VerificationError
        from milp_trees.pruning.engines.min_cut.certificate import certify, check_certificate
        from milp_trees.pruning.engines.min_cut.closure import closure_of

        if isinstance(self.view, CurveUnits):
            raise DataError(
                "This curve was pickled without its rows, which a certificate needs; set keep_data=True before that, or prune again."
            )
        ratio = fraction(lam, "lam") * self.view.cost_unit / self.view.error_unit
        found = certify(self.view, closure_of(self.view), ratio.numerator, ratio.denominator)
        check_certificate(self.view, found)
        if not np.array_equal(found.keep, self.keep(lam)):
            raise VerificationError(
                f"The curve and a cut at lambda = {lam} keep different splits; please report this."
            )
        return found

    def without_rows(self) -> PruningCurve:
        """The same curve without data of single rows.

        It still gives prunings, but no certificates.
        """
        view: Any = CurveUnits.of(self.view)
        return replace(self, view=view)

    # -- showing ---------------------------------------------------------------------------------------------

    def rows(self) -> list[dict[str, Any]]:
        """One mapping per corner, λ rising.

        The keys are lambda_from, lambda_to, error, cost (Fractions; lambda_to is None if there is
        no limit) and splits.
        """
        return [row_of(p) for p in self.vertices]

    def frame(self) -> pd.DataFrame:
        """`rows` as a table of numbers; lambda_to is infinite if there is no limit."""
        import pandas as pd

        rows = [
            {
                k: np.inf if v is None else float(v) if isinstance(v, Fraction) else v
                for k, v in row.items()
            }
            for row in self.rows()
        ]
        return pd.DataFrame(rows)

    def to_json(self) -> dict[str, Any]:
        """Plain data: every breakpoint and corner, and when each node disappears.

        Fractions are written "p/q"; corner i keeps nodes of a rank below max(rank) - i.
        """
        from milp_trees.results.json import json_safe

        plain: dict[str, Any] = json_safe(
            {
                "exact": self.view.exact,
                "trees": self.view.n_trees,
                "breakpoints": list(self.breakpoints),
                "vertices": self.rows(),
                "rank": self.rank.tolist(),
            }
        )
        return plain

    def plot(self, ax: Any = None) -> Any:
        """Plot error against cost; returns the axes.

        The picture shows the corners of the hull, the bound between them, and as steps the best
        corner for each budget.
        """
        import matplotlib.pyplot as plt

        ax = ax if ax is not None else plt.subplots(figsize=(5, 3.5), layout="constrained")[1]
        cost, error = (
            np.array([float(getattr(p, name)) for p in reversed(self.vertices)])
            for name in ("cost", "error")
        )
        steps = ax.step(
            cost, error, where="post", linewidth=1.2, label="best on the hull within a budget"
        )[0]
        ax.plot(cost, error, "--", linewidth=0.8, color="0.5", label="no pruning is below")
        ax.plot(cost, error, "o", markersize=4, color=steps.get_color(), label="optimal for some λ")
        ax.set(xlabel="mean cost of a row", ylabel="mean error of the trees")
        ax.legend(frameon=False)
        return ax

    def __repr__(self) -> str:
        first, last = self.vertices[0], self.vertices[-1]
        return (
            f"<PruningCurve: {len(self.vertices)} prunings, error {float(first.error):.6g} at cost {float(first.cost):.6g} "
            f"to error {float(last.error):.6g} at cost {float(last.cost):.6g}>"
        )
