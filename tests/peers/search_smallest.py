"""Searches a small problem on which a peer prints no optimum, and makes it smaller.

    python tests/peers/search_smallest.py PEER [--options '{"fast_d2": false}'] [--draws 300]

Random problems are solved by `dp`. Of the first on which the peer differs, rows and features are
removed one by one, and the depth and the smallest leaf are lowered, as long as the peer still
differs. It prints how often the peer differed, and the smallest problem as an entry of
`instances.json`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from peer_questions import answers, method_for, problem_of, within, worth

import milp_trees as mt

Question = dict[str, Any]


def drawn(rng: random.Random, kind: str, most: tuple[int, int, int]) -> Question:
    """A random question of a kind, with at most so many rows, features and levels."""
    n, F = rng.randint(4, most[0]), rng.randint(1 + (kind == "parity"), most[1])
    q: Question = {
        "rows": ["".join(rng.choice("01") for _ in range(F)) for _ in range(n)],
        "labels": "".join(rng.choice("01") for _ in range(n)),
        "depth": rng.randint(1, most[2]),
    }
    if kind == "least":
        q["least"] = rng.randint(2, 4)
    elif kind == "penalty":
        q["penalty"] = str(Fraction(rng.randint(1, 15), 200))
    elif kind == "parity":
        q["tolerance"] = rng.choice([0.0, 0.01, 0.05, 0.1, 0.2])
    elif kind == "matrix":
        K = rng.choice([2, 2, 3])
        q["matrix"] = [[0 if a == b else rng.randint(1, 9) for b in range(K)] for a in range(K)]
        q["labels"] = "".join(rng.choice("012"[:K]) for _ in range(n))
    return q


def sensible(q: Question) -> bool:
    """Whether all classes and groups occur."""
    few = len(set(q["labels"])) < len(q.get("matrix", "01"))
    return not few and ("tolerance" not in q or len({row[0] for row in q["rows"]}) == 2)


def optimum(q: Question) -> Fraction | None:
    result = mt.solve(problem_of(q), method_for(q))
    assert result.optimal or result.value is None
    return None if result.value is None else result.value.exact


def rounded(stated: float) -> Fraction:
    """What a peer says, without the noise of its solver."""
    return Fraction(stated).limit_denominator(10**6)


def differing(
    peer: str, questions: list[Question], by_stated: bool
) -> list[tuple[Question, Any, Any]]:
    """The questions on which a peer differs, with its value (or error) and the optimum."""
    found = []
    for q, reported in zip(questions, answers(peer, questions), strict=True):
        best = optimum(q)
        if "error" in reported:
            found.append((q, reported["error"], best))
        elif not within(q, reported["predicted"]):
            found.append((q, "infeasible", best))
        else:
            value = rounded(reported["stated"]) if by_stated else worth(q, reported)
            if value != best:
                found.append((q, value, best))
    return found


def smaller(q: Question) -> Iterator[Question]:
    """The question with one thing less."""
    for i in range(len(q["rows"])):
        cut = {k: q[k][:i] + q[k][i + 1 :] for k in ("rows", "labels")}
        yield {**q, **cut}
    for f in range("tolerance" in q, len(q["rows"][0])):
        yield {**q, "rows": [row[:f] + row[f + 1 :] for row in q["rows"]]}
    for key in ("depth", "least"):
        if q.get(key, 1) > 1:
            yield {**q, key: q[key] - 1}


def shrunk(peer: str, q: Question, errors: bool, by_stated: bool) -> tuple[Question, Any, Any]:
    """The smallest question that steps of `smaller` lead to; an error stays an error."""
    ((*_, value, best),) = differing(peer, [q], by_stated)
    while True:
        tried = [s for s in smaller(q) if s["rows"] and s["rows"][0] and sensible(s)]
        wrong = [d for d in differing(peer, tried, by_stated) if (d[1].__class__ is str) == errors]
        if not wrong:
            return q, value, best
        q, value, best = wrong[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("--kind", default="plain", help="plain, least, penalty, matrix or parity")
    parser.add_argument("--options", default="{}", help="what the peer gets besides, as JSON")
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument(
        "--most", type=int, nargs=3, default=[24, 5, 4], help="rows, features, depth"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--errors", action="store_true", help="shrink what raises, not what lies")
    parser.add_argument(
        "--stated", action="store_true", help="compare what the peer says, not its predictions"
    )
    parser.add_argument("--tries", type=int, default=5, help="how many are made smaller")
    given = parser.parse_args()
    rng, options = random.Random(given.seed), json.loads(given.options)
    questions = [
        {**drawn(rng, given.kind, given.most), "options": options} for _ in range(given.draws)
    ]
    questions = [q for q in questions if sensible(q)]
    wrong = differing(given.peer, questions, given.stated)
    raised = [d for d in wrong if isinstance(d[1], str)]
    print(
        f"{given.peer}: {len(questions)} problems, {len(wrong)} differ, {len(raised)} of which raise or break a limit"
    )
    chosen = [d for d in wrong if isinstance(d[1], str) == given.errors][: given.tries]
    ends = [shrunk(given.peer, q, given.errors, given.stated) for q, _, _ in chosen]
    if ends:
        q, value, best = min(ends, key=lambda end: (len(end[0]["rows"]), len(end[0]["rows"][0])))
        print(json.dumps({**q, "printed": str(value), "optimum": str(best)}))


if __name__ == "__main__":
    main()
