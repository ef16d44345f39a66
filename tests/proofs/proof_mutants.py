"""Damaged proofs: every one must be rejected or still be true, and both checkers must say so.

    python tests/proofs/proof_mutants.py 10000

draws so many mutations of proofs of tiny random problems and counts what became of them.
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from proof_emitter import lines, proof
from proof_problems import Truth, drawn

from milp_trees.verification.check_proof import Instance, Wrong, check
from milp_trees.verification.reference_checker.check import Refused, check_slowly

Proof = tuple[dict[str, Any], list[Any]]


def raised(s: Any, claims: Any, rng: random.Random) -> None:
    """One claim is raised by one; if it is the last, the statement says the same."""
    claims[rng.randrange(len(claims))][0] += 1


def last_raised(s: Any, claims: Any, rng: random.Random) -> None:
    claims[-1][0] += rng.randint(1, 3)


def deleted(s: Any, claims: Any, rng: random.Random) -> None:
    del claims[rng.randrange(len(claims))]


def path_altered(s: Any, claims: Any, rng: random.Random) -> None:
    path = rng.choice(claims)[2]
    if path:
        k = rng.randrange(len(path))
        path[k : k + 1] = rng.choice([[-path[k]], [], [rng.randint(-5, 5)], [path[k]] * 2])
    else:
        path.append(rng.choice([-1, 1, -2, 0]))


def test_left_out(s: Any, claims: Any, rng: random.Random) -> None:
    """All claims about one side of a test are lost."""
    step = rng.choice([x for c in claims for x in c[2]] or [1])
    claims[:] = [c for c in claims if step not in c[2]]


def claim_limits(s: Any, claims: Any, rng: random.Random) -> None:
    claim = rng.choice(claims)
    claim[1] = rng.choice([None, 0, 1, 2, 3, 4, -1])


def claim_leaves(s: Any, claims: Any, rng: random.Random) -> None:
    claim = rng.choice(claims)
    claim[3:] = [[], rng.choice([None, 0, 1, 2, 3, 4])]


def helped(s: Any, claims: Any, rng: random.Random) -> None:
    """Claims lose the claims of their children and get random helps."""
    deleted(s, claims, rng)
    for k, claim in enumerate(claims):
        claim[3:4] = [sorted({rng.randrange(k) for _ in range(3)}) if k else []]


def swapped(s: Any, claims: Any, rng: random.Random) -> None:
    i, j = rng.randrange(len(claims)), rng.randrange(len(claims))
    claims[i], claims[j] = claims[j], claims[i]


def row_flipped(s: Any, claims: Any, rng: random.Random) -> None:
    X = s["data"]["X"]
    i, f = rng.randrange(len(X)), rng.randrange(len(X[0]))
    X[i] = X[i][:f] + ("1" if X[i][f] == "0" else "0") + X[i][f + 1 :]


def labels_swapped(s: Any, claims: Any, rng: random.Random) -> None:
    rng.choice(s["costs"]["values"]).reverse()


def cost_changed(s: Any, claims: Any, rng: random.Random) -> None:
    row = rng.choice(s["costs"]["values"])
    row[rng.randrange(len(row))] += rng.choice([-1, 1])


def tree_hidden(s: Any, claims: Any, rng: random.Random) -> None:
    """A worse model is stated, and the last claim says that there is no better one."""
    K = len(s["actions"])
    f, a, b = rng.randrange(len(s["features"])), rng.randrange(K), rng.randrange(K)
    tree = rng.choice([a, [f, a, b]])
    rules = {"rules": [[f, b]], "default": a}
    s["model"] = rules if s["kind"] == "lists" else tree
    value = Truth(s).value(s["model"])
    if value is not None and not s["side"]:
        claims[-1][0] = s["denominator"] * value


def model_changed(s: Any, claims: Any, rng: random.Random) -> None:
    s["model"] = rng.choice(
        [0, None, [0, 0, 0], [9, 0, 0], [-1, 0, 0], {"rules": [], "default": 0}]
    )


def statement_depth(s: Any, claims: Any, rng: random.Random) -> None:
    s["depth"] = rng.choice([None, 0, 1, 2, 3, 4, -1])


def statement_leaves(s: Any, claims: Any, rng: random.Random) -> None:
    s["leaves"] = rng.choice([None, 0, 1, 2, 3, 4, 5])


def all_limits(s: Any, claims: Any, rng: random.Random) -> None:
    """The statement and all claims are about deeper models."""
    s["depth"] = None if s["depth"] is None else s["depth"] + 1
    for claim in claims:
        claim[1] = None if claim[1] is None else claim[1] + 1


def minimum_changed(s: Any, claims: Any, rng: random.Random) -> None:
    change = rng.randrange(3)
    if change == 0 or not s["minima"]:
        s["minima"].append({"least": rng.randint(-1, 3), "amounts": "rows"})
    elif change == 1:
        s["minima"].pop()
    else:
        s["minima"][0]["least"] += rng.choice([-1, 1])


def penalties(s: Any, claims: Any, rng: random.Random) -> None:
    s["leaf_cost"] += rng.choice([-1, 0, 1])
    F = len(s["features"])
    s["split_costs"] = rng.choice([0, 1, [rng.randint(0, 2) for _ in range(F)], -1])


def multiplier(s: Any, claims: Any, rng: random.Random) -> None:
    s["denominator"] = rng.choice([1, 2, 3, 0])
    if s["multipliers"]:
        s["multipliers"][0] += rng.choice([-1, 1])


MUTATIONS: list[Callable[[Any, Any, random.Random], None]] = [
    raised, last_raised, deleted, path_altered, test_left_out, claim_limits, claim_leaves, helped,
    swapped, row_flipped, labels_swapped, cost_changed, tree_hidden, model_changed, all_limits,
    statement_depth, statement_leaves, minimum_changed, penalties, multiplier,
]  # fmt: skip


def restated(s: dict[str, Any], claims: list[Any]) -> None:
    """The statement says what the damaged claims and model say, so that this is no easy catch."""
    shift = 0
    for mu, x in zip(s["multipliers"], s["side"]):
        shift += mu * ((x["upper"] if mu > 0 else x["lower"] if mu < 0 else 0) or 0)
    if claims and s["denominator"]:
        s["bound"] = -((shift - claims[-1][0]) // s["denominator"])
    try:
        s["value"] = None if s["model"] is None else Truth(s).value(s["model"])
    except (IndexError, TypeError, KeyError):
        s["value"] = 0


def mutant(seed: int) -> tuple[str, Proof] | None:
    """A proof with one kind of damage; None if the problem has no model."""
    rng = random.Random(seed)
    honest = proof(drawn(rng), rng)
    if honest is None:
        return None
    s, claims = copy.deepcopy(honest)
    change = MUTATIONS[seed % len(MUTATIONS)]
    change(s, claims, rng)
    if rng.random() < 0.8:
        restated(s, claims)
    return change.__name__, (s, claims)


def lies(s: dict[str, Any], claims: list[Any]) -> str:
    """What is false about a proof, by brute force; empty if nothing is."""
    truth = Truth(s)
    if s["bound"] > truth.optimum():
        return f"the bound {s['bound']} is above the optimum {truth.optimum()}"
    if s["model"] is not None and truth.value(s["model"]) != s["value"]:
        return "the model has another value or breaks a limit"
    for number, (bound, depth, path, *more) in enumerate(claims):
        S = truth.every
        for step in path:
            S = truth.parts(S, abs(step) - 1)[step > 0]
        most = more[1] if len(more) > 1 else None
        depth = truth.n if depth is None else min(depth, truth.n)
        leaves = truth.n + 1 if most is None else min(most, truth.n + 1)
        if truth.best(S, depth, leaves) < bound:
            return f"claim {number} is false"
    return ""


def verdicts(text: list[str]) -> tuple[bool, bool]:
    """Whether the checker and the slow checker accept."""
    try:
        check(text)
        fast = True
    except Wrong:
        fast = False
    try:
        check_slowly(text)
        slow = True
    except Refused:
        slow = False
    return fast, slow


def outcome(seed: int) -> tuple[str, str]:
    """The kind of damage and what became of it; AssertionError if a lie was accepted."""
    drawn_mutant = mutant(seed)
    if drawn_mutant is None:
        return "", "no model"
    name, (s, claims) = drawn_mutant
    fast, slow = verdicts(lines(s, claims))
    if not (fast or slow):
        return name, "rejected"
    found = lies(s, claims)
    assert not found, f"seed {seed}, {name}: accepted, but {found}\n{json.dumps(s)}\n{claims}"
    if fast and not slow:
        raise AssertionError(f"seed {seed}, {name}: the slow checker refuses what is accepted")
    if slow and not fast:
        # Only the table of a named claim may be better in the slow checker.
        assert any(len(c) > 3 and c[3] for c in claims), f"seed {seed}, {name}: only slow accepts"
        return name, "still true, only the slow checker follows"
    return name, "still true"


def true_claims(truth: Truth, rng: random.Random, count: int) -> list[list[Any]]:
    """Claims about random sets with any limits and their best bounds: sound rules cannot turn them
    into a false one.
    """
    claims = []
    for _ in range(count):
        path = [f + 1 if rng.random() < 0.5 else -f - 1 for f in rng.sample(range(truth.F), 2)]
        path = [-abs(x) if truth.lists else x for x in path[: rng.choice([0, 1, 1, 1, 2, 2])]]
        S = truth.every
        for step in path:
            S = truth.parts(S, abs(step) - 1)[step > 0]
        depth = rng.choice([1, 2, 2, 3, 3, 4, None])
        leaves = None if truth.lists else rng.choice([None, None, 2, 3, 4, 5])
        limits = depth, leaves
        depth = truth.n if depth is None else min(depth, truth.n)
        best = truth.best(S, depth, truth.n + 1 if leaves is None else leaves)
        helps = rng.sample(range(len(claims)), min(len(claims), rng.randint(0, 2)))
        bound = 10**6 if best == float("inf") else int(best)
        claims.append([bound, limits[0], path, helps, limits[1]])
    return claims


def overclaimed(seed: int) -> bool:
    """True claims, and a last one that is too high by one: whether it was reached.

    AssertionError if a checker accepts it.
    """
    rng = random.Random(seed)
    F = rng.randint(3, 5)
    rows = rng.sample(range(2**F), rng.randint(5, min(2**F, 18)))
    s = drawn(rng, rng.choice(["trees", "trees", "lists"]))
    high = rng.choice([1, 1, 3])
    s["data"]["X"] = [format(row, f"0{F}b") for row in rows]
    s["features"] = [f"x{f}" for f in range(F)]
    s["costs"]["values"] = [[rng.randint(0, high), rng.randint(0, high)] for _ in rows]
    price = rng.choice([0, 0, 0, 1])
    s |= {"actions": ["a", "b"], "side": [], "multipliers": [], "denominator": 1, "depth": None}
    s |= {"leaf_cost": rng.choice([0, 0, 1]), "split_costs": price, "leaves": None, "minima": []}
    if rng.random() < 0.4:
        s["minima"] = [{"least": 2, "amounts": "rows"}]
    truth = Truth(s)
    instance = Instance(
        [[digit == "1" for digit in x] for x in s["data"]["X"]],
        s["costs"]["values"],
        s["leaf_cost"],
        s["split_costs"],
        [(m["least"], [1] * truth.n) for m in s["minima"]],
        s["kind"],
    )
    held: list[list[Any]] = []
    for claim in true_claims(truth, rng, 14):
        claim[3] = [h for h in claim[3] if h < len(held)]
        for more in (1, 0):
            higher = [claim[0] + more, *claim[1:]]
            last = [-(10**6), None, []]  # the last claim is about all rows
            with suppress(Wrong):
                instance.follow([*held, higher, last], None)
                assert not more or claim[0] == 10**6, f"seed {seed}: {s}\n{held}\n{higher}"
                held.append(higher)
                break
    return len(held) > 7


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    reached = sum(overclaimed(seed) for seed in range(first, first + count // 10))
    print(f"{reached} of {count // 10} lists of true claims, none with a false one after them")
    print(*sorted(Counter(outcome(seed) for seed in range(first, first + count)).items()), sep="\n")


if __name__ == "__main__":
    main()
