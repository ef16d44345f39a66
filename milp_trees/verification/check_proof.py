"""Checks a proof that no tree or rule list costs less: python check_proof.py PROOF [DATA]

It needs Python, numpy, and proof_reading.py beside it. The first line of a proof states the
problem. Every other line claims: on the rows of this path, no model of at most so many further
tests costs less than so much. Claims are derived in the order of the file, from the rows and from
earlier claims. The format, the rules and why they are valid are in the documentation, page
"Proofs". Exit codes: 0 proved (or a gap is), 1 rejected, 2 unreadable.
"""
# mypy: ignore-errors
import functools, os, sys
from typing import Any
if __package__:
    from milp_trees.verification import proof_reading as reading
else:  # many small products: numpy's threads cost far more than they save
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import proof_reading as reading
import numpy as np
FAULTS, LIMIT, Unreadable, Wrong = reading.FAULTS, reading.LIMIT, reading.Unreadable, reading.Wrong
fits, need, once, unpacked = reading.fits, reading.need, reading.once, reading.unpacked
# HUGE is the cost of what a minimum forbids, NONE no limit, ROOM the entries of a large table.
HUGE, NONE, ROOM = 2**58, 2**60, 2**18

class Instance:
    """Yes/no features X (n x F), whole costs (n x K), penalties, minima (least, n amounts)."""
    def __init__(self, X, costs, leaf_cost=0, split_costs=0, minima=(), kind="trees"):
        X, costs, self.lists = np.asarray(X, bool), np.asarray(costs, np.int64), kind == "lists"
        self.split = np.zeros(X.shape[1], np.int64) + np.asarray(split_costs, np.int64)
        minima = [(int(m), np.asarray(w, np.int64)) for m, w in minima]
        signs = [leaf_cost, self.split.min(initial=0), *(w.min(initial=0) for _, w in minima)]
        need(min(signs) >= 0, "A penalty or an amount is negative.")
        # A minimum that every single row meets forbids empty leaves only, and they never pay.
        minima = [(m, w) for m, w in minima if m > 1 or (w < m).any()]
        table, K = np.column_stack([costs, *(w for _, w in minima)]), costs.shape[1]
        self.least, self.leaf_cost = [m for m, _ in minima], int(leaf_cost)
        penalties = 4 * (self.leaf_cost + int(self.split.max(initial=0)))
        largest = float(np.abs(table.astype(float)).sum()) + penalties
        need(largest < LIMIT / 2, "Costs, amounts or penalties are too large for exact sums.")
        # No model can tell equal rows apart: they become one row with the sums of their costs.
        first, total = reading.merged(X, table)
        # Every row costs at least its cheapest action, together `base`. Everything below is about
        # costs above these: they are at least 0, and at most `regret` for a row.
        self.base = total[:, :K].min(axis=1)
        costs, sizes = total[:, :K] - self.base[:, None], total[:, K:]
        self.regret = costs.max(axis=1)
        # The cheapest action of a leaf costs last + min(0, d_1, d_2, ...), where d_k is the cost of
        # action k minus that of the last action. We keep sums of last, of all d_k, of amounts.
        self.weights = np.column_stack([costs[:, -1], costs[:, :-1] - costs[:, -1:], sizes])
        # Single precision is exact, too, if no sum of absolute values reaches 2^24.
        small = self.regret.sum() + sizes.sum() + penalties < 2**24
        self.X = X[first].astype(np.float32 if small else np.float64)
        self.bits = np.packbits(X[first].T, axis=1)  # columns as bits, to compare sets of rows
        self.cheapest_first = np.argsort(self.split, kind="stable")

    def follow(self, claims, depth, leaves=None):
        """Derive all claims (bound, depth, path, helps, leaves); the bound of the last one.

        It must be about all rows and cover the limits (None: none). Wrong names what fails first.
        """
        need(all(isinstance(c, (list, tuple)) and 3 <= len(c) <= 5 for c in claims), "No claims.")
        claims = [[list(x) if isinstance(x, tuple) else x for x in claim] for claim in claims]
        claims = [claim + [None, None][len(claim) - 3:] for claim in claims]
        self.known, self.kept, bound, path, limits = {}, {}, 0, [], (0, 0)
        self.named = {h for claim in claims if fits(claim[3], "Ints") for h in claim[3]}
        for number, claim in enumerate(claims):
            try:
                need(fits(claim, "Claim"), "it is malformed.")
                bound, path, helps = claim[0], claim[2], claim[3] or []
                limits = [NONE if x is None else x for x in (claim[1], claim[4])]
                need(limits[0] >= 0 and limits[1] >= 1, "its limits allow no model.")
                need(all(0 <= h < number for h in helps), "a help is no earlier claim.")
                self._claim(number, bound, *limits, path, helps)
            except Wrong as reason:
                message = f"Claim {number}, {str(claim)[:100]}, does not follow: {reason}"
                raise Wrong(message, number) from None
        wide = [x >= (NONE if y is None else y) for x, y in zip(limits, (depth, leaves))]
        need(all(wide) and not path, "The last claim is not about all models of the statement.")
        return bound

    def _claim(self, number, bound, depth, leaves, path, helps):
        """Rules 0, 1 and 4. Claims that later ones name are kept with bounds of their children."""
        S, named = np.ones(len(self.X), bool), number in self.named
        for step in path:
            good = 1 <= abs(step) <= len(self.split) and not (self.lists and step > 0)
            need(good, f"its path has the step {step}.")
            S &= self.X[:, abs(step) - 1] == (step > 0)
        n, key, bound = int(S.sum()), np.packbits(S).tobytes(), bound - int(self.base[S].sum())
        # A leaf or a rule without rows never pays, so that n rows limit levels and leaves.
        depth = NONE if depth >= n - 1 else depth
        most = max(1, min(n, 2 ** min(depth, 50)))
        limits = np.array([NONE]) if leaves == NONE else np.arange(1, min(leaves, most))
        leaves, levels = NONE if leaves >= most else leaves, max(0, min(depth, n - 1))
        # Rule 0: every model has a leaf; an earlier claim about these rows, or about similar rows H
        # (a help). A best model for S costs no more on the rows that S and H share, and on the rows
        # of H that S lacks at most their regrets; with minima it is allowed on H if S is inside H.
        low, table, similar = [self.leaf_cost], None, []
        low += [b for d, m, b in self.known.get(key, ()) if d >= depth and m >= leaves]
        for H, d, m, b, below in map(self.kept.get, helps):
            if d >= levels and m >= min(leaves, most) and not (self.least and (S & ~H).any()):
                similar += [(H & ~S, *below)] if below else []
                low.append(b - int(self.regret[H & ~S].sum()))
        proved = max(low) >= bound
        if named or not proved:
            # Rule 1: the model of one leaf. All others have a test that divides the rows.
            part = Part(self, S)
            leaf, requested = int(self.leaf(part.total, self.lists)), len(part.tests)
            need(proved or leaf >= bound, f"one leaf costs {bound - leaf} less.")
            levels = min(levels, requested)  # no path asks a test twice
            proved = proved or not levels or leaves == 1
            # Rule 4: the best models with two levels; they are all if there are two levels.
            if not proved:
                value = self.at_least(part.small(), levels, leaves)
                proved = value >= bound
                need(proved or levels > 2, f"the best model costs {bound - value} less.")
            if levels > 2 and len(limits) and (named or not proved):
                wanted, below = -HUGE if proved else bound, min(depth, requested)
                table = self._children(part, wanted, below, limits, similar)
        self.known.setdefault(key, []).append((depth, leaves, bound))
        if named:
            self.kept[number] = S, depth, leaves, bound, table

    def at_least(self, small, levels, leaves):
        """A bound for all models, given the best ones with two levels and at most 1-4 leaves."""
        if levels <= 2:
            return int(small[min(levels + 1 if self.lists else 2**levels, leaves, 4) - 1])
        # Models with three leaves have at most two levels. Others pay four leaves and three tests.
        more = 4 * self.leaf_cost + 3 * int(self.split.min())
        return int(small[leaves - 1] if leaves <= 3 else min(small[2], more))

    def _children(self, part, bound, depth, limits, similar):
        """Rules 2 and 3: for every test that divides the rows, no side plus yes side is enough."""
        # L[i, side, j] bounds the child of test j with at most limits[i] leaves.
        L = np.full((len(limits), 2, len(part.tests)), self.leaf_cost, np.int64)
        L[:, 1] = self.leaf(part.sums) if self.lists else L[:, 1]  # a rule's rows are a leaf
        for side in (1,) if self.lists else (0, 1):  # no part of rows that break a minimum keeps it
            L[:, side, self.breaks(part.sums if side else part.total[:, None] - part.sums)] = HUGE
        for lost, wide, table in similar:  # 2a: children of similar claims are similar
            yes = self.regret[lost] @ self.X[lost][:, part.tests].astype(float)
            loss = np.array([self.regret[lost].sum() - yes, yes]).astype(np.int64)
            for i in np.flatnonzero(limits <= wide[-1]):
                same = table[np.searchsorted(wide, limits[i])][:, part.tests]
                L[i] = np.maximum(L[i], same - loss)
        for j, keys in enumerate(part.keys):  # 2b: an earlier claim about the child's rows
            for side, key in enumerate(keys):
                for d, most, b in self.known.get(key, ()):
                    if d >= depth - 1:
                        L[most >= limits, side, j] = np.maximum(L[most >= limits, side, j], b)

        def open_tests():
            """Tests for which some division of the leaves is not known to cost enough."""
            no, yes = L[:, 0] + part.split, L[::-1, 1] + part.split
            # A test pays only if a side costs less than its rows may cost anywhere: otherwise the
            # model of the other side, for all rows, is as good and smaller.
            cheap = (no + yes - part.split < bound) & (yes < part.regrets[1])
            return np.flatnonzero((cheap & (self.lists | (no < part.regrets[0]))).any(axis=0))

        while len(waiting := open_tests()):  # 2c: the best models of both children, in batches
            size = 8 if part.many else min(16, ROOM // (part.sums.size * len(part.tests)))
            batch = waiting[len(waiting) // size // 2::len(waiting) // size + 1]
            found = part.children(batch)  # by side, test, and leaves
            for (side, b), n in np.ndenumerate(part.rows[:, batch]):
                low = [self.at_least(found[side, b], min(depth, n) - 1, m) for m in limits.tolist()]
                L[:, side, batch[b]] = np.maximum(L[:, side, batch[b]], low)
            if not self.least:  # 2d: children of other tests are similar (a rule's leaf is not)
                both = (part.X[:, batch].T * part.regret) @ part.X
                both = np.array([part.regrets[1] - both, both]).astype(np.int64)
                for side in (0,) if self.lists else (0, 1):
                    loss = np.array([both[side], part.regrets[side][batch][:, None] - both[side]])
                    low = L[:, side, batch][..., None, None] - loss.swapaxes(0, 1)
                    L = np.maximum(L, low.max(axis=1))
            failed = part.tests[[j for j in batch if j in open_tests()]] + 1
            need(not len(failed), f"models that begin with test {failed[:1]} may cost less.")
        table = np.full((len(limits), 2, len(self.split)), self.leaf_cost, np.int64)
        for f, (j, turned) in part.same.items():
            table[:, :, f] = L[:, ::-1, j] if turned else L[:, :, j]
        return limits, table

    def leaf(self, sums, free=False):
        """Cost of a leaf whose rows have these sums; HUGE if it breaks a minimum (unless free)."""
        cost = (sums[0] + self.saved(sums[1:])).astype(np.int64) + self.leaf_cost
        return np.where(self.breaks(sums) & (not free), HUGE, cost)

    def saved(self, sums):
        """What the cheapest action saves against the last one (0 or less), given all d_k."""
        return np.minimum(sums[:len(sums) - len(self.least)].min(axis=0, initial=0), 0)

    def breaks(self, sums):
        """Whether rows with these sums have less than a minimum."""
        amounts = zip(self.least, sums[len(sums) - len(self.least):])
        return sum((w < m for m, w in amounts), np.zeros(sums.shape[1:], bool))

class Part:
    """Some rows, the tests that divide them (one of those that divide equally), and their sums."""
    def __init__(self, of, S):
        yes, no = of.bits & np.packbits(S), ~of.bits & np.packbits(S)
        divides, self.of, self.same, found = yes.any(axis=1) & no.any(axis=1), of, {}, {}
        for f in of.cheapest_first[divides[of.cheapest_first]].tolist():
            key = no[f].tobytes(), yes[f].tobytes()
            turned = not of.lists and key[::-1] in found
            j = found[key[::-1]] if turned else found.setdefault(key, len(found))
            self.same[f] = j, turned
        tests = {j: f for f, (j, _) in reversed(self.same.items())}
        self.keys, self.tests = list(found), np.array([tests[j] for j in range(len(tests))], int)
        W, regret, self.split = of.weights[S].T, of.regret[S], of.split[self.tests]
        self.hold(of.X[S][:, self.tests], W.astype(of.X.dtype), regret.astype(of.X.dtype))

    def hold(self, X, W, regret):
        """Sums of all rows, and of those with the answer yes (regrets, rows: no, too)."""
        self.X, self.W, self.regret, self.total, self.sums = X, W, regret, W.sum(axis=1), W @ X
        w = np.array([regret, 0 * regret + 1])
        yes = w @ X
        self.regrets, self.rows = np.stack([w.sum(1)[:, None] - yes, yes], 1).astype(np.int64)
        self.many = self.sums.size * len(self.tests) > ROOM  # too many pairs to look at all

    def side(self, j, yes):
        """The rows with an answer to a test, for `small`."""
        part, rows = Part.__new__(Part), self.X[:, j] == yes
        part.of, part.tests, part.split = self.of, self.tests, self.split
        part.hold(self.X[rows], self.W[:, rows], self.regret[rows])
        return part

    def sums_of_pairs(self, g=...):
        """Sums over the rows with the answer yes to test h and to test g, of all but `last`."""
        return self.X.T @ (self.W[1:, :, None] * self.X[:, g])
    pairs = functools.cached_property(sums_of_pairs)

    def small(self):
        """Costs of the best models with one test, and with a second one on either side of it."""
        if not self.many:
            return self._small(self.total, self.sums, self.pairs)[0]
        # Two leaves cost on a side of a test no less than on that side of another test g, less the
        # regrets of rows that only the side of g has. So most tests between others are skipped.
        of, low, todo = self.of, np.full((2, len(self.tests)), -HUGE), np.arange(len(self.tests))
        leaf = np.array([of.leaf(self.total[:, None] - self.sums, of.lists), of.leaf(self.sums)])
        best = np.array([HUGE, *[(leaf.sum(axis=0) + self.split).min()] * 3])
        while len(todo):
            g = todo[::len(todo) // min(32, 16 * ROOM // self.sums.size + 1) + 1]
            found, pairs = self._small(self.total, self.sums, self.sums_of_pairs(g=g), g)
            best = np.minimum(best, found)
            if not of.least:  # no side: regrets of the rows with yes to a test and no to g are lost
                both = (self.X[:, g].T * self.regret) @ self.X
                no, yes = (pairs - [0 * g, self.regrets[1, g]]).astype(both.dtype)[..., None]
                found = np.array([(no + both).max(axis=0), (yes + both).max(axis=0)], np.int64)
                low = np.maximum(low, found - [self.regrets[1], 0 * self.regrets[1]])
            low[:, g] = HUGE  # these are done
            three, four = (low + leaf[::-1]).min(axis=0), low.sum(axis=0)
            todo = np.flatnonzero((three < best[2] - self.split) | (four < best[3] - self.split))
        return best

    def children(self, batch):
        """`small` of the rows with the answers no and yes to some tests: by side, test, leaves."""
        if self.many:
            return np.array([[self.side(j, yes).small() for j in batch] for yes in (0, 1)])
        fewer = (self.rows[1, batch] < self.rows[0, batch]).astype(int)
        parts = [self.side(j, yes) for j, yes in zip(batch, fewer)]
        some = [np.stack(x, 1) for x in zip(*((p.total, p.sums, p.sums_of_pairs()) for p in parts))]
        rest = [x[:, None] - y for x, y in zip((self.total, self.sums, self.pairs), some)]
        small = np.array([self._small(*x)[0] for x in (some, rest)])
        return np.where(fewer[:, None] == 1, small[::-1], small)

    def _small(self, total, sums, pairs, g=slice(None)):
        """At most 1 to 4 leaves (there may be an axis of parts); the two leaves of g's sides."""
        of, no, yes, split = self.of, total[..., None] - sums[..., g], sums[..., g], self.split[g]
        leaf_no, leaf_yes = of.leaf(no, of.lists) + split, of.leaf(yes)
        low_no = self.pair(sums[1:, ..., None] - pairs, no)
        low_yes = np.full_like(low_no, HUGE) if of.lists else self.pair(pairs, yes)
        three = np.minimum(low_no + split + leaf_yes, leaf_no + low_yes)
        two, four = leaf_no + leaf_yes, low_no + split + low_yes
        best = [x.min(axis=-1, initial=HUGE) for x in (two, three, four)]
        best = np.minimum.accumulate(np.stack([of.leaf(total, of.lists), *best], axis=-1), axis=-1)
        return best, np.array([low_no, low_yes])

    def pair(self, one, whole):
        """The best two leaves for the rows `whole` of every g; `one`: those of them in h."""
        of, split = self.of, self.split.astype(one.dtype)[:, None]
        if len(one) == 1 and not of.least:  # where both leaves act alike, one is best
            low, high = (one[0] + split, one[0] - split) if np.ptp(split) else (one[0], one[0])
            low = np.minimum(low.min(axis=-2), whole[1] - high.max(axis=-2))
            low = low if np.ptp(split) else low + split[0]
        else:
            rest = whole[1:, ..., None, :] - one
            low = of.saved(one) + of.saved(rest) + split
            low = np.where(of.breaks(one) | (not of.lists) & of.breaks(rest), HUGE, low).min(-2)
        return (low + whole[0]).astype(np.int64) + 2 * of.leaf_cost

def stated(proof_lines, data=None):
    """The statement, the claims, the priced problem, and what multipliers add."""
    s, claims, arrays, shift = reading.read(proof_lines, data)
    return s, claims, Instance(*arrays), shift

def check(proof_lines: Any, data: Any = None) -> reading.Verdict:
    """Check a proof, given as lines of text, with its data file; Wrong if it does not hold."""
    s, claims, instance, shift = stated(proof_lines, data)
    low = -((shift - instance.follow(claims, s["depth"], s["leaves"])) // s["denominator"])
    need(s["bound"] == low, f"The claims prove the bound {low}, and the file says {s['bound']}.")
    need(s["value"] is None or s["value"] >= low, "The model contradicts the claims.")
    return reading.verdict(s, low)

main = functools.partial(reading.run, check)
if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
