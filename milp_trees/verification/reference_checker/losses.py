"""The second checker for proofs about squared error: exact fractions, one row after the other.

It shares no code with `check_loss.py`, which computes with rounded numbers. Here nothing is rounded:
what a group of rows costs with a prediction is a fraction, so that the rules of `check.py` give
fractions, too, and no rule gives less than there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from milp_trees.verification.reference_checker.check import (
    INFINITE,
    Report,
    Rules,
    caught,
    derived,
)
from milp_trees.verification.reference_checker.reading import (
    Data,
    fields,
    listed,
    must,
    no_duplicates,
    perhaps,
    text,
    whole,
)

KEYS = (
    "format version kind depth leaves leaf_penalty split_penalties minima data features targets "
    "weights share power predictions model value bound"
)


def ratio(x: Any) -> Fraction:
    """A fraction that is written as two whole numbers, or as one."""
    parts = text(x).split("/")
    must(len(x) < 4000 and len(parts) in (1, 2), "A fraction is malformed.")
    numbers = [int(part) for part in parts]
    must(len(parts) == 1 or numbers[1] != 0, "A fraction divides by zero.")
    return Fraction(*numbers)


def numbers(form: Any, rows: Data) -> list[list[Fraction]]:
    """Columns of numbers, from the statement or the table."""
    must(isinstance(form, dict) and len(form) == 2 and "unit" in form, "Numbers have no unit.")
    unit = ratio(form["unit"])
    must(unit > 0, "A unit is not positive.")
    if "listed" in form:
        columns = listed(form["listed"], lambda column: listed(column, _large))
        found = [[unit * x for x in column] for column in columns]
    else:
        found = []
        for name in listed(fields(form, "unit", "columns")[1], text):
            cells = rows.column(name)
            must(not set(cells) & set(rows.missing), "A number is missing.")
            column = [_decimal(cell.replace(rows.point, ".")) for cell in cells]
            must(all((x / unit).denominator == 1 for x in column), "A number has another unit.")
            found.append(column)
    must(found and all(len(c) == rows.n for c in found), "There is not one number per row.")
    return found


def _large(x: Any) -> int:
    must(type(x) is int and abs(x) < 2**200, "A number is not whole, or too large.")
    return int(x)


def _decimal(cell: str) -> Fraction:
    must(len(cell) < 60 and "/" not in cell and abs(float(cell)) < 1e50, f"{cell} is no number.")
    must("e" not in cell.lower() or abs(float(cell)) > 1e-50, f"{cell} is no number.")
    return Fraction(cell)


class LossStatement:
    """The problem of a proof and its tree in natural numbers; claims are not looked at."""

    def __init__(self, line: str, data: Any) -> None:
        s = json.loads(line, object_pairs_hook=no_duplicates)
        fields(s, *KEYS.split())
        must(s["format"] == "milp-trees-proof", "This is no proof file.")
        must(whole(s["version"]) == 1 and s["kind"] == "squared error", "It is of no known kind.")
        self.depth, self.leaves = perhaps(s["depth"]), perhaps(s["leaves"])
        must(self.depth is None or self.depth >= 0, "The depth is negative.")
        must(self.leaves is None or self.leaves > 0, "The limit of leaves is wrong.")
        self.bound, self.power = whole(s["bound"]), whole(s["power"])
        must(abs(self.power) < 900 and type(s["share"]) is bool, "The unit is wrong.")
        rows = Data(s["data"], data)
        self.X, self.n = rows.features(s["features"]), rows.n
        self.y = numbers(s["targets"], rows)
        one = {"unit": "1", "listed": [[1] * rows.n]}
        weights = numbers(one if s["weights"] == "rows" else s["weights"], rows)
        must(len(weights) == 1 and min(weights[0]) >= 0 and sum(weights[0]), "Weights are wrong.")
        self.w = weights[0]
        #: What one unit of a claim is of the squared error.
        self.unit = ratio(s["targets"]["unit"]) ** 2 / Fraction(2) ** self.power
        self.unit *= 1 if s["weights"] == "rows" else ratio(s["weights"]["unit"])
        F, prices = len(self.X[0]) if self.X else 0, s["split_penalties"]
        self.leaf_penalty = ratio(s["leaf_penalty"])
        self.split = listed(prices, ratio) if isinstance(prices, list) else [ratio(prices)] * F
        must(len(self.split) == F, "A penalty is missing.")
        must(min([self.leaf_penalty, *self.split]) >= 0, "A penalty is negative.")
        self.minima = []
        for least, amounts in listed(s["minima"], lambda x: fields(x, "least", "amounts")):
            self.minima.append((whole(least), rows.amounts(amounts)))
        single = self.error(range(self.n), [self.mean(range(self.n), y) for y in self.y])
        #: Natural value of squared errors.
        self.scale = 1 / single if s["share"] and single else Fraction(1)
        must(s["share"] or not any([self.leaf_penalty, *self.split]), "Penalties have no unit.")
        doubles = sum(max(abs(x) for x in y) ** 2 for y in self.y) * sum(self.w)
        self.tolerance = Fraction(1, 10**9) * (1 if s["share"] else single)
        self.tolerance += self.scale * doubles / 2**100
        self.predictions = listed(s["predictions"], lambda row: listed(row, _double))
        self.value = None if s["model"] is None else self._worth(s["model"])
        shown = self.value and f"{self.value.numerator}/{self.value.denominator}"
        shown = "0/1" if self.value == 0 else shown
        must(s["value"] == shown, f"The tree has the value {shown}.")

    def mean(self, rows: Iterable[int], y: list[Fraction]) -> Fraction:
        weight = sum(self.w[i] for i in rows)
        return (
            sum((self.w[i] * y[i] for i in rows), Fraction(0)) / weight if weight else Fraction(0)
        )

    def error(self, rows: Iterable[int], predicted: Any) -> Fraction:
        """Squared error of some rows with the same predictions."""
        total = Fraction(0)
        for y, p in zip(self.y, predicted):
            total += sum((self.w[i] * (y[i] - p) ** 2 for i in rows), Fraction(0))
        return total

    def _worth(self, tree: Any) -> Fraction:
        """The value of a tree; Refused if it breaks a limit."""
        ends: list[int] = []

        def walk(node: Any, rows: list[int], level: int) -> Fraction:
            must(self.depth is None or level <= self.depth, "The tree is too deep.")
            if isinstance(node, list):
                must(len(node) == 3 and 0 <= whole(node[0]) < len(self.split), "A node is wrong.")
                sides = [[i for i in rows if self.X[i][node[0]] == yes] for yes in (False, True)]
                below = [walk(node[1 + k], side, level + 1) for k, side in enumerate(sides)]
                return self.split[node[0]] + sum(below)
            must(0 <= whole(node) < len(self.predictions), f"There is no prediction {node}.")
            must(len(self.predictions[node]) == len(self.y), "A prediction is missing.")
            for least, amounts in self.minima:
                must(sum(amounts[i] for i in rows) >= least, "A leaf breaks a minimum.")
            ends.append(node)
            predicted = map(Fraction, self.predictions[node])
            return self.leaf_penalty + self.scale * self.error(rows, predicted)

        value = walk(tree, list(range(self.n)), 0)
        must(self.leaves is None or len(ends) <= self.leaves, "The tree has too many leaves.")
        return value

    def words(self) -> str:
        """Limits and sizes."""
        found = ["any depth" if self.depth is None else f"{self.depth} levels"]
        found.append("any leaves" if self.leaves is None else f"{self.leaves} leaves")
        found.append(f"{self.leaf_penalty} per leaf")
        return ", ".join([*found, f"{self.n} rows", f"{len(self.split)} tests"])


def _double(x: Any) -> float:
    must(type(x) in (int, float) and abs(x) < 1e300, f"{x!r} is no number.")
    return float(x) if type(x) is float else x


class LossRules(Rules):
    """The rules, where a group of equal rows costs a number between the least and largest target.

    Losses and penalties are fractions of units of the claims.
    """

    def __init__(self, s: LossStatement) -> None:
        one = s.scale * s.unit
        self.leaf_cost, self.split = s.leaf_penalty / one, [price / one for price in s.split]
        self.lists, self.F, self.s = False, len(s.split), s
        minima = [(m, w) for m, w in s.minima if not (m <= 1 and all(v >= m for v in w))]
        self.least = [m for m, _ in minima]
        groups: dict[tuple[bool, ...], list[int]] = {}
        for i, answers in enumerate(s.X):
            groups.setdefault(tuple(answers), []).append(i)
        self.answers, self.members = list(groups), list(groups.values())
        # The columns of amounts begin at K, as those of costs of actions end there.
        self.K = 0
        self.sums = [[sum(w[i] for i in rows) for _, w in minima] for rows in groups.values()]
        counted = [i for i in range(s.n) if s.w[i]]
        ends = [[end(y[i] for i in counted) for y in s.y] for end in (min, max)]
        self.bases, self.regrets = [], []
        for rows in self.members:
            base = self.loss(rows)
            most = Fraction(0)
            for y, *both in zip(s.y, *ends):
                costs = [sum((s.w[i] * (y[i] - p) ** 2 for i in rows), Fraction(0)) for p in both]
                most += max(costs) / s.unit
            self.bases.append(base)
            self.regrets.append(most - base)
        self.every = frozenset(range(len(self.answers)))
        self.claims = []
        self.best = lru_cache(None)(self._best)
        self.leaf_of = lru_cache(None)(self._leaf_of)

    def loss(self, rows: list[int]) -> Fraction:
        """What the mean of some rows leaves, in units of the claims."""
        return self.s.error(rows, [self.s.mean(rows, y) for y in self.s.y]) / self.s.unit

    def _leaf_of(self, S: Any) -> Fraction:
        return self.loss([i for g in S for i in self.members[g]]) + self.leaf_cost

    def base(self, S: Any) -> Any:
        return sum((self.bases[g] for g in S), Fraction(0))

    def regret(self, S: Any) -> Any:
        return sum((self.regrets[g] for g in S), Fraction(0))

    def leaf(self, S: Any, free: bool) -> Any:
        return self.leaf_of(S) if self.allowed(S) else INFINITE


def report_loss(lines: Iterable[str], data: Any = None) -> Report:
    """Check a file about squared error; Refused if it does not hold."""
    return caught(_report, lines, data)


def _report(lines: list[str], data: Any) -> Report:
    s = LossStatement(lines[0], data)
    low = derived(LossRules(s), lines[1:], s.depth, s.leaves)
    must(s.bound == low, f"The claims prove {low}.")
    bound = s.scale * s.unit * low
    must(s.value is None or s.value >= bound, "The tree contradicts the claims.")
    proved = s.value is not None and s.value - bound <= s.tolerance
    head = "proved" if proved else "a proven bound"
    shown = s.value if proved and s.value is not None else bound
    message = f"{head}: {float(shown):.12g}  ({s.words()})"
    return Report(proved, bound, s.value, message)
