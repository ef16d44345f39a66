"""Check what `milp-trees unimodular --out` wrote against the file of the matrix."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from milp_trees.errors import DataError, VerificationError


def check_unimodular(stated: Mapping[str, Any], model: str | Path) -> str:
    """Check a proof that the matrix of a file is totally unimodular, or is not.

    A spanning tree is followed entry by entry, a submatrix is compared with the file and its
    determinant computed, and what needs no certificate is tested again.

    Parameters
    ----------
    stated : mapping
        What `Unimodularity.to_json` gives.
    model : path
        The file of the matrix.

    Returns
    -------
    str
        A sentence.

    Raises
    ------
    VerificationError
        The proof does not hold for this matrix.
    DataError
        There is no proof, or it is of a kind that has no check from its file.
    """
    from milp_trees.unimodular.files import read_model_file
    from milp_trees.unimodular.network import check_network_certificate

    named = read_model_file(Path(model))
    m, n = named.A.shape
    what = f"the {m} x {n} matrix of {Path(model).name}"
    try:
        answer, proof, tree = stated["answer"], stated["proof"], stated["certificate"]
        if answer == "no" and stated["submatrix"]:
            value = _violation(named, stated["submatrix"])
            return f"proved: {what} is not totally unimodular  (a submatrix of it has the determinant {value})"
        if answer != "yes":
            raise DataError("The file has no proof: its answer is neither yes nor no.")
        kind = tree["kind"] if isinstance(tree, Mapping) else ""
        if kind in ("network", "transposed network"):
            arcs = [(arc["tail"], arc["head"], arc["carries"]) for arc in tree["arcs"]]
            found = check_network_certificate(named, arcs, transposed=kind != "network")
            why = f"every {'row' if kind != 'network' else 'column'} is a signed path in the tree of the file"
        elif tree is None:
            found, why = _again(named, proof), f"it is tested again: {proof}"
        else:
            raise DataError(
                f"A proof of the kind {kind} is not checked from its file; milp-trees unimodular {model} derives it again."
            )
    except (KeyError, TypeError, IndexError) as error:
        raise DataError(f"The proof is malformed ({type(error).__name__}: {error}).") from None
    if found is None or found.answer != "yes":
        raise VerificationError(f"The proof does not hold for {what}.")
    return f"proved: {what} is totally unimodular  ({why})"


def _violation(named: Any, submatrix: Mapping[str, Any]) -> Any:
    """The determinant of a submatrix, which must be as stated and violate the property."""
    from milp_trees.unimodular.reading import determinant

    rows, columns = submatrix["rows"], submatrix["columns"]
    if len(set(rows)) != len(rows) or len(set(columns)) != len(columns) or not rows:
        raise VerificationError("The proof does not hold: the submatrix names a line twice.")
    entries = named.A[rows][:, columns].toarray().tolist()
    value = determinant(entries) if len(rows) == len(columns) else 0
    if value in (-1, 0, 1) or entries != submatrix["entries"]:
        raise VerificationError(
            "The proof does not hold: the submatrix has other entries, or its determinant is -1, 0 or 1."
        )
    return value


def _again(named: Any, proof: str) -> Any:
    from milp_trees.unimodular.determinants import decide_by_subdeterminants
    from milp_trees.unimodular.simple import easy_checks

    if proof == "all subdeterminants":
        return decide_by_subdeterminants(named)
    return easy_checks(named)
