r"""The dual of state-flow in exact integers, and the claims of a proof that it amounts to.

The dual has a number per state s and a row per column c that leaves it,

.. math:: y_s\le\mathrm{cost}_c+\sum_{t\text{ entered by }c}y_t ,

so :math:`y_s` is a lower bound of what trees cost on the rows of s with the depth that is left.
That is what a claim of a proof says, and the rows of the dual are the rules by which a claim
follows from others (`docs/guide/proofs.md`). One pass from the last level to the root gives the largest
dual solution, without rounding. Side rows are priced with multipliers: the solver's duals, rounded
to fractions. The pass comes after the rounding, so an error of the solver can make a bound low, and
never wrong.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from milp_trees.common.errors import Unsupported
from milp_trees.engines.hypergraph.graph import SPLIT
from milp_trees.engines.hypergraph.parts import least_below, levels
from milp_trees.methods.claims import Claims

if TYPE_CHECKING:
    from milp_trees.common.limits import Deadline
    from milp_trees.engines.hypergraph.graph import States
    from milp_trees.tasks.views import CostMatrix

#: Sums of absolute costs are below this; then the checker takes them.
MOST = 2**53
#: Denominators of multipliers that are tried.
DENOMINATORS = tuple(10**k for k in range(7))
#: With so many tests left the checker finds the best trees by itself.
RECOMPUTED = 2


class Prices(NamedTuple):
    """Multipliers of the side rows over a common denominator.

    With them a row costs `denominator * costs + multipliers * coefs`, and a bound of the priced
    problem, minus `constant`, is `denominator` times a bound of the problem.
    """

    multipliers: tuple[int, ...] = ()
    denominator: int = 1

    @classmethod
    def near(cls, view: CostMatrix, duals: np.ndarray, denominator: int) -> Prices:
        """Prices near the duals of the side rows."""
        found = []
        for row, dual in zip(view.side, duals.tolist(), strict=True):
            number = round(-dual * denominator)
            found.append(0 if (row.upper if number > 0 else row.lower) is None else number)
        common = int(np.gcd.reduce([denominator, *found]))
        return cls(tuple(number // common for number in found), denominator // common)

    def constant(self, view: CostMatrix) -> int:
        """What is subtracted from a bound of the priced problem."""
        return sum(
            number * int((row.upper if number > 0 else row.lower) or 0)
            for number, row in zip(self.multipliers, view.side, strict=True)
        )

    def bound(self, priced: int, view: CostMatrix) -> int:
        """The bound of the problem that follows from one of the priced problem."""
        return -((self.constant(view) - priced) // self.denominator)

    def fit(self, view: CostMatrix) -> bool:
        """Whether sums at these prices are so small that they can be checked."""
        most = np.abs(view.costs).max(axis=1, initial=0).astype(float)
        most = (most.sum() + view.leaf_cost + view.split_costs.max(initial=0)) * self.denominator
        for number, row in zip(self.multipliers, view.side, strict=True):
            most += abs(number) * np.abs(row.coefs).max(axis=1, initial=0).astype(float).sum()
        return bool(most < MOST / 8)

    def columns(self, h: States) -> np.ndarray:
        """Cost of every column, above `denominator * view.base` of its rows."""
        side = h.side[:, : len(self.multipliers)] @ np.array(self.multipliers, dtype=np.int64)
        return h.cost * self.denominator + side  # type: ignore[no-any-return]

    def excess(self, view: CostMatrix) -> np.ndarray:
        """Per row, the cheapest action at these prices above `denominator * view.base`."""
        priced = view.costs * self.denominator
        for number, row in zip(self.multipliers, view.side, strict=True):
            priced = priced + row.coefs * number
        return priced.min(axis=1) - view.base * self.denominator  # type: ignore[no-any-return]


def largest(h: States, cost: np.ndarray) -> np.ndarray:
    """The largest dual solution: what the best tree costs in every state."""
    return least_below(h, cost)[1][:-1]


def bound_of(h: States, duals: np.ndarray, error: int) -> int:
    """A lower bound on the cost of all trees that the duals of a solver prove, in integers.

    From the last level to the root a state gets its dual, rounded, plus a number that is more than
    the solver's error, or less if a column asks for less. These numbers satisfy every row of the
    dual, whatever the solver returned; if its duals were right, they lose nothing.
    """
    claimed = np.clip(np.ceil(duals), -(2.0**60), 2.0**60).astype(np.int64) + error
    value = np.empty(h.n_states + 1, dtype=np.int64)
    value[:-1], value[-1] = claimed, 0
    for begin, end in reversed(levels(h)):
        here = slice(*np.searchsorted(h.state, [begin, end]).tolist())
        most = h.cost[here] + value[h.child_left[here]] + value[h.child_right[here]]
        np.minimum.at(value, h.state[here], most)
    return int(value[0])


def claims(
    h: States,
    view: CostMatrix,
    whole: CostMatrix,
    duals: np.ndarray | None,
    deadline: Deadline,
) -> Claims:
    """The proof of the bound that a dual solution of the relaxation gives."""
    if not h.n_columns:
        raise Unsupported("There is no feasible tree, so there is no bound to prove.")
    tried = (
        [Prices()]
        if duals is None
        else [Prices.near(view, duals, denominator) for denominator in DENOMINATORS]
    )
    best: tuple[int, Prices, np.ndarray] | None = None
    base = int(view.base.sum())
    for prices in filter(lambda p: p.fit(view), dict.fromkeys(tried)):
        deadline.check()
        y = largest(h, prices.columns(h))
        bound = prices.bound(prices.denominator * base + int(y[0]), view)
        if best is None or bound > best[0]:
            best = bound, prices, y
    if best is None:
        raise Unsupported(
            "Costs with so many digits have no proof in 64-bit integers; give coarser costs or weights."
        )
    _, prices, y = best
    items = Selection(h, view, whole, prices, y).claims(deadline)
    return Claims(items, prices.multipliers, prices.denominator, {"states": h.n_states})


class Selection:
    """The claims that the claim about the root needs, none higher than it is needed.

    Parameters
    ----------
    h, view, whole
        As for `claims`.
    prices : Prices
    y : int64 array of shape (n_states,)
        A dual solution at these prices.
    """

    def __init__(
        self, h: States, view: CostMatrix, whole: CostMatrix, prices: Prices, y: np.ndarray
    ) -> None:
        self.h, self.view, self.prices, self.y = h, view, prices, y
        q = prices.denominator
        self.excess = prices.excess(view)
        self.leaf, self.split = q * view.leaf_cost, q * view.split_costs
        # What four leaves and three tests cost at least; trees with fewer have two levels.
        cheapest = int(whole.split_costs.min()) if whole.n_features else 0
        self.large = q * (4 * view.leaf_cost + 3 * cheapest)
        self.step = [whole.index[feature] + 1 for feature in view.features]
        #: What is needed of a state, and a path to it; states that are not here need no claim.
        self.need: dict[int, int] = {0: int(y[0])}
        self.path: dict[int, tuple[tuple[int, bool], ...]] = {0: ()}
        self.waiting = [0]

    def claims(self, deadline: Deadline) -> list[tuple[Any, ...]]:
        """All claims, each after those that it follows from."""
        out: list[tuple[Any, ...]] = []
        while self.waiting:  # a state has a larger number than the states above it
            deadline.check()
            s = heapq.heappop(self.waiting)
            rows = np.ones(self.view.n_rows, dtype=bool)
            for f, yes in self.path[s]:
                rows &= self.view.X[:, f] == yes
            base = self.prices.denominator * int(self.view.base[rows].sum())
            path = [self.step[f] if yes else -self.step[f] for f, yes in self.path[s]]
            out.append((base + self.need[s], int(self.h.depth_left[s]), path))
            if self.h.depth_left[s] > RECOMPUTED + 1:
                self._ask(s, rows)
        return out[::-1]

    def _ask(self, s: int, rows: np.ndarray) -> None:
        """Need as much of the states below s as its claim follows from."""
        h = self.h
        columns = np.arange(*h.columns_of(s).indices(h.n_columns))
        X, excess = self.view.X[rows].astype(np.int64), self.excess[rows]
        size, above = X.sum(axis=0), excess @ X
        for c in columns[h.kind[columns] == SPLIT].tolist():
            f = int(h.test[c])
            child = int(h.child_left[c]), int(h.child_right[c])
            free = (
                self._free(child[0], int(excess.sum() - above[f])),
                self._free(child[1], int(above[f])),
            )
            many = len(X) - int(size[f]), int(size[f])
            have = [max(free[i], self.need.get(child[i], free[i])) for i in (0, 1)]
            lacking = self.need[s] - int(self.split[f]) - sum(have)
            # One side if it can do: first one that has a claim already, then the smaller one.
            order = sorted((0, 1), key=lambda i: (child[i] not in self.need, many[i]))
            enough = [i for i in order if self.y[child[i]] - have[i] >= lacking]
            for i in enough[:1] or order:
                more = min(lacking, int(self.y[child[i]]) - have[i])
                if more > 0:
                    lacking -= more
                    self._raise(child[i], have[i] + more, (*self.path[s], (f, bool(i))))

    def _free(self, t: int, excess: int) -> int:
        """What the checker finds by itself about a state."""
        if self.h.depth_left[t] <= RECOMPUTED:
            return int(self.y[t])
        return excess + max(self.leaf, min(int(self.y[t]) - excess, self.large))

    def _raise(self, t: int, need: int, path: tuple[tuple[int, bool], ...]) -> None:
        if t not in self.need:
            self.path[t] = path
            heapq.heappush(self.waiting, t)
        self.need[t] = need
