"""Files whose verdict needs a list of trees: a few true claims, and a last one that says nothing.

Depth and leaves are limited so that both limits cut trees off, and tests in another order lead to
the same rows. So a lister that forgets a limit, or a way to a set of rows, finds other trees.
"""

from __future__ import annotations

import json
import random
from typing import Any

from proof_emitter import lines
from proof_problems import Truth, drawn

#: The bound of the last claim, below all costs.
NOTHING = -1000


def listed(rng: random.Random, n: int, K: int, high: int) -> dict[str, Any]:
    """Costs of all rows and actions."""
    values = [[rng.randint(0, high) for _ in range(K)] for _ in range(n)]
    return {"kind": "listed", "values": values}


def larger(rng: random.Random, gap: bool) -> dict[str, Any]:
    """A statement with three to five tests, for a gap with a side row."""
    F, K = rng.choice([3, 4, 4] if gap else [3, 4, 5]), rng.choice([2, 2, 3])
    n = min(2**F, rng.randint(6, 11 if gap else 14))
    split = rng.choice([0, 0, 1, [rng.randint(0, 2) for _ in range(F)]])
    s = drawn(rng, "trees") | {
        "depth": rng.choice([3, 4, 4] if gap else [3, 4, 4, None]),
        "leaves": rng.choice([None, 3, 4, 5, 6]),
        "leaf_cost": rng.choice([0, 0, 1]),
        "split_costs": split,
        "minima": [] if rng.random() < 0.6 else [{"least": 2, "amounts": "rows"}],
        "data": {
            "kind": "rows",
            "X": [format(x, f"0{F}b") for x in rng.sample(range(2**F), n)],
        },
        "features": [f"x{f}" for f in range(F)],
        "costs": listed(rng, n, K, 4),
        "actions": [f"a{k}" for k in range(K)],
        "side": [],
        "multipliers": [],
        "denominator": 1,
    }
    if gap:
        upper = rng.randint(n // 5, n // 2 + 1)
        row = {"name": "side", "coefs": listed(rng, n, K, 1), "lower": None, "upper": upper}
        s |= {"side": [row], "multipliers": [rng.randint(0, 3)], "denominator": rng.randint(1, 3)}
    return s


def claims_about_children(truth: Truth, rng: random.Random) -> list[Any]:
    """Best bounds for at most two levels: too high for deeper trees, or for more leaves."""
    claims = []
    for _ in range(6):
        path = [f + 1 if rng.random() < 0.5 else -f - 1 for f in rng.sample(range(truth.F), 2)]
        path, S = path[: rng.randint(1, 2)], truth.every
        for step in path:
            S = truth.parts(S, abs(step) - 1)[step > 0]
        depth, leaves = rng.choice([1, 2, 2]), rng.choice([None, None, 2, 3])
        best = truth.best(S, depth, leaves or truth.n + 1)
        claims.append([10**6 if best == float("inf") else int(best), depth, path, [], leaves])
    return claims


def gap_to(rng: random.Random, trees: list[Any], s: dict[str, Any]) -> list[str] | None:
    """A file that says that the best of some trees is optimal; None if none keeps the limits."""
    truth = Truth(s)
    found = [(Z, i) for i, t in enumerate(trees) if (Z := truth.value(t)) is not None]
    if not found:
        return None
    s["value"], s["model"] = min(found)[0], trees[min(found)[1]]
    shift = sum(mu * row["upper"] for mu, row in zip(s["multipliers"], s["side"]))
    s["bound"] = -((shift - NOTHING) // s["denominator"])
    last = [NOTHING, s["depth"], [], [], s["leaves"]]
    return [*lines(s, [*claims_about_children(truth, rng), last]), '{"closed": true}']


def count_of(rng: random.Random, s: dict[str, Any]) -> list[str]:
    """A file with a wrong number of trees near the optimum."""
    truth = Truth(s)
    best, s["bound"] = truth.optimum(), NOTHING
    stated = {"allowance": 0 if best == float("inf") else int(best) + rng.randint(0, 3)}
    stated |= {"trivial": rng.random() < 0.5, "equal_tests": rng.choice(["all", "one"])}
    last = [NOTHING, s["depth"], [], [], s["leaves"]]
    claims = [*claims_about_children(truth, rng), last]
    return [*lines(s, claims), json.dumps({**stated, "count": -1})]
