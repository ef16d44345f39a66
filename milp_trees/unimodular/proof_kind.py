"""Proof files about matrices, as the command `unimodular` writes them, for `check_file`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.unimodular import check_unimodular
from milp_trees.verification.proof_kinds import Checked, ProofKind


class MatrixProofs(ProofKind):
    """Answers with certificates; more kinds of model files are read than the checker reads."""

    def takes(self, stated: dict[str, Any]) -> bool:
        return {"answer", "certificate"} <= set(stated)

    def check(
        self, proof: str | Path, stated: dict[str, Any], data: str | Path | None, slowly: bool
    ) -> Checked:
        from milp_trees.unimodular.files import read_model_file

        if data is None and stated.get("matrix") is None:
            raise DataError(f"{proof} is about a matrix; give the model file after it.")
        try:
            named = None if data is None else read_model_file(Path(data))
            if named is not None:
                coo = named.A.tocoo()
                entries = zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True)
                named = check_unimodular.matrix(named.row_names, named.column_names, entries)
            return Checked(True, None, None, check_unimodular.check(stated, named))
        except check_unimodular.Unreadable as reason:
            raise DataError(f"The proof cannot be checked: {reason}") from None
        except check_unimodular.Wrong as reason:
            raise VerificationError(f"The proof does not hold: {reason}") from None


MATRIX_PROOFS = MatrixProofs()
