"""Checks a proof that no pruning of an ensemble costs less: python check_flow.py PROOF

It needs proof_reading.py beside it, which needs numpy. A pruning is a set of splits that are kept.
It holds the parent of each of its splits, and pays for all that they need. The file holds a flow
from splits to what they need: for a pruning, or for a curve of prunings, the best ones for all
weights of errors and prices. The format, and why it is a proof, are in the documentation, page
"Proofs".
Exit codes: 0 proved (or a gap is), 1 rejected, 2 unreadable.
"""
# mypy: ignore-errors

import json
import sys
from math import gcd
from typing import Any, NamedTuple

if __package__:
    from milp_trees.verification import proof_reading as reading
else:
    import proof_reading as reading
FAULTS, Unreadable, Wrong, need = reading.FAULTS, reading.Unreadable, reading.Wrong, reading.need

#: Keys of every statement, and how their values are nested: the number is the depth of the lists.
NETWORK = {
    **dict.fromkeys(("format", "kind"), "text"),
    **dict.fromkeys(("version", "root_error"), 0),
    **dict.fromkeys(("parent", "gain", "keep_cost", "price"), 1),
    **dict.fromkeys(("needs", "above"), 2),
}
#: Further keys by kind.
KEYS = {
    "prunings": {
        **dict.fromkeys(("offset", "scale", "unit"), "text"),
        **dict.fromkeys(("errors_count", "prices_count", "denominator", "bound"), 0),
        **dict.fromkeys(("keep", "value"), "perhaps"),
    },
    "curve": {**dict.fromkeys(("error_unit", "cost_unit", "cost_offset"), "text"), "rank": 1},
}


def whole(value, depth):
    """Whether a value is a whole number, or lists of them."""
    if depth == 0:
        return type(value) is int
    return type(value) is list and all(whole(x, depth - 1) for x in value)


def read(lines):
    """The statement and the flow, with shapes and ranges as the format says."""
    lines = [line for line in lines if line.strip()]
    s, *flow = [json.loads(line, object_pairs_hook=reading.once) for line in lines]
    need(isinstance(s, dict) and s.get("kind") in KEYS, "This is no proof about prunings.")
    keys = {**NETWORK, **KEYS[s["kind"]]}
    need(s.keys() == keys.keys(), "The statement has other keys.")
    for key, form in keys.items():
        if form == "text":
            good = type(s[key]) is str and len(s[key]) < 10_000 and s[key].isprintable()
        elif form == "perhaps":
            good = s[key] is None or whole(s[key], 1 if key == "keep" else 0)
        else:
            good = whole(s[key], form)
        need(good, f"The statement's {key} is malformed.")
    known = (s["format"], s["version"]) == ("milp-trees-proof", 1)
    need(known, "This is no proof about prunings.")
    M, P = len(s["parent"]), len(s["price"])
    same = len(s["gain"]) == len(s["keep_cost"]) == len(s["needs"]) == M
    need(same, "The lists of nodes differ in length.")
    need(all(-1 <= p < h for h, p in enumerate(s["parent"])), "A parent comes after its child.")
    used = [u for units in s["needs"] for u in units] + [u for pair in s["above"] for u in pair]
    need(all(0 <= u < P for u in used), "A purchase does not exist.")
    need(all(len(pair) == 2 for pair in s["above"]), "A need of a purchase is no pair.")
    if s["kind"] == "curve":
        need(len(s["rank"]) == M, "The lists of nodes differ in length.")
        return s, flow
    need(s["errors_count"] > 0 and s["prices_count"] >= 0, "A weight has the wrong sign.")
    need(s["denominator"] > 0, "The denominator is not positive.")
    need((s["keep"] is None) == (s["value"] is None), "The pruning or its value is missing.")
    return s, flow


class Needs:
    """What a node needs, directly or through a purchase."""

    def __init__(self, s):
        self.direct, self.above, self.found = s["needs"], {}, {}
        for u, other in s["above"]:
            self.above.setdefault(u, []).append(other)

    def of(self, node):
        if node not in self.found:
            self.found[node] = self.with_above(self.direct[node])
        return self.found[node]

    def with_above(self, purchases):
        found, new = set(purchases), list(purchases)
        while new:
            more = [v for v in self.above.get(new.pop(), ()) if v not in found]
            found.update(more)
            new += more
        return found


def totals(s, kept, needs):
    """Errors of a pruning, and the prices of all that it needs, recomputed."""
    keep = set(kept)
    need(len(keep) == len(kept), "A split is kept twice.")
    need(all(0 <= h < len(s["parent"]) for h in keep), "A kept split does not exist.")
    closed = all(s["parent"][h] < 0 or s["parent"][h] in keep for h in keep)
    need(closed, "A split is kept below one that is not.")
    bought = needs.with_above({u for h in keep for u in s["needs"][h]})
    errors = s["root_error"] - sum(s["gain"][h] for h in keep)
    prices = sum(s["keep_cost"][h] for h in keep) + sum(s["price"][u] for u in bought)
    return errors, prices


def links(s, flow, needs):
    """Every line of a flow: (how to name it, split, purchase or None for the parent, amount)."""
    for number, line in enumerate(flow):
        need(whole(line, 1) and len(line) in (2, 3), f"Flow {number} is no flow.")
        h, u, amount = line[0], line[1] if len(line) == 3 else None, line[-1]
        where = f"Flow {number}, {line}, "
        need(
            0 <= h < len(s["parent"]) and amount >= 0, where + "has no such split, or is negative."
        )
        if u is None:
            need(s["parent"][h] >= 0, where + "goes to a parent that does not exist.")
        else:
            need(u in needs.of(h), where + "goes to what the split does not need.")
        yield where, h, u, amount


def bound_of(s, flow, needs):
    """What the flow proves: no pruning costs less. Its amounts are over the denominator q."""
    M, P, q = len(s["parent"]), len(s["price"]), s["denominator"]
    a, b = q * s["errors_count"], q * s["prices_count"]
    sent, received = [0] * M, [0] * P
    for _, h, u, amount in links(s, flow, needs):
        sent[h] += amount
        if u is None:
            sent[s["parent"][h]] -= amount
        else:
            received[u] += amount
    for u in range(P):
        need(received[u] <= b * s["price"][u], f"Purchase {u} receives more than its price.")
    least = a * s["root_error"]
    for h in range(M):
        weight = a * s["gain"][h] - b * s["keep_cost"][h]
        message = f"Split {h} sends more than it gains and receives, or keeps more than it costs."
        need(min(weight, 0) <= sent[h] <= max(weight, 0), message)
        least -= max(weight, 0) - max(sent[h], 0)
    return -(-least // q)


def check(proof_lines: Any) -> reading.Verdict:
    """Check a proof, given as lines of text; Wrong if it does not hold.

    For a curve the bound and the value are the number of its prunings.
    """
    try:
        s, flow = read(proof_lines)
        units = ("error_unit", "cost_unit", "cost_offset")
        found = [reading.fraction(s[x]) for x in (units if "rank" in s else ("offset", "scale"))]
    except Unreadable:
        raise
    except (Wrong, *FAULTS) as reason:
        raise Unreadable(f"It is malformed ({str(reason)[:200]}).") from None
    needs = Needs(s)
    if s["kind"] == "curve":
        return check_curve(s, flow, needs, *found)
    offset, scale = found
    need(scale > 0, "The scale is not positive.")
    counts = s["errors_count"], s["prices_count"]
    bound = bound_of(s, flow, needs)
    need(bound == s["bound"], f"The flow proves the bound {bound}, and the file says {s['bound']}.")
    value = None
    if s["keep"] is not None:
        value = sum(n * x for n, x in zip(counts, totals(s, s["keep"], needs)))
    need(value == s["value"], f"The pruning has the value {value}.")
    need(value is None or value >= bound, "The pruning contradicts the flow.")
    least = offset + scale * bound
    shown = reading.shown(least)
    head = "proved" if value == bound else "proved a bound only"
    own = "" if value is None else f", and the pruning of the file has {offset + scale * value}"
    message = f"no pruning of this ensemble has less than {shown} {s['unit']}".rstrip() + own
    message += (
        f"; {len(s['gain'])} splits, {len(s['price'])} purchases, {s['denominator']} as denominator"
    )
    message = f"{head}: {shown}  ({message}; gains and prices are those of the proof file{reading.given(s)})"
    return reading.Verdict(value == bound, bound, value, message)


class Pieces(NamedTuple):
    """The pieces of a curve: the splits of one rank, with what no split of a smaller rank needs."""

    first: dict[int, int]  # the piece of every purchase that is needed
    gains: list[int]
    costs: list[int]
    free: bool  # whether the first piece costs nothing

    @property
    def weights(self):
        """Of errors and prices, for which a piece costs what it gains."""
        out = []
        for g, c in zip(self.gains[:-1], self.costs):
            out.append((c // gcd(g, c), g // gcd(g, c)) if c else (1, 0))
        return [*out, (1, 0)]  # the last piece is never kept


def pieces_of(s, needs):
    """The pieces; Wrong if a split outlasts its parent, or their gains by costs do not fall."""
    rank, top, first = s["rank"], max(s["rank"], default=0), {}
    need({*rank, top} == {*range(top + 1)}, "The ranks are not all numbers from 0 to the largest.")
    for h, parent in enumerate(s["parent"]):
        need(parent < 0 or rank[parent] <= rank[h], f"Split {h} is kept longer than its parent.")
        for u in needs.of(h):
            first[u] = min(first.get(u, top), rank[h])
    G, C = [0] * (top + 1), [0] * (top + 1)
    for h, r in enumerate(rank):
        G[r] += s["gain"][h]
        C[r] += s["keep_cost"][h]
    for u, r in first.items():
        C[r] += s["price"][u]
    free = top > 0 and C[0] == 0
    for r in range(free, top):
        need(min(G[r], C[r]) > 0, f"Piece {r} gains nothing, or costs nothing.")
        good = r == 0 or G[r - 1] * C[r] > G[r] * C[r - 1]
        need(good, f"Piece {r} gains as much for its costs as the one before.")
    return Pieces(first, G, C, free)


def check_curve(s, flow, needs, error_unit, cost_unit, cost_offset):
    """Check all prunings of a curve.

    A flow within a piece proves, at the weights of the piece, that no part of it is better than the
    whole, and that none is worth keeping alone.
    """
    costs = [*s["keep_cost"], *s["price"]]
    need(min(costs, default=0) >= 0 < min(error_unit, cost_unit), "A price or a unit is negative.")
    pieces = pieces_of(s, needs)
    rank, first, G, C, free = s["rank"], *pieces
    weights, top = pieces.weights, len(G) - 1
    left = []  # what splits and purchases gain and receive, less what they cost and send
    for h, r in enumerate(rank):
        left.append(weights[r][0] * s["gain"][h] - weights[r][1] * s["keep_cost"][h])
    price = {u: len(left) + i for i, u in enumerate(first)}
    left += [-weights[r][1] * s["price"][u] for u, r in first.items()]
    for where, h, u, amount in links(s, flow, needs):
        other = s["parent"][h] if u is None else price[u]
        same = rank[h] == (rank[other] if u is None else first[u])
        need(same, where + "leaves the piece of the split.")
        left[h] -= amount
        left[other] += amount
    for x, r in zip(left, [*rank, *first.values()]):
        need(x <= 0 or (free and r == 0), f"A gain of piece {r} is not sent.")
        need(x >= 0 or r == top, f"A cost of piece {r} is not paid.")
    E, last = s["root_error"] - sum(G[:-1]), s["root_error"] - free * G[0]
    ends = [
        f"error {float(error_unit * e):.6g} at cost {float(cost_unit * c + cost_offset):.6g}"
        for e, c in ((E, sum(C[:-1])), (last, 0))
    ]
    message = f"for every lambda >= 0 one of them is best, from {ends[0]} to {ends[1]}"
    count = top + 1 - free
    many = f"{count} pruning{'s' * (count != 1)}"
    message = f"proved: {many}  ({message}; gains and prices are those of the proof file)"
    return reading.Verdict(True, count, count, message)


def main(arguments):
    """Print the verdict; the exit code."""
    return reading.run(check, arguments, "Give a proof.", 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
