"""`Unimodularity`: the answer of a check, with its proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from html import escape
from typing import Any, Literal

from milp_trees.common.errors import VerificationError
from milp_trees.unimodular.reading import NamedMatrix, determinant


@dataclass(frozen=True)
class Submatrix:
    """A square submatrix whose determinant is not 0, 1 or -1.

    Parameters
    ----------
    rows, columns : tuple of int
        Indices in the matrix that was checked.
    determinant : int or Fraction
        Computed exactly.
    """

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    determinant: int | Fraction
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    entries: tuple[tuple[Any, ...], ...] = field(default=(), repr=False)

    def to_json(self) -> dict[str, Any]:
        """Indices, names, entries and determinant; a determinant that is not an integer is text."""
        value = self.determinant if isinstance(self.determinant, int) else str(self.determinant)
        return {
            "rows": list(self.rows),
            "columns": list(self.columns),
            "determinant": value,
            "row_names": list(self.row_names),
            "column_names": list(self.column_names),
            "entries": [list(row) for row in self.entries],
        }


@dataclass(frozen=True)
class Unimodularity:
    """Whether a matrix is totally unimodular, and the proof.

    Parameters
    ----------
    answer : "yes", "no" or "unknown"
        The answer.
    proof : str or None
        The check that decided, for example `network`; None if none did.
    certificate : NetworkCertificate, Composition, tuple or None
        What makes a "yes" checkable: a spanning tree, or the parts of the matrix and their answers.
        For a "no" of Ghouila-Houri, the rows that cannot be divided. None if the proof is the
        matrix itself, or all its subdeterminants.
    submatrix : Submatrix or None
        For a "no": a square submatrix and its determinant. (Ghouila-Houri alone gives none.)
    shape, nonzeros : (int, int), int
        Size of the matrix.
    reason : str
        The reason for the answer, in a sentence.
    """

    answer: Literal["yes", "no", "unknown"]
    proof: str | None
    shape: tuple[int, int]
    nonzeros: int
    reason: str = ""
    certificate: Any = field(default=None, repr=False)
    submatrix: Submatrix | None = None

    def __str__(self) -> str:
        size = f"{self.shape[0]} × {self.shape[1]} matrix with {self.nonzeros} nonzeros"
        if self.answer == "yes":
            text = f"Yes: the {size} is totally unimodular (proof: {self.proof})."
        elif self.answer == "no":
            text = f"No: the {size} is not totally unimodular (proof: {self.proof})."
        else:
            text = f"Unknown: no check decided whether the {size} is totally unimodular."
        return f"{text} {self.reason}".strip()

    def __repr__(self) -> str:
        return f"<Unimodularity: {self}>"

    def _repr_html_(self) -> str:
        text = f"<p>{escape(str(self))}</p>"
        drawing = getattr(self.certificate, "_repr_html_", None)
        return text + (drawing() if drawing else "")

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON; a certificate with all names."""
        certificate = (
            self.certificate.to_json() if hasattr(self.certificate, "to_json") else self.certificate
        )
        return {
            "answer": self.answer,
            "proof": self.proof,
            "reason": self.reason,
            "rows": self.shape[0],
            "columns": self.shape[1],
            "nonzeros": self.nonzeros,
            "certificate": certificate,
            "submatrix": self.submatrix.to_json() if self.submatrix else None,
        }

    def because(self, more: str) -> Unimodularity:
        """The same answer with one more sentence as reason."""
        return replace(self, reason=f"{self.reason} {more}".strip())


def yes(
    matrix: NamedMatrix, proof: str, reason: str = "", certificate: Any = None
) -> Unimodularity:
    """The answer that a matrix is totally unimodular."""
    return Unimodularity("yes", proof, matrix.A.shape, int(matrix.A.nnz), reason, certificate)


def unknown(matrix: NamedMatrix, reason: str) -> Unimodularity:
    """The answer of a check that does not decide."""
    return Unimodularity("unknown", None, matrix.A.shape, int(matrix.A.nnz), reason)


def no(
    matrix: NamedMatrix, rows: Sequence[int], columns: Sequence[int], proof: str = "submatrix"
) -> Unimodularity:
    """The answer that a submatrix shows a matrix not to be totally unimodular.

    The determinant is always computed here, whichever check found the submatrix.
    """
    rows, columns = sorted(map(int, rows)), sorted(map(int, columns))
    entries = matrix.A[rows][:, columns].toarray().tolist()
    value = determinant(entries)
    if value in (-1, 0, 1):
        raise VerificationError(
            f"The submatrix of rows {rows} and columns {columns} was said to violate, but its determinant is {value}."
        )
    names = tuple(matrix.row_names[i] for i in rows), tuple(matrix.column_names[j] for j in columns)
    found = Submatrix(tuple(rows), tuple(columns), value, *names, tuple(map(tuple, entries)))
    reason = f"A {len(rows)} × {len(rows)} submatrix has determinant {value}."
    return Unimodularity("no", proof, matrix.A.shape, int(matrix.A.nnz), reason, None, found)
