"""A proof from parts: what is left after reductions falls into blocks, and each block has a proof of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scipy import sparse

from milp_trees.errors import VerificationError
from milp_trees.unimodular.answer import Unimodularity
from milp_trees.unimodular.determinants import check_subdeterminants
from milp_trees.unimodular.network import NetworkCertificate, verify_network
from milp_trees.unimodular.reading import NamedMatrix, read_matrix
from milp_trees.unimodular.reduce import COLUMN, ROW, Step


@dataclass(frozen=True, eq=False)
class Composition:
    """Steps that take lines out of the matrix, and the blocks of what is left.

    Parameters
    ----------
    steps : tuple of Step
        In order; each keeps total unimodularity both ways.
    blocks : tuple of (rows, columns, Unimodularity)
        Indices in the matrix and the answer for that submatrix. They cover all lines that are left and share no nonzero.
    """

    steps: tuple[Step, ...]
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...], Unimodularity], ...]

    def to_json(self) -> dict[str, Any]:
        """Steps and blocks by indices, certificates by names."""
        blocks = [{"row_indices": list(rows), "column_indices": list(columns), **answer.to_json()} for rows, columns, answer in self.blocks]
        return {"kind": "composition", "steps": [step.to_json() for step in self.steps], "blocks": blocks}


def verify_composition(matrix: Any, certificate: Composition) -> None:
    """Replay every step on the matrix itself, and verify the proof of every block.

    Raises
    ------
    VerificationError
        A step is not allowed where it stands, a nonzero is in no block, or a block's proof does not hold.
    """
    named = read_matrix(matrix)
    lines: tuple[list[dict[int, int]], list[dict[int, int]]] = ([{} for _ in named.row_names], [{} for _ in named.column_names])
    coo = named.A.tocoo()
    for i, j, sign in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
        lines[ROW][i][j] = lines[COLUMN][j][i] = sign
    left: tuple[set[int], set[int]] = (set(range(len(lines[ROW]))), set(range(len(lines[COLUMN]))))
    for step in certificate.steps:
        if step.index not in left[step.axis] or not _allowed(step, lines[step.axis], left[step.axis]):
            raise VerificationError(f"The reduction {step} is not allowed where it stands.")
        left[step.axis].discard(step.index)
        for k in lines[step.axis][step.index]:
            del lines[1 - step.axis][k][step.index]
    for rows, columns, answer in certificate.blocks:
        for axis, own, other in ((ROW, rows, columns), (COLUMN, columns, rows)):
            crossing = set(other)
            if not left[axis].issuperset(own) or any(not crossing.issuperset(lines[axis][i]) for i in own):
                raise VerificationError("A block of the composition has entries outside it.")
            left[axis].difference_update(own)
        _verify_block(named.part(rows, columns), answer)
    if left[ROW] or left[COLUMN]:
        raise VerificationError("The blocks of the composition do not cover the matrix.")


def _allowed(step: Step, lines: list[dict[int, int]], left: set[int]) -> bool:
    line = lines[step.index]
    if step.kind == "copy":
        twin = lines[step.other]
        return step.other in left and step.other != step.index and abs(step.sign) == 1 and line == {k: step.sign * s for k, s in twin.items()}
    return len(line) == (0 if step.kind == "zero" else 1)


def _verify_block(part: NamedMatrix, answer: Unimodularity) -> None:
    if isinstance(answer.certificate, NetworkCertificate):
        verify_network(part, answer.certificate)
    elif answer.proof != "all subdeterminants" or check_subdeterminants(sparse.csr_matrix(part.A)).answer != "yes":
        raise VerificationError(f"A block of the composition has no proof that can be verified here ({answer.proof}).")
