"""Compiled functions: how they are compiled and kept, and what their user is told meanwhile.

`kernels` has the decorator `kernel`, `store` the files in which compiled code is kept, `inside` all
that is used of numba's private modules, `contexts` groups of arrays as one argument. These load
numba; this module and `telling` do not.
"""

from milp_trees.compiling.telling import compiling, interruptible, uncharged

__all__ = ["compiling", "interruptible", "uncharged"]
