"""Verification of a stored front: every model is recomputed, and the whole front is found again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import VerificationError
from milp_trees.common.limits import Limits
from milp_trees.common.plurals import counted
from milp_trees.methods.front import nondominated
from milp_trees.problems.questions import Best
from milp_trees.results.front import place
from milp_trees.results.result import Result, Solution, Status
from milp_trees.verification.claims import as_fraction, check_bound
from milp_trees.verification.derive import MOST_TRIED, Derivation, derive, methods_for, run_again
from milp_trees.verification.statement import printable
from milp_trees.verification.value import check_value, near, same
from milp_trees.verification.verdict import Verdict

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem
    from milp_trees.tasks.base import Value

#: What a front states about a bound of its task's value: it is compared with the best value, and
#: is proved only if the whole front is.
OF_BOUND = ("bound", "bound_exact", "gap", "root_bound", "root_gap")


def check_front(data: Mapping[str, Any], problem: Problem) -> list[str]:
    """Check every model of a front, its coordinates, and that none is superfluous."""
    stored = data["front"]["solutions"]
    whole, status = data["front"]["complete"], Status(data["status"])
    most, first = problem.question.most, stored[0] if stored else data
    if status is Status.ERROR:
        raise VerificationError(f"The result is an error: {data['message']}")
    proven = status in (Status.OPTIMAL, Status.INFEASIBLE)
    if whole is not proven or (status is Status.INFEASIBLE and stored):
        raise VerificationError(
            f"The status {status.value!r} does not fit a front that is {'' if whole else 'not '}called complete, with {counted(len(stored), 'model')}."
        )
    if most is not None and len(stored) > most:
        raise VerificationError(
            f"The front has {counted(len(stored), 'model')}; at most {most} were wanted."
        )
    for name in ("predictor", "objective", "exact"):
        if (data[name] if stored else None) != (first[name] if stored else data[name]):
            raise VerificationError(f"The {name} of the result is not that of its first model.")
    check_value(data, problem)
    check_bound(data, problem)
    found = [_checked(i, one, data, problem) for i, one in enumerate(stored)]
    if len(nondominated(problem, found)) != len(found):
        raise VerificationError(
            "A model of the front is superfluous: another one is at least as good in everything."
        )
    return [
        f"The front has {counted(len(found), 'model')}: each keeps every limit, its value and coordinates were recomputed, and none is superfluous."
    ]


def _checked(i: int, one: Mapping[str, Any], data: Mapping[str, Any], problem: Problem) -> Solution:
    """A model of the front, if it is feasible and has the stated value and coordinates."""
    check_value({**one, "unit": data["unit"], "sense": data["sense"]}, problem)
    predictor = problem.space.read(one["predictor"])
    own = problem.coordinates(predictor)
    stated = one["coordinates"]
    if len(stated) != len(own):
        raise VerificationError(f"Model {i} states {len(stated)} coordinates; it has {len(own)}.")
    for value, message in zip(own, stated, strict=True):
        same(f"coordinate of model {i}", message["name"], value.unit)
        same(f"sense of the coordinate {value.unit}", message["sense"], value.sense)
        exact = None if message["exact"] is None else as_fraction(message["exact"], value.unit)
        if exact != value.exact or not near(message["number"], value.number, 1e-12):
            raise VerificationError(
                f"Model {i} states {message['number']!r} {value.unit}; recomputed it has {value.number!r}."
            )
    return Solution(predictor, problem.value(predictor), own)


def derive_front(result: Result, limits: Limits) -> Derivation:
    """Find the whole front again, if the result claims to hold it."""
    if not result.complete and result.bound is not None:  # it claims a bound of the best value
        best = replace(result.problem, question=Best())
        return derive(replace(result, problem=best, status=Status.FEASIBLE), limits)
    if not result.complete:
        return Derivation(Verdict.RECOMPUTED, "", "Recomputed: it claims no more.")
    problem = replace(result.problem, question=replace(result.problem.question, most=None))
    independent, sharing = methods_for(problem, result.method, why := [])
    tried = [*independent[:MOST_TRIED], *sharing[:1]]
    assert limits.time is not None
    left = limits.time
    for name in tried:
        seconds = left if name == tried[-1] else left / 2
        other = run_again(name, problem, replace(limits, time=seconds))
        if isinstance(other, str):
            why.append(f"{name}: {other}")
            continue
        left = max(left - other.seconds, limits.time / 100)
        _refuse_contradiction(result, other, name)
        if other.complete:
            alone = name in independent
            who = f"{name}, which shares {'nothing' if alone else 'parts'} with {printable(result.method)},"
            if name == result.method:
                who = f"the same method, {name}, run anew,"
            verdict = Verdict.DERIVED if alone else Verdict.RECOMPUTED
            message = f"{verdict.value.capitalize()}: {who} proves too that the whole front has {counted(len(result.solutions), 'point')}, those of the result"
            more = "" if alone else "; no independent method here derived it"
            return Derivation(verdict, "front", f"{message}{more}.", name, True)
        why.append(f"{name} did not finish within {seconds:.3g} s, and nothing contradicts")
    reason = "; ".join(why) or "no exact method here takes the problem"
    return Derivation(
        Verdict.CLAIMED,
        "front",
        f"Only claimed: that the front is whole was not derived here ({reason.rstrip('.')}).",
    )


def _refuse_contradiction(result: Result, other: Result, name: str) -> None:
    """Refuse a front that calls itself whole and lacks a point, or has one that cannot be."""
    both = nondominated(result.problem, [*result.solutions, *other.solutions])
    mine, theirs = ({_point(s.coordinates) for s in r.solutions} for r in (result, other))
    best = {_point(s.coordinates) for s in both}
    if best != mine:
        raise VerificationError(
            f"The front is not whole: {name} finds a model that no model of it replaces."
        )
    if other.complete and theirs != mine:
        raise VerificationError(
            f"{name} proves a front of {counted(len(theirs), 'point')}, and the result has {len(mine)}."
        )


def _point(coordinates: tuple[Value, ...]) -> tuple[Fraction | float, ...]:
    """A point that can be compared; measured numbers are compared in nine digits."""
    return tuple(
        p if v.exact is not None else float(f"{float(p):.9g}")
        for p, v in zip(place(coordinates), coordinates, strict=True)
    )
