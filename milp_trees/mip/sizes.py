"""Models that are too large to be built, and models without variables."""

from __future__ import annotations

import numpy as np

from milp_trees.common.limits import Limits
from milp_trees.mip.linear.matrix import MatrixModel
from milp_trees.mip.solver import Answer
from milp_trees.results.result import Status

#: More nonzeros than any machine builds and hands over in a second (a million was measured). A
#: model with more nonzeros per second of the limit is refused at once; others are stopped at the
#: limit.
BUILD_RATE = 5_000_000


def too_large(nonzeros: int, limits: Limits) -> str | None:
    """Why a model of that size is not built, or None.

    It is too large, or the time limit would end long before it is built.
    """
    return too_many(nonzeros, limits) or too_slow(nonzeros, limits)


def too_many(nonzeros: int, limits: Limits) -> str | None:
    """Why a model of that size is built for no time limit, or None."""
    if limits.nonzeros is not None and nonzeros > limits.nonzeros:
        allowed = f"{limits.nonzeros:,}".replace(",", " ")
        return f"{_size(nonzeros)}, where at most {allowed} are built; raise --max-nonzeros (max_nonzeros=), lower the depth, or use fewer tests or rows."
    return None


def too_slow(nonzeros: int, limits: Limits) -> str | None:
    """Why a model of that size is not built within the time limit, or None."""
    seconds = nonzeros / BUILD_RATE
    if limits.time is not None and seconds > limits.time:
        return f"{_size(nonzeros)}, and building it takes at least {seconds:.3g} s, longer than the time limit of {limits.time:g} s; raise --time-limit."
    return None


def _size(nonzeros: int) -> str:
    return f"would have {nonzeros:,} nonzeros".replace(",", " ")


def nothing_to_choose(matrix: MatrixModel) -> Answer:
    """The answer for a model without variables.

    It is found without a solver, since solvers report different things for such a model.
    """
    if (matrix.row_lower > 0).any() or (matrix.row_upper < 0).any():
        return Answer(Status.INFEASIBLE)
    return Answer(Status.OPTIMAL, x=np.zeros(0), objective=matrix.offset, bound=matrix.offset)
