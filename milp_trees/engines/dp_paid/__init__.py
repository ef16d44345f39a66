"""Parts of the engine `dp-paid`: exact search where a test's price depends on what its path paid.

`arrays` makes the instance, `pairs_code` and `kernels` are compiled (they use sums over pairs of
tests and the kernels of `engines/dynamic`), `search` is the recursion over sets of rows and prices.
"""
