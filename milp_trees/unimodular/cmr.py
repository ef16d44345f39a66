"""The CMR library (M. Walter and K. Truemper, Implementation of a unimodularity test, 2013).

It is used if it is installed, and never required. It decomposes any matrix by Seymour's theorem. It
is installed as the package passagemath-cmr (GPL) and runs in a process of its own, which protects
us from its signal handlers and crashes and makes the time limit strict. Its "no" is checked here by
the determinant of its submatrix; its "yes" is a claim that is not checked.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import subprocess
import sys
from typing import Any

from milp_trees.common.errors import SolverUnavailable
from milp_trees.common.limits import Deadline
from milp_trees.unimodular.answer import Unimodularity, no, unknown, yes
from milp_trees.unimodular.reading import NamedMatrix, read_matrix
from milp_trees.unimodular.simple import decide_by_entries

#: The library fails with "User input error" on a few valid matrices; another decomposition or the
#: transpose usually succeeds.
_ATTEMPTS = ((False, "delta_three"), (True, "delta_three"), (False, "y_three"), (True, "y_three"))

_CHILD = """
import json, sys
import sage.all__sagemath_modules
from sage.matrix.matrix_cmr_sparse import Matrix_cmr_chr_sparse
from sage.matrix.matrix_space import MatrixSpace
from sage.rings.integer_ring import ZZ
given = json.load(sys.stdin)
entries = {(i, j): s for i, j, s in given["entries"]}
matrix = Matrix_cmr_chr_sparse(MatrixSpace(ZZ, *given["shape"], sparse=True), entries)
try:
    found = matrix.is_totally_unimodular(certificate=True, time_limit=given["seconds"], decompose_strategy=given["strategy"], stop_when_nonTU=True)
    json.dump({"answer": bool(found[0]), "submatrix": None if found[0] else [list(map(int, s)) for s in found[1][1] or []]}, sys.stdout)
except Exception as error:
    json.dump({"error": f"{type(error).__name__}: {error}"}, sys.stdout)
"""


def cmr_is_installed() -> bool:
    """Whether the package passagemath-cmr is installed."""
    return importlib.util.find_spec("passagemath_cmr") is not None


def decide_by_cmr(matrix: Any, *, time_limit: float | None = 60.0) -> Unimodularity:
    """Yes, no with a submatrix, or unknown, by the CMR library.

    Parameters
    ----------
    matrix : array, sparse matrix, MatrixModel or Pyomo model, shape (m, n)
        The matrix.
    time_limit : float, optional
        Seconds; loading the library takes about two.

    Raises
    ------
    SolverUnavailable
        The library is not installed.
    """
    if not cmr_is_installed():
        raise SolverUnavailable(
            "The CMR library is not installed; pip install passagemath-cmr (GPL, several hundred MB)."
        )
    named, deadline, message = read_matrix(matrix), Deadline.after(time_limit), ""
    if not named.is_sign_matrix:
        return decide_by_entries(named)
    for transposed, strategy in _ATTEMPTS:
        try:
            found = _ask(named, transposed, strategy, deadline.left)
        except subprocess.TimeoutExpired:
            return unknown(named, "CMR did not answer within the time limit.")
        if "error" in found:
            message = found["error"]
        elif found["answer"]:
            return yes(
                named, "cmr", f"CMR {importlib.metadata.version('passagemath-cmr')} decomposed it."
            )
        elif found["submatrix"]:
            rows, columns = found["submatrix"][::-1] if transposed else found["submatrix"]
            return no(named, rows, columns, "cmr")
        else:
            message = "it says no, but names no submatrix"
    return unknown(named, f"CMR has no answer: {message}.")


def _ask(
    named: NamedMatrix, transposed: bool, strategy: str, seconds: float | None
) -> dict[str, Any]:
    """One call of the library in a process of its own."""
    coo = named.A.T.tocoo() if transposed else named.A.tocoo()
    entries = list(zip(coo.row.tolist(), coo.col.tolist(), coo.data.tolist(), strict=True))
    given = {
        "shape": coo.shape,
        "entries": entries,
        "seconds": 1e9 if seconds is None else seconds,
        "strategy": strategy,
    }
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    return json.loads(done.stdout)
