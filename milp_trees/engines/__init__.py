"""Engines: exact and heuristic methods that need no mathematical-programming solver. One method per
file.
"""
