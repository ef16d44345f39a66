"""Check a proof file with the checker that its kind needs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.common.limits import one_thread
from milp_trees.pruning.verification import check_flow
from milp_trees.unimodular import check_unimodular
from milp_trees.verification import (
    check_count,
    check_gap,
    check_proof,
    check_slowly,
    proof_reading,
    slow_reading,
)
from milp_trees.verification.proof_files import read_statement


@dataclass(frozen=True)
class Checked:
    """What a checker found in a proof that holds.

    Parameters
    ----------
    proved : bool
        Whether the model of the file is proved to be optimal; otherwise a bound is.
    bound, value : int or None
        The bound on all models, and the value of the file's model, in units of the costs.
    sentence : str
    """

    proved: bool
    bound: int | None
    value: int | None
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)


def _unimodularity(proof: str | Path) -> dict[str, Any] | None:
    """What `milp-trees unimodular --out` wrote, if the file holds that."""
    try:
        found = json.loads(Path(proof).read_bytes())
    except (OSError, ValueError, RecursionError):  # no JSON, or nested too deeply
        return None
    return found if isinstance(found, dict) and {"answer", "certificate"} <= set(found) else None


def _checked_matrix(proof: str | Path, stated: dict[str, Any], model: str | Path | None) -> Checked:
    """Check a proof about a matrix; more kinds of model files are read than the checker reads."""
    from milp_trees.unimodular.files import read_model_file

    if model is None and stated.get("matrix") is None:
        raise DataError(f"{proof} is about a matrix; give the model file after it.")
    try:
        named = None if model is None else read_model_file(Path(model))
        if named is not None:
            coo = named.A.tocoo()
            entries = zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
            named = check_unimodular.matrix(named.row_names, named.column_names, entries)
        return Checked(True, None, None, check_unimodular.check(stated, named))
    except check_unimodular.Unreadable as reason:
        raise DataError(f"The proof cannot be checked: {reason}") from None
    except check_unimodular.Wrong as reason:
        raise VerificationError(f"The proof does not hold: {reason}") from None


def _kind(stated: dict[str, Any], last: str) -> str:
    """What a proof consists of, by its first and its last line."""
    if stated.get("kind") in check_flow.KEYS:
        return "flows"
    end = json.loads(last)
    if isinstance(end, dict):
        return "closed gaps" if "closed" in end else "counts"
    return "claims"


def check_file(proof: str | Path, data: str | Path | None = None, slowly: bool = False) -> Checked:
    """Check a proof file.

    Parameters
    ----------
    proof : path
    data : path, optional
        The data file, unless the proof holds its rows.
    slowly : bool, default=False
        Use the second checker, which is written in plain loops and shares no code with the first.

    Returns
    -------
    Checked

    Raises
    ------
    VerificationError
        The proof does not hold; the sentence names the first claim that does not follow.
    DataError
        A file cannot be read, or is no proof.
    """
    answer = _unimodularity(proof)
    if data is not None and not Path(data).is_file():
        raise DataError(f"There is no data file {data}.")
    if answer is not None:
        return _checked_matrix(proof, answer, data)
    stated = read_statement(proof)
    if data is None and stated.get("data", {}).get("kind") == "table":
        raise DataError(f"{proof} needs its data file; give it after the proof.")
    try:
        text = proof_reading.unpacked(proof).decode().split("\n")
        lines = [line for line in text if line.strip()]
        kind = _kind(stated, lines[-1])
        if slowly and kind == "flows":
            raise DataError("The second checker knows no flows; leave out --slowly.")
        if slowly:
            return Checked(*check_slowly.report(lines, data))
        with one_thread():
            if kind == "counts":
                counted = check_count.check(lines, data)
                return Checked(True, counted.optimum, counted.optimum, counted.sentence)
            if kind == "flows":
                found = check_flow.check(lines)
            else:
                found = (check_gap if kind == "closed gaps" else check_proof).check(lines, data)
    except proof_reading.Unreadable as reason:
        raise DataError(f"The proof cannot be checked: {reason}") from None
    except slow_reading.TooLarge as reason:
        raise DataError(f"The proof cannot be checked: {reason} Leave out --slowly.") from None
    except (proof_reading.Wrong, slow_reading.Refused) as reason:
        raise VerificationError(f"The proof does not hold: {reason}") from None
    except proof_reading.FAULTS as reason:
        raise DataError(f"The proof cannot be checked: {reason}") from None
    return Checked(found.proved, found.bound, found.value, found.sentence)
