"""Models without the rows that are found while they are solved, and how they say so."""

from __future__ import annotations

import warnings
from typing import Any

from milp_trees.common.errors import IncompleteModelWarning

#: The variable that stands for the missing cuts.
MARK = "cuts_missing"


def marked_incomplete(m: Any, name: str) -> Any:
    """The model with a name that says what it lacks, infeasible unless its cuts are added."""
    import pyomo.environ as pyo

    m.name = f"{name} without its cuts"
    m.cuts_missing = pyo.Var(bounds=(1, 1), initialize=1, doc="1: cuts are missing")
    m.incomplete = pyo.Constraint(
        expr=m.cuts_missing == 0,
        doc="infeasible: an optimum of this model would be none of the problem",
    )
    warnings.warn(
        f"The cuts of {name} are found while it is solved, so this model is a part of it, and its optimum would be none of the problem's; "
        f"its constraint `incomplete` makes it infeasible. Solve the problem by method='{name}@SOLVER', or deactivate the constraint and add the cuts that "
        "`separator` finds.",
        IncompleteModelWarning,
        stacklevel=3,
    )
    return m
