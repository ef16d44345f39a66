"""The best Lagrangian bound: a concave function, maximised with exact runs of `dp`.

Every tree T is a plane, `cost(T) + Σ multiplier · (total(T) - bound)`, and the function is their
minimum. At given multipliers `dp` finds the lowest plane; the multipliers to try next are the best
ones for the planes that are known (Kelley 1960, *The cutting-plane method*). With one side row the
planes are lines and the next multiplier is where two of them meet, an exact rational, so that the
maximum is found exactly. With several rows it comes from a small linear programme, whose solution
is rounded: any multipliers give a bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from milp_trees.common.limits import Limits, Stopped
from milp_trees.engines.dp.method import DynamicProgramme
from milp_trees.engines.dp.run import DpRun
from milp_trees.engines.lagrangian.incumbent import Incumbent
from milp_trees.engines.lagrangian.multipliers import Multipliers, best_for_planes
from milp_trees.methods.watch import Watch
from milp_trees.models.nodes import Leaf
from milp_trees.models.space import Trees
from milp_trees.models.tree import Tree
from milp_trees.tasks.views import CostMatrix, SideRow

#: Deeper trees are looked for after those of this depth.
SHALLOW = 3
#: With several rows, the largest number of runs of `dp`, per row.
MOST_RUNS = 40
#: Rounding of multipliers may lower the bound by this share of a unit.
ROUNDING = 1 / 32


class Plane(NamedTuple):
    """A tree as a function of the multipliers: its cost and its side totals."""

    cost: int
    totals: tuple[int, ...]


class Dual:
    """The search for the best multipliers.

    Parameters
    ----------
    view : CostMatrix
        Reduced, with its side rows.
    space : Trees
    incumbent : Incumbent
        Gets every tree that is met, and every bound.
    watch : Watch
    memory_mb : int or None
        Of the table of `dp`.
    proves : bool, default=True
        Whether the bounds hold for the problem of the incumbent, and not only for smaller trees.

    Attributes
    ----------
    best : Multipliers or None
        Those with the largest bound; None before the first run.
    bound : Fraction or None
        That bound on the view's objective.
    infeasible : bool
        Whether no tree satisfies the side rows; it is proven.
    runs : int
        Runs of `dp`.
    """

    def __init__(
        self,
        view: CostMatrix,
        space: Trees,
        incumbent: Incumbent,
        watch: Watch,
        memory_mb: int | None = None,
        proves: bool = True,
    ) -> None:
        self.view, self.space, self.incumbent, self.watch = view, space, incumbent, watch
        self.memory_mb, self.proves = memory_mb, proves
        self.planes: dict[Plane, Tree] = {}
        self.best: Multipliers | None = None
        self.bound: Fraction | None = None
        self.infeasible = False
        self.runs = 0

    def maximise(self) -> None:
        """Raise the bound as far as multipliers can."""
        self._look_shallow()
        if self.ask(self._first) is None or self.incumbent.proven:
            return
        for k in range(self.view.n_actions):
            self.meet(Tree(Leaf(k), self.view.actions))
        if len(self.view.side) == 1:
            self._on_a_line()
        else:
            self._in_space()

    def _look_shallow(self) -> None:
        """Maximise for smaller trees, which is quick: the planes and the multipliers are good.

        The bound of smaller trees is no bound here.
        """
        self._first = Multipliers.none(len(self.view.side))
        if self.space.depth <= SHALLOW:
            return
        small = Dual(
            self.view,
            replace(self.space, max_depth=SHALLOW),
            self.incumbent,
            self.watch,
            self.memory_mb,
            proves=False,
        )
        try:
            small.maximise()
        finally:
            self.runs += small.runs
        self.planes.update(small.planes)
        self._first = small.best or self._first

    # -- one run of the dynamic programme -------------------------------------------------------------------

    def ask(self, multipliers: Multipliers) -> Plane | None:
        """Run `dp` at some multipliers; returns the lowest plane there, or None without a tree."""
        D, n = multipliers.denominator, multipliers.numerators

        def price(plane: Plane) -> int:
            return D * plane.cost + sum(m * t for m, t in zip(n, plane.totals, strict=True))

        def midway(bound: int) -> None:
            self._raise(multipliers, bound)

        tree, value = self._solve(multipliers.view_at(self.view), price, midway)
        if tree is None:
            self.infeasible = True
            return None
        self._raise(multipliers, value)
        return self.meet(tree)

    def _raise(self, multipliers: Multipliers, value: int) -> None:
        """Take note that no tree has a lower objective than `value` at some multipliers."""
        bound = multipliers.bound(value, self.view)
        if self.bound is None or bound > self.bound:
            self.best, self.bound = multipliers, bound
            if self.proves:
                self.incumbent.raise_bound(math.ceil(bound))

    def _solve(
        self,
        view: CostMatrix,
        price: Callable[[Plane], int],
        midway: Callable[[int], None] = lambda bound: None,
    ) -> tuple[Tree | None, int]:
        """The optimum of a view without side rows; `price` is its objective for known trees.

        The lowest of the known trees is where `dp` starts, which spares it the search for worse
        ones. `midway` is called with the bounds of the run.
        """
        limits = Limits(time=None, memory_mb=self.memory_mb)
        start = self.planes[min(self.planes, key=price)] if self.planes else None
        method = DynamicProgramme(ties="first")
        run = DpRun(method, view, self.space, limits, start, lambda _: midway(run.bound))
        run.prepare()
        run.compile()
        run.begin(self.watch.began, self.watch)
        run.go()
        self.runs += 1
        if run.limit is not None:
            midway(run.bound)
            if run.tree is not None:
                self.incumbent.offer(run.tree)
            raise Stopped(run.limit)
        return (None, 0) if run.tree is None else (run.tree, int(run.value or 0))

    def meet(self, tree: Tree) -> Plane:
        """Keep a tree as a plane, and offer it as an incumbent."""
        measured = self.incumbent.offer(tree)
        plane = Plane(measured.value, measured.totals)
        self.planes.setdefault(plane, tree)
        return plane

    # -- one row --------------------------------------------------------------------------------------------

    def _on_a_line(self) -> None:
        """Maximise over the multiplier of the only row."""
        row, none = self.view.side[0], Multipliers.none(1)
        while not self.incumbent.proven:
            low = min(self.planes)
            if not row.holds(low.totals[0]):
                if self._walk(row, low):
                    return
            else:
                found = self.ask(none)
                if found is None or row.holds(found.totals[0]) or found.cost >= low.cost:
                    return

    def _walk(self, row: SideRow, low: Plane) -> bool:
        """Walk from the cheapest known tree, which violates a bound, to where lines meet best.

        Returns False if a cheaper tree is found that does not violate this bound.
        """
        sign = 1 if row.upper is not None and low.totals[0] > row.upper else -1
        at = row.upper if sign > 0 else row.lower
        assert at is not None

        def excess(plane: Plane) -> int:
            return sign * (plane.totals[0] - int(at))

        high = min((p for p in self.planes if excess(p) <= 0), default=None)
        if high is None:
            high = self._least(row, sign)
            if high is None or excess(high) > 0:
                self.infeasible = True
                return True
        while not self.incumbent.proven:
            if high.cost < low.cost:
                return False
            if high.cost == low.cost:
                found = self.ask(Multipliers.none(1))
                return found is None or found.cost >= low.cost
            slope = Fraction(high.cost - low.cost, excess(low) - excess(high))
            here = low.cost + slope * excess(low)
            found = min(self.planes, key=lambda p: p.cost + slope * excess(p))
            if found.cost + slope * excess(found) >= here:
                multipliers, exactly = self._fitting(sign * slope)
                requested = self.ask(multipliers)
                if (
                    not exactly
                    or requested is None
                    or requested.cost + slope * excess(requested) >= here
                ):
                    return True
                found = requested
            if excess(found) > 0:
                low = found
            else:
                high = found
        return True

    def _least(self, row: SideRow, sign: int) -> Plane | None:
        """The tree with the smallest (largest, if `sign` is -1) total of a row."""
        nothing = np.zeros_like(self.view.split_costs)
        view = replace(self.view, costs=sign * row.coefs, leaf_cost=0, split_costs=nothing, side=())
        tree, _ = self._solve(view, lambda plane: sign * plane.totals[0])
        return None if tree is None else self.meet(tree)

    def _fitting(self, rational: Fraction) -> tuple[Multipliers, bool]:
        """The multiplier, or one close to it whose costs fit into 64 bits; whether it is exact.

        It is 0 if none does.
        """
        multipliers, most = Multipliers.of((rational,)), rational.denominator
        while not multipliers.fits(self.view):
            most //= 2
            if most == 0:
                return Multipliers.none(1), False
            multipliers = Multipliers.of((rational.limit_denominator(most),))
        return multipliers, most == rational.denominator

    # -- several rows ---------------------------------------------------------------------------------------

    def _in_space(self) -> None:
        """Maximise over the multipliers of several rows."""
        box, requested = 16.0, set()
        for _ in range(MOST_RUNS * len(self.view.side)):
            if self.incumbent.proven:
                return
            best = self._master(box)
            if best is None:
                return  # the bound so far stands: no multipliers are needed to prove it
            top, multipliers, outside = best
            assert self.bound is not None
            if (
                top - float(self.bound) <= ROUNDING * self.incumbent.unit
                or multipliers in requested
            ):
                if not outside or box > 1e6:
                    return
                box *= 16
                continue
            requested.add(multipliers)
            self.ask(multipliers)
            if self.bound > self.most:
                self.infeasible = True
                return

    @cached_property
    def most(self) -> int:
        """No tree costs more."""
        view, space = self.view, self.space
        splits = min(space.max_splits if space.max_depth is not None else 2**40, view.n_rows)
        return (
            int(view.costs.max(axis=1).sum())
            + view.leaf_cost * (splits + 1)
            + int(view.split_costs.max(initial=0)) * splits
        )

    def _master(self, box: float) -> tuple[float, Multipliers, bool] | None:
        """The best multipliers for the known planes, rounded, and their value.

        Also whether one of them is at the border of the box. None if the linear programme was not
        solved. Whatever the multipliers are, the bound that follows from them is computed in
        integers.
        """
        planes = np.array([(p.cost, *p.totals) for p in self.planes], dtype=np.int64)
        found = best_for_planes(planes, self.view.side, box)
        if found is None:
            return None
        return found.top, self._rounded(found.multipliers, found.excess), found.outside

    def _rounded(self, values: list[float], excess: np.ndarray) -> Multipliers:
        """Multipliers over a power of two that loses little of the bound and fits into 64 bits."""
        loss = float(np.abs(excess).max(axis=0).sum()) / (ROUNDING * self.incumbent.unit)
        bits = max(0, min(62, math.ceil(math.log2(max(1.0, loss)))))
        while True:
            scale = 2**bits
            multipliers = Multipliers(scale, tuple(round(v * scale) for v in values))
            if multipliers.act_on(self.view.side) and multipliers.fits(self.view):
                return multipliers
            if bits == 0:
                return Multipliers.none(len(values))
            bits -= 1
