"""What every room may use.

Errors, rationals, limits, plurals, files, compiled kernels, and the store of plug-ins.
"""

from milp_trees.common import errors as errors
