"""Minimum cuts for pruning ensembles: closure problem, maximum flow, whole curve, certificate."""
