"""Claims of a stored result, checked against each other.

Status, bound, gap, root bound, trace and history must not contradict each other or the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import VerificationError
from milp_trees.results.json import relative_gap
from milp_trees.results.result import Status
from milp_trees.tasks.comparing import crosses, meets

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

FRACTION = re.compile(r"(-?[0-9]+)/([1-9][0-9]*)")
#: Largest number of characters of a fraction: a bound of many rational weights is long.
MOST_DIGITS = 4000


def check_claims(data: Mapping[str, Any], problem: Problem) -> list[str]:
    """Check that the claims do not contradict each other or the value."""
    try:
        status = Status(data["status"])
    except ValueError:
        raise VerificationError(f"There is no status {data['status']!r}.") from None
    if status is Status.ERROR:
        raise VerificationError(f"The result is an error: {data['message']}")
    if (status in (Status.OPTIMAL, Status.FEASIBLE)) != (data["predictor"] is not None):
        raise VerificationError(
            f"The status is {status.value!r}, but the result holds {'no' if data['predictor'] is None else 'a'} predictor."
        )
    check_bound(data, problem)
    if status is Status.OPTIMAL:
        _check_closed(data, problem)
    _check_moments(data, problem)
    reported = "root bound, trace and history" if data.get("history") else "root bound and trace"
    return [f"Status, bound, gap, {reported} are consistent."]


def check_bound(data: Mapping[str, Any], problem: Problem) -> None:
    """Check a stated bound and root bound against their other forms, their gaps and the value."""
    value = None if data["objective"] is None else _number(data, "objective", "exact")
    for name, form in (("bound", "bound_exact"), ("root_bound", "root_bound")):
        stated = None if data[name] is None else _number(data, name, form)
        if crosses(stated, value, problem.scale):
            raise VerificationError(
                f"The {name.replace('_', ' ')} {data[name]!r} excludes the result's own value {data['objective']!r}."
            )
    bound, exact = _float(data["bound"]), data["bound_exact"]
    if exact is not None and (bound is None or bound != float(as_fraction(exact, "bound_exact"))):
        raise VerificationError(f"The bound {bound!r} is not its exact form {exact!r}.")
    for gap, claimed in (("gap", data["bound"]), ("root_gap", data["root_bound"])):
        expected = relative_gap(_float(data["objective"]), _float(claimed))
        if expected == float("inf"):
            expected = None
        stated = _float(data[gap])
        known = stated is not None and expected is not None
        if (stated is None) != (expected is None) or (
            known and abs((stated or 0) - (expected or 0)) > 1e-9 * max(1.0, abs(expected or 0))
        ):
            raise VerificationError(
                f"The stated {gap.replace('_', ' ')} is {stated!r}; objective and bound give {expected!r}."
            )


def _check_closed(data: Mapping[str, Any], problem: Problem) -> None:
    """Check that the bound of an optimum is its value, to the tolerance of the problem."""
    scale = problem.scale
    if data["bound"] is None:
        raise VerificationError("The status is 'optimal', but there is no bound.")
    bound, value = _number(data, "bound", "bound_exact"), _number(data, "objective", "exact")
    if not meets(bound, value, scale):
        raise VerificationError(
            f"The status is 'optimal', but the bound {data['bound']!r} leaves a gap to the value {data['objective']!r}."
        )


def _number(data: Mapping[str, Any], name: str, exact: str) -> Fraction | float:
    """A stated number, as a rational if its exact form is stated."""
    if name == exact or data[exact] is None:
        return float(data[name])
    return as_fraction(data[exact], exact)


def _check_moments(data: Mapping[str, Any], problem: Problem) -> None:
    """Check that no moment had a better incumbent than the answer, or a bound that excludes it.

    The moments are those of the trace, and those of the history if there is one.
    """
    if data["objective"] is None:
        return
    scale = problem.scale
    value = _number(data, "objective", "exact")
    for name, seconds, incumbent, bound in _moments(data):
        if incumbent is not None and crosses(value, float(incumbent), scale):
            raise VerificationError(
                f"The {name} has the incumbent {incumbent!r} at {seconds}, better than the answer {data['objective']!r}."
            )
        if bound is not None and crosses(float(bound), value, scale):
            raise VerificationError(
                f"The {name} has the bound {bound!r} at {seconds}, which excludes the answer {data['objective']!r}."
            )


def _moments(data: Mapping[str, Any]) -> Iterator[tuple[str, str, float | None, float | None]]:
    """Every moment of the run that the result tells: where, when, its incumbent and its bound."""
    for seconds, incumbent, bound in data["trace"]:
        yield "trace", f"{seconds:.3g} s", incumbent, bound
    history = data.get("history") or {}
    # A column may be absent, and the time of a moment may be null.
    columns = (history.get(name, []) for name in ("seconds", "incumbent", "bound"))
    for seconds, incumbent, bound in zip_longest(*columns):
        yield (
            "history",
            "an unknown time" if seconds is None else f"{seconds:.3g} s",
            incumbent,
            bound,
        )


def as_fraction(text: Any, name: str) -> Fraction:
    """Read a fraction as `json_safe` writes it, in lowest terms.

    Other ways to write a number, such as `1e9999999`, are refused.
    """
    found = FRACTION.fullmatch(text) if isinstance(text, str) and len(text) <= MOST_DIGITS else None
    number = None if found is None else Fraction(int(found[1]), int(found[2]))
    if number is None or f"{number.numerator}/{number.denominator}" != text:
        shown = text if len(str(text)) <= 40 else f"{str(text)[:40]}…"
        raise VerificationError(f"{name} must be a fraction such as '3/8'; it is {shown!r}.")
    return number


def _float(value: Any) -> float | None:
    return None if value is None else float(value)
