"""The tasks by definitions apart from their code, and options to try them with.

There are no cells here: for every row and every leaf of another class, the conditions of the path
are taken column by column, and the least shift that meets them is found by trying values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from milp_trees.testing.definitions import penalty
from milp_trees.testing.seen import Row, Seen, Spec

#: Conditions of a path on one column: tests with the answers that it asks for.
Conditions = Sequence[tuple[Any, bool]]


def _rate(spec: Spec, rows: Sequence[Row], seen: Seen, wrong: int) -> float:
    price = penalty(spec, seen)
    return wrong if price is None else float(Fraction(wrong, len(rows)) + price)


def _boxes(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    """Rows with a point in their box that is in a leaf of another class."""

    def radius(column: str) -> Fraction:
        given = spec.get("radius", 0)
        return Fraction(given.get(column, 0) if isinstance(given, Mapping) else given)

    def fits(row: Row, column: str, asked: Conditions) -> bool:
        r = radius(column)
        if _kept(row, asked):
            return True
        if not r or asked[0][0].kind != "<=":
            return r >= 1 and any(found for found in _other_answers(rows, row, column, asked))
        x = Fraction(str(row["numbers"][column]))
        low = max((Fraction(str(t.value)) for t, yes in asked if not yes), default=x - r - 1)
        high = min((Fraction(str(t.value)) for t, yes in asked if yes), default=x + r)
        return low < high and x + r > low and x - r <= high

    wrong = 0
    for row in rows:
        wrong += any(
            action != row["y"]
            and all(fits(row, column, asked) for column, asked in _by_column(path).items())
            for path, action in zip(seen.paths, seen.said_in, strict=True)
        )
    return _rate(spec, rows, seen, wrong)


def _budget(spec: Spec, rows: Sequence[Row], seen: Seen) -> float:
    """The most rows that can be brought to leaves of another class within the budget."""
    budget, costs = Fraction(spec.get("budget", 0)), spec.get("costs", 1)

    def least(row: Row, column: str, asked: Conditions) -> Fraction | None:
        if _kept(row, asked):
            return Fraction(0)
        cost = costs.get(column) if isinstance(costs, Mapping) else costs
        if cost is None:
            return None
        each = Fraction(cost)
        if asked[0][0].kind != "<=":
            return each if any(_other_answers(rows, row, column, asked)) else None
        x = int(row["numbers"][column])
        for step in range(int(budget / each) + 1):
            for value in (x - step, x + step):
                if all((value <= t.value) == yes for t, yes in asked):
                    return each * step
        return None

    prices: list[Fraction] = []
    for row in rows:
        found: list[Fraction] = []
        for path, action in zip(seen.paths, seen.said_in, strict=True):
            each = [least(row, column, asked) for column, asked in _by_column(path).items()]
            if action != row["y"] and None not in each:
                found.append(sum((p for p in each if p is not None), Fraction(0)))
        prices += [min(found)] if found else []
    wrong, spent = 0, Fraction(0)
    for price in sorted(prices):
        spent += price
        wrong += spent <= budget
    return _rate(spec, rows, seen, wrong)


def _by_column(path: Conditions) -> dict[str, list[tuple[Any, bool]]]:
    out: dict[str, list[tuple[Any, bool]]] = {}
    for test, yes in path:
        out.setdefault(test.column, []).append((test, yes))
    return out


def _kept(row: Row, asked: Conditions) -> bool:
    """Whether a row meets the conditions as it is."""
    return all(bool(row["answers"][test]) == yes for test, yes in asked)


def _other_answers(rows: Sequence[Row], row: Row, column: str, asked: Conditions) -> Sequence[bool]:
    """Whether each other category of a column meets the conditions."""
    tests = [test for test in row["answers"] if test.column == column]
    if asked[0][0].kind == "is":
        return [all(yes != bool(row["answers"][test]) for test, yes in asked)]
    cases: list[Any] = list(tests)
    if any(not any(other["answers"][test] for test in tests) for other in rows):
        cases.append(None)
    return [all((test == case) == yes for test, yes in asked) for case in cases]


Definition = tuple[str, Callable[[Spec, Sequence[Row], Seen], float], list[dict[str, Any]]]

#: The name of each task, its definition, and options with which it is tried.
BOXES: Definition = (
    "robust-boxes",
    _boxes,
    [
        {},
        {"radius": 1},
        {"radius": {"t0": 1, "t2": "3/2", "t3": "1/2"}},
        {"radius": {"t1": 1}, "leaf_penalty": "1/7", "feature_costs": {"t0": "1/9"}},
    ],
)
BUDGET: Definition = (
    "robust-budget",
    _budget,
    [
        {},
        {"budget": 4},
        {"budget": "7/2", "costs": {"t0": "1/2", "t1": 1, "t4": 2}},
        {"budget": 3, "costs": 2, "split_penalty": "1/30"},
    ],
)
