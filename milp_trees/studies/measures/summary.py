"""Aggregates of runs: a row per method, group of problems or any other columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from milp_trees.common.errors import DataError
from milp_trees.studies.measures.instances import (
    INSTANCE,
    LINE,
    SHIFT,
    TIMEOUTS,
    check_timeouts,
    environments,
    lines,
    numbers,
    solved,
    times,
)
from milp_trees.studies.measures.integrals import best_values, gap, integrals
from milp_trees.studies.measures.times import shifted_geometric_mean


@dataclass(frozen=True)
class Measure:
    """A number for a set of runs.

    Parameters
    ----------
    title : str
        Heading of its column.
    text : str
        What it is, as the end of a sentence that begins with the heading.
    of : callable
        The number of the prepared rows of a set of runs, given the shift in seconds.
    timed : bool, default=False
        Whether it depends on the time-out mode.
    """

    title: str
    text: str
    of: Callable[[pd.DataFrame, float], float]
    timed: bool = False


def _sgm(column: str) -> Callable[[pd.DataFrame, float], float]:
    return lambda rows, shift: shifted_geometric_mean(rows[column].dropna(), shift)


def _percent(column: str) -> Callable[[pd.DataFrame, float], float]:
    return lambda rows, shift: 100.0 * rows[column].mean()


def _said(word: str) -> Callable[[pd.DataFrame, float], float]:
    return lambda rows, shift: int((rows["evidence"] == word).sum())


#: Measures by name. Columns that begin with `_` are those of `_prepared`.
MEASURES = {
    "runs": Measure("runs", "number of runs", lambda rows, shift: len(rows)),
    "solved": Measure(
        "solved",
        "runs that were proven and not contradicted",
        lambda rows, s: rows["_solved"].sum(),
    ),
    "sgm": Measure("time [s]", "shifted geometric mean of the seconds", _sgm("_time"), timed=True),
    "mean": Measure(
        "mean [s]",
        "arithmetic mean of the seconds",
        lambda rows, s: rows["_time"].mean(),
        timed=True,
    ),
    "median": Measure(
        "median [s]", "median of the seconds", lambda rows, s: rows["_time"].median(), timed=True
    ),
    "par10": Measure(
        "PAR10 [s]",
        "mean of the seconds, where a run that was not solved counts with ten times its limit",
        lambda rows, shift: rows["_par10"].mean(),
    ),
    "fastest": Measure(
        "fastest",
        "runs that solved their instance before all others, or at the same time",
        lambda rows, shift: rows["_fastest"].sum(),
    ),
    "gap": Measure(
        "gap [%]",
        "mean of |value − bound| / max(|value|, |bound|) at the end, 100 if one is unknown",
        _percent("_gap"),
    ),
    "value": Measure(
        "value gap [%]",
        "mean distance of the value from the best known one, 100 without a value",
        _percent("_value"),
    ),
    "root": Measure(
        "root gap [%]",
        "mean distance of the root bound from the best known value, of runs that state one",
        _percent("_root"),
    ),
    "nodes": Measure(
        "nodes",
        "shifted geometric mean of the nodes of the search, shift 10, of runs that state them",
        lambda rows, shift: shifted_geometric_mean(rows["_nodes"].dropna(), 10.0),
    ),
    "primal": Measure(
        "primal int. [s]", "shifted geometric mean of the primal integrals", _sgm("primal_integral")
    ),
    "dual": Measure(
        "dual int. [s]", "shifted geometric mean of the dual integrals", _sgm("dual_integral")
    ),
    "primal-dual": Measure(
        "p.-d. int. [s]",
        "shifted geometric mean of the primal-dual integrals",
        _sgm("primal_dual_integral"),
    ),
    "proved": Measure(
        "proved", "answers whose proof file a checker accepted", _said("proved by file")
    ),
    "derived": Measure("derived", "answers that were derived again", _said("derived again")),
    "claimed": Measure("claimed", "answers that one program claims", _said("claimed")),
    "contradicted": Measure("contradicted", "answers that are contradicted", _said("contradicted")),
}
#: What a table of aggregates shows if nothing else is asked.
USUAL = ("runs", "solved", "sgm", "par10", "fastest", "gap", "primal")


def summary(
    frame: pd.DataFrame,
    traces: pd.DataFrame,
    by: Sequence[str] = (LINE,),
    measures: Sequence[str] = USUAL,
    timeouts: str = "limit",
    shift: float = SHIFT,
) -> pd.DataFrame:
    """Measures of the runs in groups.

    Parameters
    ----------
    frame, traces : DataFrame
        As `Study.frame` and `Study.traces` return them.
    by : sequence of str, default=("variant",)
        Columns of the frame; runs with the same entries are a group. Runs of several environments
        are put apart although `by` does not say so: `environment` is then its first entry.
    measures : sequence of str
        Names of `MEASURES`.
    timeouts : {"limit", "par10", "intersection"}
        How runs that were not solved count in means of times; what all solved is asked of the whole
        frame.
    shift : float, default=1
        Shift of the shifted geometric means, in seconds.

    Returns
    -------
    DataFrame
        A row per group, in the order in which groups first occur; a column per entry of `by`, then
        one per measure under its name.

    Raises
    ------
    DataError
        There is no such column, measure or time-out mode.
    """
    check_timeouts(timeouts)
    for name in measures:
        if name not in MEASURES:
            raise DataError(f"There is no measure {name!r}; there are {', '.join(MEASURES)}.")
    for name in by:
        if name not in frame:
            raise DataError(f"The rows have no column {name!r}; they have {', '.join(frame)}.")
    apart = environments(frame)
    by = [*(["environment"] if len(apart) > 1 and "environment" not in by else []), *by]
    parts = [_prepared(part, traces, timeouts) for part in apart.values()]
    rows = pd.concat(parts)
    rows = rows.loc[frame.index[frame.index.isin(rows.index)]]
    found = []
    for key, group in rows.groupby(by, sort=False, dropna=False) if len(rows) else ():
        numbers = {name: MEASURES[name].of(group, shift) for name in measures}
        found.append({**dict(zip(by, key, strict=True)), **numbers})
    return pd.DataFrame(found, columns=[*by, *measures])


def _prepared(frame: pd.DataFrame, traces: pd.DataFrame, timeouts: str) -> pd.DataFrame:
    """The runs of one environment with what the measures are made of."""
    frame = lines(frame)
    done, own = solved(frame), numbers(frame["seconds"]).where(solved(frame))
    first = own.groupby([frame[name] for name in INSTANCE], dropna=False).transform("min")
    best, value, bound = best_values(frame), numbers(frame["objective"]), numbers(frame["bound"])
    root = numbers(frame["root_bound"])
    made = {
        "_solved": done,
        "_time": times(frame, timeouts),
        "_par10": times(frame, "par10"),
        "_fastest": done & (own == first),
        "_gap": np.where(done, 0.0, gap(value, bound)),
        "_value": pd.Series(gap(value, best), frame.index).where(best.notna()),
        "_root": pd.Series(gap(root, best), frame.index).where(best.notna() & root.notna()),
        "_nodes": numbers(frame["nodes"]),
    }
    return frame.assign(**made).join(integrals(frame, traces))


def how_counted(timeouts: str, shift: float = SHIFT) -> str:
    """The sentence that names time-out mode and shift, for captions of tables and figures."""
    return (
        f"Time-outs: {timeouts} ({TIMEOUTS[check_timeouts(timeouts)]}); "
        f"shifted geometric means have the shift {shift:g} s."
    )
