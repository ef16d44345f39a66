"""All trees of a tiny problem, for what claims do not say: closed gaps, and numbers of trees.

It shares no code with `check_gap.py` and `check_count.py`, so that they check each other.

Those two leave trees out by bounds: the claims, penalties, allowances. This file leaves nothing out.
It goes through all trees within the limits and looks at no claim and no multiplier, so it is meant
for tiny problems. Trees that agree in every total are kept once, with their number.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from milp_trees.verification.reference_checker.reading import TooLarge, must

#: So many pairs of subtrees are looked at.
MOST = 5_000_000


class Listing:
    """The trees of a statement. A set of rows is a tuple of their positions."""

    def __init__(self, s: Any) -> None:
        self.s, self.pairs = s, 0
        self.every = tuple(range(len(s.X)))
        # Where both sides of every test hold rows, n different rows take at most n - 1 tests.
        different = len({tuple(answers) for answers in s.X})
        self.depth = different - 1 if s.depth is None else s.depth

    def sides(self, rows: Any, f: int) -> tuple[Any, Any]:
        no = tuple(i for i in rows if not self.s.X[i][f])
        return no, tuple(i for i in rows if self.s.X[i][f])

    def allowed(self, rows: Any) -> bool:
        return all(sum(amounts[i] for i in rows) >= least for least, amounts in self.s.minima)

    def few(self, leaves: int) -> bool:
        return self.s.leaves is None or leaves <= self.s.leaves

    def work(self, pairs: int) -> None:
        self.pairs += pairs
        if self.pairs > MOST:
            raise TooLarge("The second checker lists all trees, and here there are too many.")


# -- closed gaps -----------------------------------------------------------------------------------


def close_gap(s: Any) -> int:
    """Z of the file's tree; Refused if a tree that keeps the side rows costs less."""
    must(s.value is not None, "There is no tree to compare with.")
    must(not s.lists, "Gaps are closed for trees.")
    least = s.value
    for cost, _, *totals in _totals(s):
        kept = True
        for total, (_, low, high) in zip(totals, s.side):
            kept = kept and (low is None or total >= low) and (high is None or total <= high)
        least = min(least, cost) if kept else least
    must(least == s.value, f"A tree that keeps the side rows has Z of {least}.")
    return int(s.value)


def _totals(s: Any) -> Any:
    """(Z, number of leaves, totals of the side rows) of all trees with all actions of leaves.

    Tests with an empty side are among them if the depth is limited. Otherwise there is no end of
    them; but the tree on the other side costs no more, and has the same totals and fewer leaves.
    """
    of, tables = Listing(s), [s.costs, *(coefs for coefs, _, _ in s.side)]

    @lru_cache(None)
    def totals(rows: Any, depth: int) -> Any:
        out = set()
        if of.allowed(rows):
            for k in range(len(s.costs[0])):
                Z, *side = [sum(table[i][k] for i in rows) for table in tables]
                out.add((Z + s.leaf_cost, 1, *side))
        for f in range(len(s.split) if depth else 0):
            no, yes = of.sides(rows, f)
            if s.depth is None and not (no and yes):
                continue
            left, right = totals(no, depth - 1), totals(yes, depth - 1)
            of.work(len(left) * len(right))
            for x in left:
                for y in right:
                    Z, leaves, *side = [a + b for a, b in zip(x, y)]
                    if of.few(leaves):
                        out.add((Z + s.split[f], leaves, *side))
        return out

    return totals(of.every, of.depth)


# -- numbers of trees ------------------------------------------------------------------------------


def count(s: Any, allowance: int, trivial: bool, equal_tests: str) -> tuple[int, int | None]:
    """How many trees have Z of at most `allowance`, and the least Z of those.

    Both sides of a test hold rows, and a leaf has the cheapest action, the first of ties.
    """
    of = Listing(s)

    def cheapest(rows: Any) -> tuple[int, int]:
        return min((sum(s.costs[i][k] for i in rows), k) for k in range(len(s.costs[0])))

    def stands_for_others(rows: Any, f: int) -> bool:
        """Whether test f is the cheapest, then the first, of those that divide the rows alike."""
        alike = [g for g in range(len(s.split)) if set(of.sides(rows, g)) == set(of.sides(rows, f))]
        return f == min(alike, key=lambda g: (s.split[g], g))

    @lru_cache(None)
    def numbers(rows: Any, depth: int) -> Any:
        """Number of trees by Z, number of leaves, and the action if the tree is a leaf."""
        out: dict[Any, int] = {}
        if of.allowed(rows):
            Z, k = cheapest(rows)
            out[Z + s.leaf_cost, 1, k] = 1
        for f in range(len(s.split) if depth else 0):
            no, yes = of.sides(rows, f)
            if not (no and yes) or (equal_tests == "one" and not stands_for_others(rows, f)):
                continue
            left, right = numbers(no, depth - 1), numbers(yes, depth - 1)
            of.work(len(left) * len(right))
            for (Z, leaves, k), m in left.items():
                for (more, others, action), n in right.items():
                    siblings_alike = k is not None and k == action
                    if of.few(leaves + others) and (trivial or not siblings_alike):
                        key = Z + more + s.split[f], leaves + others, None
                        out[key] = out.get(key, 0) + m * n
        return out

    every = numbers(of.every, of.depth).items()
    within = {key: n for key, n in every if key[0] <= allowance}
    return sum(within.values()), min((cost for cost, *_ in within), default=None)
