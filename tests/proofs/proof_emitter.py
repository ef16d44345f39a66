"""A slow emitter of proofs for tiny problems: values of all sets by brute force, a random choice of
which claims are listed, and random slack between them.
"""

from __future__ import annotations

import json
import random
from typing import Any

from proof_problems import Truth


class Emitter:
    """Claims of a statement."""

    def __init__(self, truth: Truth, rng: random.Random) -> None:
        self.truth, self.rng, self.claims = truth, rng, []
        self.emitted: dict[Any, int] = {}

    def limits(self, depth: Any, leaves: Any) -> tuple[int, int]:
        n = self.truth.n
        return n if depth is None else min(depth, n), n + 1 if leaves is None else min(
            leaves, n + 1
        )

    def emit(self, path: list[int], S: Any, depth: Any, leaves: Any, bound: int) -> None:
        """List a claim after the claims that it needs."""
        if self.emitted.get((S, depth, leaves), -(10**9)) >= bound:
            return
        if (depth is None or depth > 3 or self.rng.random() < 0.2) and depth != 0 and leaves != 1:
            for f in range(self.truth.F):
                no, yes = self.truth.parts(S, f)
                if no and yes and len(S) > 2:
                    self.divide(path, f, no, yes, depth, leaves, bound)
        helps = []
        if self.claims and self.rng.random() < 0.3:
            helps = [self.rng.randrange(len(self.claims))]
        claim = [bound, depth, path, helps, leaves]
        short = 3 if not helps and leaves is None else 4 if leaves is None else 5
        self.claims.append(claim[:short])
        self.emitted[S, depth, leaves] = max(bound, self.emitted.get((S, depth, leaves), bound))

    def divide(
        self, path: Any, f: int, no: Any, yes: Any, depth: Any, leaves: Any, bound: int
    ) -> None:
        below = None if depth is None else depth - 1
        price = self.truth.q * self.truth.split[f]
        for a in [None] if leaves is None else range(1, leaves):
            rest = None if a is None else leaves - a
            if self.truth.lists:
                low = self.truth.best(no, *self.limits(below, None))
                need = bound - price - self.truth.rule(yes)
                if need > -1e9 and need <= low:
                    self.emit(
                        [*path, -f - 1],
                        no,
                        below,
                        None,
                        int(min(low, need + self.rng.randint(0, 1))),
                    )
                continue
            left = self.truth.best(no, *self.limits(below, a))
            right = self.truth.best(yes, *self.limits(below, rest))
            if left == float("inf") or right == float("inf"):
                side = left == float("inf")
                there, limit, sign = (no, a, -1) if side else (yes, rest, 1)
                self.emit([*path, sign * (f + 1)], there, below, limit, 10**6)
                continue
            slack = int(left + right + price) - bound
            given = self.rng.randint(0, max(0, slack))
            self.emit([*path, -f - 1], no, below, a, int(left) - given)
            self.emit([*path, f + 1], yes, below, rest, bound - price - int(left) + given)


def proof(statement: dict[str, Any], rng: random.Random) -> tuple[dict[str, Any], list[Any]] | None:
    """The statement with model, value and bound, and claims; None if there is no model."""
    truth = Truth(statement)
    best = truth.best(truth.every, *truth.limits())
    if best == float("inf"):
        return None
    emitter = Emitter(truth, rng)
    bound = int(best) - (rng.randint(0, 2) if rng.random() < 0.2 else 0)
    emitter.emit([], truth.every, statement["depth"], statement["leaves"], bound)
    shift = 0
    for mu, x in zip(statement["multipliers"], statement["side"]):
        shift += mu * (x["upper"] if mu > 0 else x["lower"] if mu < 0 else 0)
    model = truth.model(truth.every, *truth.limits())
    value = truth.value(model)
    low = -((shift - bound) // truth.q)
    return {
        **statement,
        "model": None if value is None else model,
        "value": value,
        "bound": low,
    }, emitter.claims


def lines(statement: dict[str, Any], claims: list[Any]) -> list[str]:
    return [json.dumps(statement), *(json.dumps(claim) for claim in claims)]
