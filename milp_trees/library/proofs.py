"""Proof files of instances: what contradicts them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from milp_trees.errors import MilpTreesError
from milp_trees.verification.checking import check_file
from milp_trees.verification.proof_files import read_statement

if TYPE_CHECKING:
    from milp_trees.library.registry import Instance


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
    value = Fraction(stated["offset"]) + Fraction(stated["scale"]) * (found.value or 0)
    if not found.proved or (one.value and value != Fraction(one.value)):
        yield f"{one.proof} proves the value {value}, and the registry has {one.value}."
