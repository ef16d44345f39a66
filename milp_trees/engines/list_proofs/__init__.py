"""Proofs of optimal rule lists: claims about the rows that no rule has captured yet."""
