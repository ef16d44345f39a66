"""Minimum cuts for pruning ensembles: the closure problem, its maximum flow, the whole curve and a
certificate.
"""
