"""Mean ranks over data sets with the critical difference of Nemenyi's test.

Janez Demšar (2006), Statistical comparisons of classifiers over multiple data sets, Journal of
Machine Learning Research 7, section 3.2.2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from milp_trees.common.errors import DataError
from milp_trees.studies.measures.instances import SHIFT, lines, matrix, one_environment
from milp_trees.studies.measures.pairs import data_sets, measured


@dataclass(frozen=True, eq=False)
class CriticalDifference:
    """Mean ranks, and which differences of them are larger than chance explains.

    Attributes
    ----------
    ranks : Series
        Mean rank of every line, the best (smallest) first.
    difference : float
        Critical difference: mean ranks that are less apart are not told apart.
    groups : list of list of str
        Largest groups of lines that are not told apart, each of at least two.
    data_sets : int
        Data sets on which every line has a number, which are those that count.
    left_out : int
        Data sets on which a line has none.
    statistic, p : float
        Friedman's test, corrected for ties, that all lines are equal; NaN for two lines.
    alpha : float
        Level of both tests.
    """

    ranks: pd.Series
    difference: float
    groups: list[list[str]]
    data_sets: int
    left_out: int
    statistic: float
    p: float
    alpha: float


def critical_difference(
    frame: pd.DataFrame,
    timeouts: str = "limit",
    shift: float = SHIFT,
    measure: str = "seconds",
    alpha: float = 0.05,
) -> CriticalDifference:
    """Rank the lines on every data set, and compare their mean ranks.

    The number of a line on a data set is the mean of log(t + s) over its instances on which the
    line ran, that is, its shifted geometric mean. Equal numbers share the mean of their ranks.

    Parameters
    ----------
    frame : DataFrame
        As `Study.frame` returns it.
    timeouts : {"limit", "par10", "intersection"}
    shift : float, default=1
        Seconds; for other measures than seconds, no logarithm is taken.
    measure : str, default="seconds"
        A column of the frame whose smaller values are better.
    alpha : float, default=0.05

    Returns
    -------
    CriticalDifference

    Raises
    ------
    DataError
        There are fewer than two lines, or fewer than two data sets on which every line has a
        number.
    """
    frame = one_environment(lines(frame))
    table = matrix(frame, measured(frame, timeouts, measure))
    table = table.dropna(axis=1, how="all")
    if measure == "seconds":
        table = np.log(table + shift)
    means = table.groupby(data_sets(frame, table.index)).mean() if len(table) else table
    whole = means.dropna()
    if whole.shape[1] < 2 or len(whole) < 2:
        raise DataError(
            "Ranks need at least two methods and two data sets on which each of them has a number; "
            f"there are {whole.shape[1]} methods and {len(whole)} such data sets."
        )
    statistic, p = friedman(whole.to_numpy())
    ranks = mean_ranks(whole)
    difference = nemenyi(len(ranks), len(whole), alpha)
    left_out = len(means) - len(whole)
    groups = not_apart(ranks, difference)
    return CriticalDifference(ranks, difference, groups, len(whole), left_out, statistic, p, alpha)


def mean_ranks(table: pd.DataFrame) -> pd.Series:
    """Mean rank of every column over the rows, the smallest number being first; the best first."""
    ranks = rankdata(table.to_numpy().round(12), axis=1)
    return pd.Series(ranks.mean(axis=0), index=table.columns).sort_values(kind="stable")


def friedman(table: np.ndarray) -> tuple[float, float]:
    """Friedman's χ² with its p-value; NaN for fewer than three columns, (0, 1) if all are equal."""
    if table.shape[1] < 3:
        return float("nan"), float("nan")
    if (np.ptp(table, axis=1) == 0).all():
        return 0.0, 1.0
    found = friedmanchisquare(*table.T)
    return float(found.statistic), float(found.pvalue)


def nemenyi(methods: int, data_sets: int, alpha: float = 0.05) -> float:
    """The critical difference q √(k (k + 1) / (6 N)) of k mean ranks over N data sets.

    The factor q is the quantile of the studentised range for k groups and infinitely many degrees
    of freedom, divided by √2.

    Parameters
    ----------
    methods, data_sets : int
        The numbers k and N.
    alpha : float, default=0.05

    Returns
    -------
    float
    """
    q = studentized_range.ppf(1 - alpha, methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(methods * (methods + 1) / (6 * data_sets)))


def not_apart(ranks: pd.Series, difference: float) -> list[list[str]]:
    """Largest groups of neighbours in the ranking that differ by less than the critical difference.

    Parameters
    ----------
    ranks : Series
        Ascending.
    difference : float
    """
    values, names = ranks.to_numpy(), list(ranks.index)
    ends = [int(np.searchsorted(values, value + difference, side="left")) for value in values]
    return [
        names[i:end] for i, end in enumerate(ends) if end - i > 1 and (i == 0 or end > ends[i - 1])
    ]
