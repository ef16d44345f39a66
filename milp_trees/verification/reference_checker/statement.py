"""The first line of a proof for the reference checker: its problem in plain lists."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from milp_trees.verification.reference_checker.reading import (
    Data,
    fields,
    listed,
    must,
    no_duplicates,
    perhaps,
    text,
    whole,
    worth,
)

KEYS = (
    "format version kind depth leaves leaf_cost split_costs minima data features costs side "
    "multipliers denominator actions offset scale unit model value bound"
)


class Statement:
    """The problem of a proof and its model, read without a look at the claims."""

    def __init__(self, line: str, data: Any) -> None:
        s = json.loads(line, object_pairs_hook=no_duplicates)
        fields(s, *KEYS.split())
        must(s["format"] == "milp-trees-proof", "This is no proof file.")
        must(whole(s["version"]) == 1, "It is of no known version.")
        must(s["kind"] in ("trees", "lists"), "It is of no known kind.")
        self.lists, self.bound = s["kind"] == "lists", whole(s["bound"])
        self.depth, self.leaves = perhaps(s["depth"]), perhaps(s["leaves"])
        must(self.depth is None or self.depth >= 0, "The depth is negative.")
        few = self.leaves is None or (self.leaves > 0 and not self.lists)
        must(few, "The limit of leaves is wrong.")
        rows = Data(s["data"], data)
        self.X, self.costs = rows.features(s["features"]), rows.costs(s["costs"])
        self.leaf_cost, split = whole(s["leaf_cost"]), s["split_costs"]
        F = len(self.X[0])
        self.split = listed(split, whole) if isinstance(split, list) else [whole(split)] * F
        must(len(self.split) == F, "A penalty is missing.")
        must(min([self.leaf_cost, *self.split]) >= 0, "A penalty is negative.")
        self.minima = []
        for x in listed(s["minima"], lambda x: fields(x, "least", "amounts")):
            self.minima.append((whole(x[0]), rows.amounts(x[1])))
        self.side = []
        for name, coefs, low, high in listed(
            s["side"], lambda x: fields(x, "name", "coefs", "lower", "upper")
        ):
            text(name)
            self.side.append((rows.costs(coefs, True), perhaps(low), perhaps(high)))
            must(len(self.side[-1][0][0]) == len(self.costs[0]), "A side row has other actions.")
        self.multipliers, self.q = listed(s["multipliers"], whole), whole(s["denominator"])
        one_each = self.q > 0 and len(self.multipliers) == len(self.side)
        must(one_each, "There is not one multiplier per side row.")
        must(len(listed(s["actions"], text)) == len(self.costs[0]), "An action has no name.")
        for key in ("offset", "scale"):
            must(len(text(s[key])) < 200, "A fraction is too long.")
            parts = [int(part) for part in text(s[key]).split("/")]
            must(len(parts) == 1 or (len(parts) == 2 and parts[1]), "A fraction is wrong.")
            must(key == "offset" or parts[0], "The scale is zero.")
        must(text(s["unit"]).isprintable(), "The unit is no plain text.")
        wrong_or_right = all(set(row) <= {0, 1} and 0 in row for row in self.costs)
        if s["unit"] == "errors" and wrong_or_right and not any([self.leaf_cost, *self.split]):
            plain = Fraction(s["offset"]) == 0 and Fraction(s["scale"]) == 1
            must(plain, "The costs count errors, and the offset or the scale says something else.")
        self.value = None if s["model"] is None else self._worth(s["model"])
        must(perhaps(s["value"]) == self.value, f"The model has the value {self.value}.")

    def words(self) -> str:
        """Limits, penalties and sizes."""
        levels = "rules" if self.lists else "levels"
        found = [f"any number of {levels}" if self.depth is None else f"{self.depth} {levels}"]
        if not self.lists:
            found.append("any leaves" if self.leaves is None else f"{self.leaves} leaves")
        found.append(f"{self.leaf_cost} per leaf")
        prices = sorted(set(self.split))
        found.append(f"{' or '.join(map(str, prices[:5]))} per test" if prices else "no tests")
        found += [f"a minimum of {least}" for least, _ in self.minima]
        found += [f"{len(self.side)} side constraints"] * bool(self.side)
        return ", ".join([*found, f"{len(self.X)} rows", f"{len(self.X[0])} tests"])

    def _worth(self, model: Any) -> int:
        """Z of the model, which keeps all limits."""
        limits = self.lists, self.depth, self.leaves
        penalties = self.leaf_cost, self.split
        return worth(model, *limits, self.X, self.costs, *penalties, self.minima, self.side)

    def priced(self) -> tuple[list[list[int]], int]:
        """Costs with the priced side rows, and what the multipliers add for their limits."""
        costs, shift = [[self.q * c for c in row] for row in self.costs], 0
        for mu, (coefs, low, high) in zip(self.multipliers, self.side):
            limit = high if mu > 0 else low if mu < 0 else 0
            must(limit is not None, "A multiplier prices no limit.")
            shift += mu * limit
            costs = [[a + mu * b for a, b in zip(x, y)] for x, y in zip(costs, coefs)]
        return costs, shift
