"""Check a proof file with the checker that its kind needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.common.limits import one_thread
from milp_trees.common.registering import families
from milp_trees.verification import (
    check_count,
    check_gap,
    check_loss,
    check_proof,
    proof_reading,
)
from milp_trees.verification.loss_proofs import KIND as LOSS
from milp_trees.verification.proof_files import read_statement
from milp_trees.verification.proof_kinds import Checked, ProofKind
from milp_trees.verification.reference_checker import check as reference_check
from milp_trees.verification.reference_checker import losses
from milp_trees.verification.reference_checker import reading as reference_reading


def _one_object(proof: str | Path) -> dict[str, Any]:
    """The content of a file that is one JSON object; empty if it is something else."""
    try:
        found = json.loads(Path(proof).read_bytes())
    except (OSError, ValueError, RecursionError):  # no JSON, or nested too deeply
        return {}
    return found if isinstance(found, dict) else {}


def _kind(last: str) -> str:
    """What a proof about costs of actions consists of, by its last line."""
    end = json.loads(last)
    if isinstance(end, dict):
        return "closed gaps" if "closed" in end else "counts"
    return "claims"


def _of_family(stated: dict[str, Any]) -> ProofKind | None:
    """The kind of proof that a family declares for such a statement."""
    kinds: tuple[ProofKind, ...] = families.parts("proofs")
    return next((kind for kind in kinds if kind.takes(stated)), None)


def check_file(proof: str | Path, data: str | Path | None = None, slowly: bool = False) -> Checked:
    """Check a proof file."""
    if data is not None and not Path(data).is_file():
        raise DataError(f"There is no data file {data}.")
    stated = _one_object(proof)
    kind = _of_family(stated)
    if kind is None:
        stated = read_statement(proof)
        kind = _of_family(stated)
    if data is None and stated.get("data", {}).get("kind") == "table":
        raise DataError(f"{proof} needs its data file; give it after the proof.")
    try:
        if kind is not None:
            return kind.check(proof, stated, data, slowly)
        text = proof_reading.unpacked(proof).decode().split("\n")
        lines = [line for line in text if line.strip()]
        of = _kind(lines[-1])
        if slowly and stated.get("kind") == LOSS:
            return Checked(*losses.report_loss(lines, data))
        if slowly:
            return Checked(*reference_check.report(lines, data))
        with one_thread():
            if stated.get("kind") == LOSS:
                of_loss = check_loss.check(lines, data)
                return Checked(of_loss.proved, of_loss.bound, of_loss.value, of_loss.sentence)
            if of == "counts":
                counted = check_count.check(lines, data)
                return Checked(True, counted.optimum, counted.optimum, counted.sentence)
            found = (check_gap if of == "closed gaps" else check_proof).check(lines, data)
    except DataError:
        raise
    except proof_reading.Unreadable as reason:
        raise DataError(f"The proof cannot be checked: {reason}") from None
    except reference_reading.TooLarge as reason:
        raise DataError(f"The proof cannot be checked: {reason} Leave out --slowly.") from None
    except (proof_reading.Wrong, reference_reading.Refused) as reason:
        raise VerificationError(f"The proof does not hold: {reason}") from None
    except proof_reading.FAULTS as reason:
        raise DataError(f"The proof cannot be checked: {reason}") from None
    return Checked(found.proved, found.bound, found.value, found.sentence)
