"""Formulations: one published mathematical program per file; found by the registry."""
