"""The search by leaves: the best trees of every number of leaves at once. A guide.

`dp-sizes` runs it on leaf sums, `dp-paid` with prices that depend on what a path has paid, and
`dp` where leaves are limited. A node has vectors by number of leaves instead of a value, and a budget
for each entry. In the order of reading:

1. `records.py`: a node on the way from the root (a frame), and the memo.
2. `kernels.py`: the search over frames, in rounds through the root tests; `bounds.py`: its vectors.
3. `prices.py`: what changes where tests have prices. A set of rows is then remembered with the prices
   of its path, every frame has its own costs of tests, and a split of a side pays at least the
   cheapest attribute. Where leaves are not limited, one entry stands for any number of them.
4. `fronts.py`: the loop around the kernels, and the trees behind values; `limits.py`: sizes that are
   possible; `turns.py`: searches for fewer leaves beside it, so that a stopped run has good trees.
"""
