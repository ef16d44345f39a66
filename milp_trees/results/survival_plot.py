"""Survival curves of the leaves of a tree: what was observed, beside what the tree predicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.plurals import counted
from milp_trees.models.draw import _shorten
from milp_trees.models.draw_text import clean
from milp_trees.models.predicted import rounded

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

OBSERVED, PREDICTED = "#4d4d4d", "#c8401f"
#: Pictures beside each other, their size in inches, and the longest line above one.
COLUMNS, WIDTH, HEIGHT, LONGEST = 4, 3.2, 2.5, 34
#: Most conditions of the way to a leaf that stand above its picture.
MOST_CONDITIONS = 4


def kaplan_meier(
    time: np.ndarray, event: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The estimator of Kaplan and Meier of a survival function.

    Parameters
    ----------
    time, weights : float arrays of shape (n,)
    event : array of shape (n,)
        1 if the event was seen, 0 if the row was censored.

    Returns
    -------
    tuple of float arrays of shape (m,)
        Times of events, increasing, and the share that survives each of them.
    """
    order = np.argsort(time, kind="stable")
    time, event, weights = time[order], np.asarray(event)[order] > 0, weights[order]
    times = np.unique(time[event])
    at_risk = np.cumsum(weights[::-1])[::-1][np.searchsorted(time, times, side="left")]
    died = np.zeros(len(times))
    np.add.at(died, np.searchsorted(times, time[event]), weights[event])
    return times, np.cumprod(1 - died / at_risk)


def plot_survival(
    model: Any, dataset: Dataset, baseline: Sequence[Sequence[float]], axes: Any = None
) -> Any:
    """Plot the survival curves of every leaf of a tree that predicts relative hazards.

    Parameters
    ----------
    model : Tree
    dataset : Dataset
        Rows with the targets time and event; the curves of Kaplan and Meier are of these.
    baseline : pair of sequences of float
        Times, and the cumulative hazard of the baseline from each of them on.
    axes : array of matplotlib axes, optional
        One for each leaf, from left to right; by default those of a new figure.

    Returns
    -------
    array of matplotlib axes
        One for each leaf.
    """
    routes = model.routes(dataset)
    targets, names = dataset.require("targets", "This plot"), list(dataset.target_names or ())
    time, event = (np.asarray(targets[:, names.index(n)], float) for n in ("time", "event"))
    weights = dataset.row_weights * dataset.row_counts
    last = float(time.max(initial=0.0))
    places = _axes(routes.n_leaves) if axes is None else np.ravel(axes)
    for leaf, ax in enumerate(places[: routes.n_leaves]):
        here = routes.leaf == leaf
        theta = float(routes.actions[routes.leaf_actions[leaf]])
        times, share = kaplan_meier(time[here], event[here], weights[here])
        _step(ax, times, share, last, color=OBSERVED, label="Kaplan–Meier")
        at, hazard = (np.asarray(part, dtype=float) for part in baseline)
        curve = np.exp(-theta * hazard)
        _step(ax, at, curve, last, color=PREDICTED, linestyle="--", label="exp(−θ·H₀(t))")
        rows = int(dataset.row_counts[here].sum())
        events = int(dataset.row_counts[here][event[here] > 0].sum())
        size = f"{counted(rows, 'row')}, {counted(events, 'event')}, θ = {rounded(theta)}"
        ax.set_title("\n".join([*_way(model, leaf), size]), fontsize=8)
        ax.set_ylim(-0.02, 1.02)
        ax.set_xlim(0, last or 1)
        ax.tick_params(labelsize=7)
    places[0].legend(fontsize=7, loc="best", frameon=False)
    return places[: routes.n_leaves]


def _step(ax: Any, times: np.ndarray, share: np.ndarray, last: float, **style: Any) -> None:
    """A survival curve, which is 1 before its first time and constant after its last one."""
    x = np.concatenate([[0.0], times, [last]])
    y = np.concatenate([[1.0], share, share[-1:] if len(share) else [1.0]])
    ax.step(x, y, where="post", linewidth=1.4, **style)


def plot_tree_and_curves(model: Any, dataset: Dataset, baseline: Sequence[Sequence[float]]) -> Any:
    """A figure of a tree that predicts relative hazards, above the survival curves of its leaves.

    Parameters
    ----------
    model, dataset, baseline
        See `plot_survival`.

    Returns
    -------
    matplotlib figure
    """
    import matplotlib.pyplot as plt

    alone = model.plot(dataset=dataset)
    wide, high = alone.figure.get_size_inches()
    plt.close(alone.figure)
    across, down = _shape(model.n_leaves)
    figure = plt.figure(
        figsize=(max(wide, WIDTH * across), high + HEIGHT * down + 0.3), layout="constrained"
    )
    above, below = figure.subfigures(2, 1, height_ratios=[high, HEIGHT * down + 0.3])
    model.plot(above.subplots(), dataset)
    plot_survival(model, dataset, baseline, _axes(model.n_leaves, below))
    return figure


def _shape(n: int) -> tuple[int, int]:
    """Numbers of pictures beside each other and below each other."""
    across = min(COLUMNS, n)
    return across, math.ceil(n / across)


def _axes(n: int, figure: Any = None) -> np.ndarray:
    """Axes of a figure, by default a new one, in rows; those that are not needed are invisible."""
    import matplotlib.pyplot as plt

    across, down = _shape(n)
    if figure is None:
        figure = plt.figure(figsize=(WIDTH * across, HEIGHT * down + 0.3), layout="constrained")
    axes = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for ax in axes.ravel()[n:]:
        ax.set_visible(False)
    for ax in axes[:, 0]:
        ax.set_ylabel("share without the event", fontsize=8)
    for column in range(across):  # the lowest visible one
        lowest = max(row for row in range(down) if row * across + column < n)
        axes[lowest, column].set_xlabel("time", fontsize=8)
        axes[lowest, column].tick_params(labelbottom=True)
    return np.asarray(axes.ravel())


def _way(model: Any, leaf: int) -> list[str]:
    """The last conditions on the way to a leaf, a line each."""
    found: list[list[str]] = []

    def walk(node: Any, conditions: list[str]) -> None:
        if not hasattr(node, "test"):
            found.append(conditions)
            return
        walk(node.left, [*conditions, clean(node.test.negation)])
        walk(node.right, [*conditions, clean(node.test.name)])

    walk(model.root, [])
    lines = [_shorten(one, LONGEST) for one in found[leaf]]
    return lines if len(lines) <= MOST_CONDITIONS else ["…", *lines[-MOST_CONDITIONS:]]
