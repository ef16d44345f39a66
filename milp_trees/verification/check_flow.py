"""Checks a proof that no pruning of an ensemble costs less: python check_flow.py PROOF

It needs proof_reading.py beside it, which needs numpy. A pruning is a set of splits that are kept.
It holds the parent of each of its splits, and pays for all that they need. The file holds a flow
from splits to what they need. Its format, and why it is a proof, are in the documentation, page
"Proofs".
Exit codes: 0 proved (or a gap is), 1 rejected, 2 unreadable.
"""
# mypy: ignore-errors

import json
import sys
from typing import Any, NamedTuple

if __package__:
    from milp_trees.verification import proof_reading as reading
else:
    import proof_reading as reading
FAULTS, Unreadable, Wrong, need = reading.FAULTS, reading.Unreadable, reading.Wrong, reading.need

#: Keys of the statement, and how their values are nested: the number is the depth of the lists.
KEYS = {
    **dict.fromkeys(("format", "kind", "offset", "scale", "unit"), "text"),
    **dict.fromkeys(
        ("version", "root_error", "errors_count", "prices_count", "denominator", "bound"), 0
    ),
    **dict.fromkeys(("parent", "gain", "keep_cost", "price"), 1),
    **dict.fromkeys(("needs", "above"), 2),
    **dict.fromkeys(("keep", "value"), "perhaps"),
}


class Verdict(NamedTuple):
    """What a flow proves: `value` is that of the file's pruning, `bound` that of all at least."""

    proved: bool
    bound: int
    value: int | None
    sentence: str


def whole(value, depth):
    """Whether a value is a whole number, or lists of them."""
    if depth == 0:
        return type(value) is int
    return type(value) is list and all(whole(x, depth - 1) for x in value)


def read(lines):
    """The statement and the flow, with shapes and ranges as the format says."""
    lines = [line for line in lines if line.strip()]
    s, *flow = [json.loads(line, object_pairs_hook=reading.once) for line in lines]
    need(isinstance(s, dict) and s.keys() == KEYS.keys(), "The statement has other keys.")
    for key, form in KEYS.items():
        if form == "text":
            good = type(s[key]) is str and len(s[key]) < 10_000 and s[key].isprintable()
        elif form == "perhaps":
            good = s[key] is None or whole(s[key], 1 if key == "keep" else 0)
        else:
            good = whole(s[key], form)
        need(good, f"The statement's {key} is malformed.")
    known = (s["format"], s["version"], s["kind"]) == ("milp-trees-proof", 1, "prunings")
    need(known, "This is no proof about prunings.")
    M, P = len(s["parent"]), len(s["price"])
    same = len(s["gain"]) == len(s["keep_cost"]) == len(s["needs"]) == M
    need(same, "The lists of nodes differ in length.")
    need(all(-1 <= p < h for h, p in enumerate(s["parent"])), "A parent comes after its child.")
    used = [u for units in s["needs"] for u in units] + [u for pair in s["above"] for u in pair]
    need(all(0 <= u < P for u in used), "A purchase does not exist.")
    need(all(len(pair) == 2 for pair in s["above"]), "A need of a purchase is no pair.")
    need(s["errors_count"] > 0 and s["prices_count"] >= 0, "A weight has the wrong sign.")
    need(s["denominator"] > 0, "The denominator is not positive.")
    need((s["keep"] is None) == (s["value"] is None), "The pruning or its value is missing.")
    need(all(whole(f, 1) and len(f) in (2, 3) for f in flow), "A line is no flow.")
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


def value_of(s, needs):
    """The value of the file's pruning, recomputed."""
    keep = set(s["keep"])
    need(len(keep) == len(s["keep"]), "A split is kept twice.")
    need(all(0 <= h < len(s["parent"]) for h in keep), "A kept split does not exist.")
    closed = all(s["parent"][h] < 0 or s["parent"][h] in keep for h in keep)
    need(closed, "A split is kept below one that is not.")
    bought = needs.with_above({u for h in keep for u in s["needs"][h]})
    errors = s["root_error"] - sum(s["gain"][h] for h in keep)
    prices = sum(s["keep_cost"][h] for h in keep) + sum(s["price"][u] for u in bought)
    return s["errors_count"] * errors + s["prices_count"] * prices


def bound_of(s, flow, needs):
    """What the flow proves: no pruning costs less. Its amounts are over the denominator."""
    M, P, q = len(s["parent"]), len(s["price"]), s["denominator"]
    a, b = q * s["errors_count"], q * s["prices_count"]
    sent, received = [0] * M, [0] * P
    for number, line in enumerate(flow):
        h, amount = line[0], line[-1]
        where = f"Flow {number}, {line}, "
        need(0 <= h < M and amount >= 0, where + "has no such split, or is negative.")
        sent[h] += amount
        if len(line) == 2:
            need(s["parent"][h] >= 0, where + "goes to a parent that does not exist.")
            sent[s["parent"][h]] -= amount
        else:
            need(line[1] in needs.of(h), where + "goes to what the split does not need.")
            received[line[1]] += amount
    for u in range(P):
        need(received[u] <= b * s["price"][u], f"Purchase {u} receives more than its price.")
    least = a * s["root_error"]
    for h in range(M):
        weight = a * s["gain"][h] - b * s["keep_cost"][h]
        said = f"Split {h} sends more than it gains and receives, or keeps more than it costs."
        need(min(weight, 0) <= sent[h] <= max(weight, 0), said)
        least -= max(weight, 0) - max(sent[h], 0)
    return -(-least // q)


def check(proof_lines: Any) -> Verdict:
    """Check a proof, given as lines of text; Wrong if it does not hold."""
    try:
        s, flow = read(proof_lines)
        offset, scale = (reading.fraction(s[key]) for key in ("offset", "scale"))
    except Unreadable:
        raise
    except (Wrong, *FAULTS) as reason:
        raise Unreadable(f"It is malformed ({str(reason)[:200]}).") from None
    need(scale > 0, "The scale is not positive.")
    needs = Needs(s)
    bound = bound_of(s, flow, needs)
    need(bound == s["bound"], f"The flow proves the bound {bound}, and the file says {s['bound']}.")
    value = None if s["keep"] is None else value_of(s, needs)
    need(value == s["value"], f"The pruning has the value {value}.")
    need(value is None or value >= bound, "The pruning contradicts the flow.")
    least = offset + scale * bound
    shown = f"{least}" if least.denominator == 1 else f"{float(least):.10g} ({least})"
    head = "proved" if value == bound else "proved a bound only"
    found = "" if value is None else f", and the pruning of the file has {offset + scale * value}"
    said = f"no pruning of this ensemble has less than {shown} {s['unit']}".rstrip() + found
    said = f"{head}: {shown}  ({said}; gains and prices are those of the proof file)"
    return Verdict(value == bound, bound, value, said)


def main(arguments):
    """Print the verdict; the exit code."""
    try:
        need(len(arguments) == 1, "Give a proof.")
        print(check(reading.unpacked(arguments[0]).decode().split("\n")).sentence)
    except FAULTS as reason:
        print(f"unreadable: {type(reason).__name__}: {reason}")
        return 2
    except Wrong as reason:
        print(f"{'unreadable' if isinstance(reason, Unreadable) else 'rejected'}: {reason}")
        return 2 if isinstance(reason, Unreadable) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
