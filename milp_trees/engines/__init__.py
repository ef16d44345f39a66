"""Engines: exact and heuristic methods that need no mathematical-programming solver.

Every method is one file.
"""
