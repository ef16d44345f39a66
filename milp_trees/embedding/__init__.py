"""Fitted trees, rule lists and ensembles as blocks of the user's own optimisation model."""
