"""Proofs of lower bounds on trees, as claims that the stand-alone checker derives again."""
