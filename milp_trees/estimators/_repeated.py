"""Ctrl-C during one of many fits: the search that repeats them ends, too."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from milp_trees.common.limits import Limit

#: Modules that call `fit` once for every fold, candidate or class.
REPEATING = (
    "sklearn.model_selection",
    "sklearn.feature_selection",
    "sklearn.inspection",
    "sklearn.calibration",
    "sklearn.ensemble",
    "sklearn.multiclass",
    "sklearn.multioutput",
    "sklearn.semi_supervised",
    "milp_trees.estimators._penalty_cv",
)


def stop_repeated(ended: Any) -> None:
    """Raise KeyboardInterrupt if Ctrl-C ended a run that is one of many.

    A single `fit` keeps the best model so far. A search over parameters would go on to its next
    fit, and to a hundred more.
    """
    if ended.limit is not Limit.INTERRUPTED:
        return
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if f"{frame.f_globals.get('__name__', '')}.".startswith(tuple(f"{m}." for m in REPEATING)):
            raise KeyboardInterrupt
        frame = frame.f_back
