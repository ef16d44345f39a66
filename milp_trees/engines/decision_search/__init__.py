"""Exact search for trees whose leaves ask an oracle: nested sets of rows, intervals of thresholds,
batched calls.
"""
