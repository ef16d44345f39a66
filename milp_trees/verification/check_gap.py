"""Closes the gap that multipliers leave. Needs Python, numpy, and check_count.py beside it.

    python check_gap.py PROOF [DATA]

The file is a proof about trees with side rows, as check_proof.py reads it, and one more line at its
end, `{"closed": true}`, which says: no tree that keeps the side rows costs less than the file's tree.

The claims are about priced costs, q Z + sum of mu_j s_j, and prove a bound below the tree's value V. A
tree that keeps the side rows and has Z of at most V - 1 has priced costs of at most
A = q (V - 1) + sum of mu_j b_j. All trees with priced costs of at most A are therefore listed, in the
states of check_count.py (its bounds hold whatever actions the leaves choose); but a leaf may now have
any action, since side rows see actions, and a state keeps the totals (Z, s_1, ...) of its trees
instead of their numbers. Of trees of one state with the same side totals only the cheapest is kept, for
Z has no lower limit, and of tests that divide the rows alike only the cheapest one. A test with an
empty side can be left out, which changes no side total and does not raise Z. If the number of leaves
is limited, it is a total like those of the side rows. The gap is closed if no tree of the first state
keeps the side rows and the limits and has Z of at most V - 1.
"""

# mypy: ignore-errors

from __future__ import annotations

import json
import sys
from typing import Any

if __package__:
    from milp_trees.verification import check_count as counts
    from milp_trees.verification import check_proof as proofs
    from milp_trees.verification import proof_reading as reading
else:  # first, since it sets the number of numpy's threads
    import check_count as counts  # type: ignore[import-not-found, no-redef]
    import check_proof as proofs  # type: ignore[import-not-found, no-redef]
    import proof_reading as reading  # type: ignore[import-not-found, no-redef]

import numpy as np

need = reading.need
#: Totals of this many trees are kept at once, and so many pairs are looked at in one step.
MOST, STEP = 20_000_000, 2**20


class Totals(counts.Trees):
    """Totals of all trees with priced costs of at most `allowance` above the cheapest actions.

    A table has a row per tree: priced costs above the cheapest actions, Z, and the side totals; then
    the number of leaves, if it is limited.
    """

    def __init__(self, instance, depth, leaves, allowance, values, q):
        # values[g, k]: priced costs, Z and side totals of the merged row g with action k
        none = np.zeros((*values.shape[:2], int(leaves is not None)), np.int64)
        self.values, self.q = np.concatenate([values, none], axis=2), q
        super().__init__(instance, depth, leaves, allowance, equal_tests="one")

    def _leaves(self, sums, held):
        """Totals of a leaf by action, given sums of `values`, or the cheapest costs of its rows."""
        leaf = sums - np.concatenate([held[..., None], 0 * sums[..., 0, 1:]], axis=-1)[..., None, :]
        leaf[..., :2] += self.of.leaf_cost, self.of.leaf_cost // self.q
        leaf[..., -1] += self.a_leaf
        return leaf

    def _test(self, cost):
        """What a test adds to the totals."""
        return np.array([cost, cost // self.q, *[0] * (self.values.shape[2] - 2)])

    def _stumps(self, state):
        """The trees of one test, with every pair of actions."""
        of, S = self.of, state.S
        part = proofs.Part(of, S)
        yes = of.X[np.ix_(S, part.tests)] > 0
        both, K = [], self.values.shape[1]
        for side in (~yes, yes):
            sums = np.tensordot(side.T.astype(np.int64), self.values[S], 1)
            bad = of.leaf(part.sums if side is yes else part.total[:, None] - part.sums)
            both.append((self._leaves(sums, side.T @ of.base[S]), bad >= proofs.HUGE))
        (no, bad), (yes, worse) = both
        rows = no[:, :, None, :] + yes[:, None, :, :]
        rows += np.array([self._test(int(c)) for c in part.split]).reshape(-1, 1, 1, rows.shape[3])
        rows = rows[~(bad | worse)].reshape(-1, rows.shape[3])
        state.stumps = rows[rows[:, 0] <= state.allowance] if K else rows

    def _table(self, state):
        """The totals of a state within its allowance, the cheapest tree of each side total."""
        S, width = state.S, self.values.shape[2]
        found = [np.empty((0, width), np.int64)]
        if state.leaf < proofs.HUGE:
            sums = self.values[S].sum(axis=0)
            found.append(self._leaves(sums, self.of.base[S].sum()))
        if len(state.stumps):
            found.append(state.stumps)
        for costs, no, yes in state.edges:
            test = self._test(costs[0])
            found.extend(a + test for a in self._pairs(no, yes, state.allowance - costs[0]))
            if sum(map(len, found)) > MOST // 4:
                found = [self._cheapest(np.concatenate(found), state.allowance)]
        table = self._cheapest(np.concatenate(found), state.allowance)
        need(len(table) <= MOST, "There are too many trees between the bound and the value.")
        state.stumps = {}
        return table

    def _pairs(self, no, yes, allowance):
        """Totals of pairs of trees of two states with priced costs of at most `allowance`."""
        A, B = no.table, yes.table  # by increasing priced costs
        if not len(A) or not len(B):
            return
        ends = np.searchsorted(B[:, 0], allowance - A[:, 0], side="right")
        begin = 0
        while begin < len(A) and ends[begin]:
            size = max(1, int(np.searchsorted(np.cumsum(ends[begin:]), STEP)))
            many = ends[begin : begin + size]
            first = np.repeat(np.arange(begin, begin + len(many)), many)
            second = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
            yield A[first] + B[second]
            begin += size

    def _cheapest(self, rows, allowance):
        """The cheapest row of each side total, by increasing priced costs."""
        rows = rows[rows[:, 0] <= allowance]
        rows = rows[rows[:, -1] <= self.leaves] if self.a_leaf else rows
        order = np.lexsort((rows[:, 1], *rows[:, 2:].T))
        rows = rows[order]
        same = (rows[1:, 2:] == rows[:-1, 2:]).all(axis=1)
        rows = rows[np.concatenate([np.ones(min(1, len(rows)), bool), ~same])]
        return rows[np.argsort(rows[:, 0], kind="stable")]


def check(lines: Any, data: Any = None) -> Any:
    """Check a file, given as lines of text, with its data file; Wrong if it does not hold."""
    lines = [line for line in lines if line.strip()]
    try:
        last = json.loads(lines[-1], object_pairs_hook=reading.once)
    except (ValueError, IndexError):
        raise reading.Unreadable("The last line is malformed.") from None
    need(last == {"closed": True} and last["closed"] is True, "The last line closes no gap.")
    found = proofs.check(lines[:-1], data)
    if found.proved:
        return found
    s, _, instance, shift = proofs.stated(lines[:-1], data)
    q, V = s["denominator"], s["value"]
    need(V is not None, "Without a model there is no value to compare with.")
    need(s["kind"] == "trees", "Gaps are closed for trees.")
    table = reading.Table(s["data"], data)
    sides = [table.costs(row["coefs"]) for row in s["side"]]
    X, costs = table.features(s["features"]), table.costs(s["costs"])
    largest = sum(float(np.abs(c.astype(float)).sum()) for c in (costs, *sides))
    need(largest < reading.LIMIT / 2, "Costs or side rows are too large for exact sums.")
    priced = q * costs + sum(mu * c for mu, c in zip(s["multipliers"], sides, strict=True))
    _, values = reading.merged(X, np.stack([priced, costs, *sides], axis=2))
    instance.follow(claims_of(lines[:-1]), s["depth"], s["leaves"])
    allowance = q * (V - 1) + shift - int(instance.base.sum())
    need(abs(allowance) < reading.LIMIT, "The gap is too large.")
    trees = Totals(instance, s["depth"], s["leaves"], allowance, values, q)
    Z, keeps = trees.table[:, 1], np.ones(len(trees.table), bool)
    for total, row in zip(trees.table[:, 2 : 2 + len(sides)].T, s["side"], strict=True):
        keeps &= (total >= (-proofs.NONE if row["lower"] is None else row["lower"])) & (
            total <= (proofs.NONE if row["upper"] is None else row["upper"])
        )
    better = Z[keeps & (Z < V)]
    need(not len(better), f"A tree that keeps the side rows has Z of {better.min(initial=V)}.")
    offset, scale = reading.natural(s)
    value = offset + scale * V
    shown = reading.shown(value)
    less = "more" if scale < 0 else "less"
    sets = "1 set" if len(trees.states) == 1 else f"{len(trees.states)} sets"
    message = f"proved: {shown}  (no tree of this space that keeps the side rows has {less}; the claims prove "
    message += f"{float(offset + scale * found.bound):.10g}, and {sets} of rows the rest; "
    message += f"unit {s['unit']!r}; the space: {s['about']}{reading.given(s)})"
    return found._replace(proved=True, bound=V, sentence=message)


def claims_of(lines):
    """The claims of a file."""
    return [json.loads(line, object_pairs_hook=reading.once) for line in lines[1:]]


def main(arguments):
    """Print the verdict; the exit code."""
    return reading.run(check, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
