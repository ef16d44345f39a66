"""Answers, proofs and checks of total unimodularity."""

from .answer import Submatrix as Submatrix
from .answer import Unimodularity as Unimodularity
from .certificate import NetworkCertificate as NetworkCertificate
from .certificate import verify_network as verify_network
from .check import total_unimodularity as total_unimodularity
from .composition import Composition as Composition
from .composition import TwoSum as TwoSum
from .composition import verify_composition as verify_composition
from .composition import verify_two_sum as verify_two_sum
from .composition import verify_unimodularity as verify_unimodularity
from .deletion import decide_by_deletion as decide_by_deletion
from .determinants import decide_by_ghouila_houri as decide_by_ghouila_houri
from .determinants import decide_by_subdeterminants as decide_by_subdeterminants
from .network import check_network_certificate as check_network_certificate
from .recognise import decide_by_network as decide_by_network
from .refute import decide_by_chordless_cycles as decide_by_chordless_cycles
from .refute import decide_by_pivots as decide_by_pivots
from .simple import decide_by_consecutive_ones as decide_by_consecutive_ones
from .simple import decide_by_difference_rows as decide_by_difference_rows
from .simple import decide_by_entries as decide_by_entries
