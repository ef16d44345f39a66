"""What the measures have in common: instances, lines, solved runs, and times of runs that stopped.

All measures take `Study.frame()`, a DataFrame with a row per run.

- A *line* is what a plot or aggregate has one line for: the column `variant`, which is the method
  with its options, its solver's options and its stated start.
- An *instance* is a problem with a seed and a permutation; every line has at most one run on it.
- A run is *solved* if its status is optimal or infeasible and nothing contradicts it.
- A run that a method does not support is no run: it counts nowhere.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from milp_trees.common.errors import DataError

#: Columns that tell instances apart.
INSTANCE = ["name", "problem", "seed", "permutation"]
#: Columns that tell problems apart.
PROBLEM = ["name", "problem"]
#: The column that tells lines apart.
LINE = "variant"
#: Unit of time, in seconds, added to times before logarithms are taken.
SHIFT = 1.0

#: Time-out modes: how a run that was not solved counts. Every figure names its mode.
TIMEOUTS = {
    "limit": "a run that was not solved counts with its time limit",
    "par10": "a run that was not solved counts with ten times its time limit",
    "intersection": "only instances that every method solved count",
}


def check_timeouts(timeouts: str) -> str:
    """The time-out mode, if there is such a one.

    Raises
    ------
    DataError
        There is no such mode.
    """
    if timeouts not in TIMEOUTS:
        raise DataError(f"The time-out mode is one of {', '.join(TIMEOUTS)}; got {timeouts!r}.")
    return timeouts


def one_environment(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame, if all its runs were made in one environment.

    Times of different machines are never averaged.

    Raises
    ------
    DataError
        There are runs of several environments.
    """
    found = frame["environment"].dropna().unique()
    if len(found) > 1:
        raise DataError(
            f"The runs were made in {len(found)} environments ({', '.join(map(str, found[:5]))}), "
            "and times of different machines are not averaged; select the rows of one of them by "
            "the column `environment`."
        )
    return frame


def environments(frame: pd.DataFrame) -> dict[str | None, pd.DataFrame]:
    """The runs of every environment apart, in the order in which environments first occur.

    Runs whose environment was not recorded are together under None.
    """
    found = frame["environment"].astype(object).where(frame["environment"].notna(), None)
    if not len(frame):
        return {None: frame}
    return {name: frame[(found == name) if name else found.isna()] for name in found.unique()}


def lines(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame without unsupported runs, where every line has one run per instance.

    Further runs of a line on one instance, such as those under another limit, become lines of their
    own, `LINE (2)`, `LINE (3)`, ….
    """
    frame = frame[frame["status"] != "unsupported"]
    again = frame.groupby([*INSTANCE, LINE], dropna=False).cumcount()
    numbered = frame[LINE] + " (" + (again + 1).astype(str) + ")"
    return frame.assign(**{LINE: frame[LINE].where(again == 0, numbered)})


def solved(frame: pd.DataFrame) -> pd.Series:
    """Whether each run is solved: proven optimal or infeasible, and not contradicted."""
    proven = frame["status"].isin(["optimal", "infeasible"])
    return proven & (frame["agrees"].astype(object) != False)  # noqa: E712 (missing is no False)


def numbers(column: pd.Series) -> pd.Series:
    """A column as floats; what is missing, or an integer that no float holds, is NaN."""
    try:
        return pd.to_numeric(column, errors="coerce").astype(float)
    except OverflowError:
        return column.map(lambda x: np.nan if abs(x or 0) > sys.float_info.max else x).astype(float)


def limits(frame: pd.DataFrame) -> pd.Series:
    """The time limit of every run; NaN if none is known.

    A run whose limit was not recorded has the largest one of its problem's other runs.
    """
    known = numbers(frame["time_limit"])
    return known.fillna(known.groupby([frame[n] for n in PROBLEM], dropna=False).transform("max"))


def common(frame: pd.DataFrame) -> tuple[pd.Series, list[str]]:
    """Which runs are on instances that every line solved.

    Returns
    -------
    mask : Series of bool
    without : list of str
        Lines that solved nothing; what the others solved does not depend on them.
    """
    done = frame[solved(frame)]
    capable = list(dict.fromkeys(done[LINE]))
    without = [line for line in dict.fromkeys(frame[LINE]) if line not in set(capable)]
    counts = done.groupby(INSTANCE, dropna=False)[LINE].nunique()
    full = counts.index[counts == len(capable)]
    mask = pd.MultiIndex.from_frame(frame[INSTANCE]).isin(full)
    return pd.Series(mask, index=frame.index), without


def times(frame: pd.DataFrame, timeouts: str = "limit") -> pd.Series:
    """Seconds with which every run counts; NaN for runs that do not count.

    A run that was not solved and has no known time limit counts with its own seconds.

    Parameters
    ----------
    frame : DataFrame
        As `lines` returns it.
    timeouts : {"limit", "par10", "intersection"}
        How runs that were not solved count; see `TIMEOUTS`.
    """
    check_timeouts(timeouts)
    own, done = numbers(frame["seconds"]), solved(frame)
    limit = limits(frame).fillna(own)
    if timeouts == "intersection":
        return own.where(done & common(frame)[0])
    return own.where(done, limit * (10.0 if timeouts == "par10" else 1.0))


def matrix(frame: pd.DataFrame, values: pd.Series) -> pd.DataFrame:
    """Values of runs as a table: a row per instance, a column per line, NaN where there is no run.

    Parameters
    ----------
    frame : DataFrame
        As `lines` returns it.
    values : Series
        A number per row of the frame.
    """
    order = list(dict.fromkeys(frame[LINE]))
    table = frame[INSTANCE].assign(line=frame[LINE], value=np.asarray(values, dtype=float))
    if not len(table):
        return pd.DataFrame(columns=order, dtype=float)
    keys = table.groupby(INSTANCE, dropna=False, sort=False).ngroup()
    wide = table.assign(key=keys).pivot(index="key", columns="line", values="value")
    first = table.assign(key=keys).drop_duplicates("key").set_index("key")[INSTANCE]
    wide.index = pd.MultiIndex.from_frame(first.loc[wide.index])
    return wide.reindex(columns=order)
