"""Proofs that consist of parts.

The rest of a matrix after reductions consists of blocks, a block may be a 2-sum, and each part has
a proof of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from milp_trees.common.errors import VerificationError
from milp_trees.unimodular.answer import Unimodularity
from milp_trees.unimodular.certificate import NetworkCertificate, verify_network
from milp_trees.unimodular.determinants import decide_by_subdeterminants
from milp_trees.unimodular.reading import determinant, read_matrix
from milp_trees.unimodular.reduce import COLUMN, ROW, Step
from milp_trees.unimodular.simple import easy_checks
from milp_trees.unimodular.two_sum import Split


@dataclass(frozen=True, eq=False)
class Composition:
    """Steps that remove lines from the matrix, and the blocks of the rest.

    Parameters
    ----------
    steps : tuple of Step
        In order; each keeps total unimodularity in both directions.
    blocks : tuple of (rows, columns, Unimodularity)
        Indices in the matrix and the answer for that submatrix. They cover all lines of the rest
        and share no nonzero.
    """

    steps: tuple[Step, ...]
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...], Unimodularity], ...]

    def to_json(self) -> dict[str, Any]:
        """Steps and blocks by indices, certificates by names."""
        blocks = [
            {"row_indices": list(rows), "column_indices": list(columns), **answer.to_json()}
            for rows, columns, answer in self.blocks
        ]
        return {
            "kind": "composition",
            "steps": [step.to_json() for step in self.steps],
            "blocks": blocks,
        }


@dataclass(frozen=True, eq=False)
class TwoSum:
    """A 2-sum and the answers for its two summands, which are submatrices."""

    split: Split
    answers: tuple[Unimodularity, Unimodularity]
    shape: tuple[int, int]

    def to_json(self) -> dict[str, Any]:
        """Summands by indices, certificates by names."""
        parts = zip(self.split.parts(self.shape), self.answers, strict=True)
        summands = [
            {"row_indices": rows, "column_indices": columns, **answer.to_json()}
            for (rows, columns), answer in parts
        ]
        return {
            "kind": "2-sum",
            "row": self.split.row,
            "column": self.split.column,
            "summands": summands,
        }


def verify_unimodularity(matrix: Any, answer: Unimodularity) -> None:
    """Verify the proof of any answer "yes" or "no" against the matrix.

    The paths of trees are followed entry by entry, compositions and 2-sums are replayed, and
    subdeterminants are computed again.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    answer : Unimodularity
        The answer for this matrix.

    Raises
    ------
    VerificationError
        The proof is wrong, or it cannot be verified here: "unknown", a "no" without a submatrix,
        and a "yes" of CMR.
    """
    named = read_matrix(matrix)
    if answer.submatrix is not None:
        entries = (
            named.A[list(answer.submatrix.rows)][:, list(answer.submatrix.columns)]
            .toarray()
            .tolist()
        )
        holds = answer.answer == "no" and determinant(entries) not in (-1, 0, 1)
    elif answer.answer != "yes":
        holds = False
    elif isinstance(answer.certificate, NetworkCertificate):
        return verify_network(named, answer.certificate)
    elif isinstance(answer.certificate, Composition):
        return verify_composition(named, answer.certificate)
    elif isinstance(answer.certificate, TwoSum):
        return verify_two_sum(named, answer.certificate)
    else:
        again = (
            decide_by_subdeterminants(named)
            if answer.proof == "all subdeterminants"
            else easy_checks(named)
        )
        holds = again is not None and again.answer == "yes"
    if not holds:
        raise VerificationError(
            f"The answer {answer.answer!r} has no proof that holds (proof: {answer.proof})."
        )


def verify_two_sum(matrix: Any, certificate: TwoSum) -> None:
    """Compare a matrix with the form of a 2-sum, and verify both summands.

    Raises
    ------
    VerificationError
        The matrix does not have this form, or a summand's proof is wrong.
    """
    named = read_matrix(matrix)
    if not certificate.split.holds(named.A.toarray().astype(int)):
        raise VerificationError("The matrix is not the 2-sum that the certificate says.")
    for (rows, columns), answer in zip(
        certificate.split.parts(named.A.shape), certificate.answers, strict=True
    ):
        if answer.answer != "yes":
            raise VerificationError("A summand of the 2-sum is not proven.")
        verify_unimodularity(named.part(rows, columns), answer)


def verify_composition(matrix: Any, certificate: Composition) -> None:
    """Replay every step on the matrix itself, and verify the proof of every block.

    Raises
    ------
    VerificationError
        A step is not allowed at its position, a nonzero is in no block, or a block's proof is
        wrong.
    """
    named = read_matrix(matrix)
    lines: tuple[list[dict[int, int]], list[dict[int, int]]] = (
        [{} for _ in named.row_names],
        [{} for _ in named.column_names],
    )
    coo = named.A.tocoo()
    for i, j, sign in zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True):
        lines[ROW][i][j] = lines[COLUMN][j][i] = sign
    left: tuple[set[int], set[int]] = (set(range(len(lines[ROW]))), set(range(len(lines[COLUMN]))))
    for step in certificate.steps:
        if step.index not in left[step.axis] or not _allowed(
            step, lines[step.axis], left[step.axis]
        ):
            raise VerificationError(f"The reduction {step} is not allowed where it stands.")
        left[step.axis].discard(step.index)
        for k in lines[step.axis][step.index]:
            del lines[1 - step.axis][k][step.index]
    for rows, columns, answer in certificate.blocks:
        if answer.answer != "yes":
            raise VerificationError("A block of the composition is not proven.")
        for axis, own, other in ((ROW, rows, columns), (COLUMN, columns, rows)):
            crossing = set(other)
            if not left[axis].issuperset(own) or any(
                not crossing.issuperset(lines[axis][i]) for i in own
            ):
                raise VerificationError("A block of the composition has entries outside it.")
            left[axis].difference_update(own)
        verify_unimodularity(named.part(rows, columns), answer)
    if left[ROW] or left[COLUMN]:
        raise VerificationError("The blocks of the composition do not cover the matrix.")


def _allowed(step: Step, lines: list[dict[int, int]], left: set[int]) -> bool:
    line = lines[step.index]
    if step.kind == "copy":
        twin = lines[step.other]
        return (
            step.other in left
            and step.other != step.index
            and abs(step.sign) == 1
            and line == {k: step.sign * s for k, s in twin.items()}
        )
    return len(line) == (0 if step.kind == "zero" else 1)
