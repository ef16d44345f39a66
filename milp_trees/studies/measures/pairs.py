"""Every line against a base: ratios with bootstrap intervals, and Wilcoxon's signed-rank test."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import bootstrap, wilcoxon

from milp_trees.common.errors import DataError
from milp_trees.studies.measures.instances import (
    LINE,
    SHIFT,
    lines,
    matrix,
    numbers,
    one_environment,
    times,
)


def pairwise_ratios(
    frame: pd.DataFrame,
    base: str,
    timeouts: str = "limit",
    shift: float = SHIFT,
    measure: str = "seconds",
    seed: int = 0,
) -> pd.DataFrame:
    """Times of every line as multiples of those of a base.

    The ratio of one instance is (t + s) / (t_base + s). Runs of one problem with other seeds or
    permutations are no independent cases: the logarithms of their ratios are averaged first, and
    problems are what the mean is taken over and what the bootstrap draws (percentile intervals of
    95 %, 2000 samples; Efron and Tibshirani 1993, chapter 13).

    Parameters
    ----------
    frame : DataFrame
        As `Study.frame` returns it.
    base : str
        The line that the others are compared with.
    timeouts : {"limit", "par10", "intersection"}
    shift : float, default=1
        Added to both numbers, in their unit.
    measure : str, default="seconds"
        A column of the frame whose smaller values are better; time-outs apply to seconds only.
    seed : int, default=0
        Seed of the bootstrap.

    Returns
    -------
    DataFrame
        A row per other line: `instances` and `problems` that both have; `ratio` (geometric mean),
        `low` and `high` (ends of the interval; NaN with fewer than two problems); `faster`,
        `slower` and `equal` (instances on which the line's number is smaller, larger or the same);
        `p`, that of `wilcoxon_test`, and `p_holm`, corrected for the number of comparisons.

    Raises
    ------
    DataError
        There is no such line.
    """
    frame = one_environment(lines(frame))
    table = _table(frame, base, timeouts, measure)
    rows = []
    for line in (line for line in table if line != base):
        both = table[[line, base]].dropna()
        logs = np.log((both[line] + shift) / (both[base] + shift))
        means = logs.groupby(level=["name", "problem"], dropna=False).mean().to_numpy()
        low, high = interval(means, seed)
        rows.append(
            {
                LINE: line,
                "instances": len(both),
                "problems": len(means),
                "ratio": float(np.exp(means.mean())) if len(means) else np.nan,
                "low": float(np.exp(low)),
                "high": float(np.exp(high)),
                "faster": int((both[line] < both[base]).sum()),
                "slower": int((both[line] > both[base]).sum()),
                "equal": int((both[line] == both[base]).sum()),
                "p": wilcoxon_test(_by_data(frame, logs)),
            }
        )
    columns = ["instances", "problems", "ratio", "low", "high", "faster", "slower", "equal", "p"]
    out = pd.DataFrame(rows, columns=[LINE, *columns]).set_index(LINE)
    return out.assign(p_holm=holm(out["p"]))


def interval(means: Any, seed: int = 0, samples: int = 2000) -> tuple[float, float]:
    """Ends of the 95 % percentile bootstrap interval of a mean.

    Parameters
    ----------
    means : array-like of float
    seed : int, default=0
        Seed of the samples.
    samples : int, default=2000

    Returns
    -------
    low, high : float
        NaN with fewer than two numbers.
    """
    given = np.asarray(means, dtype=float)
    if len(given) < 2:
        return float("nan"), float("nan")
    found = bootstrap(
        (given,),
        np.mean,
        n_resamples=samples,
        method="percentile",
        random_state=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)


def wilcoxon_test(differences: Any) -> float:
    """The p-value of Wilcoxon's signed-rank test that differences are symmetric about zero.

    Demšar (2006), Statistical comparisons of classifiers over multiple data sets, section 3.1.3,
    recommends it for two methods. Zeros are dropped; it is exact for up to 50 differences without
    ties, and the normal approximation otherwise.

    Parameters
    ----------
    differences : array-like of float
        One number per data set.

    Returns
    -------
    float
        Two-sided; 1 if all differences are zero, NaN if there are none.
    """
    given = np.asarray(differences, dtype=float)
    if not len(given):
        return float("nan")
    if not given.any():
        return 1.0
    return float(wilcoxon(given).pvalue)


def holm(p: pd.Series) -> pd.Series:
    """p-values corrected for their number by the step-down method of Holm (1979)."""
    known = p.dropna().sort_values(kind="stable")
    factors = np.arange(len(known), 0, -1)
    return (known * factors).cummax().clip(upper=1.0).reindex(p.index)


def measured(frame: pd.DataFrame, timeouts: str, measure: str) -> pd.Series:
    """The number of every run that lines are compared by; NaN for runs that do not count.

    Parameters
    ----------
    frame : DataFrame
        As `lines` returns it.
    timeouts : {"limit", "par10", "intersection"}
    measure : str
        A column of the frame.

    Returns
    -------
    Series

    Raises
    ------
    DataError
        The frame has no such column.
    """
    if measure == "seconds":
        return times(frame, timeouts)
    if measure not in frame:
        raise DataError(f"The rows have no column {measure!r} that methods could be compared by.")
    values = numbers(frame[measure])
    if timeouts == "intersection":
        return values.where(times(frame, timeouts).notna())
    return values


def _table(frame: pd.DataFrame, base: str, timeouts: str, measure: str) -> pd.DataFrame:
    table = matrix(frame, measured(frame, timeouts, measure))
    if base not in table:
        raise DataError(f"There is no line {base!r}; there are {', '.join(table)}.")
    return table


def _by_data(frame: pd.DataFrame, logs: pd.Series) -> np.ndarray:
    """Means of logarithms over the instances of every data set."""
    return np.asarray(logs.groupby(data_sets(frame, logs.index)).mean())


def data_sets(frame: pd.DataFrame, instances: pd.MultiIndex) -> np.ndarray:
    """The data set of every instance, from the column `data`."""
    place = frame.drop_duplicates(["name", "problem"]).set_index(["name", "problem"])["data"]
    keys = pd.MultiIndex.from_arrays([instances.get_level_values(k) for k in (0, 1)])
    return np.asarray(place.reindex(keys).fillna("").astype(str))
