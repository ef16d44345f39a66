"""Whether a stored result holds: what was derived, what was recomputed, what is only claimed."""

from milp_trees.verification.check import verify, verify_file
from milp_trees.verification.verdict import Verdict, Verification

__all__ = ["Verdict", "Verification", "verify", "verify_file"]
