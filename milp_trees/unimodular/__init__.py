"""Is a constraint matrix totally unimodular? Yes with a proof, no with a violating submatrix, or
unknown; never a guess.

A matrix is totally unimodular (TU) if every square submatrix has determinant 0, 1 or -1; a linear
program with a TU matrix and integer right-hand sides has only integral vertices (A. J. Hoffman and
J. B. Kruskal, 1956). `check_unimodular` tries the checks of this package from cheap to dear; each
of them can be used alone.
"""

from milp_trees.unimodular.answer import Submatrix, Unimodularity
from milp_trees.unimodular.check import check_unimodular
from milp_trees.unimodular.composition import (
    Composition,
    TwoSum,
    verify_composition,
    verify_two_sum,
    verify_unimodularity,
)
from milp_trees.unimodular.deletion import check_by_deletion
from milp_trees.unimodular.determinants import check_ghouila_houri, check_subdeterminants
from milp_trees.unimodular.network import (
    NetworkCertificate,
    check_network_certificate,
    verify_network,
)
from milp_trees.unimodular.recognise import check_network
from milp_trees.unimodular.refute import check_chordless_cycles, check_pivots
from milp_trees.unimodular.simple import (
    check_consecutive_ones,
    check_difference_rows,
    check_entries,
)

__all__ = [
    "Composition",
    "NetworkCertificate",
    "Submatrix",
    "TwoSum",
    "Unimodularity",
    "check_by_deletion",
    "check_chordless_cycles",
    "check_consecutive_ones",
    "check_difference_rows",
    "check_entries",
    "check_ghouila_houri",
    "check_network",
    "check_network_certificate",
    "check_pivots",
    "check_subdeterminants",
    "check_unimodular",
    "verify_composition",
    "verify_network",
    "verify_two_sum",
    "verify_unimodularity",
]
