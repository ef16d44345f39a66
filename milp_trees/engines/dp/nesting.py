"""Compiled bounds between tests of one column, whose sides lie inside each other. Loads numba.

A set of rows never costs less than a part of it. Of two thresholds of a column, the side below the
lower one lies inside the side below the higher one, and the other way round above them. So what is
known of the sides of one threshold bounds those of all others of the column (Brita, van der Linden,
Demirovic 2025, *Optimal classification trees for continuous feature data*; Mazumder, Meng, Wang
2022, *Quant-BnB*). It holds without smallest leaves only: a part may be too small for a tree.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator"
# Types of compiled functions are inferred by numba.

import numpy as np

from milp_trees.common.compiling.kernels import kernel


@kernel(allocates=False)
def forget(low, bound):
    """Begin with the same bound for both sides of all tests."""
    for f in range(len(low)):
        low[f, 0] = low[f, 1] = bound


@kernel(allocates=False)
def note_side(data, low, f, side, value):
    """Raise the bound on a side (1: where the test is true) of a test, and of all that hold it."""
    chain, step = data.chain_of[f], np.int64(1) if side == 1 else np.int64(-1)
    g = f
    while 0 <= g < len(low) and data.chain_of[g] == chain and low[g, side] < value:
        low[g, side] = value
        g += step


@kernel(allocates=False)
def by_sides(data, low, f):
    """A bound on the trees with a root test, from those on its sides."""
    return low[f, 0] + low[f, 1] + data.split[f]
