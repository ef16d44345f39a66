"""Solvers: one adapter per file; found by the registry."""
