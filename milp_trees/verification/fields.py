"""Checks of every single field of a stored result, and the fields that cannot be recomputed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.results.history import is_history
from milp_trees.results.json import SCHEMA, number
from milp_trees.results.result import Limit, Status
from milp_trees.results.strict_json import refuse_newer

#: Largest difference between clocks: seconds, and share of the run's seconds.
SLACK_SECONDS, SLACK_SHARE = 0.05, 0.01


def amount(value: Any) -> bool:
    return number(value) and value >= 0


def count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**63


def text(value: Any) -> bool:
    return isinstance(value, str)


def name(value: Any) -> bool:
    """One line that is not empty and holds no control characters of a terminal."""
    return isinstance(value, str) and bool(value) and value.isprintable()


def truth(value: Any) -> bool:
    return isinstance(value, bool)


def objects(value: Any) -> bool:
    return isinstance(value, Mapping)


def optional(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or check(value)


def each(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A mapping whose values all pass one check."""
    return lambda value: isinstance(value, Mapping) and all(map(check, value.values()))


def listed(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _point(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and amount(value[0])
        and all(map(optional(number), value[1:]))
    )


def stated_proof(value: Any) -> bool:
    """Facts of a proof file; its name has no folder, as it lies beside the result."""
    # Results of earlier versions do not say whether the file was checked, or when.
    if not isinstance(value, Mapping) or {*value, "checked", "checked_at"} != set(PROOF):
        return False
    return all(PROOF[key](value[key]) for key in value) and not set("/\\") & set(value["file"])


PROOF = {
    "file": name,
    "sha256": name,
    "claims": count,
    "bytes": count,
    "seconds": amount,
    "checked": truth,
    "checked_at": name,
}

#: Every field of a stored result: its check, and the same in words.
FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "schema": (count, "a whole number"),
    "method": (name, "a name"),
    "status": (
        lambda v: v in [s.value for s in Status],
        f"one of {', '.join(s.value for s in Status)}",
    ),
    "limit": (
        optional(lambda v: v in [s.value for s in Limit]),
        f"one of {', '.join(s.value for s in Limit)}, or null",
    ),
    "objective": (optional(number), "a number or null"),
    "unit": (name, "a name"),
    "sense": (lambda v: v in ("min", "max"), "min or max"),
    "exact": (optional(text), "text or null"),
    "bound": (optional(number), "a number or null"),
    "bound_exact": (optional(text), "text or null"),
    "gap": (optional(amount), "a number of at least 0, or null"),
    "proved_by": (optional(name), "a name or null"),
    "checked": (listed(name), "a list of texts"),
    "agrees": (optional(truth), "true, false or null"),
    "derived_by": (optional(name), "a name or null"),
    "reference": (optional(name), "a name or null"),
    "seconds": (amount, "a number of at least 0"),
    "times": (each(amount), "numbers of at least 0 by name"),
    "sizes": (each(amount), "numbers of at least 0 by name"),
    "root_bound": (optional(number), "a number or null"),
    "root_gap": (optional(amount), "a number of at least 0, or null"),
    "nodes": (optional(count), "a whole number of at least 0, or null"),
    "start": (objects, "an object"),
    "scores": (each(number), "numbers by name"),
    "found_by": (text, "text"),
    "transformation": (text, "text"),
    "thresholds": (text, "text"),
    "message": (text, "text"),
    "predictor": (optional(objects), "an object or null"),
    "trace": (listed(_point), "a list of [seconds, incumbent, bound]"),
    "history": (optional(is_history), "equally long lists of numbers by name, or null"),
    "proof": (
        optional(stated_proof),
        "file, sha256, claims, bytes and seconds of a proof and whether it was checked, or null",
    ),
    "options": (objects, "an object"),
    "versions": (each(text), "texts by name"),
    "problem": (objects, "an object"),
}
#: Fields that results of older versions do not have.
LATER = frozenset(
    {"derived_by", "found_by", "history", "proof", "reference", "thresholds", "transformation"}
)
#: The same for the parts of `start` that are present.
START: dict[str, tuple[Callable[[Any], bool], str]] = {
    "method": (name, "a name"),
    "value": (optional(number), "a number or null"),
    "accepted": (optional(truth), "true, false or null"),
    "needed": (truth, "true or false"),
    "seconds": (amount, "a number of at least 0"),
    "reason": (text, "text"),
}
#: Fields that cannot be recomputed here: the method that made the result, its software, its time,
#: and its trace.
HISTORY = (
    "method",
    "limit",
    "proved_by",
    "checked",
    "agrees",
    "derived_by",
    "reference",
    "found_by",
    "transformation",
    "seconds",
    "times",
    "sizes",
    "nodes",
    "start",
    "message",
    "trace",
    "history",
    "options",
    "versions",
)


def complete(data: Any, needed: Collection[str], what: str) -> Mapping[str, Any]:
    """The object, if it has all fields and a known layout."""
    if not isinstance(data, Mapping):
        raise VerificationError(f"This is not a {what}: a JSON object is expected.")
    if "schema" in data:
        try:
            refuse_newer(data["schema"], SCHEMA, f"The {what}")
        except DataError as error:
            raise VerificationError(str(error)) from None
    missing = sorted(set(needed) - set(data))
    if missing:
        raise VerificationError(
            f"This is not a {what} of milp-trees, or it was cut: it has no {missing[0]!r}."
        )
    return data


def sensible(
    data: Mapping[str, Any],
    fields: Mapping[str, tuple[Callable[[Any], bool], str]],
    inside: str = "",
) -> None:
    """Refuse fields with values of a wrong kind."""
    for key, (check, words) in fields.items():
        if key in data and not check(data[key]):
            shown = repr(data[key])
            raise VerificationError(
                f"The result is damaged: {inside}{key} must be {words}; it is {shown if len(shown) <= 80 else shown[:80] + '…'}."
            )


def check_fields(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Refuse fields whose values make no sense; return those that cannot be recomputed."""
    sensible(data, FIELDS)
    sensible(data["start"], START, "start.")
    check_times(data)
    status = Status(data["status"])
    whole = bool(data.get("front") and data["front"]["complete"])  # proven without any bound
    proves = data["bound"] is not None or status is Status.INFEASIBLE or whole
    if (data["proved_by"] is None) == proves:
        raise VerificationError(
            "The result must say who proved a bound (or that nothing is feasible) exactly if it states one."
        )
    if status is Status.INFEASIBLE and data["predictor"] is None and data["bound"] is not None:
        raise VerificationError(
            f"The result says that nothing is feasible, and states the bound {data['bound']!r}."
        )
    if data["agrees"] is False:
        raise VerificationError("The result says itself that it disagrees with the reference.")
    if data["agrees"] and status not in (Status.OPTIMAL, Status.INFEASIBLE):
        raise VerificationError(
            "Only proven results agree with a reference; this one says that it agrees and is not proven."
        )
    unknown = [key for key in data if key not in FIELDS and key != "front"]
    return (*HISTORY, *unknown)


def check_times(data: Mapping[str, Any]) -> None:
    """Check that the stages of a run do not take longer than the run."""
    taken = sum(data["times"].values())
    if taken > data["seconds"] * (1 + SLACK_SHARE) + SLACK_SECONDS:
        raise VerificationError(
            f"The stages of the run took {taken:g} seconds, the run only {data['seconds']:g}."
        )
