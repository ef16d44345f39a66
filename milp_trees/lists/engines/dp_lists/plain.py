"""The search of `dp-lists` in plain Python: the specification of the compiled search.

Its names are those of the compiled search. A set of rows is an integer whose bits are the rows. All
values are sums of regrets and prices. There is one table of lower bounds, on the rows with the
largest regrets. Complexity of a prefix with n rows left: M n sums for M antecedents.
`tests/unit/engines/test_plain_lists.py` compares it with `dp-lists`.
"""

from __future__ import annotations

import math
from heapq import heappop, heappush

import numpy as np

from milp_trees.tasks.views import CostMatrix


class PlainLists:
    """The best rule list.

    Parameters
    ----------
    view : CostMatrix
        Rules cost at least 0.
    longest : int or None
        Largest number of rules.
    least_rows : int
        Smallest number of rows that a rule captures.
    table_rows : int, default=4
        Rows of the table of lower bounds.
    """

    def __init__(
        self, view: CostMatrix, longest: int | None, least_rows: int, table_rows: int = 4
    ) -> None:
        n, M = view.X.shape
        self.regret, self.counts = view.regret.tolist(), view.counts.tolist()
        self.price = (view.split_costs + view.leaf_cost).tolist()
        self.sets = [sum(1 << r for r in range(n) if view.X[r, a]) for a in range(M)]
        self.everything, self.constant = (1 << n) - 1, int(view.base.sum()) + view.leaf_cost
        self.limit, self.least_rows = longest, least_rows
        largest = np.argsort(-view.regret.max(axis=1, initial=0), kind="stable")[:table_rows]
        self.table = sum(1 << r for r in largest.tolist())
        #: (rows of the table, rules that are left) → cost of the best list on these rows.
        self.values: dict[tuple[int, int | None], int] = {}

    def rows_of(self, bits: int) -> list[int]:
        """The rows of a set."""
        return [r for r in range(bits.bit_length()) if bits >> r & 1]

    def regret_of(self, bits: int) -> int:
        """The least sum of regrets, over the actions: what a rule that captures the set costs."""
        rows = self.rows_of(bits)
        return min(map(sum, zip(*(self.regret[r] for r in rows), strict=True))) if rows else 0

    def bound(self, bits: int, left: int | None) -> int:
        """Cost of the best list on those rows of a set that the table has.

        No list costs less on the whole set, since regrets are not negative.
        """
        few = bits & self.table
        if (few, left) not in self.values:
            best = self.regret_of(few)
            for a, price in enumerate(self.price if left != 0 else []):
                here = few & self.sets[a]
                if here:
                    rest = self.bound(few & ~here, below(left))
                    best = min(best, price + self.regret_of(here) + rest)
            self.values[few, left] = best
        return self.values[few, left]

    def objective(self) -> int:
        """Objective of an optimal list.

        Prefixes are expanded in the order of their lower bounds, until the bound of the next one is
        that of the best list. Prefixes that leave the same rows, and as many rules, are one: the
        cheapest is kept.
        """
        begin = self.everything, self.limit
        best, cost = self.regret_of(self.everything), {begin: 0}
        waiting = [(self.bound(*begin), 0, 0, begin)]
        while waiting and waiting[0][0] < best:
            _, _, paid, (bits, left) = heappop(waiting)
            if left == 0 or paid > cost[bits, left]:
                continue  # no rule may follow, or the set was reached again at less cost
            for a, price in enumerate(self.price):
                captured = bits & self.sets[a]
                rows = sum(self.counts[r] for r in self.rows_of(captured))
                if not captured or rows < self.least_rows:
                    continue
                child = bits & ~captured, below(left)
                here = paid + price + self.regret_of(captured)
                best = min(best, here + self.regret_of(child[0]))
                low = here + self.bound(*child)
                if low < best and here < cost.get(child, math.inf):
                    cost[child] = here
                    heappush(waiting, (low, len(cost), here, child))
        return best + self.constant


def below(left: int | None) -> int | None:
    """Rules that are left after one more; None is any number."""
    return None if left is None else left - 1
