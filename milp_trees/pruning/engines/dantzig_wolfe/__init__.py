"""Prunings of an ensemble, tree by tree: pricing, master programme and bounds of duals."""
