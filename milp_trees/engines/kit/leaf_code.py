"""Compiled leaf functions, which are given the address of sums. Loads numba.

The function takes the address of int64 sums and of the two parameters of the grid, and returns the
whole number of units of `loss_sums`, without the constant part of the rows.
"""

# mypy: disable-error-code="no-untyped-def,untyped-decorator,import-untyped"

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from milp_trees.common.compiling.inside import intrinsic, types
from milp_trees.common.compiling.kernels import c_function
from milp_trees.common.compiling.reals import RealCode, floor_of, whole_at
from milp_trees.common.compiling.vectors import I64
from milp_trees.tasks.loss_sums import LossSums


@cache
def leaf_function(leaf: Any, n_sums: int) -> Any:
    """The compiled function; `address` is what `call_two` takes."""

    @intrinsic
    def body(typingctx: Any, sums: Any, parameters: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            code = RealCode(builder, args[1], 4)
            values = [whole_at(code, args[0], u) for u in range(n_sums)]
            grid, margin = code.real_slot(0), code.real_slot(1)
            return builder.fptosi(floor_of(code, leaf, values, grid, margin), I64)

        return types.int64(types.int64, types.int64), codegen

    def leaf_cost(sums, parameters):
        return body(sums, parameters)

    return c_function("int64(int64, int64)", leaf_cost)


def parameters_of(view: LossSums) -> np.ndarray:
    """Grid and margin, as the compiled function reads them: the bits of two doubles."""
    return np.array([view.grid, float(view.margin)]).view(np.int64)


def compiled_leaf(view: Any) -> tuple[int, np.ndarray]:
    """Address and parameters of a view's leaf function; address 0 for the cheapest action."""
    if not isinstance(view, LossSums):
        return 0, np.zeros(2, dtype=np.int64)
    return int(leaf_function(view.leaf, view.n_values).address), parameters_of(view)
