"""Solvers: one adapter per file; the registry finds them."""
