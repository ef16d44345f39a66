"""What a result contains, in a word."""

from __future__ import annotations

import enum


class Status(enum.Enum):
    """What a result contains."""

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    NO_SOLUTION = "no solution"
    ERROR = "error"
    UNSUPPORTED = "unsupported"
