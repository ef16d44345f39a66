"""What stands behind the answers, and which of them contradict each other."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from milp_trees.studies.measures.instances import LINE, PROBLEM, lines, numbers
from milp_trees.tasks.comparing import floats_cross

#: What stands behind an answer, as the column `evidence` says it, the strongest first.
BELIEFS = ("proved by file", "derived again", "claimed", "recomputed", "contradicted")


def agreement(frame: pd.DataFrame) -> pd.DataFrame:
    """What stands behind the answers of every line, as numbers of runs.

    Parameters
    ----------
    frame : DataFrame
        As `Study.frame` returns it.

    Returns
    -------
    DataFrame
        A row per line, a column per word of `BELIEFS`, and `no answer`.
    """
    frame = lines(frame)
    words = frame["evidence"].astype(object).where(frame["evidence"].notna(), "no answer")
    counts = pd.crosstab(frame[LINE], words)
    order = list(dict.fromkeys(frame[LINE]))
    return counts.reindex(index=order, columns=[*BELIEFS, "no answer"], fill_value=0)


def contradictions(frame: pd.DataFrame) -> pd.DataFrame:
    """Pairs of runs of one problem that cannot both be right.

    That is so if a value is better than the other's bound allows, or if a problem is said to be
    infeasible of which the other has a model.

    Parameters
    ----------
    frame : DataFrame
        As `Study.frame` returns it.

    Returns
    -------
    DataFrame
        A row per pair: `name`, the line, value and bound of both (`_a`, `_b`).
    """
    frame = lines(frame)
    frame = frame[frame["status"] != "error"]
    sign = np.where(frame["sense"] == "max", -1.0, 1.0)
    infeasible = frame["status"] == "infeasible"
    checked = frame.assign(
        _value=numbers(frame["objective"]) * sign,
        _bound=(numbers(frame["bound"]) * sign).mask(infeasible, np.inf),
    )
    # One run per line and pair of numbers is enough: seeds repeat what is said.
    checked = checked.drop_duplicates([*PROBLEM, LINE, "_value", "_bound"])
    rows = []
    for name, group in checked.groupby(PROBLEM, dropna=False, sort=False):
        for a, b in combinations(group.itertuples(), 2):
            if floats_cross(a[-1], b[-2]) or floats_cross(b[-1], a[-2]):
                pair = {f"{LINE}_{k}": getattr(run, LINE) for k, run in (("a", a), ("b", b))}
                for k, run in (("a", a), ("b", b)):
                    pair |= {f"objective_{k}": run.objective, f"bound_{k}": run.bound}
                rows.append({"name": name[0], **pair})
    ends = [f"{what}_{k}" for k in "ab" for what in (LINE, "objective", "bound")]
    return pd.DataFrame(rows, columns=["name", *ends])
