"""Definitions of the side constraints, which share no code with `milp_trees.tasks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from milp_trees.testing.definitions import Row, Seen, Spec, confusion, definitions

#: Limits from below; all others are limits from above.
FROM_BELOW = ("at_least", "min_recall")


def broken(spec: Spec, rows: Sequence[Row], seen: Seen) -> list[str]:
    """Names of the side constraints that do not hold.

    Parameters
    ----------
    spec : mapping
        Description of the task.
    rows : sequence of mappings
        The rows.
    seen : Seen
        Actions and leaves of the rows.

    Returns
    -------
    list of str
    """
    found = [c["name"] for c in spec.get("constraints", ()) if not _holds(c, rows, seen)]
    if spec["name"] == "precision" and "min_recall" in spec:
        n = confusion(spec, rows, seen)
        if n["TP"] < Fraction(spec["min_recall"]) * (n["TP"] + n["FN"]):
            found.append("recall")
    return found


def _holds(constraint: Spec, rows: Sequence[Row], seen: Seen) -> bool:
    if constraint["name"] in ON_TREES:
        return ON_TREES[constraint["name"]](constraint, rows, seen)
    given = DEFAULTS.get(constraint["name"], {}) | dict(constraint)
    return all(
        amount >= Fraction(str(given[limit]))
        if limit in FROM_BELOW
        else amount <= Fraction(str(given[limit]))
        for limit, amount in amounts(constraint, rows, seen).items()
        if limit in given
    )


def amounts(constraint: Spec, rows: Sequence[Row], seen: Seen) -> dict[str, Fraction]:
    """What a constraint limits: with exactly these limits a tree just keeps it.

    Parameters
    ----------
    constraint : mapping
        Description of the constraint, whose own limits do not matter.
    rows : sequence of mappings
        The rows.
    seen : Seen
        Actions and leaves of the rows.

    Returns
    -------
    dict
        Exact amounts by the name of the limit; empty if the constraint has no limit.
    """
    name = constraint["name"]
    liked = _named(constraint.get("favourable", seen.actions[-1]), seen)
    if name == "capacity":
        action = _named(constraint["action"], seen)
        treated = Fraction(sum(k == action for k in seen.said))
        return {"at_most": treated, "at_least": treated}
    if name in SLICES:
        return {"max_disparity": _disparity(SLICES[name], rows, seen, liked)}
    if name == "error-rates":
        return _error_rates(rows, seen, liked)
    if name == "parity-in-subtrees":
        hit = [k == liked for k in seen.said]
        return {"max_disparity": _widest(rows, seen, seen.below, hit)}
    if name == "parity-in-leaves":
        wrong = [row["y"] != k for row, k in zip(rows, seen.said, strict=True)]
        leaves = [{leaf} for leaf in range(seen.leaves)]
        return {"max_disparity": _widest(rows, seen, leaves, wrong)}
    if name == "mean-prediction-parity":
        return {"max_difference": _mean_gap(rows, seen)}
    if name == "feature-budget":
        return {"at_most": Fraction(len(set(seen.columns)))}
    if name == "task-value":
        task = constraint["task"]
        return {"at_most": Fraction(definitions()[task["name"]](task, rows, seen))}
    return {}


def _named(action: Any, seen: Seen) -> int:
    return next(k for k, a in enumerate(seen.actions) if str(a) == str(action))


#: What the rates of groups are compared within: the label of a row's slice, None for no slice.
SLICES: dict[str, Callable[[Row, int], Any]] = {
    "statistical-parity": lambda row, liked: "all",
    "conditional-statistical-parity": lambda row, liked: row["factor"],
    "equal-opportunity": lambda row, liked: "positive" if row["y"] == liked else None,
    "predictive-equality": lambda row, liked: "negative" if row["y"] != liked else None,
    "equalised-odds": lambda row, liked: row["y"] == liked,
}
#: Limits that a description leaves out.
DEFAULTS: dict[str, dict[str, str]] = {
    name: {"max_disparity": "1/100"} for name in (*SLICES, "parity-in-subtrees", "parity-in-leaves")
}


def _disparity(
    slice_of: Callable[[Row, int], Any], rows: Sequence[Row], seen: Seen, liked: int
) -> Fraction:
    rates: dict[Any, dict[Any, list[bool]]] = {}
    for row, k in zip(rows, seen.said, strict=True):
        if (part := slice_of(row, liked)) is not None:
            rates.setdefault(part, {}).setdefault(row["group"], []).append(k == liked)
    spans = [
        [Fraction(sum(message), len(message)) for message in groups.values()]
        for groups in rates.values()
    ]
    return max((max(span) - min(span) for span in spans), default=Fraction(0))


def _mean_gap(rows: Sequence[Row], seen: Seen) -> Fraction:
    """The largest difference of two groups' mean predictions, of any output."""
    widest = Fraction(0)
    given = [a if isinstance(a, (tuple, list)) else (a,) for a in seen.actions]
    for output in range(len(given[0])):
        of_group: dict[Any, list[Fraction]] = {}
        for row, k in zip(rows, seen.said, strict=True):
            of_group.setdefault(row["group"], []).append(Fraction(given[k][output]))
        means = [sum(numbers, Fraction(0)) / len(numbers) for numbers in of_group.values()]
        widest = max(widest, max(means) - min(means))
    return widest


def _error_rates(rows: Sequence[Row], seen: Seen, liked: int) -> dict[str, Fraction]:
    found = {}
    for name, positive in (("max_false_positive_rate", False), ("max_false_negative_rate", True)):
        message = [
            k == liked
            for row, k in zip(rows, seen.said, strict=True)
            if (row["y"] == liked) == positive
        ]
        wrong = sum(yes != positive for yes in message)
        found[name] = Fraction(wrong, len(message)) if message else Fraction(0)
    return found


def _tests(name: str, seen: Seen) -> bool:
    return name in seen.columns or name in seen.tests


def _widest(
    rows: Sequence[Row], seen: Seen, nodes: Sequence[set[int]], hit: Sequence[bool]
) -> Fraction:
    """The largest difference of two groups' shares of hits among the rows of a node.

    Nodes are given by the leaves below them; groups without rows in a node do not count.
    """
    out = Fraction(0)
    for leaves in nodes:
        groups: dict[Any, list[bool]] = {}
        for row, leaf, is_hit in zip(rows, seen.leaf, hit, strict=True):
            if leaf in leaves:
                groups.setdefault(row["group"], []).append(is_hit)
        shares = [Fraction(sum(hits), len(hits)) for hits in groups.values()]
        out = max(out, max(shares, default=out) - min(shares, default=Fraction(0)))
    return out


def _monotone(constraint: Spec, rows: Sequence[Row], seen: Seen) -> bool:
    """Points that differ in the column only, at and just above the thresholds, are tried."""
    column, liked = constraint["column"], str(constraint.get("favourable", seen.actions[-1]))
    sign = 1 if constraint.get("direction", "increasing") == "increasing" else -1
    yes = [str(seen.actions[k]) == liked for k in seen.said_in]
    tests = {test for path in seen.paths for test, _ in path}
    axes: list[list[tuple[str, Any]]] = [
        [(name, value) for value in _values([t for t in tests if t.column == name])]
        for name in sorted({t.column for t in tests} - {column})
    ]
    own = _values([t for t in tests if t.column == column])
    for others in product(*axes):
        line = [
            next(
                yes[leaf]
                for leaf, path in enumerate(seen.paths)
                if all(_answer(t, {**dict(others), column: x}) == a for t, a in path)
            )
            for x in own
        ]
        if any(sign * b < sign * a for a, b in pairwise(line)):
            return False
    return True


def _values(tests: Sequence[Any]) -> list[Any]:
    """Values of a column, in order, that tell all answers of its tests apart."""
    if any(t.kind == "==" for t in tests):
        return [*{t.value for t in tests}, object()]
    if any(t.kind == "is" for t in tests):
        return [0, 1]
    ends = sorted({float(t.value) for t in tests})
    return [*ends, float("inf")]


def _answer(test: Any, point: dict[str, Any]) -> bool:
    value = point[test.column]
    if test.kind == "<=":
        return bool(value <= test.value)
    return bool(value == (test.value if test.kind == "==" else 1))


def _captured_share(constraint: Spec, rows: Sequence[Row], seen: Seen) -> bool:
    black_box = str(constraint.get("black_box", "black box"))
    rules = [str(seen.actions[k]) for k in seen.said_in[:-1]]
    decided = sum(str(seen.actions[k]) != black_box for k in seen.said)
    least = Fraction(str(constraint.get("at_least", "1/2")))
    return black_box not in rules and decided >= least * len(rows)


#: Constraints on the tree itself that have no limit, or one of another kind.
ON_TREES: dict[str, Callable[[Spec, Sequence[Row], Seen], bool]] = {
    "not-together": lambda c, rows, seen: (
        not (_tests(c["first"], seen) and _tests(c["second"], seen))
    ),
    "requires": lambda c, rows, seen: (
        _tests(c["needs"], seen) or ("feature" in c and not _tests(c["feature"], seen))
    ),
    "monotone": _monotone,
    "captured-share": _captured_share,
}
