"""Prunings of an ensemble, tree by tree: pricing, master programme, bounds of duals, and where the
trees are priced.
"""
