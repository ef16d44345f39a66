"""The engine `dp-paid`: the search by leaves with prices that depend on what the path has paid.

`arrays` makes the instance and the prices, `pairs_code` is the compiled kernel for pairs of tests;
the search itself is `dp.by_leaves`.
"""
