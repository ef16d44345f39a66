"""A result whose proof file is checked: *proved by file*, the strongest verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError, NoView, Unsupported, VerificationError
from milp_trees.common.limits import Limit, Stopped, one_thread
from milp_trees.common.plurals import counted
from milp_trees.methods.claims import Claims
from milp_trees.methods.deadline import within
from milp_trees.problems.questions import Front
from milp_trees.results.result import Status, bound_of
from milp_trees.tasks.comparing import crosses
from milp_trees.tasks.views import CostMatrix, LeafSums
from milp_trees.verification import check_gap, check_loss, check_proof, proof_reading
from milp_trees.verification.derive import Derivation
from milp_trees.verification.loss_proofs import KIND as LOSS
from milp_trees.verification.proof_files import read_statement, sha256, statement, with_remark
from milp_trees.verification.proof_kinds import kind_of
from milp_trees.verification.value import same
from milp_trees.verification.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from milp_trees.results.result import Result


def unchecked(facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The facts of a proof file as those of one that nothing has checked yet."""
    if facts is None:
        return None
    return {**{k: v for k, v in facts.items() if k != "checked_at"}, "checked": False}


def proof_beside(data: Mapping[str, Any], result: Path) -> Path | None:
    """The proof file that a stored result names, if it lies beside the result's file."""
    named = data.get("proof")
    file = named.get("file") if isinstance(named, Mapping) else None
    if not isinstance(file, str):
        return None
    path = result.parent / Path(file).name
    return path if path.is_file() else None


def check_facts(facts: Mapping[str, Any] | None, proof: str | Path | None) -> tuple[str, ...]:
    """Check what a stored result says about its proof file, if it is the file at hand."""
    if not facts:
        return ()
    if proof is None or sha256(proof) != facts["sha256"]:
        return ("proof",)
    lines = proof_reading.unpacked(proof).decode().split("\n")[1:]
    same("proof.bytes", facts["bytes"], Path(proof).stat().st_size)
    same("proof.claims", facts["claims"], sum(line.startswith("[") for line in lines))
    return ("proof.seconds",)


def proved_within(result: Result, proof: str | Path, seconds: float | None) -> Derivation | str:
    """`proved_by` within a time limit."""
    try:
        return within(seconds, lambda: proved_by(result, proof))
    except Stopped as stopped:
        name = Path(proof).name
        if stopped.limit is Limit.TIME:
            return f"{name} was not checked within the time limit of {seconds:g} s."
        return f"{name} was not checked: the run was interrupted."


def with_checked_proof(result: Result, proof: str | Path, seconds: float | None) -> Result:
    """The result whose `proof` says whether the checker accepted the file.

    If it did not prove what the result states, the message says so.
    """
    return checked_proof(result, proof, seconds)[0]


def checked_proof(
    result: Result, proof: str | Path, seconds: float | None
) -> tuple[Result, Derivation | str]:
    """As `with_checked_proof`, and what the checker found."""
    facts = result.proof
    if not Path(proof).is_file():
        raise DataError(f"There is no proof file {proof}.")
    if not facts or sha256(proof) != facts["sha256"]:
        raise DataError(f"{proof} is not the proof file that was written for this result.")
    found = proved_within(result, proof, seconds)
    if isinstance(found, str):
        return with_remark(replace(result, proof=unchecked(facts)), found), found
    at = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(result, proof={**facts, "checked": True, "checked_at": at}), found


def proved_by(result: Result, proof: str | Path) -> Derivation | str:
    """Check a proof file against the problem and the value of a result.

    The claims are checked on the features, costs and limits of the result's own problem. Those that
    the file states do not matter, so that a proof of another problem is refused.
    """
    name = Path(proof).name
    if not Path(proof).is_file():
        raise DataError(f"There is no proof file {proof}.")
    if result.status is Status.INFEASIBLE or isinstance(result.problem.question, Front):
        what = "a front" if result.status is not Status.INFEASIBLE else "that nothing is feasible"
        return f"{name} is not used: a proof file proves a bound, and the result states {what}."
    own = kind_of(result.problem)
    return own.proved_by(result, proof) if own else proved_with(result, proof, _checked)


def proved_with(
    result: Result, proof: str | Path, check: Callable[..., tuple[Any, Any, str]]
) -> Derivation | str:
    """`proved_by` for a kind of proof."""
    name = Path(proof).name
    try:
        lines = proof_reading.unpacked(proof).decode().split("\n")[1:]
        view, found, what = check(result, proof, lines)
    except proof_reading.Wrong as wrong:
        raise VerificationError(
            f"The proof {proof} does not hold for this result: {wrong}"
        ) from None
    except (NoView, Unsupported) as reason:
        raise VerificationError(f"{name} cannot be a proof for this problem: {reason}") from None
    except (*proof_reading.FAULTS, DataError) as error:
        raise VerificationError(f"The proof {proof} cannot be read: {error}") from None
    bound, scale = view.to_value(found.bound), result.problem.scale
    if result.status is Status.OPTIMAL and not found.proved:
        return f"{name} proves the bound {bound} only, and the result is called optimal."
    if result.bound is None and not found.proved:
        return f"{name} proves the bound {bound}, and the result states none."
    if crosses(bound_of(result), bound, scale):
        return f"{name} proves the bound {bound} only, and the result states {result.bound:.12g}."
    if crosses(result.root_bound, result.value, scale):
        raise VerificationError(
            f"The root bound {result.root_bound:.12g} is wrong: the result has a model of value {result.value}."
        )
    # Costs that had to be rounded give values that differ a little from those of the task.
    rounded = (
        "" if getattr(view, "rational_bounds", False) else ", with costs rounded to whole numbers"
    )
    best = bound if view.exact else f"{float(bound):.10g}{rounded}"
    return Derivation(
        Verdict.PROVED,
        "optimal" if found.proved else "bound",
        f"Proved by file: {what} of this problem, so that no model is better than {best}.",
        name,
        found.proved,
    )


def _checked(result: Result, proof: str | Path, lines: list[str]) -> tuple[LeafSums, Any, str]:
    """The checker's verdict on claims about the problem of a result, and their number in words."""
    view = result.problem.first_view((CostMatrix, LeafSums))
    stated = read_statement(proof)
    claims = Claims(
        [tuple(json.loads(line)) for line in lines if line.startswith("[")],
        tuple(stated.get("multipliers", ())),
        stated.get("denominator", 1),
        {"power": stated["power"]} if "power" in stated else {},
    )
    own = statement(result.problem, result, claims, rows=True)
    loss = own["kind"] == LOSS
    closed = any(line.startswith('{"closed"') for line in lines)
    check: Any = check_loss if loss else check_gap if closed else check_proof
    with one_thread():
        found = check.check([json.dumps(own), *lines])
    if loss:  # its bound is in natural units
        found = found._replace(bound=view.from_value(found.bound))
    number = len(claims.items)
    follow = "follows" if number == 1 else "follow"
    return (
        view,
        found,
        f"the {counted(number, 'claim')} of {Path(proof).name} {follow} from the data",
    )
