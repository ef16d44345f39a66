"""Tiny statements about squared error, their truth by brute force in fractions, and damage to them.

Shares no code with the checkers or the engines, but for `Truth` of the other statements.
"""

from __future__ import annotations

import copy
import json
import random
import tempfile
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from proof_problems import Truth

import milp_trees as mt
from milp_trees.verification.proof_reading import unpacked

Proof = tuple[dict[str, Any], list[Any]]
#: A damaged claim is higher by this share of itself.
MUCH = 2**20


def problem(seed: int, largest: int = 13) -> mt.Problem:
    """A random problem with one or two targets: small numbers, offsets, doubles, outliers, ties."""
    r = np.random.default_rng(seed)
    n, F, K = int(r.integers(1, largest)), int(r.integers(1, 6)), int(r.choice([1, 1, 2]))
    X = (r.random((n, F)) < r.choice([0.3, 0.5])).astype(np.uint8)
    kinds = [
        lambda: r.integers(0, 5, (n, K)),
        lambda: np.round(r.normal(size=(n, K)), 2),
        lambda: r.integers(0, 3, (n, K)) + 10**9,
        lambda: r.normal(size=(n, K)) * 1e-7,
        lambda: np.exp(3 * r.normal(size=(n, K))),
        lambda: np.full((n, K), 0.1),
    ]
    y = np.asarray(kinds[int(r.choice([0, 0, 1, 1, 2, 3, 4, 5]))](), dtype=float)
    weights = np.round(3 * r.random(n), 1) if seed % 3 == 0 else None
    if weights is not None and not weights.any():
        weights = None
    leaf, split = str(r.choice(["0", "1/10", "1/300"])), str(r.choice(["0", "0", "1/50"]))
    task = mt.tasks.SquaredError(leaf_penalty=leaf, split_penalty=split)
    depth = int(r.integers(1, 6)) if leaf == split == "0" else [2, 3, 4, None][int(r.integers(4))]
    space = mt.Trees(depth, min_samples_leaf=int(r.choice([1, 1, 1, 2])))
    return mt.Problem(mt.Dataset(X, targets=y, weights=weights), task, space)


@cache
def honest(seed: int) -> Proof | None:
    """The statement and the claims that `dp` writes; None if no tree is feasible."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof"
        result = mt.solve(problem(seed), "dp", proof=path)
        if result.proof is None:
            assert result.predictor is None, (seed, result.message)
            return None
        s, *claims = map(json.loads, unpacked(path).decode().splitlines())
    return s, claims


def lines(s: dict[str, Any], claims: list[Any]) -> list[str]:
    return [json.dumps(s), *map(json.dumps, claims)]


class LossTruth(Truth):
    """All trees of a statement. Losses are in units of the claims, and are fractions."""

    def __init__(self, s: dict[str, Any]) -> None:
        self.s, self.lists, self.X, self.q = s, False, s["data"]["X"], 1
        self.n, self.F = len(self.X), len(s["features"])
        unit = Fraction(s["targets"]["unit"])
        self.y = [[unit * x for x in row] for row in zip(*s["targets"]["listed"])]
        self.w = [Fraction(1)] * self.n
        if s["weights"] != "rows":
            self.w = [Fraction(s["weights"]["unit"]) * x for x in s["weights"]["listed"][0]]
        self.every = tuple(range(self.n))
        single = self.error(self.every, None)
        self.scale = 1 / single if s["share"] and single else Fraction(1)
        self.one = unit**2 / Fraction(2) ** s["power"]
        self.one *= 1 if s["weights"] == "rows" else Fraction(s["weights"]["unit"])
        split = s["split_penalties"]
        self.leaf = Fraction(s["leaf_penalty"])
        self.natural = [
            Fraction(x) for x in (split if isinstance(split, list) else [split] * self.F)
        ]
        self.split = [x / self.scale / self.one for x in self.natural]
        self.best = lru_cache(None)(self._best)
        self.whole = 1 if s["share"] else single

    def error(self, S: tuple[int, ...], predicted: Any) -> Fraction:
        """Squared error of some rows, row by row; with their means if no prediction is given."""
        total, weight = Fraction(0), sum(self.w[i] for i in S)
        for k in range(len(self.y[0])):
            mean = sum(self.w[i] * self.y[i][k] for i in S) / weight if weight else Fraction(0)
            p = mean if predicted is None else Fraction(predicted[k])
            total += sum((self.w[i] * (self.y[i][k] - p) ** 2 for i in S), Fraction(0))
        return total

    def _best(self, S: tuple[int, ...], depth: int, leaves: int) -> Any:
        out: Any = float("inf")
        if self.allowed(S):
            out = (self.error(S, None) + self.leaf / self.scale) / self.one
        if depth == 0 or leaves == 1:
            return out
        for f in range(self.F):
            no, yes = self.parts(S, f)
            for a in range(1, leaves if no and yes else 0):
                if leaves < len(S) or a == len(no):  # enough leaves for every row need no division
                    left = self.best(no, depth - 1, min(a, len(no)))
                    right = self.best(yes, depth - 1, min(leaves - a, len(yes)))
                    out = min(out, left + right + self.split[f])
        return out

    def limits(self) -> tuple[int, int]:
        depth, leaves = self.s["depth"], self.s["leaves"]
        return min(self.n, self.n if depth is None else depth), min(self.n, leaves or self.n)

    def optimum(self) -> Any:
        """The natural value of a best tree."""
        return self.best(self.every, *self.limits()) * self.one * self.scale

    def bound(self) -> Fraction:
        """The natural value of the stated bound."""
        return self.s["bound"] * self.one * self.scale

    def value(self, model: Any) -> Any:
        """The natural value of a tree; None if it breaks a limit."""
        ends: list[Any] = []

        def walk(node: Any, S: tuple[int, ...], level: int) -> Any:
            if not isinstance(node, list):
                ends.append((level, self.allowed(S)))
                return self.leaf + self.scale * self.error(S, self.s["predictions"][node])
            sides = zip(node[1:], self.parts(S, node[0]))
            return self.natural[node[0]] + sum(walk(x, T, level + 1) for x, T in sides)

        value = walk(model, self.every, 0)
        most = self.s["depth"], self.s["leaves"]
        kept = most[1] is None or len(ends) <= most[1]
        kept &= all(good and (most[0] is None or level <= most[0]) for level, good in ends)
        return value if kept else None


def lies(s: dict[str, Any], claims: list[Any]) -> str:
    """What is false about a proof, by brute force; empty if nothing is."""
    truth = LossTruth(s)
    if truth.bound() > truth.optimum():
        return f"the bound {s['bound']} is above the optimum {truth.optimum()}"
    if s["model"] is not None and truth.value(s["model"]) != Fraction(s["value"]):
        return "the tree has another value or breaks a limit"
    for number, (bound, depth, path, *more) in enumerate(claims):
        S = truth.every
        for step in path:
            S = truth.parts(S, abs(step) - 1)[step > 0]
        most = more[1] if len(more) > 1 else None
        limits = len(S) if depth is None else min(depth, len(S)), min(len(S), most or len(S))
        if truth.best(S, *limits) < bound:
            return f"claim {number} is false"
    return ""


# -- damage ----------------------------------------------------------------------------------------


def raised(s: Any, claims: Any, rng: random.Random) -> None:
    claim = rng.choice(claims)
    claim[0] += claim[0] // MUCH + 1000


def last_raised(s: Any, claims: Any, rng: random.Random) -> None:
    claims[-1][0] += claims[-1][0] // MUCH + 1000


def deleted(s: Any, claims: Any, rng: random.Random) -> None:
    del claims[rng.randrange(len(claims))]


def path_altered(s: Any, claims: Any, rng: random.Random) -> None:
    path = rng.choice(claims)[2]
    if path:
        k = rng.randrange(len(path))
        path[k : k + 1] = rng.choice([[-path[k]], [], [rng.randint(-5, 5)]])
    else:
        path.append(rng.choice([-1, 1, 9, 0]))


def claim_limits(s: Any, claims: Any, rng: random.Random) -> None:
    rng.choice(claims)[1] = rng.choice([None, 0, 1, 2, 3, 4, -1])


def helped(s: Any, claims: Any, rng: random.Random) -> None:
    for k, claim in enumerate(claims):
        claim[3:] = [sorted({rng.randrange(k) for _ in range(3)}) if k else []]
    if len(claims) > 1:
        del claims[0]


def row_flipped(s: Any, claims: Any, rng: random.Random) -> None:
    X = s["data"]["X"]
    i, f = rng.randrange(len(X)), rng.randrange(len(X[0]))
    X[i] = X[i][:f] + ("1" if X[i][f] == "0" else "0") + X[i][f + 1 :]


def row_left_out(s: Any, claims: Any, rng: random.Random) -> None:
    i = rng.randrange(len(s["data"]["X"]))
    weights = [] if s["weights"] == "rows" else s["weights"]["listed"]
    for column in (s["data"]["X"], *s["targets"]["listed"], *weights):
        del column[i]


def target_changed(s: Any, claims: Any, rng: random.Random) -> None:
    column = rng.choice(s["targets"]["listed"])
    i = rng.randrange(len(column))
    column[i] += rng.choice([-1, 1]) * max(1, abs(column[i]) // 100)


def targets_swapped(s: Any, claims: Any, rng: random.Random) -> None:
    column = rng.choice(s["targets"]["listed"])
    i, j = rng.randrange(len(column)), rng.randrange(len(column))
    column[i], column[j] = column[j], column[i]


def weight_changed(s: Any, claims: Any, rng: random.Random) -> None:
    n = len(s["data"]["X"])
    if s["weights"] == "rows":
        s["weights"] = {"unit": "1", "listed": [[1] * n]}
    s["weights"]["listed"][0][rng.randrange(n)] += rng.choice([1, 2, -1])


def predicted(s: Any, claims: Any, rng: random.Random) -> None:
    row = rng.choice(s["predictions"])
    k = rng.randrange(len(row))
    row[k] += rng.choice([-1, 1, 1e-3 * abs(row[k])])


def tree_hidden(s: Any, claims: Any, rng: random.Random) -> None:
    """A worse tree is stated, and the last claim says that there is no better one."""
    f, k = rng.randrange(len(s["features"])), len(s["predictions"])
    s["model"] = rng.choice([0, [f, 0, k - 1]])
    truth = LossTruth(s)
    value = truth.value(s["model"])
    if value is not None:
        claims[-1][0] = int(value / truth.one / truth.scale)


def powers(s: Any, claims: Any, rng: random.Random) -> None:
    s["power"] += rng.choice([-1, 1, 10**4])


def units(s: Any, claims: Any, rng: random.Random) -> None:
    s["targets"]["unit"] = str(Fraction(s["targets"]["unit"]) * rng.choice([2, -1, 10]))


def shared(s: Any, claims: Any, rng: random.Random) -> None:
    s["share"] = not s["share"]


def limits(s: Any, claims: Any, rng: random.Random) -> None:
    s[rng.choice(["depth", "leaves"])] = rng.choice([None, 0, 1, 2, 3, 4, 5])


def deeper(s: Any, claims: Any, rng: random.Random) -> None:
    s["depth"] = None if s["depth"] is None else s["depth"] + 1
    for claim in claims:
        claim[1] = None if claim[1] is None else claim[1] + 1


def minima(s: Any, claims: Any, rng: random.Random) -> None:
    if s["minima"] and rng.random() < 0.5:
        s["minima"].pop()
    else:
        s["minima"].append({"least": rng.randint(1, 3), "amounts": "rows"})


def penalties(s: Any, claims: Any, rng: random.Random) -> None:
    key = rng.choice(["leaf_penalty", "split_penalties"])
    s[key] = rng.choice(["0", "1/7", "-1", "1/1000000"])


DAMAGES = [
    raised, last_raised, deleted, path_altered, claim_limits, helped, row_flipped, row_left_out,
    target_changed, targets_swapped, weight_changed, predicted, tree_hidden, powers, units, shared,
    limits, deeper, minima, penalties,
]  # fmt: skip


def damaged(proof: Proof, seed: int) -> tuple[str, Proof]:
    """A proof with one kind of damage, which its statement repeats most of the time."""
    rng = random.Random(seed)
    s, claims = copy.deepcopy(proof)
    change = DAMAGES[seed % len(DAMAGES)]
    change(s, claims, rng)
    if rng.random() < 0.8:
        s["bound"] = claims[-1][0] if claims else 0
        try:
            value = None if s["model"] is None else LossTruth(s).value(s["model"])
        except IndexError:  # no row is left
            value = None
        s["value"] = None if value is None else f"{value.numerator}/{value.denominator}"
    return change.__name__, (s, claims)
