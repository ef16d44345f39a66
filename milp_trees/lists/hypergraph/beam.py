"""Good rule lists that satisfy the side rows, by a beam search at prices of the side rows.

On every level some sequences of antecedents are kept, with the actions that are cheapest at prices.
Every extension by one antecedent is completed by a default rule, and the most promising ones are
tried with other actions; the cheapest list that satisfies the side rows is the incumbent. All lists
that are met are planes `cost + Σ multiplier · (total - bound)`; the multipliers with the largest
minimum of these are the prices of the next search. Nothing is proven here: an incumbent only says
which columns need not be made, and any multipliers are valid prices.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from milp_trees.engines.lagrangian.multipliers import Multipliers
from milp_trees.lists.hypergraph.levels import Rules
from milp_trees.lists.hypergraph.prices import best_prices
from milp_trees.tasks.views import CostMatrix

#: Sequences kept per level, numbers that one level may hold, and searches at most.
WIDTH, MOST_NUMBERS, ROUNDS = 256, 4_000_000, 6
#: Sequences with the same rows left, planes kept of a level, lists asked about structure.
SAME_ROWS, PLANES, ASKED = 4, 300, 50
#: Levels without a better list after which a search ends.
PATIENCE = 6
#: Choices of actions that are tried for a sequence.
MOST_CHOICES = 1024


class Listed(NamedTuple):
    """A list as (antecedent, action) of its rules and the default action.

    `cost` is above `view.base`; `totals` are those of the side rows.
    """

    cost: int
    totals: tuple[int, ...]
    rules: tuple[tuple[int, int], ...]
    default: int


class _Sequences(NamedTuple):
    """Sequences of antecedents.

    Parameters
    ----------
    left : bool array of shape (W, n)
        Rows that they do not capture.
    sums : int64 array of shape (W, L, V)
        Sums of the values over the rows that each antecedent captures.
    tests : int64 array of shape (W, L)
    """

    left: np.ndarray
    sums: np.ndarray
    tests: np.ndarray


class Beam:
    """Searches for lists of a view.

    Parameters
    ----------
    view : CostMatrix
        With its side rows; it is best if its rows are merged.
    rules : Rules
    holds : callable, optional
        Whether a list satisfies what else is demanded; by default nothing is.
    note : callable, optional
        Called with every list that is better than all before.

    Attributes
    ----------
    best : Listed or None
        The cheapest list that was met and satisfies all.
    multipliers : Multipliers
        The best prices that are known after the last search.
    """

    def __init__(
        self,
        view: CostMatrix,
        rules: Rules,
        holds: Callable[[Listed], bool] = lambda _: True,
        note: Callable[[Listed], None] = lambda _: None,
    ) -> None:
        self.view, self.rules, self.holds, self.note = view, rules, holds, note
        self.best: Listed | None = None
        self.multipliers = Multipliers.none(len(view.side))
        self.K, self.S = view.n_actions, len(view.side)
        values = np.column_stack([view.regret, *(r.coefs for r in view.side), view.counts])
        largest = sum(int(v) for v in np.abs(values).sum(axis=0, dtype=object))
        kind = np.float64 if largest < 2**53 else np.int64  # products of floats are faster
        self.values, self.X = values.astype(kind), view.X.astype(kind)
        self.planes: list[np.ndarray] = []

    def search(self) -> None:
        """Search without prices, and at better prices as long as there are any."""
        seen: set[Multipliers] = set()
        while len(seen) < (ROUNDS if self.S else 1) and self.multipliers not in seen:
            seen.add(self.multipliers)
            self._search()
            if self.S:
                self.planes = [np.unique(np.concatenate(self.planes), axis=0)]
                found = best_prices(self.planes[0], self.view)
                self.multipliers = self.multipliers if found is None else found

    # -- one search --------------------------------------------------------------------------------

    def _search(self) -> None:
        V = self.values.shape[1]
        every = np.ones((1, self.view.n_rows), dtype=bool)
        now = _Sequences(every, np.zeros((1, 0, V), np.int64), np.zeros((1, 0), np.int64))
        total = np.rint(self.values.sum(axis=0)).astype(np.int64)
        self._try(total[None, None], now.tests)
        price = self.view.leaf_cost + int(self.view.split_costs.min(initial=2**61))
        best, since = self.best, 0
        for length in range(1, self.rules.length + 1):
            if self.best is not None and length * price >= self.best.cost:
                return  # no list of so many rules costs less
            now = self._extended(now, length == self.rules.length)
            since = since + 1 if self.best is best else 0
            best = self.best
            if not len(now.left) or (since == PATIENCE and best is not None):
                return

    def _extended(self, now: _Sequences, last: bool) -> _Sequences:
        """The sequences with one antecedent more that are kept, after all were completed."""
        left = now.left.astype(self.values.dtype)
        total = np.rint(left @ self.values).astype(np.int64)
        captured = np.rint(
            [(left * self.values[:, v]) @ self.X for v in range(self.values.shape[1])]
        ).astype(np.int64)
        allowed = (captured[-1] >= self.rules.least) & (captured[-1] < total[:, -1:])
        at, test = np.nonzero(allowed)
        caught = captured[:, at, test].T
        before = self._priced(now.sums, True).sum(axis=1)[at] + self._prices_of(now.tests)[at]
        here = before + self._priced(caught[:, None], True)[:, 0]
        here = here + self.view.leaf_cost + self.view.split_costs[test]
        whole = here + self._priced((total[at] - caught)[:, None], False)[:, 0]
        chosen = np.argsort(whole, kind="stable")
        leaves = now.tests.shape[1] + 2
        most = max(1, MOST_NUMBERS // (leaves * len(self._ranks(leaves))))
        first = chosen[:most]
        sums = np.concatenate(
            [now.sums[at[first]], caught[first, None], (total[at] - caught)[first, None]], axis=1
        )
        self._try(sums, np.column_stack([now.tests[at[first]], test[first]]))
        if last:
            return _Sequences(now.left[:0], now.sums[:0], now.tests[:0])
        return self._kept(now, at, test, caught, here, whole)

    def _prices_of(self, tests: np.ndarray) -> np.ndarray:
        return (self.view.leaf_cost + self.view.split_costs[tests]).sum(axis=1)

    def _at_prices(self, sums: np.ndarray, of_rules: bool) -> np.ndarray:
        """Costs at prices of every action for sums of the values, shape (…, K)."""
        K, n = self.K, self.multipliers
        out = sums[..., :K].astype(float)
        for j in range(self.S):
            out += n.numerators[j] / n.denominator * sums[..., K * (1 + j) : K * (2 + j)]
        if of_rules and self.rules.only_default >= 0:
            out[..., self.rules.only_default] = np.inf
        return out

    def _priced(self, sums: np.ndarray, of_rules: bool) -> np.ndarray:
        least: np.ndarray = self._at_prices(sums, of_rules).min(axis=-1)
        return least

    def _ranks(self, leaves: int) -> np.ndarray:
        """Which actions are tried: for every leaf its place in the order of costs at prices."""
        places = self.K - (self.rules.only_default >= 0)
        if not self.S and not self._asks:
            return np.zeros((1, leaves), dtype=np.int64)
        if max(places, 1) ** leaves <= MOST_CHOICES:
            ends = [*[range(max(places, 1))] * (leaves - 1), range(self.K)]
            return np.array(list(itertools.product(*ends)), dtype=np.int64)
        out = np.zeros((1 + leaves, leaves), dtype=np.int64)
        out[1:][np.diag_indices(leaves)] = 1  # one leaf at a time
        return out

    @property
    def _asks(self) -> bool:
        return bool(self.view.structure)

    def _try(self, sums: np.ndarray, tests: np.ndarray) -> None:
        """Offer lists of these sequences, whose last leaf is the default rule."""
        K, S, (W, leaves, _) = self.K, self.S, sums.shape
        order = np.concatenate(
            [
                np.argsort(self._at_prices(sums[:, :-1], True), axis=2, kind="stable"),
                np.argsort(self._at_prices(sums[:, -1:], False), axis=2, kind="stable"),
            ],
            axis=1,
        )
        ranks = self._ranks(leaves)
        action = np.stack([order[:, leaf, ranks[:, leaf]] for leaf in range(leaves)], axis=2)
        at, leaf = np.arange(W)[:, None, None], np.arange(leaves)[None, None]
        cost = sums[at, leaf, action].sum(axis=2) + self.view.leaf_cost
        cost += self._prices_of(tests)[:, None]
        totals = [sums[at, leaf, K * (1 + j) + action].sum(axis=2) for j in range(S)]
        fits = np.ones(cost.shape, dtype=bool)
        for row, total in zip(self.view.side, totals, strict=True):
            fits &= total >= (-(2**62) if row.lower is None else row.lower)
            fits &= total <= (2**62 if row.upper is None else row.upper)
        if self.rules.only_default >= 0:
            fits &= (action[:, :, :-1] != self.rules.only_default).all(axis=2)
        if self.best is not None:
            fits &= cost < self.best.cost
        good = np.flatnonzero(fits)
        for c in good[np.argsort(cost.ravel()[good], kind="stable")][:ASKED].tolist():
            w, r = divmod(c, len(ranks))
            rules = zip(tests[w].tolist(), action[w, r, :-1].tolist(), strict=True)
            side = tuple(int(total[w, r]) for total in totals)
            found = Listed(int(cost[w, r]), side, tuple(rules), int(action[w, r, -1]))
            if self.holds(found):
                self.best = found
                self.note(found)
                break
        if S:
            planes = np.stack([cost, *totals], axis=2)[:, 0]
            self.planes.append(planes[:PLANES])

    def _kept(
        self,
        now: _Sequences,
        at: np.ndarray,
        test: np.ndarray,
        caught: np.ndarray,
        here: np.ndarray,
        whole: np.ndarray,
    ) -> _Sequences:
        """The sequences with the least costs at prices: half with a default rule, half alone."""
        view = self.view
        values = np.concatenate([view.regret, *(row.coefs for row in view.side)], axis=1)
        free = self._priced(values, False)  # the least cost of every row
        rest = here - ((now.left * free) @ view.X)[at, test]
        rest += (now.left * free).sum(axis=1)[at]
        width = max(1, min(WIDTH, MOST_NUMBERS // max(1, view.n_features * values.shape[1])))
        taken: list[int] = []
        same: dict[bytes, int] = {}
        for score in (whole, rest):
            enough = len(taken) + (width + 1) // 2
            for c in np.argsort(score, kind="stable")[: 20 * width].tolist():
                key = (now.left[at[c]] & (view.X[:, test[c]] == 0)).tobytes()
                if c in taken or same.get(key, 0) >= (SAME_ROWS if self.S else 1):
                    continue
                same[key] = same.get(key, 0) + 1
                taken.append(c)
                if len(taken) >= enough:
                    break
        chosen = np.array(taken, dtype=np.int64)
        return _Sequences(
            now.left[at[chosen]] & (view.X[:, test[chosen]].T == 0),
            np.concatenate([now.sums[at[chosen]], caught[chosen, None]], axis=1),
            np.column_stack([now.tests[at[chosen]], test[chosen]]),
        )
