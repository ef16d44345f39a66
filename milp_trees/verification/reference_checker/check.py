"""A second checker of proofs in another style: plain loops and recursion, for tiny problems.

It shares no code with `check_proof.py`, so that the two check each other.

Where `check_proof.py` computes with matrices and stops early, this one takes the rules of
`docs/guide/proofs.md` word by word: rows are groups of equal rows in frozen sets, costs keep the part
that every model pays, and a table is computed for all tests. It therefore accepts every proof that
`check_proof.py` accepts, and a few more (the children of a named claim have their best bounds).

Closed gaps and numbers of trees are checked by a list of all trees (`listing.py`).
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import sys
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from milp_trees.verification.reference_checker.listing import close_gap, count
from milp_trees.verification.reference_checker.reading import (
    Refused,
    TooLarge,
    fields,
    listed,
    must,
    no_duplicates,
    whole,
)
from milp_trees.verification.reference_checker.statement import Statement

INFINITE = math.inf


# -- the rules -------------------------------------------------------------------------------------


class Rules:
    """Derives claims about groups of equal rows."""

    def __init__(self, X: Any, costs: Any, leaf: int, split: Any, minima: Any, lists: bool) -> None:
        self.leaf_cost: Any = leaf
        self.split, self.lists = split, lists
        self.F, self.K = len(split), len(costs[0])
        # Every row meets such a minimum alone.
        minima = [(m, w) for m, w in minima if not (m <= 1 and all(v >= m for v in w))]
        self.least = [m for m, _ in minima]
        groups: dict[tuple[bool, ...], list[list[int]]] = {}
        for i, answers in enumerate(X):
            row = [*costs[i], *(w[i] for _, w in minima)]
            groups.setdefault(tuple(answers), []).append(row)
        self.answers = list(groups)
        self.sums = [[sum(column) for column in zip(*rows)] for rows in groups.values()]
        self.every = frozenset(range(len(self.answers)))
        self.claims: list[Any] = []
        self.best = lru_cache(None)(self._best)

    def total(self, S: Any, k: int) -> int:
        return sum(self.sums[g][k] for g in S)

    def base(self, S: Any) -> int:
        return sum(min(self.sums[g][: self.K]) for g in S)

    def regret(self, S: Any) -> int:
        return sum(max(self.sums[g][: self.K]) for g in S) - self.base(S)

    def allowed(self, S: Any) -> bool:
        return all(self.total(S, self.K + j) >= m for j, m in enumerate(self.least))

    def leaf(self, S: Any, free: bool) -> Any:
        if not (free or self.allowed(S)):
            return INFINITE
        return min(self.total(S, k) for k in range(self.K)) + self.leaf_cost

    def sides(self, S: Any, f: int) -> tuple[Any, Any]:
        yes = frozenset(g for g in S if self.answers[g][f])
        return S - yes, yes

    def _best(self, S: Any, depth: int, leaves: Any) -> Any:
        """The cheapest model on S; infinite if none is allowed."""
        out = self.leaf(S, self.lists)
        if depth == 0 or leaves < 2:
            return out
        for f in range(self.F):
            no, yes = self.sides(S, f)
            if no and yes and self.lists:
                rest = self.best(no, depth - 1, leaves - 1)
                out = min(out, self.leaf(yes, False) + rest + self.split[f])
            elif no and yes:
                for a in range(1, 4 if leaves > 4 else leaves):
                    rest = leaves - a if leaves < 5 else INFINITE
                    left = self.best(no, depth - 1, a if leaves < 5 else INFINITE)
                    out = min(out, left + self.best(yes, depth - 1, rest) + self.split[f])
        return out

    def small(self, S: Any, depth: Any, leaves: Any) -> Any:
        """Rules 2c and 4."""
        if depth <= 2:
            return self.best(S, depth, leaves)
        if leaves <= 3:
            return self.best(S, 2, leaves)
        more = self.base(S) + 4 * self.leaf_cost + 3 * min(self.split, default=0)
        return min(self.best(S, 2, 3), more)

    def derive(self, bound: int, depth: Any, path: Any, helps: Any, leaves: Any) -> None:
        """Refuse, or append the claim with its table of children."""
        S = self.every
        for step in path:
            must(1 <= abs(step) <= self.F and not (self.lists and step > 0), "A step is wrong.")
            S = self.sides(S, abs(step) - 1)[step > 0]
        # No leaf and no rule lacks rows: such limits are none.
        depth = INFINITE if depth >= len(S) - 1 else depth
        cap = max(1, len(S) if depth == INFINITE else min(len(S), 2**depth))
        limits = [INFINITE] if leaves == INFINITE else list(range(1, min(leaves, cap)))
        leaves = INFINITE if leaves >= cap else leaves
        wanted = depth, leaves
        base, similar = self.base(S), []
        known = [base + self.leaf_cost]
        for T, d, most, b, _ in self.claims:
            if T == S and d >= depth and most >= leaves:
                known.append(b)
        for h in helps:
            H, d, most, b, table = self.claims[h]
            deep = d >= min(depth, len(S) - 1)
            if deep and most >= min(leaves, cap) and (S <= H or not self.least):
                known.append(b - self.base(H) + base - self.regret(H - S))
                similar.append((H, table))
        # No path asks a test twice; equal tests (in trees, opposite ones, too) are one test.
        parts = [self.sides(S, f) for f in range(self.F)]
        requested = {yes if self.lists else frozenset((no, yes)) for no, yes in parts if no and yes}
        depth = max(0, min(depth, len(S) - 1, len(requested)))
        table = {}
        for f in range(self.F):
            sides = self.sides(S, f)
            for side, child in enumerate(sides):
                for most in limits:
                    if all(sides):
                        table[f, side, most] = self.child(child, f, side, depth, most, similar)
        if not self.least:
            table = self.siblings(S, table)
        if max(known) < bound:
            must(self.leaf(S, self.lists) >= bound, "One leaf costs less.")
            if depth > 0 and leaves > 1 and self.small(S, depth, leaves) < bound:
                must(depth > 2, "The best model costs less.")
                for f in range(self.F):
                    self.divide(S, f, bound, limits, table)
        self.claims.append((S, *wanted, bound, table))

    def child(self, C: Any, f: int, side: int, depth: int, most: Any, similar: Any) -> Any:
        """Rules 2: the best bound of one child."""
        if self.lists and side:
            return self.leaf(C, False)
        if not (self.lists or self.allowed(C)):
            return INFINITE
        below = min(depth, len(C)) - 1
        out = [self.base(C) + self.leaf_cost, self.small(C, max(0, below), most)]
        for T, d, leaves, b, _ in self.claims:
            if T == C and d >= min(depth, len(C)) - 1 and leaves >= most:
                out.append(b)
        for H, table in similar:
            of_H = self.sides(H, f)[side]
            for bound in (table.get((f, side, most)), table.get((f, side, INFINITE))):
                if bound is None or bound == INFINITE:
                    continue
                out.append(bound - self.base(of_H) + self.base(C) - self.regret(of_H - C))
        return max(out)

    def siblings(self, S: Any, table: Any) -> Any:
        """Rule 2d: bounds of children that are similar to others of S (not to leaves of rules)."""
        parts = {(f, side): self.sides(S, f)[side] for f, side, _ in table}
        above = {key: low - self.base(parts[key[:2]]) for key, low in table.items()}
        out = {}
        for f, side, most in table:
            C = parts[f, side]
            lows = [
                above[*g, most] - self.regret(D - C)
                for g, D in parts.items()
                if g == (f, side) or not (self.lists and g[1])
            ]
            out[f, side, most] = self.base(C) + max(lows)
        return out

    def divide(self, S: Any, f: int, bound: int, limits: Any, table: Any) -> None:
        """Rule 3: both sides of a test cost enough, or the test does not pay."""
        no, yes = self.sides(S, f)
        if not (no and yes):
            return
        for i, most in enumerate(limits):
            left, right = table[f, 0, most], table[f, 1, limits[-1 - i]]
            enough = left + right + self.split[f] >= bound
            for C, low in ((yes, right),) if self.lists else ((no, left), (yes, right)):
                enough = enough or low + self.split[f] >= self.base(C) + self.regret(C)
            must(enough, f"Models that begin with the test {f + 1} may cost less.")


# -- the whole proof -------------------------------------------------------------------------------


def check_slowly(proof_lines: Iterable[str], data: Any = None) -> tuple[int, int | None]:
    """The bound that a proof proves and the value of its model; Refused if it does not hold."""
    return caught(_checked, proof_lines, data)


def count_slowly(proof_lines: Iterable[str], data: Any = None) -> Counted:
    """Check a file that ends with a number of trees; Refused if it does not hold."""
    return caught(_counted, proof_lines, data)


def caught(of: Any, proof_lines: Iterable[str], data: Any) -> Any:
    try:
        return of([line for line in proof_lines if line.strip()], data)
    except (ArithmeticError, LookupError, TypeError, ValueError, OSError, EOFError) as reason:
        raise Refused(f"It is malformed: {type(reason).__name__}: {reason}") from None
    except (RecursionError, csv.Error) as reason:
        raise Refused(f"It is malformed: {reason}") from None


def _checked(lines: list[str], data: Any) -> tuple[int, int | None]:
    """A file of claims; if it ends with `{"closed": true}`, all trees are listed, too."""
    last = loaded(lines[-1])
    if not isinstance(last, dict):
        s = Statement(lines[0], data)
        return _claims(s, lines[1:]), s.value
    must(fields(last, "closed")[0] is True, "The last line closes no gap.")
    s = Statement(lines[0], data)
    _claims(s, lines[1:-1])
    value = close_gap(s)
    return value, value


class Counted(NamedTuple):
    """So many trees have Z of at most the allowance; `optimum` is the least Z of them."""

    trees: int
    allowance: int
    optimum: int | None


def _counted(lines: list[str], data: Any) -> Counted:
    allowance, stated, trivial, equal = fields(
        loaded(lines[-1]), "allowance", "count", "trivial", "equal_tests"
    )
    must(type(stated) is int and type(trivial) is bool, "The count is malformed.")
    must(equal in ("all", "one"), "Equal tests count in no known way.")
    s = Statement(lines[0], data)
    must(not (s.lists or s.side), "Counts are of trees without side rows.")
    must(s.q == 1, "Counts are about Z itself, so the denominator is 1.")
    _claims(s, lines[1:-1])
    found, optimum = count(s, whole(allowance), trivial, equal)
    must(found == stated, f"The number of trees is {found}.")
    return Counted(found, allowance, optimum)


def loaded(line: str) -> Any:
    return json.loads(line, object_pairs_hook=no_duplicates)


def _claims(s: Statement, lines: list[str]) -> int:
    """Derive all claims; the bound on Z that the last one proves."""
    costs, shift = s.priced()
    split = [s.q * c for c in s.split]
    rules = Rules(s.X, costs, s.q * s.leaf_cost, split, s.minima, s.lists)
    bound = math.ceil(Fraction(derived(rules, lines, s.depth, s.leaves) - shift, s.q))
    must(s.bound == bound, f"The claims prove {bound}.")
    must(s.value is None or s.value >= bound, "The model contradicts the claims.")
    return bound


def derived(rules: Rules, lines: list[str], depth: Any, leaves: Any) -> int:
    """Derive all claims; the bound of the last one, which covers the limits."""
    must(lines, "There is no claim.")
    last: Any = None
    for number, claim in enumerate(map(loaded, lines)):
        must(isinstance(claim, list) and 3 <= len(claim) <= 5, f"Claim {number} is malformed.")
        claim += [None, None][len(claim) - 3 :]
        helps = [] if claim[3] is None else listed(claim[3], whole)
        must(all(0 <= h < number for h in helps), "A help is no earlier claim.")
        limits = [INFINITE if x is None else whole(x) for x in (claim[1], claim[4])]
        must(limits[0] >= 0 and limits[1] >= 1, f"Claim {number} allows no model.")
        last = whole(claim[0]), limits, listed(claim[2], whole)
        rules.derive(last[0], limits[0], last[2], helps, limits[1])
    must(not last[2], "The last claim is not about all rows.")
    for has, requested in zip(last[1], (depth, leaves)):
        must(has >= (INFINITE if requested is None else requested), "The last claim is too narrow.")
    return int(last[0])


class Report(NamedTuple):
    """What holds; with `proved` it is an optimum or a number of trees, otherwise a bound.

    Bounds and values are in units of the costs; those of squared errors are natural fractions.
    """

    proved: bool
    bound: int | Fraction | None
    value: int | Fraction | None
    sentence: str


def report(lines: list[str], data: Any = None) -> Report:
    """Check a file of either kind; Refused if it does not hold."""
    if caught(lambda lines, data: "count" in loaded(lines[-1]), lines, data):
        trees, allowance, least = count_slowly(lines, data)
        message = f"counted: {trees} with costs of at most {allowance} in units of the costs"
        return Report(True, least, least, f"{message}  ({Statement(lines[0], data).words()})")
    bound, value = check_slowly(lines, data)
    what = "proved" if value == bound else "a proven bound"
    message = f"{what}: {bound} in units of the costs  ({Statement(lines[0], data).words()})"
    return Report(value == bound, bound, value, message)


def main(arguments: list[str]) -> int:
    """Print the verdict; the exit code."""
    try:
        raw = Path(arguments[0]).read_bytes()
        raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        lines = [line for line in raw.decode().split("\n") if line.strip()]
        print(report(lines, *arguments[1:2]).sentence)
    except (Refused, OSError, EOFError, ValueError, IndexError, RecursionError) as reason:
        print(f"refused: {reason}")
        return 1
    except TooLarge as reason:
        print(f"not checked: {reason}")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
