"""Definitions of the side constraints, which share no code with `milp_trees.tasks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from milp_trees.testing.definitions import Row, Seen, Spec, confusion


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
    if constraint["name"] == "capacity":
        action = next(k for k, a in enumerate(seen.actions) if str(a) == str(constraint["action"]))
        treated = sum(k == action for k in seen.said)
        return (
            int(constraint.get("at_least", 0))
            <= treated
            <= int(constraint.get("at_most", len(rows)))
        )
    if constraint["name"] in ON_TREES:
        return ON_TREES[constraint["name"]](constraint, rows, seen)
    last = seen.actions[-1]
    liked = next(
        k for k, a in enumerate(seen.actions) if str(a) == str(constraint.get("favourable", last))
    )
    within: dict[str, Callable[[Row], Any]] = {
        "statistical-parity": lambda row: "all",
        "conditional-statistical-parity": lambda row: row["factor"],
        "equal-opportunity": lambda row: "positive" if row["y"] == liked else None,
        "predictive-equality": lambda row: "negative" if row["y"] != liked else None,
        "equalised-odds": lambda row: row["y"] == liked,
    }
    if constraint["name"] == "error-rates":
        return _error_rates(constraint, rows, seen, liked)
    slice_of = within[constraint["name"]]
    rates: dict[Any, dict[Any, list[bool]]] = {}
    for row, k in zip(rows, seen.said, strict=True):
        if slice_of(row) is not None:
            rates.setdefault(slice_of(row), {}).setdefault(row["group"], []).append(k == liked)
    spans = [
        [Fraction(sum(said), len(said)) for said in groups.values()] for groups in rates.values()
    ]
    return all(
        max(span) - min(span) <= Fraction(constraint.get("max_disparity", "1/100"))
        for span in spans
    )


def _error_rates(constraint: Spec, rows: Sequence[Row], seen: Seen, liked: int) -> bool:
    for name, positive in (("max_false_positive_rate", False), ("max_false_negative_rate", True)):
        said = [
            k == liked
            for row, k in zip(rows, seen.said, strict=True)
            if (row["y"] == liked) == positive
        ]
        if name in constraint and said:
            wrong = sum(yes != positive for yes in said)
            if Fraction(wrong, len(said)) > Fraction(constraint[name]):
                return False
    return True


def _tests(name: str, seen: Seen) -> bool:
    return name in seen.columns or name in seen.tests


def _alike(
    rows: Sequence[Row], seen: Seen, leaves: set[int], most: Fraction, hit: Sequence[bool]
) -> bool:
    """Whether the shares of hits of all groups are close, among the rows of some leaves."""
    groups: dict[Any, list[bool]] = {}
    for row, leaf, is_hit in zip(rows, seen.leaf, hit, strict=True):
        if leaf in leaves:
            groups.setdefault(row["group"], []).append(is_hit)
    shares = [Fraction(sum(hits), len(hits)) for hits in groups.values()]
    return not shares or max(shares) - min(shares) <= most


def _in_subtrees(constraint: Spec, rows: Sequence[Row], seen: Seen) -> bool:
    liked = str(constraint.get("favourable", seen.actions[-1]))
    hit = [str(seen.actions[k]) == liked for k in seen.said]
    most = Fraction(constraint.get("max_disparity", "1/100"))
    return all(_alike(rows, seen, leaves, most, hit) for leaves in seen.below)


def _in_leaves(constraint: Spec, rows: Sequence[Row], seen: Seen) -> bool:
    wrong = [row["y"] != k for row, k in zip(rows, seen.said, strict=True)]
    most = Fraction(constraint.get("max_disparity", "1/100"))
    return all(_alike(rows, seen, {leaf}, most, wrong) for leaf in range(seen.leaves))


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


#: Constraints on the tree itself.
ON_TREES: dict[str, Callable[[Spec, Sequence[Row], Seen], bool]] = {
    "feature-budget": lambda c, rows, seen: len(set(seen.columns)) <= int(c["at_most"]),
    "not-together": lambda c, rows, seen: (
        not (_tests(c["first"], seen) and _tests(c["second"], seen))
    ),
    "requires": lambda c, rows, seen: (
        _tests(c["needs"], seen) or ("feature" in c and not _tests(c["feature"], seen))
    ),
    "monotone": _monotone,
    "parity-in-subtrees": _in_subtrees,
    "parity-in-leaves": _in_leaves,
    "captured-share": _captured_share,
}
