"""Is a constraint matrix totally unimodular? Yes with a proof, no with a submatrix, or unknown.

A matrix is totally unimodular (TU) if every square submatrix has determinant 0, 1 or -1; a linear
program with a TU matrix and integer right-hand sides has only integral vertices (A. J. Hoffman and
J. B. Kruskal, 1956). `total_unimodularity` tries the checks of this package from fast to slow; each
of them can also be used alone. No answer is a guess.
"""

from milp_trees.unimodular.answer import Submatrix, Unimodularity
from milp_trees.unimodular.certificate import NetworkCertificate, verify_network
from milp_trees.unimodular.check import total_unimodularity
from milp_trees.unimodular.composition import (
    Composition,
    TwoSum,
    verify_composition,
    verify_two_sum,
    verify_unimodularity,
)
from milp_trees.unimodular.deletion import decide_by_deletion
from milp_trees.unimodular.determinants import decide_by_ghouila_houri, decide_by_subdeterminants
from milp_trees.unimodular.network import check_network_certificate
from milp_trees.unimodular.recognise import decide_by_network
from milp_trees.unimodular.refute import decide_by_chordless_cycles, decide_by_pivots
from milp_trees.unimodular.simple import (
    decide_by_consecutive_ones,
    decide_by_difference_rows,
    decide_by_entries,
)

__all__ = [
    "Composition",
    "NetworkCertificate",
    "Submatrix",
    "TwoSum",
    "Unimodularity",
    "check_network_certificate",
    "decide_by_chordless_cycles",
    "decide_by_consecutive_ones",
    "decide_by_deletion",
    "decide_by_difference_rows",
    "decide_by_entries",
    "decide_by_ghouila_houri",
    "decide_by_network",
    "decide_by_pivots",
    "decide_by_subdeterminants",
    "total_unimodularity",
    "verify_composition",
    "verify_network",
    "verify_two_sum",
    "verify_unimodularity",
]
