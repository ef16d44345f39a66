"""A result whose proof file is checked: *proved by file*, the strongest verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.errors import DataError, VerificationError
from milp_trees.methods.claims import Claims
from milp_trees.results.result import Status
from milp_trees.tasks.views import CostMatrix
from milp_trees.verification import check_proof, proof_reading
from milp_trees.verification.checking import one_thread
from milp_trees.verification.derive import Derivation
from milp_trees.verification.proof_files import read_statement, statement
from milp_trees.verification.verdict import Verdict

if TYPE_CHECKING:
    from milp_trees.results.result import Result


def proof_beside(data: Mapping[str, Any], result: Path) -> Path | None:
    """The proof file that a stored result names, if it lies beside the result's file."""
    named = data.get("proof")
    file = named.get("file") if isinstance(named, Mapping) else None
    if not isinstance(file, str):
        return None
    path = result.parent / Path(file).name
    return path if path.is_file() else None


def proved_by(result: Result, proof: str | Path) -> Derivation:
    """Check a proof file against the problem and the value of a result.

    The claims are checked on the features, costs and limits of the result's own problem. Those that
    the file states do not matter, so that a proof of another problem is refused.

    Parameters
    ----------
    result : Result
        With its problem and a predictor.
    proof : path

    Raises
    ------
    VerificationError
        The proof does not hold for this problem, or proves another value.
    """
    try:
        stated = read_statement(proof)
        lines = proof_reading.unpacked(proof).decode().splitlines()[1:]
        claims = Claims(
            [tuple(json.loads(line)) for line in lines if line.strip()],
            tuple(stated["multipliers"]),
            stated["denominator"],
        )
        own = statement(result.problem, result, claims, rows=True)
        with one_thread():
            found = check_proof.check([json.dumps(own), *lines])
    except proof_reading.Wrong as wrong:
        raise VerificationError(
            f"The proof {proof} does not hold for this result: {wrong}"
        ) from None
    except (*proof_reading.FAULTS, DataError) as error:
        raise VerificationError(f"The proof {proof} cannot be read: {error}") from None
    bound = result.problem.view(CostMatrix).to_value(found.bound)
    if result.status is Status.OPTIMAL and not found.proved:
        raise VerificationError(
            f"The result is called optimal, but the proof {proof} proves only the bound {bound}."
        )
    name = Path(proof).name
    return Derivation(
        Verdict.PROVED,
        "optimal" if found.proved else "bound",
        f"Proved by file: the {len(claims.items)} claims of {name} follow from the data of this problem, so that no model is better than {bound}.",
        name,
        found.proved,
    )
