"""Primal, dual and primal-dual integrals: how good a run was over its whole time.

Timo Berthold (2013), Measuring the impact of primal heuristics, Operations Research Letters 41(6).
The gap of two values x and y is 0 if they are equal, 1 if one is unknown or their signs differ, and
|x − y| / max(|x|, |y|) otherwise. The *primal gap* is that of the incumbent and the best value that
is known of the problem, the *dual gap* that of the bound and the same value, and the *primal-dual
gap* that of incumbent and bound. An integral is the area below such a gap, a step function of the
time, from 0 to T: seconds, 0 for a run that knows the optimum at once, T for a run that never finds
anything. T is the time limit of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from milp_trees.studies.measures.instances import PROBLEM, limits, numbers

#: A point of a trace: seconds, incumbent and bound; None if unknown.
Point = Sequence[float | None]


def gap(x: Any, y: Any) -> np.ndarray:
    """The gap of two values, elementwise: a number from 0 to 1; see the module's text.

    Parameters
    ----------
    x, y : float or arrays of floats
        NaN where a value is unknown.
    """
    x, y = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    largest = np.maximum(np.abs(x), np.abs(y))
    known = np.isfinite(x) & np.isfinite(y)
    with np.errstate(invalid="ignore", divide="ignore"):
        apart = np.where(x * y < 0, 1.0, np.abs(x - y) / largest)
    return np.where(known, np.where(x == y, 0.0, apart), 1.0)


@dataclass(frozen=True, eq=False)
class GapCurve:
    """The three gaps of a run as step functions; each value holds from its time on.

    Attributes
    ----------
    seconds : float array of shape (p,)
        Ascending, from 0.
    primal, dual, primal_dual : float arrays of shape (p,)
    """

    seconds: np.ndarray
    primal: np.ndarray
    dual: np.ndarray
    primal_dual: np.ndarray

    def integral(self, which: str, end: float) -> float:
        """The area below a gap from 0 to `end`, in seconds.

        Parameters
        ----------
        which : {"primal", "dual", "primal_dual"}
        end : float
            Seconds; what happened later does not count.
        """
        widths = np.diff(np.minimum(np.append(self.seconds, end), end))
        return float(np.clip(widths, 0.0, None) @ getattr(self, which))


def gap_curve(trace: Sequence[Point], best: float, proven_at: float | None = None) -> GapCurve:
    """The gaps of a run over time.

    Parameters
    ----------
    trace : sequence of (seconds, incumbent, bound)
        States of the run in the order of time; a value that is None or NaN is the last known one.
    best : float
        The best value that is known of the problem.
    proven_at : float, optional
        When the run proved its value; from then on the dual and the primal-dual gap are 0, although
        a solver may stop at a bound that integrality alone makes tight.

    Returns
    -------
    GapCurve
    """
    points = np.array([[0.0, np.nan, np.nan], *trace], dtype=float)
    known = pd.DataFrame(points).ffill().to_numpy()
    seconds = np.maximum.accumulate(np.maximum(known[:, 0], 0.0))
    gaps = [gap(known[:, 1], best), gap(known[:, 2], best), gap(known[:, 1], known[:, 2])]
    if proven_at is not None:
        seconds = np.append(seconds, max(proven_at, seconds[-1]))
        gaps = [np.append(gaps[0], gaps[0][-1]), np.append(gaps[1], 0.0), np.append(gaps[2], 0.0)]
    return GapCurve(seconds, *gaps)


def primal_integral(trace: Sequence[Point], best: float, end: float) -> float:
    """The primal integral of one trace.

    Parameters
    ----------
    trace : sequence of (seconds, incumbent, bound)
        States of the run in the order of time.
    best : float
        The best value that is known of the problem.
    end : float
        T in seconds.

    Returns
    -------
    float
        Seconds.
    """
    return gap_curve(trace, best).integral("primal", end)


def dual_integral(trace: Sequence[Point], best: float, end: float) -> float:
    """The dual integral of one trace.

    Parameters
    ----------
    trace : sequence of (seconds, incumbent, bound)
        States of the run in the order of time.
    best : float
        The best value that is known of the problem.
    end : float
        T in seconds.

    Returns
    -------
    float
        Seconds.
    """
    return gap_curve(trace, best).integral("dual", end)


def primal_dual_integral(trace: Sequence[Point], end: float) -> float:
    """The primal-dual integral of one trace, which needs no best known value."""
    return gap_curve(trace, np.nan).integral("primal_dual", end)


def best_values(frame: pd.DataFrame) -> pd.Series:
    """The best value that is known of the problem of each row, over all its runs and seeds.

    Values of runs that contradict a reference, or that ended in an error, do not count.

    Returns
    -------
    Series
        One entry per row of the frame; NaN where no value is known.
    """
    wrong = (frame["agrees"].astype(object) == False) | (frame["status"] == "error")  # noqa: E712
    sign = np.where(frame["sense"] == "max", -1.0, 1.0)
    values = (numbers(frame["objective"]) * sign).where(~wrong)
    keys = [frame[name] for name in PROBLEM]
    return values.groupby(keys, dropna=False).transform("min") * sign


def horizons(frame: pd.DataFrame) -> pd.Series:
    """T of each run: its time limit, or else the largest seconds of its problem's runs."""
    seconds = numbers(frame["seconds"])
    keys = [frame[name] for name in PROBLEM]
    longest = seconds.groupby(keys, dropna=False).transform("max")
    return limits(frame).fillna(longest)


def gap_curves(
    frame: pd.DataFrame, traces: pd.DataFrame, best: pd.Series
) -> Iterator[tuple[Any, GapCurve]]:
    """The gaps of every run over time, with the run's place in the index of the frame.

    The last point of a run is its answer: its own value and bound at its end.

    Parameters
    ----------
    frame, traces : DataFrame
        As `Study.frame` and `Study.traces` return them.
    best : Series
        As `best_values` returns it.

    Yields
    ------
    run : object
        A label of the frame's index.
    curve : GapCurve
    """
    points = dict(iter(traces.groupby("run")[["seconds", "incumbent", "bound"]]))
    ends = numbers(frame["seconds"])
    values, bounds = numbers(frame["objective"]), numbers(frame["bound"])
    proven = frame["status"].eq("optimal") & frame["agrees"].astype(object).ne(False)
    for run in frame.index:
        own = points[run].to_numpy(dtype=float).tolist() if run in points else []
        answer = [float(ends[run]), float(values[run]), float(bounds[run])]
        curve = gap_curve([*own, answer], best[run], ends[run] if proven[run] else None)
        yield run, curve


def integrals(frame: pd.DataFrame, traces: pd.DataFrame) -> pd.DataFrame:
    """The integrals of every run, in seconds.

    Parameters
    ----------
    frame, traces : DataFrame
        As `Study.frame` and `Study.traces` return them.

    Returns
    -------
    DataFrame
        The index of the frame, and columns `primal_integral`, `dual_integral` and
        `primal_dual_integral`; NaN if no value of the problem is known, or the method does not
        support it.
    """
    best, end = best_values(frame), horizons(frame)
    kinds = ("primal", "dual", "primal_dual")
    found = {
        run: [curve.integral(kind, end[run]) for kind in kinds]
        for run, curve in gap_curves(frame, traces, best)
    }
    columns = [f"{kind}_integral" for kind in kinds]
    out = pd.DataFrame.from_dict(found, orient="index", columns=columns).reindex(frame.index)
    return out.where(best.notna() & (frame["status"] != "unsupported"))
