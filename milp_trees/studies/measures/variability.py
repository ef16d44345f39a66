"""Performance variability: how much a method's times change although the problem does not.

The order of rows and columns, and the seed, should not matter, but they do (Danna 2008; Lodi and
Tramontani 2013, Performance variability in mixed-integer programming). A difference between two
methods that is smaller than this says nothing.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from milp_trees.studies.measures.instances import LINE, SHIFT, lines, one_environment, solved, times
from milp_trees.studies.measures.times import shifted_geometric_mean


def variability(frame: pd.DataFrame, timeouts: str = "limit", shift: float = SHIFT) -> pd.DataFrame:
    """Times of every line on every problem over its seeds and permutations.

    Parameters
    ----------
    frame : DataFrame
        As `Study.frame` returns it.
    timeouts : {"limit", "par10", "intersection"}
    shift : float, default=1
        Seconds.

    Returns
    -------
    DataFrame
        A row per `name` and line with at least two runs that count: `runs`, `solved`, `mean`
        (shifted geometric), `least`, `most`, `ratio` ((most + s) / (least + s)), and `score`, the
        standard deviation divided by the arithmetic mean, which is the variability score of MIPLIB
        2010 (Koch et al. 2011).
    """
    frame = one_environment(lines(frame))
    frame = frame.assign(_t=times(frame, timeouts), _solved=solved(frame)).dropna(subset="_t")
    rows = []
    for (name, line), group in frame.groupby(["name", LINE], sort=False):
        t = group["_t"].to_numpy()
        if len(t) < 2:
            continue
        rows.append(
            {
                "name": name,
                LINE: line,
                "runs": len(t),
                "solved": int(group["_solved"].sum()),
                "mean": shifted_geometric_mean(t, shift),
                "least": t.min(),
                "most": t.max(),
                "ratio": (t.max() + shift) / (t.min() + shift),
                "score": float(np.std(t, ddof=1) / t.mean()) if t.mean() else 0.0,
            }
        )
    columns = ["runs", "solved", "mean", "least", "most", "ratio", "score"]
    return pd.DataFrame(rows, columns=["name", LINE, *columns]).set_index(["name", LINE])
