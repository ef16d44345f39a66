"""A second checker of proofs in another style: plain loops and recursion, for tiny problems.

It shares no code with `check_proof.py`, so that the two check each other.

Where `check_proof.py` computes with matrices and stops early, this one takes the rules of
`docs/guide/proofs.md` word by word: rows are groups of equal rows in frozen sets, costs keep the part
that every model pays, and a table is computed for all tests. It therefore accepts every proof that
`check_proof.py` accepts, and a few more (the children of a named claim have their best bounds).
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
from typing import Any

from milp_trees.verification.slow_reading import (
    Data,
    Refused,
    fields,
    listed,
    must,
    no_duplicates,
    perhaps,
    text,
    whole,
    worth,
)

INFINITE = math.inf


# -- the rules -------------------------------------------------------------------------------------


class Rules:
    """Derives claims about groups of equal rows."""

    def __init__(self, X: Any, costs: Any, leaf: int, split: Any, minima: Any, lists: bool) -> None:
        self.leaf_cost, self.split, self.lists = leaf, split, lists
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
                out = min(
                    out, self.leaf(yes, False) + self.best(no, depth - 1, INFINITE) + self.split[f]
                )
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
        asked = {yes if self.lists else frozenset((no, yes)) for no, yes in parts if no and yes}
        depth = max(0, min(depth, len(S) - 1, len(asked)))
        table = {}
        for f in range(self.F):
            sides = self.sides(S, f)
            for side, child in enumerate(sides):
                for most in limits:
                    if all(sides):
                        table[f, side, most] = self.child(child, f, side, depth, most, similar)
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

KEYS = (
    "format version kind depth leaves leaf_cost split_costs minima data features costs side "
    "multipliers denominator actions offset scale unit model value bound"
)


def check_slowly(proof_lines: Iterable[str], data: Any = None) -> tuple[int, int | None]:
    """The bound that a proof proves and the value of its model; Refused if it does not hold."""
    try:
        return _checked([line for line in proof_lines if line.strip()], data)
    except (ArithmeticError, LookupError, TypeError, ValueError, OSError, EOFError) as reason:
        raise Refused(f"It is malformed: {type(reason).__name__}: {reason}") from None
    except (RecursionError, csv.Error) as reason:
        raise Refused(f"It is malformed: {reason}") from None


def _checked(lines: list[str], data: Any) -> tuple[int, int | None]:
    values = [json.loads(line, object_pairs_hook=no_duplicates) for line in lines]
    fields(values[0], *KEYS.split())
    s = values[0]
    must(s["format"] == "milp-trees-proof", "This is no proof file.")
    must(whole(s["version"]) == 1 and s["kind"] in ("trees", "lists"), "It is of no known kind.")
    lists, depth, leaves = s["kind"] == "lists", perhaps(s["depth"]), perhaps(s["leaves"])
    must(depth is None or depth >= 0, "The depth is negative.")
    must(leaves is None or (leaves > 0 and not lists), "The limit of leaves is wrong.")
    rows = Data(s["data"], data)
    X, costs = rows.features(s["features"]), rows.costs(s["costs"])
    F, leaf_cost = len(X[0]), whole(s["leaf_cost"])
    if isinstance(s["split_costs"], list):
        split = listed(s["split_costs"], whole)
    else:
        split = [whole(s["split_costs"])] * F
    must(len(split) == F and min([leaf_cost, *split]) >= 0, "A penalty is negative or missing.")
    minima = []
    for x in listed(s["minima"], lambda x: fields(x, "least", "amounts")):
        minima.append((whole(x[0]), rows.amounts(x[1])))
    side = []
    for name, coefs, low, high in listed(
        s["side"], lambda x: fields(x, "name", "coefs", "lower", "upper")
    ):
        text(name)
        side.append((rows.costs(coefs, True), perhaps(low), perhaps(high)))
        must(len(side[-1][0][0]) == len(costs[0]), "A side row has other actions.")
    multipliers, q = listed(s["multipliers"], whole), whole(s["denominator"])
    must(q > 0 and len(multipliers) == len(side), "There is not one multiplier per side row.")
    must(len(listed(s["actions"], text)) == len(costs[0]), "An action has no name.")
    for key in ("offset", "scale"):
        must(len(text(s[key])) < 200, "A fraction is too long.")
        parts = [int(part) for part in text(s[key]).split("/")]
        must(len(parts) == 1 or (len(parts) == 2 and parts[1]), "A fraction is wrong.")
        must(key == "offset" or parts[0], "The scale is zero.")
    must(text(s["unit"]).isprintable(), "The unit is no plain text.")
    priced, shift = [[q * c for c in row] for row in costs], 0
    for mu, (coefs, low, high) in zip(multipliers, side):
        limit = high if mu > 0 else low if mu < 0 else 0
        must(limit is not None, "A multiplier prices no limit.")
        shift += mu * limit
        priced = [[a + mu * b for a, b in zip(x, y)] for x, y in zip(priced, coefs)]
    rules = Rules(X, priced, q * leaf_cost, [q * c for c in split], minima, lists)
    must(len(values) > 1, "There is no claim.")
    last: Any = None
    for number, claim in enumerate(values[1:]):
        must(isinstance(claim, list) and 3 <= len(claim) <= 5, f"Claim {number} is malformed.")
        claim += [None, None][len(claim) - 3 :]
        helps = [] if claim[3] is None else listed(claim[3], whole)
        must(all(0 <= h < number for h in helps), "A help is no earlier claim.")
        limits = [INFINITE if x is None else whole(x) for x in (claim[1], claim[4])]
        must(limits[0] >= 0 and limits[1] >= 1, f"Claim {number} allows no model.")
        last = whole(claim[0]), limits, listed(claim[2], whole)
        rules.derive(last[0], limits[0], last[2], helps, limits[1])
    must(not last[2], "The last claim is not about all rows.")
    for has, asked in zip(last[1], (depth, leaves)):
        must(has >= (INFINITE if asked is None else asked), "The last claim is too narrow.")
    bound = math.ceil(Fraction(last[0] - shift, q))
    must(whole(s["bound"]) == bound, f"The claims prove {bound}.")
    value = None
    if s["model"] is not None:
        value = worth(s["model"], lists, depth, leaves, X, costs, leaf_cost, split, minima, side)
        must(value >= bound, "The model contradicts the claims.")
    must(perhaps(s["value"]) == value, f"The model has the value {value}.")
    return bound, value


def main(arguments: list[str]) -> int:
    """Print the verdict; the exit code."""
    try:
        raw = Path(arguments[0]).read_bytes()
        raw = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        bound, value = check_slowly(raw.decode().split("\n"), *arguments[1:2])
    except (Refused, OSError, ValueError, IndexError) as reason:
        print(f"refused: {reason}")
        return 1
    print(f"{'proved' if value == bound else 'bound'}: {bound}  (in units of the costs)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
