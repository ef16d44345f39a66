"""Spaces: the models that are allowed."""
