"""Statements, data and models for the reference checker, read by plain loops over lines."""

from __future__ import annotations

import csv
import gzip
import math
from fractions import Fraction
from pathlib import Path
from typing import Any


class Refused(Exception):
    """What is wrong with a proof, in a sentence."""


class TooLarge(Exception):
    """A problem is too large to list its trees, which says nothing about the proof."""


def must(condition: Any, sentence: str) -> None:
    if not condition:
        raise Refused(sentence)


# -- shapes ----------------------------------------------------------------------------------------


def whole(x: Any) -> int:
    must(isinstance(x, int) and not isinstance(x, bool), f"{x!r} is not a whole number.")
    must(abs(x) < 2**52, f"{x} is too large.")
    return int(x)


def perhaps(x: Any) -> Any:
    return None if x is None else whole(x)


def text(x: Any) -> str:
    must(isinstance(x, str), f"{x!r} is not a text.")
    return str(x)


def listed(x: Any, of: Any) -> list[Any]:
    must(isinstance(x, (list, tuple)), f"{x!r:.50} is not a list.")
    return [of(v) for v in x]


def fields(x: Any, *names: str) -> list[Any]:
    must(isinstance(x, dict), f"{x!r:.50} is not an object.")
    must(set(x) == set(names), f"An object has the keys {sorted(x)}, not {sorted(names)}.")
    return [x[name] for name in names]


def no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in pairs:
        must(key not in out, f"The key {key!r} comes twice.")
        out[key] = value
    return out


# -- the rows --------------------------------------------------------------------------------------


class Data:
    """The rows of a proof: texts of columns, or digits."""

    def __init__(self, form: Any, path: Any) -> None:
        must(isinstance(form, dict), "The data are not an object.")
        self.digits: list[str] | None = None
        if form.get("kind") == "rows":
            _, X = fields(form, "kind", "X")
            self.digits = listed(X, text)
            self.n = len(self.digits)
            return
        names = ["kind", "skip", "names", "delimiter", "quote", "encoding", "decimal", "missing"]
        _, skip, columns, mark, quote, encoding, point, missing, packed = fields(
            form, *names, "gzip"
        )
        must(form["kind"] == "table" and isinstance(packed, bool), "The data have no known kind.")
        must(whole(skip) >= 0, "The lines to skip are negative.")
        must(path is not None, "The data file is not given.")
        raw = Path(path).read_bytes()
        if raw.startswith(b"\x1f\x8b"):
            raw = gzip.decompress(raw)
        content = raw.decode(text(encoding)).replace("\r\n", "\n").replace("\r", "\n")
        lines = content.split("\n")[skip - 1 if skip else 0 :]
        if mark is None:
            rows = [line.split() for line in lines]
        elif quote is None:
            rows = [line.split(text(mark)) for line in lines]
        else:
            ends = [line + "\n" for line in lines]
            rows = list(csv.reader(ends, delimiter=text(mark), quotechar=text(quote)))
        self.names = listed(columns, text)
        must(len(set(self.names)) == len(self.names), "A column comes twice.")
        if skip:
            header = [cell.strip() for cell in rows.pop(0)] if rows else []
            must(header == self.names, "The names are not those of the header.")
        self.rows = []
        for row in rows:
            stripped = [cell.strip() for cell in row]
            if stripped not in ([], [""]):
                must(len(stripped) == len(self.names), "A line has another number of cells.")
                self.rows.append(stripped)
        must(self.rows, "There are no rows.")
        self.n, self.point, self.missing = len(self.rows), text(point), listed(missing, text)

    def column(self, name: Any) -> list[str]:
        must(self.digits is None and text(name) in self.names, f"There is no column {name!r}.")
        return [row[self.names.index(name)] for row in self.rows]

    def exactly(self, name: Any, scale: Any) -> list[int]:
        out = []
        for cell in self.column(name):
            value = cell.replace(self.point, ".")
            must(
                abs(float(value)) < 2**52 and len(value) < 50 and "/" not in value,
                "A number is too large.",
            )
            exact = (
                Fraction(value) * whole(scale)
                if float(value) or "e" not in value.lower()
                else Fraction(0)
            )
            must(exact.denominator == 1, f"{cell} times {scale} is not whole.")
            out.append(whole(int(exact)))
        return out

    def amounts(self, form: Any) -> list[int]:
        if form == "rows":
            return [1] * self.n
        if isinstance(form, dict) and "listed" in form:
            out = listed(fields(form, "listed")[0], whole)
        else:
            out = self.exactly(*fields(form, "column", "scale"))
        must(len(out) == self.n, "There is not one amount per row.")
        must(all(w >= 0 for w in out), "An amount is negative.")
        return out

    def costs(self, form: Any, side: bool = False) -> list[list[int]]:
        must(isinstance(form, dict), "The costs are not an object.")
        if form.get("kind") == "listed":
            _, values = fields(form, "kind", "values")
            out = listed(values, lambda row: listed(row, whole))
        else:
            kind, column, classes, matrix = fields(form, "kind", "column", "classes", "matrix")
            must(kind == "matrix", "The costs have no known kind.")
            known = listed(classes, text)
            table = listed(matrix, lambda row: listed(row, whole))
            must(len(set(known)) == len(known) == len(table), "The classes are not different.")
            out = []
            for cell in self.column(column):
                must(cell in known, f"There is no class {cell!r}.")
                out.append(list(table[known.index(cell)]))
        must(len(out) == self.n and len({len(row) for row in out}) == 1, "The costs are no table.")
        must(len(out[0]) > 0, "There are no actions.")
        return out

    def literal(self, form: Any, row: int) -> bool:
        must(isinstance(form, list) and len(form) == 5, f"{form!r:.50} is no literal.")
        name, kind, value, missing, yes = form
        must(missing in (None, "yes", "no") and isinstance(yes, bool), "A literal is malformed.")
        must(value is None or kind in ("<=", "=="), f"A test {kind!r} has no value.")
        must(kind != "==" or isinstance(value, str), "A category is no text.")
        cell = self.column(name)[row]
        if kind == "missing":
            return (cell in self.missing) == yes
        must(missing or not set(self.column(name)) & set(self.missing), "A value is missing.")
        if cell in self.missing:
            return (missing == "yes") == yes
        if kind == "==":
            return (cell == value) == yes
        must(kind in ("<=", "is"), f"There is no test {kind!r}.")
        number = float(cell.replace(self.point, "."))
        must(math.isfinite(number), "A number is not finite.")
        if kind == "is":
            must(number in (0, 1), f"The column {name!r} is not 0/1.")
            return (number == 1) == yes
        must(type(value) in (int, float) and math.isfinite(value), "A threshold is no number.")
        must(float(value) == value, "A threshold is no number in double precision.")
        return (number <= value) == yes

    def features(self, form: Any) -> list[list[bool]]:
        """The answers of every row."""
        if self.digits is not None:
            F = len(listed(form, text))
            must(all(len(x) == F and set(x) <= {"0", "1"} for x in self.digits), "No digits.")
            return [[digit == "1" for digit in x] for x in self.digits]
        tests = listed(form, lambda feature: listed(feature, lambda x: x))
        return [[all(self.literal(x, i) for x in t) for t in tests] for i in range(self.n)]


def worth(
    model: Any,
    lists: bool,
    depth: Any,
    leaves: Any,
    X: Any,
    costs: Any,
    leaf_cost: int,
    split: Any,
    minima: Any,
    side: Any,
) -> int:
    """The value of a model, one row after the other; Refused if it breaks a limit."""
    if lists:
        rules, default = fields(model, "rules", "default")
        nodes: Any = default
        for rule in reversed(listed(rules, lambda r: listed(r, whole))):
            must(len(rule) == 2, "A rule is malformed.")
            nodes = [rule[0], nodes, rule[1]]
    else:
        nodes = model
    ends: dict[Any, int] = {}
    tests: list[int] = []

    def walk(node: Any, path: Any) -> None:
        if isinstance(node, list):
            must(len(node) == 3 and 0 <= whole(node[0]) < len(split), "A node is malformed.")
            tests.append(node[0])
            walk(node[1], (*path, 0))
            walk(node[2], (*path, 1))
        else:
            must(0 <= whole(node) < len(costs[0]), f"There is no action {node}.")
            ends[path] = node

    walk(nodes, ())
    must(depth is None or max(map(len, ends)) <= depth, "The model is too deep.")
    must(leaves is None or len(ends) <= leaves, "The model has too many leaves.")
    held: dict[Any, list[int]] = {path: [] for path in ends}
    for i, answers in enumerate(X):
        node, path = nodes, ()
        while isinstance(node, list):
            path, node = (*path, int(answers[node[0]])), node[1 + answers[node[0]]]  # type: ignore[assignment]
        held[path].append(i)
    for path, members in held.items():
        default = lists and 1 not in path
        for least, amounts in minima:
            enough = default or sum(amounts[i] for i in members) >= least
            must(enough, "A leaf of the model breaks a minimum.")

    def paid(table: Any) -> int:
        return sum(table[i][ends[path]] for path, members in held.items() for i in members)

    for coefs, low, high in side:
        total = paid(coefs)
        must(
            (low is None or total >= low) and (high is None or total <= high), "A side row breaks."
        )
    return paid(costs) + leaf_cost * len(ends) + sum(split[f] for f in tests)
