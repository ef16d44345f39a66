"""Compiled functions: how they are compiled and kept, and which message the user sees meanwhile.

`kernels` has the decorator `kernel`; `store` has the files in which compiled code is kept; `inside`
has everything that is used of numba's private modules; `contexts` has groups of arrays as one
argument. These load numba; this module and `telling` do not.
"""

from milp_trees.common.compiling.notices import compiling, interruptible, run_clock, under_way

__all__ = ["compiling", "interruptible", "run_clock", "under_way"]
