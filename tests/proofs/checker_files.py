"""Files for the checkers by family and number, each with a verdict that is known: from tiny honest
and damaged ones to claims that are true for few levels or leaves and false for one more.

`files(kind)` makes those that the tests read; the mutants of the checkers are run on the same.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from typing import Any

from proof_emitter import lines, proof
from proof_mutants import mutant
from proof_problems import drawn

from milp_trees.verification.check_proof import Instance, Wrong

#: A file, as lines of text.
File = list[str]
#: Seeds of `deep`: three to five features, with prices and without.
DEEP = (1, 2, 4, 5)
#: A bound below all costs.
NOTHING = -(10**6)


# -- claims that are true for fewer levels or leaves -------------------------------------------------


class Best:
    """The least cost of all trees on rows with different answers, by depth and number of leaves."""

    def __init__(self, X: list[str], costs: list[list[int]], leaf: int, split: list[int]) -> None:
        self.X, self.costs, self.leaf, self.split = X, costs, leaf, split
        self.of = lru_cache(None)(self._of)

    def __call__(self, S: frozenset[int], depth: int, leaves: int) -> int:
        return self.of(S, min(depth, len(S) - 1), max(1, min(leaves, len(S), 2**depth)))

    def sides(self, S: Iterable[int], f: int) -> list[frozenset[int]]:
        return [frozenset(i for i in S if self.X[i][f] == digit) for digit in "01"]

    def _of(self, S: frozenset[int], depth: int, leaves: int) -> int:
        out = min(map(sum, zip(*(self.costs[i] for i in S), strict=True))) + self.leaf
        for f in range(len(self.split)) if depth > 0 and leaves > 1 else ():
            no, yes = self.sides(S, f)
            for a in range(1, leaves) if no and yes else ():
                if a <= len(no) and leaves - a <= len(yes):
                    both = self(no, depth - 1, a) + self(yes, depth - 1, leaves - a)
                    out = min(out, both + self.split[f])
        # One leaf more never costs more: this many at most.
        return min(out, self(S, depth, leaves - 1)) if leaves > 1 else out


def statement(X: list[str], costs: list[list[int]], leaf: int, split: list[int]) -> dict[str, Any]:
    """A statement about trees of any depth on these rows."""
    return {
        **{"format": "milp-trees-proof", "version": 1, "kind": "trees", "depth": None},
        **{"leaves": None, "leaf_cost": leaf, "split_costs": split, "minima": []},
        **{"data": {"kind": "rows", "X": X}, "features": [f"x{f}" for f in range(len(split))]},
        **{"costs": {"kind": "listed", "values": costs}, "side": [], "multipliers": []},
        **{"denominator": 1, "actions": [f"a{k}" for k in range(len(costs[0]))]},
        **{"offset": "0", "scale": "1", "unit": "", "model": None, "value": None, "bound": NOTHING},
    }


def deep(seed: int) -> Iterator[File]:
    """Claims about trees of up to five levels, which most levels improve; after each that holds, one
    that is too high by one for a level or a leaf more.
    """
    rng = random.Random(seed)
    F = rng.choice([3, 4, 4, 4, 5])
    rows = sorted(rng.sample(range(2**F), 2**F - rng.choice([0, 0, 1, 2])))
    X = [format(row, f"0{F}b") for row in rows]
    requested = rng.sample(range(F), rng.choice([F, F, F - 1]))
    odd = [sum(x[f] == "1" for f in requested) % 2 for x in X]
    costs = [[rng.choice([1, 1, 2]) * (k != o) for k in (0, 1)] for o in odd]
    split = [rng.choice([0, 0, 1]) for _ in range(F)] if seed % 3 == 0 else [0] * F
    s = statement(X, costs, int(seed % 5 == 0), split)
    best = Best(X, costs, s["leaf_cost"], split)
    instance = Instance([[d == "1" for d in x] for x in X], costs, s["leaf_cost"], split)
    held: list[list[Any]] = []
    for path, depth, leaves in _asked(rng, F, seed):
        S = frozenset(range(len(X)))
        for step in path:
            S = best.sides(S, abs(step) - 1)[step > 0]
        if not S:
            continue
        most = len(S) if leaves is None else leaves
        bound = best(S, len(S) if depth is None else depth, most)
        helps = (
            sorted(rng.sample(range(len(held)), min(len(held), 2))) if rng.random() < 0.3 else []
        )
        true = [bound, depth, path, helps, leaves]
        last = [NOTHING, None, []]
        yield lines(s, [*held, [bound + 1, *true[1:]], last])
        with suppress(Wrong):
            instance.follow([*held, true, last], None)
            held.append(true)
    yield lines(s, [*held, [NOTHING, None, []]])


def _asked(rng: random.Random, F: int, seed: int) -> Iterator[tuple[list[int], Any, Any]]:
    """Path, levels and leaves of the claims: few levels first, children before their parents."""
    for depth in range(2, F + 1) if seed % 2 else range(1, F + 1):
        for f in range(F) if depth > 2 else ():
            for step in (f + 1, -f - 1):
                yield [step], depth - 1, None
        yield [], depth, None
    for leaves in range(2, 7):
        yield [], rng.choice([2, 3, 4, None]), leaves
        yield [rng.choice([1, -1, 2])], rng.choice([2, 3, None]), leaves
    yield [], None, None


def parity(F: int) -> list[File]:
    """The parity of F features: with a level less than F nothing helps, with F all rows are right.

    The first file is true; the others claim that a level more does not help, and name no help or the
    claim about one level less.
    """
    X = [format(row, f"0{F}b") for row in range(2**F)]
    costs = [[x.count("1") % 2, 1 - x.count("1") % 2] for x in X]
    s, half = statement(X, costs, 0, [0] * F), 2 ** (F - 1)
    paths: list[list[int]] = [[]]  # to the sets of rows that need more than two levels
    for _ in range(F - 3):
        new = [[*p, sign * (g + 1)] for p in paths for g in range(F) for sign in (1, -1)]
        paths += [p for p in new if len({*map(abs, p)}) == len(p) and p not in paths]
    below = [[half >> len(p), F - 1 - len(p), p] for p in sorted(paths, key=len, reverse=True)]
    claims = below
    true = {**s, "depth": F - 1, "bound": half}
    more = {**s, "depth": F, "bound": half}
    ends = [[half, F, []], [half, F, [], [len(claims) - 1]]]
    return [lines(true, claims), *(lines(more, [*claims, end]) for end in ends)]


# -- families ----------------------------------------------------------------------------------------


def honest(seed: int) -> Iterator[File]:
    """The proof of a tiny problem."""
    rng = random.Random(seed)
    if (made := proof(drawn(rng), rng)) is not None:
        yield lines(*made)


def damaged(seed: int) -> Iterator[File]:
    """A damaged proof of a tiny problem."""
    if (made := mutant(seed)) is not None:
        yield lines(*made[1])


FAMILIES: dict[str, Callable[[int], Iterator[File]]] = {
    "honest": honest,
    "damaged": damaged,
    "deep": deep,
}


@cache
def made(family: str, seed: int) -> tuple[File, ...]:
    """The files of a family with a number."""
    return tuple(FAMILIES[family](seed))
