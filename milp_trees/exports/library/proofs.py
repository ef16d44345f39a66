"""Proof files of instances: what contradicts them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import MilpTreesError
from milp_trees.verification.checking import check_file
from milp_trees.verification.proof_files import read_statement

if TYPE_CHECKING:
    from milp_trees.exports.library.registry import Instance


#: How the line of a model file begins that ties it to its proof.
STATEMENT = "Statement of the proof (SHA-256):"
#: What a statement says of the answer, and not of the problem.
ANSWER = ("model", "value", "bound", "multipliers", "denominator", "keep")


def statement_hash(stated: Mapping[str, Any]) -> str:
    """The SHA-256 of what a proof is about, without the answer."""
    about = {name: value for name, value in stated.items() if name not in ANSWER}
    text = json.dumps(about, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def of_proof(one: Instance, folder: Path) -> Iterator[str]:
    """The proof holds, and its value is that of the registry."""
    if one.proof is None:
        return
    try:
        found = check_file(folder / one.proof)
    except MilpTreesError as error:
        yield f"{one.proof}: {error}"
        return
    stated = read_statement(folder / one.proof)
    if statement_hash(stated) != one.statement_sha256:
        yield f"{one.proof} proves another statement than that of the registry."
    if stated["unit"] != one.unit:
        yield f"{one.proof} is in {stated['unit']!r}, and the registry in {one.unit!r}."
    value = Fraction(stated["offset"]) + Fraction(stated["scale"]) * (found.value or 0)
    if not found.proved or (one.value and value != Fraction(one.value)):
        yield f"{one.proof} proves the value {value}, and the registry has {one.value}."
