"""What the engine `partial-trees` is made of: compiled `kernels`, `parts` of the rows with the
curves they can reach, the `search` over partial trees.
"""
