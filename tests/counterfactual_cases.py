"""Random models over columns of every kind, and the nearest other row by trying all rows.

The oracle knows nothing of boxes: it lists values around all thresholds of every column, lets the
model itself predict every combination, and adds up prices by the definition of the norm.
"""

import itertools
import math
import random
from fractions import Fraction

import pandas as pd

import milp_trees as mt
from milp_trees.models.nodes import Branch, Leaf

SIZES = ("S", "M", "L", "XL")
DAYS = [pd.Timestamp(d) for d in ("2021-03-05", "2021-03-07", "2021-03-08", "2020-12-31")]
#: Kind of a column → values of rows.
VALUES = {
    "real": [0.1, 0.5, 1.0, 1.5, -2.25, 0.30000000000000004, 3.0, 0.7, -5.0, 9.0],
    "whole": list(range(9)),
    "date": DAYS,
    "order": list(SIZES),
    "category": ["a", "b", "c", "z"],
    "yes-no": [0, 1],
}
#: Kind of a column → (kind of test, value, order of categories).
TESTS = {
    "real": [("<=", t, ()) for t in (0.1, 0.5, 1.0, -2.25, 0.30000000000000004)],
    "whole": [("<=", t, ()) for t in (1.5, 2.0, 3.5, 5.25)],
    "date": [("<=", t, ()) for t in ("2021-03-05", "2021-03-07T12:00", "2020-12-31")],
    "order": [("<=", t, SIZES) for t in SIZES[:3]],
    "category": [("==", t, ()) for t in "abc"],
    "yes-no": [("is", None, ())],
}
#: More combinations are not tried.
MOST = 20_000


class Case:
    """A model, a row and wishes, drawn from a seed."""

    def __init__(self, seed):
        draw = self.draw = random.Random(seed)
        self.kinds = {f"c{j}": draw.choice(list(VALUES)) for j in range(draw.randint(1, 4))}
        labels = tuple("ABC"[: draw.choice([2, 3])])
        self.model = self._tree(labels) if draw.random() < 0.6 else self._rules(labels)
        self.tests = {}
        for test in self.model.features:
            self.tests.setdefault(test.column, []).append(test)
        self.row = {name: self._own(name) for name in self.kinds}
        self.data = None
        if draw.random() < 0.5:
            table = {n: [draw.choice(VALUES[k]) for _ in range(6)] for n, k in self.kinds.items()}
            self.data = pd.DataFrame(table)
        self.norm = draw.choice(["l0", "l1", "weighted"])
        self.wishes = self._wishes()

    def _pool(self):
        for name, kind in self.kinds.items():
            answer = self.draw.choice([None, "yes", "no"])
            for test, value, order in TESTS[kind]:
                yield mt.BinaryFeature(name, test, value, answer, order)
            if answer:
                yield mt.BinaryFeature(name, "missing")

    def _tree(self, labels):
        pool = list(self._pool())

        def node(depth):
            if depth == 0 or self.draw.random() < 0.1:
                return Leaf(self.draw.randrange(len(labels)))
            return Branch(self.draw.choice(pool), node(depth - 1), node(depth - 1))

        return mt.Tree(node(self.draw.randint(1, 3)), labels)

    def _rules(self, labels):
        pool, rules = list(self._pool()), []
        for _ in range(self.draw.randint(1, 4)):
            some = self.draw.sample(pool, min(len(pool), self.draw.randint(1, 3)))
            literals = [mt.Literal(t, self.draw.random() < 0.5) for t in some]
            rules.append(mt.Rule(mt.Antecedent(literals), self.draw.randrange(len(labels))))
        return mt.RuleList(rules, self.draw.randrange(len(labels)), labels)

    def _own(self, name):
        value = self.draw.choice(VALUES[self.kinds[name]])
        return None if self._answered(name) and self.draw.random() < 0.3 else value

    def _answered(self, name):
        """Whether the model has an answer for a missing value, and asks for the column."""
        asked = self.tests.get(name, ())
        return bool(asked) and all(t.kind == "missing" or t.missing for t in asked)

    def _valued(self, name):
        """Whether the model asks for more than whether the value is missing."""
        return any(t.kind != "missing" for t in self.tests.get(name, ()))

    def _wishes(self):
        draw, real = self.draw, [n for n, k in self.kinds.items() if k == "real"]
        some = [n for n, k in self.kinds.items() if k != "category" and self._valued(n)]
        weights = {n: draw.choice([1, 2, 0.5, 0.1]) for n in self.kinds}
        return {
            "norm": self.norm,
            "weights": weights if self.norm == "weighted" else None,
            "immutable": [n for n in self.kinds if draw.random() < 0.15],
            "monotone": {n: draw.choice(["up", "down"]) for n in some if draw.random() < 0.2},
            "bounds": {n: (0.2, 2.0) for n in real if draw.random() < 0.2},
            "steps": {n: 0.1 for n in real if draw.random() < 0.2},
            "missing": draw.random() < 0.3,
            "data": self.data,
        }

    # -- the oracle --------------------------------------------------------------------------------

    def frame(self, rows):
        """Rows as a table whose columns have the types of a file."""
        out = {}
        for name, values in zip(self.kinds, zip(*rows, strict=True), strict=True):
            kind, column = self.kinds[name], pd.Series(values, dtype=object)
            number = kind in ("real", "whole")
            out[name] = column.astype(float) if number else column
            if kind == "date":
                out[name] = pd.to_datetime(column)
        return pd.DataFrame(out)

    def least(self):
        """The least distance of a row that is predicted otherwise; None if there is none, and
        "many" if there are too many combinations.
        """
        values = [self._candidates(name) for name in self.kinds]
        if math.prod(map(len, values)) > MOST:
            return "many"
        rows = list(itertools.product(*values))
        predicted = self.model.predict(self.frame(rows)).tolist()
        before = self.model.predict(self.frame([tuple(self.row.values())])).tolist()[0]
        prices = [
            {v: self._price(n, v) for v in vs} for n, vs in zip(self.kinds, values, strict=True)
        ]
        totals = (
            sum(prices[j][v] for j, v in enumerate(row))
            for row, label in zip(rows, predicted, strict=True)
            if label != before
        )
        return min(totals, default=None)

    def _candidates(self, name):
        own, fixed = self.row[name], name in self.wishes["immutable"]
        direction = self.wishes["monotone"].get(name)
        if fixed or name not in self.tests or (direction and own is None):
            return [own]
        values = [own, *self._others(name)]
        if direction:
            sign = 1 if direction == "up" else -1
            place = SIZES.index if self.kinds[name] == "order" else lambda v: v
            values = [v for v in values if v == own or (place(v) > place(own)) == (sign > 0)]
        elif self.wishes["missing"] and self._answered(name):
            values.append(None)
        return list(dict.fromkeys(values))

    def _others(self, name):
        kind, known = self.kinds[name], None if self.data is None else self.data[name].tolist()
        if not self._valued(name) or kind == "category":
            return [*(known or ()), *(t.value for t in self.tests[name] if t.kind == "==")]
        if kind in ("order", "yes-no"):
            return VALUES[kind]
        thresholds = [t.value for t in self.tests[name] if t.kind == "<="]
        if kind == "date":
            points = pd.date_range("2020-12-25", "2021-03-20").tolist()
        elif kind == "whole" and (known or self.row[name] is not None):
            points = range(-2, 12)
        elif known and name not in self.wishes["steps"] and all(v % 1 == 0 for v in known):
            points = range(-5, 10)
        else:
            points = [0.0, *(x for t in thresholds for x in (t, math.nextafter(t, math.inf)))]
        if name in self.wishes["steps"]:
            points = [float(Fraction(k, 10)) for k in range(-100, 101)]
        low, high = (min(known), max(known)) if known else (None, None)
        if name in self.wishes["bounds"]:
            low, high = self.wishes["bounds"][name]
        if low is None:
            return points
        ends = [] if name in self.wishes["steps"] or isinstance(points, range) else [low, high]
        return [p for p in [*points, *ends] if low <= p <= high]

    def _price(self, name, value):
        own, kind = self.row[name], self.kinds[name]
        weight = Fraction(str((self.wishes["weights"] or {}).get(name, 1)))
        if own is value or (own is not None and own == value):
            return Fraction(0)
        counted = own is None or value is None or not self._valued(name)
        if self.norm == "l0" or counted or kind in ("category", "yes-no"):
            return weight
        known = None if self.data is None else self.data[name]
        if kind == "order":
            off, span = SIZES.index(value) - SIZES.index(own), len(SIZES) - 1
        elif kind == "date":
            off, span = (value - own).days, known is not None and (known.max() - known.min()).days
        else:
            off = Fraction(value) - Fraction(own)
            span = known is not None and Fraction(known.max()) - Fraction(known.min())
        scaled = self.norm == "l1" and known is not None and span
        return abs(Fraction(off)) / (Fraction(span) if scaled else 1) * weight
