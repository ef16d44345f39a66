"""Checks a proof that no tree has less squared error. Needs Python, numpy, and check_proof.py.

    python check_loss.py PROOF [DATA]

A leaf of rows with the weight w, the weighted sum t of their targets and the weighted sum q of
their squares costs q - t*t/w if it predicts their mean. A row costs w (y - p)^2 where p is
predicted, and no mean lies beyond the least and the largest target. So squared error is a cost of
actions: an action is a number between these two, and a leaf takes the cheapest one. Every rule of
check_proof.py holds whatever the number of actions, and is used as it stands. Only what a leaf
costs is computed in another way.

Costs are whole numbers of units; 2^power units are one squared unit of the targets. Rounding never
helps a claim: what rows cost at least is rounded down, regrets are rounded up, and what a leaf
saves is rounded up. So bounds are true ones for the exact loss. The value of the tree is an exact
fraction. The format and the rules are in the documentation, page "Proofs".
"""

# mypy: ignore-errors

from __future__ import annotations

import functools
import json
import sys
from fractions import Fraction
from typing import Any

if __package__:
    from milp_trees.verification import check_proof as proofs
    from milp_trees.verification import proof_reading as reading
else:  # first, since it sets the number of numpy's threads
    import check_proof as proofs  # type: ignore[import-not-found, no-redef]
    import proof_reading as reading  # type: ignore[import-not-found, no-redef]

import numpy as np

LIMIT, need, fits = reading.LIMIT, reading.need, reading.fits
# A tree is optimal if it costs at most SHARE of the loss of a single leaf more than the bound, and
# what a mean costs more because it is a double: its square differs by less than DOUBLES.
SHARE, DOUBLES = Fraction(1, 10**9), Fraction(1, 2**100)

reading.TYPES["Whole"] = lambda x: type(x) is int and abs(x) < 2**200
reading.TYPES["Double"] = lambda x: type(x) in (int, float) and abs(x) < 1e300
reading.SHAPES |= json.loads("""{
"Loss": {"format": "milp-trees-proof", "version": "One", "kind": "squared error",
  "depth": "Int|Null", "leaves": "Int|Null", "leaf_penalty": "Text",
  "split_penalties": "Text|Texts", "minima": [{"least": "Int", "amounts": "rows|Amounts"}],
  "data": "Table|Rows", "features": "Conjunctions|Texts", "targets": "Columns|Numbers",
  "weights": "rows|Columns|Numbers", "share": "Bool", "power": "Int",
  "predictions": ["Predicted"], "model": "Any", "value": "Text|Null", "bound": "Int"},
"Columns": {"unit": "Text", "columns": "Texts"}, "Numbers": {"unit": "Text", "listed": ["Wholes"]},
"Wholes": ["Whole"], "Predicted": ["Double"]}""")


class Losses(proofs.Instance):
    """Yes/no features X (n x F), whole weights w (n), whole targets y (n x K), and prices in units.

    The arrays w and y hold Python's integers, which are never rounded.
    """

    def __init__(self, X, w, y, power, leaf_cost=0, split_costs=0, minima=()):
        X, self.lists, self.leaf_cost = np.asarray(X, bool), False, leaf_cost
        self.split = np.zeros(X.shape[1], np.int64) + np.asarray(split_costs, np.int64)
        need(abs(power) < 900, "The unit is out of reach.")
        signs = [leaf_cost, self.split.min(initial=0), w.min(), *(a.min() for _, a in minima)]
        need(min(signs) >= 0, "A penalty, a weight or an amount is negative.")
        minima = [(int(m), a) for m, a in minima if m > 1 or (a < m).any()]
        self.least, self.grid, K = [m for m, _ in minima], 2.0**power, y.shape[1]
        # Equal rows become one row with the sums w, t, q (two columns per target) and amounts.
        w, ends = w[:, None], [f(y[w > 0], axis=0) for f in (np.min, np.max)]
        amounts = [a[:, None].astype(object) for _, a in minima]
        table = np.concatenate([w, w * y, w * y * y, *amounts], axis=1)
        packed = np.packbits(X, axis=1)
        _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        total = np.zeros((len(first), table.shape[1]), object)
        np.add.at(total, group.ravel(), table)
        w, t, q, amounts = np.split(total, [1, 1 + K, 1 + 2 * K], axis=1)
        # A row costs at least `base`, what its mean leaves, and at most what the worse end leaves.
        some, squares = np.maximum(w, 1), units(q, 1, power).sum(axis=1)
        base = units(q * some - t * t, some, power).sum(axis=1)
        most = np.maximum(*(q - 2 * c * t + c * c * w for c in ends)).sum(axis=1)
        regret = -units(-most, 1, power) - base
        # Sums of targets are kept in parts of 26 bits, if one double would round them.
        size, self.parts = int(np.abs(t).sum()) * 16, 1
        while size >= LIMIT and self.parts < 4:
            size, self.parts = size >> 26, self.parts + 1
        steps = [2 ** (26 * k) for k in reversed(range(self.parts))]
        t = np.stack([t // steps[0], *(t // step % 2**26 for step in steps[1:])], axis=2)
        t = t.reshape(len(first), K * self.parts)
        weights = np.concatenate([(squares - base)[:, None], w, t, amounts], axis=1)
        penalties = 4 * (self.leaf_cost + int(self.split.max(initial=0))) + len(X)
        largest = np.abs(weights).sum() + (squares + regret).sum() + penalties
        need(largest < LIMIT / 2, "Losses, amounts or penalties are too large for exact sums.")
        self.base, self.regret = base.astype(np.int64), regret.astype(np.int64)
        self.weights, self.X = weights.astype(np.float64), X[first].astype(np.float64)
        self.bits = np.packbits(X[first].T, axis=1)
        self.cheapest_first = np.argsort(self.split, kind="stable")

    def saved(self, sums):
        """Minus what a leaf saves, t*t/w, rounded up, for sums of w, of t, and of amounts.

        It is below 2^51 units. Every product, quotient and sum of doubles may be off by 2^-53 of
        itself, and t counts twice: so all are off by at most half a unit per part of t.
        """
        out, w = np.zeros(sums.shape[1:]), np.maximum(sums[0], 1)
        for k in range(1, len(sums) - len(self.least), self.parts):
            t = functools.reduce(lambda high, low: high * 2.0**26 + low, sums[k : k + self.parts])
            out -= np.ceil(t * t / w * self.grid) + self.parts
        return out


def units(number, divisor, power):
    """Whole units of number/divisor, rounded down."""
    return number * 2**power // divisor if power >= 0 else number // (divisor * 2**-power)


def fraction(text):
    """A fraction `p/q`, or a whole number."""
    need(len(text) < 4000, "A fraction is too long.")
    return Fraction(*map(int, text.split("/")))


def decimal(text):
    """A decimal number, exactly."""
    need(len(text) < 60 and "/" not in text and abs(float(text)) < 1e50, "A number is malformed.")
    need("e" not in text.lower() or abs(float(text)) > 1e-50, "A number is malformed.")
    return Fraction(text)


def whole(form: Any, table: Any) -> Any:
    """Whole numbers in their stated unit (n x K), and the unit."""
    columns, unit = form.get("listed", []), fraction(form["unit"])
    need(unit > 0, "A unit is not positive.")
    for name in form.get("columns", []):
        texts, gone = table.column(name, numbers=False)
        need(not gone.any(), f"{name!r} has missing numbers.")
        mark = table.form["decimal"]
        exact = {text: decimal(text.replace(mark, ".")) / unit for text in {*texts}}
        need(all(x.denominator == 1 for x in exact.values()), f"{name!r} has another unit.")
        columns.append([exact[text].numerator for text in texts])
    fit = columns and all(len(column) == table.n for column in columns)
    need(fit, "Targets or weights are not one per row.")
    return np.array(columns, dtype=object).T, unit


class Stated:
    """A statement with its data: all numbers are whole, or exact fractions.

    A tree costs `scale` times its squared error, and its penalties.
    """

    def __init__(self, line: Any, data: Any) -> None:
        s = self.s = json.loads(line, object_pairs_hook=reading.once)
        need(isinstance(s, dict), "It is no statement.", reading.Unreadable)
        for key, shape in reading.SHAPES["Loss"].items():
            good = key in s and fits(s[key], shape)
            need(good, f"Its {key!r} is missing or malformed.", reading.Unreadable)
        need(len(s) == len(reading.SHAPES["Loss"]), "It has an unknown key.", reading.Unreadable)
        table = reading.Table(s["data"], data)
        self.X, n = table.features(s["features"]), table.n
        y, self.unit = whole(s["targets"], table)
        ones = {"unit": "1", "listed": [[1] * n]}
        w, heavy = whole(ones if s["weights"] == "rows" else s["weights"], table)
        need(w.shape[1] == 1 and w.min() >= 0 and w.sum() > 0, "Weights are not one per row.")
        # Another origin of the targets changes no loss, and makes their sums small.
        self.w, largest = w[:, 0], (np.abs(y).max(axis=0) ** 2).sum() * w.sum()
        self.centre = [(2 * (self.w * x).sum() + w.sum()) // (2 * w.sum()) for x in y.T]
        self.y = y - np.array(self.centre, dtype=object)
        every = np.arange(n)
        single, prices = self.loss(every), s["split_penalties"]
        self.scale = 1 / single if s["share"] and single else self.unit**2 * heavy
        whole_loss = 1 if s["share"] else self.scale * single
        self.tolerance = SHARE * whole_loss + DOUBLES * self.scale * largest
        prices = [prices] * self.X.shape[1] if fits(prices, "Text") else prices
        self.leaf_penalty, self.prices = fraction(s["leaf_penalty"]), [*map(fraction, prices)]
        need(len(prices) == self.X.shape[1], "Split penalties are not one per feature.")
        penalised = self.leaf_penalty or any(self.prices)
        need(s["share"] or not penalised, "Penalties are shares of the loss of a single leaf.")
        amounts = [
            [1] * n if m["amounts"] == "rows" else m["amounts"]["listed"] for m in s["minima"]
        ]
        need(all(len(a) == n for a in amounts), "Amounts are not one per row.")
        least = [m["least"] for m in s["minima"]]
        self.minima = [(m, np.array(a, np.int64)) for m, a in zip(least, amounts, strict=True)]
        limits = s["depth"] or 0, 0 if s["leaves"] is None else s["leaves"] - 1
        need(min(limits) >= 0, "Limits allow no tree.")
        self.value = None if s["model"] is None else self.worth(s["model"], every)

    def loss(self, rows, predicted=None):
        """Squared error of a leaf, in units of the targets, with its means or other numbers."""
        w, total = self.w[rows], Fraction(0)
        weight = Fraction(int(w.sum()))
        for k, y in enumerate(self.y[rows].T):
            t, q = int((w * y).sum()), int((w * y * y).sum())
            mean = t / weight if weight else 0
            p = mean if predicted is None else Fraction(predicted[k]) / self.unit - self.centre[k]
            total += q - 2 * p * t + p * p * weight
        return total

    def worth(self, tree, every):
        """The exact value of a tree, which keeps all limits."""
        s, value, leaves, todo = self.s, Fraction(0), 0, [(tree, every, 0)]
        while todo:
            node, rows, level = todo.pop()
            need(s["depth"] is None or level <= s["depth"], "The tree is too deep.")
            if fits(node, "Int"):
                need(0 <= node < len(s["predictions"]), f"There is no prediction {node}.")
                predicted = s["predictions"][node]
                need(len(predicted) == self.y.shape[1], "A leaf does not predict every target.")
                value += self.scale * self.loss(rows, predicted) + self.leaf_penalty
                leaves += 1
                for least, amounts in self.minima:
                    need(amounts[rows].sum() >= least, "A leaf of the tree breaks a minimum.")
            else:
                good = fits(node, "Node") and 0 <= node[0] < len(self.prices)
                need(good, "A node is malformed.")
                value, yes = value + self.prices[node[0]], self.X[rows, node[0]]
                todo += [(node[2], rows[yes], level + 1), (node[1], rows[~yes], level + 1)]
        need(s["leaves"] is None or leaves <= s["leaves"], "The tree has too many leaves.")
        return value

    def instance(self):
        """The rows, and prices in whole units, rounded down."""
        power = self.s["power"]
        need(abs(power) < 900, "The unit is out of reach.")
        one = self.scale / Fraction(2) ** power
        leaf, splits = self.leaf_penalty // one, [price // one for price in self.prices]
        need(max([leaf, *splits]) < LIMIT, "Penalties are too large.")
        return Losses(self.X, self.w, self.y, power, leaf, splits, self.minima)

    def about(self):
        """Limits, penalties, rows and tests in words."""
        plain = {"kind": "trees", "leaf_cost": 0, "split_costs": 0, "side": []}
        found = reading.about({**self.s, **plain}, *self.X.shape)
        low, high = min(self.prices, default=0), max(self.prices, default=0)
        if self.leaf_penalty or high:
            each = f"{low}" if low == high else f"{low} to {high}"
            paid = f"penalties {self.leaf_penalty} per leaf and {each} per test"
            found = found.replace("no penalties", paid)
        inside = self.s["data"]["kind"] == "rows"
        return found + ("; the rows are those of the proof file" if inside else "")


def check(proof_lines: Any, data: Any = None) -> reading.Verdict:
    """Check a proof, given as lines of text, with its data file; Wrong if it does not hold.

    The bound and the value of the verdict are exact, in natural units.
    """
    try:
        first, *claims = [line for line in proof_lines if line.strip()]
        claims, of = [json.loads(line) for line in claims], Stated(first, data)
        s, value, instance = of.s, of.value, of.instance()
    except reading.FAULTS as reason:
        message = f"It is malformed ({type(reason).__name__}: {str(reason)[:200]})."
        message = "".join(x if x.isprintable() else " " for x in message)
        raise reading.Unreadable(message) from None
    exact = None if value is None else f"{value.numerator}/{value.denominator}"
    found = "none" if value is None else f"{float(value):.12g} ({exact})"
    need(s["value"] == exact, f"The value of the tree is {found}, and the file says {s['value']}.")
    low = instance.follow(claims, s["depth"], s["leaves"])
    need(s["bound"] == low, f"The claims prove the bound {low}, and the file says {s['bound']}.")
    bound = of.scale * low / Fraction(2) ** s["power"]
    need(value is None or value >= bound, "The tree contradicts the claims.")
    proved = value is not None and value - bound <= of.tolerance
    what = "of a single leaf's squared error, with penalties" if s["share"] else "squared error"
    words = f"(no tree of this space has less than {float(bound):.15g} {what}"
    words += "" if value is None else f", and the tree of the file has {float(value):.15g}"
    words += f", optimal to {float(of.tolerance):.2g}" if proved else ""
    head = f"proved: {float(value):.12g}" if proved else f"proved a bound only: {float(bound):.12g}"
    return reading.Verdict(proved, bound, value, f"{head}  {words}; the space: {of.about()})")


def main(arguments):
    """Print the verdict; the exit code."""
    return reading.run(check, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
