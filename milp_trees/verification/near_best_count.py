"""The number of near-best trees: proved by a file, or counted again without its claims."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from milp_trees.common.errors import DataError, NoView, Unsupported, VerificationError
from milp_trees.common.limits import Stopped, one_thread
from milp_trees.common.plurals import counted
from milp_trees.methods.claims import Claims
from milp_trees.methods.deadline import within
from milp_trees.results.result import Result, Solution, Status
from milp_trees.verification import check_count, check_proof, proof_reading
from milp_trees.verification.near_best_set import NearBestSet
from milp_trees.verification.proof_files import read_statement, statement
from milp_trees.verification.statement import printable
from milp_trees.verification.verdict import Verdict

#: How the count of a set without a checked proof is derived again.
COUNTER = "check_count"


def prove_count(of: NearBestSet, proof: str | Path, seconds: float) -> str | None:
    """Check a proof file of the count on the problem's own features, costs and limits."""
    file = Path(proof).name
    if not Path(proof).is_file():
        raise DataError(f"There is no proof file {proof}.")
    if not of.trees:
        return f"{file} is not used: a proof file counts trees, and these are rule lists."
    try:
        found = within(seconds, lambda: _check(of, proof))
    except Stopped:
        return f"{file} was not checked within the time limit of {seconds:g} s."
    except proof_reading.Wrong as wrong:
        raise VerificationError(f"The proof {proof} does not hold for this set: {wrong}") from None
    except (NoView, Unsupported) as reason:
        raise VerificationError(f"{file} cannot be a proof for this set: {reason}") from None
    except (*proof_reading.FAULTS, DataError) as error:
        raise VerificationError(f"The proof {proof} cannot be read: {error}") from None
    _compare(of, found.costs, file)
    return None


def _check(of: NearBestSet, proof: str | Path) -> check_count.Verdict:
    lines = [x for x in proof_reading.unpacked(proof).decode().split("\n")[1:] if x.strip()]
    last = json.loads(lines[-1], object_pairs_hook=proof_reading.once) if lines else None
    mine = {
        "allowance": of.allowance,
        "count": of.data["count"],
        "trivial": of.question.trivial,
        "equal_tests": of.question.equal_tests,
    }
    if last != mine:
        raise cast("Any", proof_reading).Wrong(
            f"It proves {printable(json.dumps(last))}, and the set states {json.dumps(mine)}."
        )
    claims = [tuple(json.loads(line)) for line in lines[:-1]]
    denominator = read_statement(proof)["denominator"]
    with one_thread():
        return check_count.check([_stated(of, Claims(claims, (), denominator)), *lines])


def derive_count(of: NearBestSet, seconds: float) -> tuple[Verdict, str | None, str]:
    """Count all trees again, without any claim."""
    who = printable(of.data["method"])
    only = f"Only claimed: the number of {of.models} is claimed by {who} and was not derived here"
    if not of.trees or of.view.side or of.view.structure:
        kind = "trees with constraints" if of.trees else "rule lists"
        return Verdict.CLAIMED, None, f"{only} (nothing else here counts {kind})."
    try:
        with one_thread():
            costs = within(seconds, lambda: _count(of))
    except Stopped:
        why = f"{COUNTER} did not finish within {seconds:g} s"
        return Verdict.CLAIMED, None, f"{only} ({why})."
    except MemoryError:
        return Verdict.CLAIMED, None, f"{only} ({COUNTER} needs more memory than there is)."
    except proof_reading.Wrong as wrong:
        return Verdict.CLAIMED, None, f"{only} ({COUNTER} does not take it: {wrong})"
    _compare(of, costs, COUNTER)
    message = f"Derived: {COUNTER}, which shares nothing with {who}, counts the {of.said}."
    return Verdict.DERIVED, COUNTER, message


def _count(of: NearBestSet) -> dict[int, int]:
    space, proofs, counts = of.problem.trees, cast("Any", check_proof), cast("Any", check_count)
    # That all rows cost at least their smallest costs is a claim which holds always.
    base = int(of.view.costs.min(axis=1).sum())
    claim: tuple[Any, ...] = (base, space.max_depth, [], [], space.max_leaf_nodes)
    _, claims, instance, _ = proofs.stated([_stated(of, Claims([claim])), json.dumps(claim)])
    instance.follow(claims, space.max_depth, space.max_leaf_nodes)
    allowance, question = of.allowance - int(instance.base.sum()), of.question
    limits = (space.max_depth, space.max_leaf_nodes, allowance)
    found = counts.Trees(instance, *limits, question.trivial, question.equal_tests)
    return dict(found.costs)


def _stated(of: NearBestSet, claims: Claims) -> str:
    """The statement of a proof about this problem."""
    result = Result(of.problem, of.data["method"], Status.FEASIBLE, solutions=_first(of))
    return json.dumps(statement(of.problem, result, claims, rows=True))


def _first(of: NearBestSet) -> tuple[Solution, ...]:
    """The first model, if one is listed."""
    for one in of.data["trees"][:1]:
        model = of.problem.space.read(one["tree"])
        return (Solution(model, of.problem.value(model)),)
    return ()


def _compare(of: NearBestSet, costs: Mapping[int, int], by: str) -> None:
    """Refuse counts per value that are not those that were counted here."""
    mine = {of.cost(value): n for value, n in of.values.items()}
    if min(costs, default=None) != of.cost(of.optimum):
        raise VerificationError(f"The optimum {of.optimum} is wrong: {by} finds another one.")
    if costs != mine:
        raise VerificationError(
            f"The counts are wrong: {by} counts {counted(sum(costs.values()), 'tree')} within {of.covered} of the optimum, and with other values than the set."
            if sum(costs.values()) == of.data["count"]
            else f"The count {of.data['count']} is wrong: {by} counts {counted(sum(costs.values()), 'tree')}."
        )
