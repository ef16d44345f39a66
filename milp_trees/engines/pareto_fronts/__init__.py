"""What the engine `pareto` is made of: compiled `kernels` for fronts of (leaves, false positives,
false negatives), and the `search` over sets of rows.
"""
