"""Figures of a study's measures, legible for many methods.

Every figure names its time-out mode where times are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from milp_trees.common.errors import DataError
from milp_trees.studies.measures import (
    critical_difference,
    pairwise_ratios,
    performance_profile,
    target_distribution,
    variability,
    with_virtual_best,
)
from milp_trees.studies.measures.instances import (
    INSTANCE,
    LINE,
    PROBLEM,
    lines,
    one_environment,
    solved,
    times,
)
from milp_trees.studies.measures.profiles import FLOOR
from milp_trees.studies.measures.summary import summary

#: Colours that most colour-blind readers tell apart (Okabe and Ito 2008), and then other dashes.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (8, 2)))
SHIFT = 1.0
#: So many lines of a figure are named; the others are thin and grey, and the legend counts them.
NAMED = 8
#: With more entries than this, a legend has several columns.
MANY = 16


@dataclass(frozen=True)
class Wanted:
    """What a figure shows.

    Parameters
    ----------
    frame, traces : DataFrame
        As `Study.frame` and `Study.traces` return them.
    timeouts : {"limit", "par10", "intersection"}
    base : str or None
        The line that ratios are relative to; by default the first one.
    target : float
        Primal gap that counts as reached.
    """

    frame: pd.DataFrame
    traces: pd.DataFrame
    timeouts: str = "limit"
    base: str | None = None
    target: float = 0.0


def draw(kind: str, wanted: Wanted, ax: Any = None) -> Any:
    """Draw a figure.

    Parameters
    ----------
    kind : str
        A name of `FIGURES`.
    wanted : Wanted
    ax : matplotlib axes, optional
        New ones by default.

    Returns
    -------
    matplotlib figure

    Raises
    ------
    DataError
        There is no such figure, or the runs were made in several environments.
    """
    import matplotlib.pyplot as plt

    if kind not in FIGURES:
        raise DataError(f"A figure is one of overview, {', '.join(FIGURES)}; got {kind!r}.")
    if not len(wanted.frame):
        raise DataError("The study has no rows that a figure could show.")
    if ax is None:
        _, ax = plt.subplots(layout="constrained")
    one_environment(wanted.frame)
    FIGURES[kind](wanted, ax)
    return ax.figure


def line_styles(names: list[str]) -> dict[str, dict[str, Any]]:
    """Colour and dashes of the lines that a figure names, in the order of the study."""
    return {
        name: {"color": COLOURS[k % len(COLOURS)], "linestyle": DASHES[k // 7 % len(DASHES)]}
        for k, name in enumerate(names)
    }


def _steps(ax: Any, table: pd.DataFrame, end: float, start: float | None = None) -> None:
    """Draw the columns of a table as steps, the highest at its end first in the legend."""
    order = sorted(table, key=lambda name: -table[name].iloc[-1] - 1e-3 * table[name].mean())
    styles = line_styles([name for name in table if name in order[:NAMED]])
    x = np.append(table.index.to_numpy(dtype=float), end)
    x = x if start is None else np.maximum(x, start)
    rest = len(order) - NAMED
    for k, name in enumerate(order):
        y = np.append(table[name], table[name].iloc[-1])
        style = {"label": name, **styles[name]} if k < NAMED else grey(rest if k == NAMED else 0)
        ax.step(x, y, where="post", **style)
    legend(ax)


def grey(count: int) -> dict[str, Any]:
    """The style of a line that is not named; the legend tells the count if it is positive."""
    label = f"{count} other{'s' * (count > 1)}" if count else None
    return {"label": label, "color": "0.75", "linewidth": 0.8, "zorder": 1}


def legend(ax: Any) -> None:
    """A legend beside the axes, so that it hides nothing."""
    count = len(ax.get_legend_handles_labels()[1])
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0,
        frameon=False,
        ncols=-(-count // MANY),
        fontsize="small" if count > MANY else None,
    )


def _log(ax: Any) -> None:
    """A logarithmic axis with plain numbers at 1, 2 and 5 times powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    ax.set_xscale("log")
    low, high = ax.get_xlim()
    if high / low < 100:
        ax.xaxis.set_major_locator(
            LogLocator(subs=(1, 2, 5) if high / low > 3 else (*range(1, 10), 1.5))
        )
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_minor_formatter(NullFormatter())


def _profile(wanted: Wanted, ax: Any) -> None:
    if len(wanted.frame.drop_duplicates(PROBLEM)) == 1:
        _times(wanted, ax)
        return
    table = performance_profile(wanted.frame, wanted.timeouts)
    _steps(ax, table, max(2.0, table.index[-1] * 1.2))
    ax.set(
        xscale="log",
        ylim=(-0.02, 1.02),
        xlabel="time / time of the fastest",
        ylabel="share of instances solved",
        title=f"performance profile; {_counted(wanted)}",
    )


def _times(wanted: Wanted, ax: Any) -> None:
    """Seconds of every method on one problem: shares of one problem would be no profile."""
    frame = lines(wanted.frame)
    frame = frame.assign(done=solved(frame), seconds=times(frame, wanted.timeouts))
    table = frame.groupby(LINE, sort=False).agg(seconds=("seconds", "median"), done=("done", "all"))
    table = table.assign(seconds=table["seconds"].clip(lower=FLOOR)).sort_values("seconds")
    ax.barh(
        list(table.index),
        table["seconds"],
        color=[COLOURS[0] if done else "none" for done in table["done"]],
        edgecolor=[COLOURS[0] if done else COLOURS[1] for done in table["done"]],
    )
    ax.invert_yaxis()
    if len(table) > MANY:
        ax.tick_params(axis="y", labelsize=max(4, 10 * MANY // len(table)))
    ax.set(
        xscale="log",
        xlabel="seconds (empty: not proven)",
        title=f"one problem, so no profile; time-outs: {wanted.timeouts}",
    )


def _counted(wanted: Wanted) -> str:
    """The time-out mode of a figure of shares."""
    if wanted.timeouts == "intersection":
        return "time-outs: intersection"
    return f"time-outs: {wanted.timeouts} (never within a factor)"


def _solved(wanted: Wanted, ax: Any) -> None:
    frame = lines(with_virtual_best(wanted.frame))
    done = frame[solved(frame)]
    seconds = pd.to_numeric(done["seconds"]).clip(lower=FLOOR)
    at = np.unique(np.append(seconds, FLOOR))
    columns = {
        name: np.searchsorted(np.sort(seconds[done["variant"] == name]), at, side="right")
        for name in dict.fromkeys(frame["variant"])
    }
    _steps(ax, pd.DataFrame(columns, index=at), at[-1] * 1.2)
    ax.yaxis.get_major_locator().set_params(integer=True)
    total = len(frame.drop_duplicates(INSTANCE))
    ax.set(
        xscale="log",
        xlabel="seconds",
        ylabel="instances solved",
        ylim=(-0.02 * total, 1.02 * total),
        title="instances solved within a time; time-outs: not solved",
    )


def _target(wanted: Wanted, ax: Any) -> None:
    table = target_distribution(wanted.frame, wanted.traces, wanted.target)
    _steps(ax, table, max(table.index[-1] * 1.2, FLOOR), FLOOR)
    near = f" within {100 * wanted.target:g} %" if wanted.target else ""
    ax.set(
        xscale="log",
        ylim=(-0.02, 1.02),
        xlabel=f"seconds to the best known value{near}",
        ylabel="share of instances",
        title="time to target; time-outs: not reached",
    )


def _dots(ax: Any, names: list[str]) -> np.ndarray:
    """One row per name, the first on top; gives the places of the rows."""
    places = np.arange(len(names))[::-1]
    ax.set_yticks(places, names)
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.grid(axis="x", alpha=0.3)
    return places


def _ratios(wanted: Wanted, ax: Any) -> None:
    base = wanted.base or str(lines(wanted.frame)["variant"].iloc[0])
    table = pairwise_ratios(wanted.frame, base, wanted.timeouts, SHIFT)
    table = table[table["ratio"].notna()].sort_values("ratio")
    places = _dots(ax, list(table.index))
    ax.hlines(places, table["low"], table["high"], color=COLOURS[0])
    ax.plot(table["ratio"], places, "o", color=COLOURS[0])
    ax.axvline(1.0, color="grey", linewidth=0.8)
    ax.set(
        xlabel=f"(time + {SHIFT:g} s) / (time of {base} + {SHIFT:g} s), with 95 % intervals",
        title=f"times as multiples of {base}; time-outs: {wanted.timeouts}",
    )
    _log(ax)


def _integrals(wanted: Wanted, ax: Any) -> None:
    kinds = ("primal", "dual", "primal-dual")
    table = summary(wanted.frame, wanted.traces, ["variant"], kinds)
    table = table.sort_values("primal-dual").set_index("variant")
    places = _dots(ax, list(table.index))
    for kind, marker, colour in zip(kinds, "o^s", COLOURS, strict=False):
        ax.plot(table[kind], places, marker, color=colour, label=kind, fillstyle="none")
    ax.set(
        xlabel="shifted geometric mean of the integrals [s], shift 1 s",
        title="integrals of the gaps; time-outs: to the limit",
    )
    ax.set_xscale("symlog", linthresh=0.1)
    ax.set_xlim(left=0)
    legend(ax)


def _variability(wanted: Wanted, ax: Any) -> None:
    table = variability(wanted.frame, wanted.timeouts, SHIFT)
    if not len(table):
        raise DataError(
            "No method has runs of one problem with several seeds or permutations, so there is no "
            "variability to show; state `seeds` or `permutations` in the study."
        )
    ratios = {name: part["ratio"] for name, part in table.groupby("variant", sort=False)}
    order = sorted(ratios, key=lambda name: float(np.median(ratios[name])))
    places = _dots(ax, order)
    for place, name in zip(places, order, strict=True):
        own = np.sort(ratios[name])
        spread = place + 0.25 * np.sin(np.arange(len(own)) * 2.4)  # dots beside each other
        ax.plot(own, spread, "o", color=COLOURS[0], alpha=0.5, markersize=3)
        ax.plot(np.median(own), place, "|", color=COLOURS[1], markersize=14, markeredgewidth=2)
    ax.set(
        xlabel=f"(largest time + {SHIFT:g} s) / (smallest time + {SHIFT:g} s); a dot per problem, | the median",
        title=f"variability over seeds and permutations; time-outs: {wanted.timeouts}",
    )
    _log(ax)


def _ranks(wanted: Wanted, ax: Any) -> None:
    """The diagram of Demšar (2006): ranks on an axis, bars over groups that are not told apart."""
    found = critical_difference(wanted.frame, wanted.timeouts, SHIFT)
    ranks, count = found.ranks, len(found.ranks)
    half = (count + 1) // 2
    low, high = 1, max(count, 2)
    ax.set(xlim=(low, high), ylim=(-half - 0.6 - 0.5 * len(found.groups), 1.4))
    ax.axhline(0, color="black", linewidth=1)
    for rank in range(low, high + 1, 1 + high // 16):
        ax.plot([rank, rank], [0, 0.12], color="black", linewidth=1)
        ax.text(rank, 0.2, str(rank), ha="center", va="bottom")
    for k, group in enumerate(found.groups):
        y = -0.35 - 0.5 * k
        ax.plot([ranks[group[0]], ranks[group[-1]]], [y, y], color=COLOURS[1], linewidth=3)
    below = -0.4 - 0.5 * len(found.groups)
    for k, (name, rank) in enumerate(ranks.items()):
        left = k < half
        y = below - (k if left else count - 1 - k)
        end = low - 0.02 * (high - low) if left else high + 0.02 * (high - low)
        ax.plot([rank, rank, end], [0, y, y], color="grey", linewidth=0.8, clip_on=False)
        side = "right" if left else "left"
        ax.text(end, y, f" {name} ({rank:.2f}) ", ha=side, va="center")
    ax.plot([low, low + found.difference], [1, 1], color="black", linewidth=2, clip_on=False)
    ax.text(low, 1.1, f"critical difference {found.difference:.2f}", ha="left", va="bottom")
    ax.axis("off")
    stated = "" if np.isnan(found.p) else f", Friedman p = {found.p:.2g}"
    ax.set_title(
        f"mean ranks of times over {found.data_sets} data sets{stated}; time-outs: {wanted.timeouts}"
    )


#: Figures by name.
FIGURES: dict[str, Callable[[Wanted, Any], None]] = {
    "profile": _profile,
    "solved": _solved,
    "target": _target,
    "ratios": _ratios,
    "integrals": _integrals,
    "ranks": _ranks,
    "variability": _variability,
}
