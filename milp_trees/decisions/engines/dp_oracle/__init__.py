"""Exact search for trees whose leaves use an oracle.

It uses nested sets of rows, intervals of thresholds, and calls of the oracle in batches.
"""
