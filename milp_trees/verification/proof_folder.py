"""A folder with the proof files of a comparison, one per run that proves what it returns."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from milp_trees.common.errors import DataError, VerificationError
from milp_trees.verification.proof_files import INTERRUPTED, prove, sha256, unprovable, with_remark
from milp_trees.verification.proved import with_checked_proof

if TYPE_CHECKING:
    from milp_trees.common.limits import Limits
    from milp_trees.methods.method import Method
    from milp_trees.results.result import Result


class ProofFolder:
    """Writes and checks a proof file for every run whose method proves such answers.

    Parameters
    ----------
    folder : path
        It is made if it does not exist; the folder around it must exist.

    Raises
    ------
    DataError
        There cannot be such a folder.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        try:
            self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise DataError(f"{folder} cannot be a folder for proofs: {error.strerror}.") from None

    def __call__(self, method: Method, result: Result, key: str, limits: Limits) -> Result:
        """The result with its proof in the file `KEY.proof`, and checked.

        A result whose file is still there and was checked stays as it is. If there is no proof, or
        it was not checked, the message says why; it says nothing of methods without proofs.
        """
        path, problem = self.folder / f"{key}.proof", result.problem
        if not method.proves or unprovable(problem) or method.unproved(problem):
            return result
        if result.value is None or result.bound is None:
            return result
        known = result.proof or {}
        if known.get("checked") and path.is_file() and sha256(path) == known["sha256"]:
            return result
        before = replace(result, proof=None, message=_without_remarks(result.message, path.name))
        made = prove(method, problem, before, path, limits)
        if made.proof is None:
            if made.message.endswith(INTERRUPTED):  # the user ends what all runs belong to
                raise KeyboardInterrupt
            return made
        try:
            return with_checked_proof(made, path, limits.time)
        except VerificationError as wrong:
            return with_remark(made, str(wrong))


def _without_remarks(message: str, file: str) -> str:
    """A message without what an earlier attempt to prove the result said at its end."""
    remark = rf"(?:No proof was written: |(?:The proof \S*)?{re.escape(file)} )"
    return re.split(remark, message, maxsplit=1)[0].strip()


__all__ = ["ProofFolder"]
