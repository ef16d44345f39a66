"""Counts all trees within an allowance again. Needs Python, numpy, and check_proof.py beside it.

    python check_count.py PROOF [DATA]

The file is a proof as check_proof.py reads it, and one more line at its end,

    {"allowance": A, "count": N, "trivial": true, "equal_tests": "all"}

which says: exactly N different trees of the statement's space have Z of at most A. Two trees are
different if their drawings differ: in shape, in the test of a node, or in which child is where. A
leaf has the cheapest action for its rows (the first of ties), so actions do not make two trees
different. Both children of a node hold rows, and every leaf meets the minima. If `trivial` is
false, trees with two sibling leaves of one action do not count. If `equal_tests` is "one", only the
cheapest (then the first) of the tests that divide the rows of a node in the same way counts.

The claims of the file are checked first. Then the states (a set of rows, and how many levels of
tests may follow) are listed from the set of all rows down. A state has an allowance: what its trees
may cost so that a whole tree can cost at most A. If a is the allowance of a state, and the children
of a test cost at least l and r, then the test is left out if l + r and its own cost c exceed a: no
tree within the allowance begins with it. Otherwise its children may cost a - c - r and a - c - l. A
set with several parents has the largest of its allowances; it is opened after its parents, which
have more rows. The bounds l and r are those of check_proof.py: claims about the same rows, exact
small trees, penalties. They decide how many states there are, and never what is counted: from small
sets up, every state gets the numbers of its trees by cost, each tree by its leaf or its first test.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, allow-incomplete-defs

from __future__ import annotations

import heapq
import json
import sys
from typing import Any, NamedTuple

if __package__:
    from milp_trees.verification import check_proof as proofs
    from milp_trees.verification import proof_reading as reading
else:  # first, since it sets the number of numpy's threads
    import check_proof as proofs  # type: ignore[import-not-found, no-redef]
    import proof_reading as reading  # type: ignore[import-not-found, no-redef]

import numpy as np

HUGE, NONE, need = proofs.HUGE, proofs.NONE, reading.need


class State:
    """A set of rows with the number of levels of tests that may follow."""

    __slots__ = ("S", "action", "allowance", "depth", "edges", "leaf", "stumps", "table")

    def __init__(self, S, depth, leaf, action):
        self.S, self.depth, self.leaf, self.action = S, depth, leaf, action
        self.allowance, self.edges, self.stumps, self.table = -1, [], {}, {}


class Trees:
    """All trees of an instance that cost at most `allowance` above the cheapest actions.

    The claims that the instance has followed are used as bounds.
    """

    def __init__(self, instance, depth, leaves, allowance, trivial=True, equal_tests="all"):
        self.leaves = NONE if leaves is None else leaves
        self.of, self.trivial = instance, trivial
        self.one = equal_tests == "one"
        # A key is a cost; if leaves are limited, it is cost * radix + number of leaves.
        self.radix = 1 if leaves is None else 2 * leaves + 1
        self.a_leaf = int(leaves is not None)
        self.cheapest = int(instance.split.min(initial=HUGE))
        S = np.ones(len(instance.X), bool)
        total = instance.weights.sum(axis=0)
        # n rows have at most n - 1 levels of tests, and l leaves at most l - 1.
        depth = min(NONE if depth is None else depth, max(0, len(S) - 1), self.leaves - 1)
        root = State(S, depth, int(instance.leaf(total)), int(self.actions(total)))
        root.allowance = allowance
        self.states = self._grow(root)
        for state in reversed(self.states):
            state.table = self._table(state)
        self.table = root.table

    @property
    def count(self):
        return sum(self.table.values())

    @property
    def costs(self):
        """The numbers of trees by Z."""
        out: dict[int, int] = {}
        base = int(self.of.base.sum())
        for key, count in self.table.items():
            Z = key // self.radix + base
            out[Z] = out.get(Z, 0) + count
        return out

    def actions(self, sums):
        """The cheapest action, the first of ties, of rows with these sums."""
        costs = np.concatenate([sums[1 : len(sums) - len(self.of.least)], 0 * sums[:1]])
        return costs.argmin(axis=0)

    # -- from the set of all rows down -------------------------------------------------------------

    def _grow(self, root):
        known, states = {(root.S.tobytes(), root.depth): root}, []
        heap = [(-int(root.S.sum()), 0, 0, root)]
        while heap:
            *_, state = heapq.heappop(heap)
            states.append(state)
            for child in self._open(state, known):
                heapq.heappush(heap, (-int(child.S.sum()), len(known), id(child), child))
        return states

    def _most_leaves(self, state):
        """No tree of a state within its allowance has more leaves."""
        rows, each = int(state.S.sum()), self.of.leaf_cost + self.cheapest
        most = min(rows, 2 ** min(50, state.depth), self.leaves)
        return min(most, (state.allowance + self.cheapest) // each) if each else most

    def _open(self, state, known):
        """The tests of a state; returns the new states below them."""
        most = self._most_leaves(state)
        if most < 2:
            return []
        below = state.depth - 1
        if below == 0 or most == 2:
            self._stumps(state)
            return []
        part = proofs.Part(self.of, state.S)
        if not len(part.tests):
            return []
        yes = part.sums
        sums = np.stack([part.total[:, None] - yes, yes])
        leaf, action = [self.of.leaf(s) for s in sums], [self.actions(s) for s in sums]
        low = self._bounds(part, leaf, below, most, state.allowance)
        ways: list[list[int]] = [[] for _ in part.tests]
        for f, (j, _) in part.same.items():
            if not (self.one and ways[j]):
                ways[j].append(int(self.of.split[f]))
        new = []
        fits = low.sum(axis=0) + part.split <= state.allowance
        for j in np.flatnonzero(fits).tolist():
            spare, two, column = (
                state.allowance - int(part.split[j]),
                [],
                self.of.X[:, part.tests[j]] > 0,
            )
            for side in (0, 1):
                S = state.S & (column == side)
                levels = min(below, int(S.sum()) - 1)
                key = S.tobytes(), levels
                if key not in known:
                    known[key] = State(S, levels, int(leaf[side][j]), int(action[side][j]))
                    new.append(known[key])
                child = known[key]
                child.allowance = max(child.allowance, spare - int(low[1 - side, j]))
                two.append(child)
            state.edges.append((ways[j], *two))
        return new

    def _bounds(self, part, leaf, below, most, allowance):
        """Lower bounds of both children of every test: [answer, test]."""
        of, leaf = self.of, np.array(leaf)
        # The best tree of one test on either side.
        no = part.pair(part.sums[1:, :, None] - part.pairs, part.total[:, None] - part.sums)
        low = np.minimum(np.array([no, part.pair(part.pairs, part.sums)]), leaf)
        if below != 1 and most > 3:
            low = np.minimum(low, 3 * of.leaf_cost + 2 * self.cheapest)
        low[leaf >= HUGE] = HUGE  # a set that breaks a minimum has no tree at all
        limit = NONE if self.leaves == NONE else self.leaves - 1
        for j, keys in enumerate(part.keys):
            for side, key in enumerate(keys):
                for levels, leaves, bound in of.known.get(key, ()):
                    if levels >= below and leaves >= limit:
                        low[side, j] = max(low[side, j], bound)
        if below != 1 and most > 3:
            for j in np.flatnonzero(low.sum(axis=0) + part.split <= allowance).tolist():
                small = part.children(np.array([j]))[:, 0]
                exact = [of.at_least(side, below, limit) for side in small]
                low[:, j] = np.maximum(low[:, j], exact)
        return low

    def _stumps(self, state):
        """The trees of one test, by their cost."""
        of, S = self.of, state.S
        if self.one:
            at = proofs.Part(of, S).tests
        else:
            held = of.X[S].sum(axis=0)
            at = np.flatnonzero((held > 0) & (held < S.sum()))
        W = of.weights[S].T.astype(of.X.dtype)
        yes = W @ of.X[np.ix_(S, at)]
        no = W.sum(axis=1)[:, None] - yes
        cost = of.leaf(no) + of.leaf(yes) + of.split[at]
        fits = cost <= state.allowance
        if not self.trivial:
            fits &= self.actions(no) != self.actions(yes)
        costs, counts = np.unique(cost[fits], return_counts=True)
        state.stumps = dict(zip(costs.tolist(), counts.tolist(), strict=True))

    # -- from the small sets up --------------------------------------------------------------------

    def _table(self, state):
        """What is kept of the trees of a state: their numbers by key, in increasing order."""
        return dict(sorted(self._count(state).items()))

    def _count(self, state):
        """The numbers of the trees of a state, by key."""
        out: dict[int, int] = {}
        if state.leaf <= state.allowance:
            out[state.leaf * self.radix + self.a_leaf] = 1
        for cost, count in state.stumps.items():
            key = cost * self.radix + 2 * self.a_leaf
            out[key] = out.get(key, 0) + count
        for costs, no, yes in state.edges:
            both = self._both(no, yes, state.allowance - min(costs))
            for cost in costs:
                top = (state.allowance + 1) * self.radix
                for key, count in both.items():
                    key += cost * self.radix
                    if key < top:
                        out[key] = out.get(key, 0) + count
        return out

    def _both(self, no, yes, allowance):
        """The numbers of pairs of trees of two states, by key."""
        out: dict[int, int] = {}
        top = (allowance + 1) * self.radix
        for u, m in no.table.items():
            for v, n in yes.table.items():  # by increasing key
                if u + v >= top:
                    break
                if self.leaves == NONE or (u + v) % self.radix <= self.leaves:
                    out[u + v] = out.get(u + v, 0) + m * n
        siblings = (no.leaf + yes.leaf) * self.radix + 2 * self.a_leaf
        if not self.trivial and no.action == yes.action and siblings in out:
            out[siblings] -= 1
        return {key: count for key, count in out.items() if count}


# -- the file --------------------------------------------------------------------------------------


class Verdict(NamedTuple):
    """So many trees have Z of at most the allowance; `optimum` is the least Z.

    `costs` has the number of trees for every Z.
    """

    proved: bool
    trees: int
    allowance: int
    optimum: int | None
    sentence: str
    costs: dict[int, int]


def check(lines: Any, data: Any = None) -> Verdict:
    """Check a file, given as lines of text, with its data file; Wrong if it does not hold."""
    lines = [line for line in lines if line.strip()]
    need(len(lines) > 2, "The file has no claims, or no line about the count.")
    try:
        message = json.loads(lines[-1], object_pairs_hook=reading.once)
        count, allowance, trivial, equal = (
            message[key] for key in ("count", "allowance", "trivial", "equal_tests")
        )
        whole = type(count) is int and type(allowance) is int and type(trivial) is bool
        need(whole and equal in ("all", "one") and len(message) == 4, "The last line is malformed.")
    except (ValueError, TypeError, KeyError):
        raise reading.Unreadable("The last line does not state a count.") from None
    s, claims, instance, _ = proofs.stated(lines[:-1], data)
    need(s["kind"] == "trees" and not s["side"], "Counts are of trees without side rows.")
    need(s["denominator"] == 1, "Counts are about Z itself, so the denominator is 1.")
    need(abs(allowance) < reading.LIMIT, "The allowance is too large.")  # HUGE is no cost
    low = instance.follow(claims, s["depth"], s["leaves"])
    need(low == s["bound"], f"The claims prove the bound {low}, and the file says {s['bound']}.")
    base = int(instance.base.sum())
    trees = Trees(instance, s["depth"], s["leaves"], allowance - base, trivial, equal)
    need(trees.count == count, f"The number of trees is {trees.count}, and the file says {count}.")
    optimum = min(trees.costs, default=None)
    offset, scale = reading.natural(s)

    def natural(Z):
        return reading.shown(offset + scale * Z)

    least = "most" if scale > 0 else "least"
    have = "tree has" if count == 1 else "trees have"
    sentence = f"counted: {count} {have} at {least} {natural(allowance)} {s['unit']}".rstrip()
    sentence += "" if optimum is None else f"; the best of them has {natural(optimum)}"
    tests = "trivial splits count" if trivial else "no trivial splits"
    sentence += f"  (the space: {s['about']}; {tests}, of equal tests {equal}{reading.given(s)})"
    return Verdict(True, count, allowance, optimum, sentence, trees.costs)


def main(arguments):
    """Print the verdict; the exit code."""
    return reading.run(check, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
