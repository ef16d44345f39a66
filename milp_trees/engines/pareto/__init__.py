"""Parts of the engine `pareto`: compiled `kernels` for fronts, and the `search` over sets of rows.

A front is over (leaves, false positives, false negatives).
"""
