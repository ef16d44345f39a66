"""Formulations: one published mathematical program per file; the registry finds them."""
