"""Greedy trees: one grower for all criteria, the grown tree as arrays, and its cheapest prunings.

A `Grower` says how a node holds its rows, what it loses as a leaf, and which split is best; the
loop over nodes is the same for all. `kernels` and `rows` are also used by forests whose whole loop
is compiled, because most of their nodes take less time than one call from Python.
"""
