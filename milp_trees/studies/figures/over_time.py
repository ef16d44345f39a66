"""Pictures of a study: incumbent and bound over time, and a performance profile.

The performance profile is that of Dolan and Moré (2002).
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from milp_trees.results.tables import thresholds_of_all
from milp_trees.studies.columns import flat
from milp_trees.studies.figures.measures import COLOURS, Wanted, draw, grey, legend, line_styles
from milp_trees.studies.measures.profiles import FLOOR

#: Dashes tell bounds from incumbents here, so only colours tell methods apart.
MOST = len(COLOURS)
#: Characters of a line of the caption.
WIDTH = 180


def plot_study(rows: Sequence[Mapping[str, Any]], frame: pd.DataFrame, axes: Any = None) -> Any:
    """Plot incumbents and bounds over time, and the performance profile.

    Parameters
    ----------
    rows : sequence of mappings
        The rows of a study.
    frame : DataFrame
        The same rows as a table.
    axes : two matplotlib axes, optional
        New ones by default. The first gets the incumbent (solid) and bound (dashed) of every method
        over time, the second the performance profile of proven runs. A new figure has a caption:
        which thresholds were searched, and what is known of all of them.

    Returns
    -------
    matplotlib figure
    """
    import matplotlib.pyplot as plt

    new = axes is None
    if new:
        figure, axes = plt.subplots(1, 2, figsize=(15, 4.2), layout="constrained")
    else:
        figure = axes[0].figure
    plot_traces(rows, axes[0])
    if len(frame):
        draw("profile", Wanted(frame, pd.DataFrame()), axes[1])
    if new and (caption := thresholds_of_all(rows)):
        figure.supxlabel(textwrap.fill(caption, WIDTH), fontsize="small")
    return figure


def plot_traces(rows: Sequence[Mapping[str, Any]], ax: Any) -> None:
    """Incumbent and bound over time of the rows of the study's first problem.

    The runs with the smallest gaps, and of these the fastest, are named.
    """
    first = rows[0]["problem_key"] if rows else None
    shown = [row for row in rows if row["problem_key"] == first and row["trace"]]
    seeds = len({row["seed"] for row in shown}) > 1
    names = [flat(row)["variant"] + f", seed {row['seed']}" * seeds for row in shown]
    order = sorted(range(len(shown)), key=lambda i: (_far(shown[i]), shown[i]["seconds"]))
    named = [names[i] for i in sorted(order[:MOST])]
    styles = line_styles(list(dict.fromkeys(named)))
    for place, i in enumerate(order):
        row = shown[i]
        points = np.array(
            [[np.nan if v is None else v for v in p] for p in row["trace"]], dtype=float
        )
        end = max(row["seconds"], points[-1, 0])
        points = np.vstack([points, [end, *points[-1, 1:]]])
        seconds = np.maximum(points[:, 0], FLOOR)
        # Coinciding lines remain visible as borders of each other.
        style = {"linewidth": 1.2 + 2.8 * max(0, MOST - 1 - place) / MOST, "label": names[i]}
        style["color"] = styles.get(names[i], {}).get("color")
        if place >= MOST:
            style = grey(len(order) - MOST if place == MOST else 0)
        ax.step(seconds, points[:, 1], where="post", **style)
        ax.step(seconds, points[:, 2], where="post", **{**style, "label": None}, linestyle="--")
    ax.set(
        xscale="log",
        xlabel="seconds",
        ylabel=rows[0]["unit"] if rows else "",
        title="incumbent (solid) and bound (dashed)",
    )
    if shown:
        ax.set_ylim(*visible_range(shown))
        legend(ax)


def _far(row: Mapping[str, Any]) -> float:
    """Distance of the last incumbent and bound of a row; infinite if one of them is unknown."""
    incumbent, bound = row["trace"][-1][1:]
    return float("inf") if None in (incumbent, bound) else abs(incumbent - bound)


def visible_range(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    """Ends of the value axis.

    They include the last incumbents and bounds, and those of the first ones that are not too far
    away. First bounds of weak models and first incumbents may be larger by orders of magnitude;
    their curves then enter the picture later.
    """
    incumbents, bounds = (
        [[p[i] for p in row["trace"] if p[i] is not None] for row in rows] for i in (1, 2)
    )
    last_bounds = [b[-1] for b in bounds if b]
    values = [v[-1] for v in incumbents if v] or last_bounds or [0.0, 1.0]
    low, high = min(values), max(values)
    reach = max(high - low, 1.05 * max(abs(low), abs(high))) or 1.0
    # A bound far away is cut off; the space that is left for it shows that there is a gap.
    shown = [*values, *(min(max(b, low - reach), high + reach) for b in last_bounds)]
    low, high = min(shown), max(shown)
    span = (high - low) or reach / 10
    first = [v for row in incumbents for v in row]
    low, high = max(low - span, min([low, *first])), min(high + span, max([high, *first]))
    margin = 0.05 * (high - low) or 0.5
    return low - margin, high + margin
