"""Greedy trees for decisions: coded columns, criteria, compiled scans, weakest-link pruning.

See Elmachtoub, Liang, McNellis (2020).
"""
