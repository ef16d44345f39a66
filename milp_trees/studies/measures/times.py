"""Means of times, PAR10, and the virtual best method."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.stats import gmean

from milp_trees.common.errors import DataError
from milp_trees.studies.measures.instances import (
    INSTANCE,
    LINE,
    SHIFT,
    limits,
    lines,
    numbers,
    solved,
)

#: Name of the line that `virtual_best` makes.
VIRTUAL = "virtual best"


def shifted_geometric_mean(times: Iterable[float], shift: float = SHIFT) -> float:
    """The shifted geometric mean, exp(mean(log(t + s))) − s.

    The shift s lessens the weight of small times, so that neither the largest nor the smallest
    times decide alone (Achterberg 2007, Constraint Integer Programming, appendix A.3).

    Parameters
    ----------
    times : iterable of float
        Non-negative numbers.
    shift : float, default=1
        In the unit of the times; positive, or 0 for the geometric mean.

    Returns
    -------
    float
        NaN if there are no times.

    Raises
    ------
    DataError
        A time is negative or NaN, or the shift is negative.
    """
    given = np.asarray(list(times), dtype=float)
    if not shift >= 0 or not (given >= 0).all():
        raise DataError("A shifted geometric mean needs times and a shift that are at least 0.")
    if not len(given):
        return float("nan")
    if shift == 0:
        return float(gmean(given))
    return float(shift * np.expm1(np.log1p(given / shift).mean()))


def par(
    times: Iterable[float], solved: Iterable[bool], limit: float, factor: float = 10.0
) -> float:
    """Penalised average runtime: a run that was not solved counts with `factor` times the limit.

    With the factor 10 it is called PAR10 (Hutter, Hoos, Leyton-Brown and Stützle 2009, ParamILS).

    Parameters
    ----------
    times : iterable of float
        Seconds of the runs.
    solved : iterable of bool
        Whether each run was solved.
    limit : float
        Time limit in seconds.
    factor : float, default=10

    Returns
    -------
    float
        The arithmetic mean; NaN if there are no runs.
    """
    given = np.where(list(solved), list(times), factor * limit)
    return float(given.mean()) if len(given) else float("nan")


def virtual_best(frame: pd.DataFrame) -> pd.DataFrame:
    """The runs of a method that would take the fastest line on every instance.

    On an instance that no line solved it takes the run with the largest time limit. It tells how
    much a choice of the method per instance could gain at most.

    Parameters
    ----------
    frame : DataFrame
        As `Study.frame` returns it.

    Returns
    -------
    DataFrame
        A row of the frame per instance, with the line `virtual best`, and the line that it was
        taken from in the column `taken_from`.
    """
    frame = lines(frame)
    ranked = frame.assign(
        _open=~solved(frame),
        _seconds=numbers(frame["seconds"]).where(solved(frame), -limits(frame)),
    ).sort_values(["_open", "_seconds"], kind="stable")
    best = ranked.drop_duplicates(INSTANCE).drop(columns=["_open", "_seconds"]).sort_index()
    return best.assign(taken_from=best[LINE], **{LINE: VIRTUAL})


def with_virtual_best(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the rows of `virtual_best` below it."""
    frame = lines(frame)
    return pd.concat([frame, virtual_best(frame)], ignore_index=True)
