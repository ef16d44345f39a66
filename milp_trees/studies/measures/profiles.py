"""Performance profiles, and the distribution of the time to a target."""

from __future__ import annotations

import numpy as np
import pandas as pd

from milp_trees.studies.measures.instances import (
    INSTANCE,
    check_timeouts,
    common,
    lines,
    matrix,
    numbers,
    one_environment,
    solved,
)
from milp_trees.studies.measures.integrals import best_values, gap_curves

#: Times below this (seconds) are set to this, because differences below it are noise.
FLOOR = 0.001


def performance_profile(frame: pd.DataFrame, timeouts: str = "limit") -> pd.DataFrame:
    """Share of instances that each line solves within a factor of the fastest line's time.

    This is the performance profile of Dolan and Moré (2002). A run that was not solved is within
    no factor, under the time-out modes `limit` and `par10` alike. Shares are of all instances of
    the frame, also of those that no line solved; under `intersection`, of those that all solved.

    Parameters
    ----------
    frame : DataFrame
        As `Study.frame` returns it.
    timeouts : {"limit", "par10", "intersection"}

    Returns
    -------
    DataFrame
        Index: the factor, at least 1; one column per line.
    """
    frame = one_environment(lines(frame))
    if check_timeouts(timeouts) == "intersection":
        frame = frame[common(frame)[0]]
    times = numbers(frame["seconds"]).clip(lower=FLOOR).where(solved(frame))
    table = matrix(frame, times)
    ratios = table.div(table.min(axis=1), axis=0)
    known = ratios.to_numpy(dtype=float).ravel()
    factors = np.unique(np.append(known[np.isfinite(known)], 1.0))
    return _shares(ratios, factors, "factor")


def time_to_target(frame: pd.DataFrame, traces: pd.DataFrame, target: float = 0.0) -> pd.Series:
    """Seconds until each run has a value whose primal gap is at most the target.

    The primal gap is that of `milp_trees.studies.measures.integrals`, against the best value that is known
    of the problem.

    Parameters
    ----------
    frame, traces : DataFrame
        As `Study.frame` and `Study.traces` return them.
    target : float, default=0
        A relative gap: 0 is the best known value, 0.01 a value 1 % worse.

    Returns
    -------
    Series
        One entry per row of the frame; infinity if the run did not reach the target, NaN if no
        value of the problem is known or the method does not support it.
    """
    best = best_values(frame)
    out = pd.Series(np.inf, index=frame.index)
    for run, curve in gap_curves(frame, traces, best):
        # A value that a solver computed in floating point may be a rounding error away.
        reached = np.flatnonzero(curve.primal <= target + 1e-9)
        if len(reached):
            out[run] = curve.seconds[reached[0]]
    return out.where(best.notna() & (frame["status"] != "unsupported"))


def target_distribution(
    frame: pd.DataFrame, traces: pd.DataFrame, target: float = 0.0
) -> pd.DataFrame:
    """Empirical distribution function of the time to a target, per line.

    The share is of all instances whose problem has a known value, so a curve ends at the share of
    instances on which the line reaches the target at all (Hoos and Stützle 2005, chapter 4).

    Parameters
    ----------
    frame, traces : DataFrame
        As `Study.frame` and `Study.traces` return them.
    target : float, default=0
        As for `time_to_target`.

    Returns
    -------
    DataFrame
        Index: seconds, from 0; one column per line.
    """
    frame = one_environment(lines(frame))
    reached = time_to_target(frame, traces, target)
    known = frame.assign(_t=reached).groupby(INSTANCE, dropna=False)["_t"].transform("count") > 0
    table = matrix(frame[known], reached[known])
    times = table.to_numpy(dtype=float).ravel()
    return _shares(table, np.unique(np.append(times[np.isfinite(times)], 0.0)), "seconds")


def _shares(table: pd.DataFrame, at: np.ndarray, name: str) -> pd.DataFrame:
    """Share of the rows of a table whose entry is at most each of the numbers, per column."""
    rows = max(len(table), 1)
    columns = {
        line: np.searchsorted(np.sort(table[line].dropna().to_numpy()), at, side="right") / rows
        for line in table
    }
    return pd.DataFrame(columns, index=pd.Index(at, name=name), columns=list(table))
