"""What every room may use: errors, rationals, limits, files, compiled kernels, the store of plug-ins."""

from milp_trees.common import errors as errors
