"""Lagrangian bounds for trees under side rows, and the exact closing of the gap that is left."""
