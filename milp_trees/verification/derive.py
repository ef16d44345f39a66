"""Derive again what a result claims.

A method is preferred that has no part in common with the one that made the result.


The methods follow from the problem, not from the name in the file: every registered exact method
that takes the problem may be run, the cheapest first. The name only decides which of them count as
independent. If the name is unknown here, all of them count as independent.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import MilpTreesError, Unsupported, VerificationError
from milp_trees.common.limits import Limits
from milp_trees.common.registering import plugins
from milp_trees.common.registering.labels import FORMULATIONS_VERIFY_FROM
from milp_trees.mip.registry import cannot_take, registry
from milp_trees.mip.solver import availability_of
from milp_trees.problems.support import may_take
from milp_trees.results.result import Limit, Result, Status, bound_of
from milp_trees.solving.agreement import built_on
from milp_trees.solving.attempt import attempt
from milp_trees.tasks.comparing import crosses, equal, meets
from milp_trees.verification.statement import printable
from milp_trees.verification.verdict import Verdict

if TYPE_CHECKING:
    from milp_trees.problems.problem import Problem

#: A model with more columns is not built to check a result.
MOST_COLUMNS = 400_000
#: How many independent methods are tried; each gets half of the time that is left, the last one
#: gets all of it.
MOST_TRIED = 3


@dataclass(frozen=True)
class Derivation:
    """The outcome of deriving a claim again.

    Parameters
    ----------
    verdict : Verdict
    claim : {"optimal", "bound", "infeasible", ""}
    sentence : str
    by : str or None
        The method that derived it.
    optimum : bool
        Whether a method proved the optimum here, so that all stated bounds were compared with it.
    """

    verdict: Verdict
    claim: str
    sentence: str
    by: str | None = None
    optimum: bool = False


def claim_of(result: Result) -> str:
    """What a result claims besides the value of its predictor."""
    if result.status in (Status.OPTIMAL, Status.INFEASIBLE):
        return result.status.value
    return "" if result.bound is None else "bound"


def derive(result: Result, limits: Limits) -> Derivation:
    """Solve the problem again, and check that what is proved does not contradict the result."""
    claim = claim_of(result)
    if not claim:
        what = (
            f"the result holds nothing but its status, {result.status.value}"
            if result.predictor is None
            else "it claims no more"
        )
        return Derivation(Verdict.RECOMPUTED, "", f"Recomputed: {what}.")
    why: list[str] = []
    assert limits.time is not None
    left = limits.time
    for name, last in _in_turn(result.problem, result.method, why):
        seconds = left if last else left / 2
        other = run_again(name, result.problem, replace(limits, time=seconds))
        if isinstance(other, str):
            why.append(f"{name}: {other}")
            continue
        left = max(left - other.seconds, limits.time / 100)
        refuse_contradiction(result, other, name)
        if _settles(result, other):
            shared = built_on(name) & built_on(result.method)
            verdict = Verdict.RECOMPUTED if shared else Verdict.DERIVED
            return Derivation(
                verdict,
                claim,
                _sentence(result, other, name, verdict),
                name,
                other.optimal or claim == "optimal",
            )
        why.append(
            f"{name} did not finish within {seconds:.3g} s, and nothing it found contradicts"
        )
    who = printable(result.certificate.proved_by or result.method)
    reason = "; ".join(why) or "no exact method here takes the problem"
    return Derivation(
        Verdict.CLAIMED,
        claim,
        f"Only claimed: {_what(claim)} is claimed by {who} and was not derived here ({reason.rstrip('.')}).",
    )


def run_again(name: str, problem: Problem, limits: Limits) -> Result | str:
    """The answer of a method after it was recomputed."""
    try:
        other = attempt(registry.method(name), problem, limits)
    except MilpTreesError as error:
        return str(error)
    if other.limit is Limit.INTERRUPTED:
        raise KeyboardInterrupt
    if other.status in (Status.ERROR, Status.UNSUPPORTED):
        return other.message or other.status.value
    if other.value is not None and (
        problem.violations(other.predictor) or problem.value(other.predictor) != other.value
    ):
        return "its answer does not stand up to recomputation"
    return other


# -- which methods ----------------------------------------------------------------------------------------------


def _in_turn(problem: Problem, maker: str, failed: list[str]) -> Iterator[tuple[str, bool]]:
    """The methods that are tried, and whether each is the last one.

    The first is often an engine, whose effort is below that of all formulations. It is named before
    the formulations are asked, because to load them and Pyomo takes a second.
    """
    own, first = built_on(maker), None
    quick = list(_engines(problem, failed, range(FORMULATIONS_VERIFY_FROM)))
    independent, sharing = _ordered(quick, maker)
    if independent and sharing:
        first = independent[0]
        yield first, False
    slow = _engines(problem, failed, range(FORMULATIONS_VERIFY_FROM, sys.maxsize))
    independent, sharing = _ordered([*quick, *slow, *_models(problem, own, failed)], maker)
    tried = [*independent[:MOST_TRIED], *sharing[:1]]
    yield from ((name, name == tried[-1]) for name in tried if name != first)


def methods_for(
    problem: Problem, maker: str, failed: list[str] | None = None
) -> tuple[list[str], list[str]]:
    """Names of all exact methods that take a problem, the cheapest first."""
    own, failed = built_on(maker), [] if failed is None else failed
    return _ordered([*_engines(problem, failed), *_models(problem, own, failed)], maker)


def _ordered(found: list[tuple[int, int, str]], maker: str) -> tuple[list[str], list[str]]:
    """Methods that have no part in common with the maker, and the others, the cheapest first."""
    own, names = built_on(maker), [name for _, _, name in sorted(found)]
    independent = [name for name in names if not built_on(name) & own]
    sharing = sorted(
        (name for name in names if built_on(name) & own), key=lambda name: name != maker
    )
    return independent, sharing


def _engines(
    problem: Problem, failed: list[str], efforts: range = range(sys.maxsize)
) -> Iterator[tuple[int, int, str]]:
    """Rank and name of every exact method without a solver that takes the problem."""
    for name, effort in plugins.values("methods", "verification_rank").items():
        if effort not in efforts or cannot_take("methods", name, problem):
            continue
        cls: Any = plugins.find("methods", name)
        if cls is None or not may_take(cls, problem):
            continue
        try:
            method = registry.method(name)
            if method.exact and method.unsupported(problem) is None:
                yield method.verification_rank, 0, name
        except Exception as error:  # a third party's plug-in may raise any error
            failed.append(_failure(name, error))


def _models(
    problem: Problem, own: frozenset[str], failed: list[str]
) -> Iterator[tuple[int, int, str]]:
    """Rank, size and name of every formulation that takes the problem.

    Its solver is the most capable of those that the maker is not built on.
    """
    from milp_trees.solving.estimate import named_formulation

    classes: dict[str, Any] = registry.classes("solvers")
    found = [
        s for s, c in classes.items() if "mip" in c.capabilities and availability_of(c()).found
    ]
    able = sorted(
        found,
        key=lambda s: (
            bool(own & {f"@{s}", *(f"@{n}" for n in classes[s].shared_components)}),
            -len(classes[s].capabilities),
            s,
        ),
    )
    for name in registry.formulations_for(problem) if able else ():
        try:
            model = named_formulation(name)
            if registry.method(f"{name}@{able[0]}").unsupported(problem):
                continue
            requested = problem.one_step()
            sizes = model.model_size(model.presolved_view(requested), requested.space)
        except Exception as error:
            failed.append(_failure(name, error))
            continue
        if sizes.variables <= MOST_COLUMNS:
            yield model.verification_rank, sizes.nonzeros, f"{name}@{able[0]}"


def _failure(name: str, error: Exception) -> str:
    message = " ".join(str(error).split())[:200].rstrip(".")
    if isinstance(error, Unsupported):
        return f"{name} does not take it ({message})"
    return (
        f"{name} failed when it was asked ({type(error).__name__}{': ' * bool(message)}{message})"
    )


# -- comparing --------------------------------------------------------------------------------------------------


def _settles(result: Result, other: Result) -> bool:
    """Whether another method proves what a result claims."""
    scale, claim = result.problem.scale, claim_of(result)
    stated, proved = bound_of(result), bound_of(other)
    if other.status is Status.INFEASIBLE or claim == "infeasible":
        return other.status is Status.INFEASIBLE
    if other.optimal and (claim == "bound" or _equal(result, other)):
        return True
    if proved is None:
        return False
    if claim == "bound":
        return not crosses(stated, proved, scale)
    assert result.value is not None
    return meets(proved, result.value, scale)


def refuse_contradiction(result: Result, other: Result, name: str) -> None:
    """Refuse a result that contradicts what another method found and proved."""
    scale = result.problem.scale
    mine, theirs = result.value, other.value
    if result.status is Status.INFEASIBLE and theirs is not None:
        raise VerificationError(
            f"The result says that nothing is feasible, but {name} finds a model of value {other.value}."
        )
    if other.status is Status.INFEASIBLE and mine is not None:
        raise VerificationError(
            f"{name} proves that nothing is feasible, but the result holds a model."
        )
    if result.optimal and other.optimal and not _equal(result, other):
        raise VerificationError(
            f"The result calls {result.value} optimal; {name} proves {other.value}."
        )
    for what, stated in (
        ("bound", bound_of(result)),
        ("root bound", result.root_bound),
    ):
        if stated is not None and crosses(stated, theirs, scale):
            raise VerificationError(
                f"The {what} {float(stated):.12g} is wrong: {name} finds a model of value {other.value}."
            )
    if crosses(bound_of(other), mine, scale):
        raise VerificationError(
            f"{name} proves that no model is better than {other.bound:.12g}, but the result has {result.value}."
        )


def _equal(result: Result, other: Result) -> bool:
    assert result.value is not None
    assert other.value is not None
    return equal(result.value, other.value, result.problem.scale)


# -- sentences --------------------------------------------------------------------------------------------------


def _what(claim: str) -> str:
    return {
        "optimal": "that the model is optimal",
        "bound": "the bound",
        "infeasible": "that no model is feasible",
    }[claim]


def _sentence(result: Result, other: Result, name: str, verdict: Verdict) -> str:
    maker, claim = printable(result.method), claim_of(result)
    if claim == "infeasible":
        found = "proves too that no model is feasible"
    elif claim == "bound":
        found = f"proves {f'the optimum {other.value}' if other.optimal else f'the bound {other.bound:.12g}'}, so the bound holds"
    else:
        found = f"proves too that the optimum is {result.value}"
    if verdict is Verdict.DERIVED:
        return f"Derived: {name}, which shares nothing with {maker}, {found}."
    who = (
        f"the same method, {name}, run anew,"
        if name == maker
        else f"{name}, which shares parts with {maker},"
    )
    return f"Recomputed: {who} {found}; no independent method here derived it."
