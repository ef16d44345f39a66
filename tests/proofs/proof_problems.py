"""Tiny random problems as statements of proof files, and the truth about a statement by brute
force: all models, row by row. Shares no code with the checkers or the engines.
"""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any


def drawn(rng: random.Random, kind: str | None = None) -> dict[str, Any]:
    """A random statement without a model; its rows are part of it."""
    kind = kind or rng.choice(["trees", "trees", "lists"])
    F, n, K = rng.randint(1, 5), rng.randint(1, 9), rng.choice([1, 2, 2, 2, 3])
    n += 6 * (rng.random() < 0.4)
    X = ["".join(rng.choice("01") for _ in range(F)) for _ in range(n)]
    if F > 1 and rng.random() < 0.4:  # an equal or complementary column
        turn = rng.choice([{"0": "0", "1": "1"}, {"0": "1", "1": "0"}])
        X = [x[:-1] + turn[x[0]] for x in X]
    side = []
    if rng.random() < 0.2 and K > 1 and n < 7:
        coefs = [[rng.randint(-1, 2) for _ in range(K)] for _ in range(n)]
        low, high = rng.choice([(None, n // 2), (0, None), (1, n)])
        form = {"kind": "listed", "values": coefs}
        side.append({"name": "side", "coefs": form, "lower": low, "upper": high})
    depth = rng.choice([0, 1, 2, 3, 3, 4, 5, None, None]) if not side else rng.choice([1, 2, 3])
    q = rng.choice([1, 2, 3]) if side else 1
    mu = [
        rng.choice(
            [
                m
                for m in range(-2, 3)
                if m == 0 or side[0]["upper" if m > 0 else "lower"] is not None
            ]
        )
        for _ in side
    ]
    minima = []
    if rng.random() < 0.5:
        minima.append({"least": rng.randint(1, 3), "amounts": "rows"})
    if rng.random() < 0.2:
        amounts = {"listed": [rng.randint(0, 3) for _ in range(n)]}
        minima.append({"least": rng.randint(0, 4), "amounts": amounts})
    split: Any = rng.choice([0, 0, 1, 2])
    if rng.random() < 0.3:
        split = [rng.randint(0, 2) for _ in range(F)]
    low = rng.choice([0, 0, -3])
    return {
        "format": "milp-trees-proof",
        "version": 1,
        "kind": kind,
        "depth": depth,
        "leaves": rng.choice([1, 2, 3, 4, 5, 6])
        if kind == "trees" and rng.random() < 0.3
        else None,
        "leaf_cost": rng.choice([0, 0, 1, 2]),
        "split_costs": split,
        "minima": minima,
        "data": {"kind": "rows", "X": X},
        "features": [f"x{f}" for f in range(F)],
        "costs": {
            "kind": "listed",
            "values": [[rng.randint(low, 5) for _ in range(K)] for _ in range(n)],
        },
        "side": side,
        "multipliers": mu,
        "denominator": q,
        "actions": [f"a{k}" for k in range(K)],
        "offset": "0/1",
        "scale": "1/1",
        "unit": "",
        "model": None,
        "value": None,
        "bound": 0,
    }


class Truth:
    """All models of a statement, by recursion over rows."""

    def __init__(self, s: dict[str, Any]) -> None:
        self.s, self.lists = s, s["kind"] == "lists"
        self.X = s["data"]["X"]
        self.n, self.F = len(self.X), len(s["features"])
        split = s["split_costs"]
        self.split = split if isinstance(split, list) else [split] * self.F
        self.costs = s["costs"]["values"]
        self.K = len(self.costs[0])
        self.side = [x["coefs"]["values"] for x in s["side"]]
        q = s["denominator"]
        self.q = q
        self.priced = [
            [
                q * c + sum(m * t[i][k] for m, t in zip(s["multipliers"], self.side))
                for k, c in enumerate(row)
            ]
            for i, row in enumerate(self.costs)
        ]
        self.every = tuple(range(self.n))
        self.best = lru_cache(None)(self._best)
        self.attained = lru_cache(None)(self._attained)

    def allowed(self, S: tuple[int, ...]) -> bool:
        for m in self.s["minima"]:
            w = [1] * self.n if m["amounts"] == "rows" else m["amounts"]["listed"]
            if sum(w[i] for i in S) < m["least"]:
                return False
        return True

    def parts(self, S: tuple[int, ...], f: int) -> tuple[Any, Any]:
        no = tuple(i for i in S if self.X[i][f] == "0")
        return no, tuple(i for i in S if self.X[i][f] == "1")

    def _best(self, S: tuple[int, ...], depth: int, leaves: int) -> float:
        """The least priced cost of a model on some rows."""
        out = float("inf")
        if self.lists or self.allowed(S):
            out = min(sum(self.priced[i][k] for i in S) for k in range(self.K))
            out += self.q * self.s["leaf_cost"]
        if depth == 0 or leaves == 1:
            return out
        for f in range(self.F):
            no, yes = self.parts(S, f)
            if not self.lists and not (no and yes):
                continue  # the model of the other side, without the test, costs no more
            for a in range(1, leaves):
                there = self.best(yes, 0, 1) if not self.lists else self.rule(yes)
                if self.lists:
                    rest = self.best(no, depth - 1, leaves - 1)
                    out = min(out, there + rest + self.q * self.split[f])
                    break
                left, right = self.best(no, depth - 1, a), self.best(yes, depth - 1, leaves - a)
                out = min(out, left + right + self.q * self.split[f])
        return out

    def rule(self, S: tuple[int, ...]) -> float:
        if not self.allowed(S):
            return float("inf")
        return (
            min(sum(self.priced[i][k] for i in S) for k in range(self.K))
            + self.q * self.s["leaf_cost"]
        )

    def limits(self) -> tuple[int, int]:
        depth = self.n if self.s["depth"] is None else min(self.s["depth"], self.n)
        return depth, self.n + 1 if self.s["leaves"] is None else min(self.s["leaves"], self.n + 1)

    def optimum(self) -> float:
        """The least Z of a model that keeps the limits and the side rows."""
        if not self.side and self.q:
            return self.best(self.every, *self.limits()) / self.q
        good = []
        for Z, *totals in self.attained(self.every, *self.limits(), False):
            kept = True
            for total, x in zip(totals, self.s["side"]):
                kept &= x["lower"] is None or total >= x["lower"]
                kept &= x["upper"] is None or total <= x["upper"]
            if kept:
                good.append(Z)
        return min(good, default=float("inf"))

    def _attained(self, S: tuple[int, ...], depth: int, leaves: int, rule: bool) -> frozenset[Any]:
        """All (Z, totals of the side rows) of models."""
        out = set()
        if self.allowed(S) or (self.lists and not rule):
            for k in range(self.K):
                totals = [sum(t[i][k] for i in S) for t in self.side]
                out.add((sum(self.costs[i][k] for i in S) + self.s["leaf_cost"], *totals))
        if depth == 0 or leaves == 1 or rule:
            return frozenset(out)
        for f in range(self.F):
            no, yes = self.parts(S, f)
            for a in range(1, leaves):
                if no and yes:
                    there = self.attained(yes, depth - 1, leaves - a, self.lists)
                    for x in self.attained(no, depth - 1, leaves if self.lists else a, False):
                        for y in there:
                            total = [p + q for p, q in zip(x, y)]
                            out.add((total[0] + self.split[f], *total[1:]))
        return frozenset(out)

    def model(self, S: tuple[int, ...], depth: int, leaves: int) -> Any:
        """A cheapest model for the priced costs, in the form of a proof file."""
        wanted = self.best(S, depth, leaves)
        if self.lists or self.allowed(S):
            for k in range(self.K):
                if sum(self.priced[i][k] for i in S) + self.q * self.s["leaf_cost"] == wanted:
                    return {"rules": [], "default": k} if self.lists else k
        for f in range(self.F):
            no, yes = self.parts(S, f)
            price = self.q * self.split[f]
            if (
                self.lists
                and min(depth, leaves - 1) > 0
                and self.rule(yes) + self.best(no, depth - 1, leaves - 1) + price == wanted
            ):
                costs = [sum(self.priced[i][k] for i in yes) for k in range(self.K)]
                rest = self.model(no, depth - 1, leaves - 1)
                return {**rest, "rules": [[f, costs.index(min(costs))], *rest["rules"]]}
            for a in range(1, 1 if self.lists or not (no and yes) else leaves):
                left, right = self.best(no, depth - 1, a), self.best(yes, depth - 1, leaves - a)
                if left + right + price == wanted:
                    return [f, self.model(no, depth - 1, a), self.model(yes, depth - 1, leaves - a)]
        raise AssertionError("no model has the optimal value")

    def value(self, model: Any) -> int | None:
        """Z of a model; None if it breaks a limit."""
        s, tests, ends = self.s, [], []
        stack = [(model, list(self.every), 0, False)]
        if self.lists:
            stack, rows = [], list(self.every)
            for f, k in model["rules"]:
                stack.append((k, [i for i in rows if self.X[i][f] == "1"], 0, False))
                rows = [i for i in rows if self.X[i][f] == "0"]
                tests.append(f)
            stack.append((model["default"], rows, len(tests), True))
        while stack:
            node, rows, level, default = stack.pop()
            if s["depth"] is not None and level > s["depth"]:
                return None
            if isinstance(node, list):
                tests.append(node[0])
                for digit in (0, 1):
                    there = [i for i in rows if self.X[i][node[0]] == str(digit)]
                    stack.append((node[1 + digit], there, level + 1, False))
            else:
                ends += [(i, node) for i in rows]
                ends.append((None, node))
                if not default and not self.allowed(tuple(rows)):
                    return None
        leaves = sum(i is None for i, _ in ends)
        ends = [(i, k) for i, k in ends if i is not None]
        for x, table in zip(s["side"], self.side):
            total = sum(table[i][k] for i, k in ends)
            if not (x["lower"] is None or total >= x["lower"]) or not (
                x["upper"] is None or total <= x["upper"]
            ):
                return None
        if s["leaves"] is not None and leaves > s["leaves"]:
            return None
        Z = sum(self.costs[i][k] for i, k in ends) + s["leaf_cost"] * leaves
        return Z + sum(self.split[f] for f in tests)
