"""The recursion of `dp` in plain Python, with the names of the compiled search: its specification.

A set of rows is an integer whose bits are the rows. All values are sums of regrets, leaves and
splits. Complexity of a node with n rows: n F² sums; there is no bound from similar sets, no order of
tests and no smaller side. `tests/unit/engines/test_plain.py` compares it with `dp`.
"""

from __future__ import annotations

import numpy as np

from milp_trees.models.space import Trees
from milp_trees.tasks.views import CostMatrix

INFINITY = 2**60


class Plain:
    """Optimal values of sets of rows.

    Parameters
    ----------
    view : CostMatrix
        Reduced; its side rows are ignored.
    space : Trees
        Its largest number of leaves is ignored.
    """

    def __init__(self, view: CostMatrix, space: Trees) -> None:
        n, F = view.X.shape
        amounts, least = zip((view.counts, max(1, space.min_samples_leaf)), *view.leaf_minima)
        self.values = np.column_stack([view.regret, *amounts]).tolist()
        self.K, self.least = view.n_actions, least
        self.leaf, self.split = view.leaf_cost, view.split_costs.tolist()
        self.tests = [sum(1 << r for r in range(n) if view.X[r, f]) for f in range(F)]
        self.everything, self.constant = (1 << n) - 1, int(view.base.sum())
        self.least_split = min(self.split, default=0)
        self.depth = min(F, n) if space.max_depth is None else min(space.max_depth, F, n)
        #: (set, depth) → (optimum, True), or (a lower bound above a budget, False).
        self.table: dict[tuple[int, int], tuple[int, bool]] = {}

    def objective(self) -> int | None:
        """Objective of an optimal tree, None if no tree is allowed."""
        value, _ = self.solve(self.everything, self.depth, INFINITY - 1)
        return None if value >= INFINITY else value + self.constant

    def sums(self, bits: int) -> list[int]:
        """Costs of every action, rows and what else leaves need, summed over a set."""
        total = [0] * (self.K + len(self.least))
        while bits:
            row = self.values[(bits & -bits).bit_length() - 1]
            total = [a + b for a, b in zip(total, row, strict=True)]
            bits &= bits - 1
        return total

    def leaf_value(self, total: list[int]) -> int:
        """Cost of one leaf, INFINITY if it is too small."""
        if any(have < need for have, need in zip(total[self.K :], self.least, strict=True)):
            return INFINITY
        return min(total[: self.K]) + self.leaf

    def best_two(self, bits: int, depth: int) -> int:
        """Best tree of a depth up to two, from the sums for all pairs of tests."""
        total, F = self.sums(bits), range(len(self.tests))
        best = self.leaf_value(total)
        pairs = [[self.sums(bits & self.tests[i] & self.tests[j]) for j in F] for i in F]

        def side(whole: list[int], parts: list[list[int]]) -> int:
            """A leaf, or one split of a side into these parts and what is left."""
            values = [self.leaf_value(whole)]
            for j, part in enumerate(parts if depth == 2 else []):
                two = self.leaf_value(part) + self.leaf_value(subtract(whole, part))
                values.append(two + self.split[j])
            return min(values)

        for i in F if depth else []:
            right = side(pairs[i][i], pairs[i])
            rest = [subtract(pairs[j][j], pairs[i][j]) for j in F]
            left = side(subtract(total, pairs[i][i]), rest)
            best = min(best, left + right + self.split[i])
        return min(best, INFINITY)

    def bound_of(self, bits: int, depth: int) -> tuple[int, bool]:
        """(value or lower bound, whether it is the value) without a search.

        It is that of the table, or that of look-ahead: a tree with four leaves costs at least
        `four`, and the others have depth two.
        """
        value, exact = self.table.get((bits, depth), (self.leaf, False))
        two, known = self.table.get((bits, 2), (0, False))
        four = 4 * self.leaf + 3 * self.least_split
        return (max(value, min(two, four)), False) if known and not exact else (value, exact)

    def solve(self, bits: int, depth: int, budget: int) -> tuple[int, bool]:
        """(optimum, True) if it is at most the budget, else (a lower bound above it, False)."""
        value, exact = self.table.get((bits, depth), (0, False))
        if exact or value > budget:
            return value, exact and value <= budget
        best = lowest = self.best_two(bits, min(2, depth))
        self.table[bits, 2] = best, True
        if depth > 2 and best > 4 * self.leaf + 3 * self.least_split:
            for f, test in enumerate(self.tests):
                goal = min(best, budget + 1)
                total, exact = self.try_test(bits & ~test, bits & test, depth - 1, goal, f)
                best, lowest = min(best, total) if exact else best, min(lowest, total)
        exact = best <= budget
        value = best if exact else max(lowest, budget + 1)
        self.table[bits, depth] = value, exact
        return value, exact

    def try_test(self, left: int, right: int, depth: int, goal: int, f: int) -> tuple[int, bool]:
        """The best tree with a root test; a side may cost what the other's bound leaves."""
        if not left or not right:
            return INFINITY, False
        other = self.bound_of(right, depth)[0]
        value, exact = self.solve(left, depth, goal - 1 - self.split[f] - other)
        if not exact:
            return value + other + self.split[f], False
        other, exact = self.solve(right, depth, goal - 1 - self.split[f] - value)
        return value + other + self.split[f], exact


def subtract(a: list[int], b: list[int]) -> list[int]:
    """a - b."""
    return [x - y for x, y in zip(a, b, strict=True)]
