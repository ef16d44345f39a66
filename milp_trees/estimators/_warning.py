"""Warnings of estimators, at the line of the user's own code."""

from __future__ import annotations

import sys
import warnings
from types import FrameType

#: Packages between the user's line and the place that warns: this one, what it is called through,
#: and those that call `fit` for the user (a pipeline, cross-validation).
INSIDE = frozenset({"milp_trees", "sklearn", "joblib", "functools", "contextlib"})


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line that is in no package of `INSIDE`.

    The number of frames up to there depends on the version of scikit-learn and on who calls `fit`,
    so it is counted. Where there is no such line, the warning points to the caller.
    """
    outer: FrameType | None = sys._getframe(1)
    level = 2
    while outer is not None and outer.f_globals.get("__name__", "").split(".")[0] in INSIDE:
        outer, level = outer.f_back, level + 1
    warnings.warn(message, category, stacklevel=2 if outer is None else level)
