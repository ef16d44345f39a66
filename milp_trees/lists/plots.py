"""Pictures of the search for an optimal rule list, as Angelino et al. (2018) draw them.

They are drawn from the history of a result: how the incumbent, the bound, the sizes of queue and
map, the lengths of prefixes and the remaining search space change over time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from milp_trees.common.errors import DataError

if TYPE_CHECKING:
    from milp_trees.results.result import Result

INCUMBENT, BOUND, OTHER = "#0072B2", "#D55E00", "#7a7a7a"
History = Mapping[str, list[Any]]
#: Times below this (seconds) are set to this, so that a logarithmic axis can show them.
FLOOR = 1e-3


def plot_list_search(result: Result, *, competitors: Mapping[str, float] | None = None) -> Any:
    """Plot how the search for a rule list went.

    The pictures are: the incumbent and the bound, with values of other models as lines; the numbers
    of prefixes in the queue and in the map; the longest prefix so far and the length of the
    incumbent; the remaining search space; the prefixes in the queue by their length; and the
    number of expanded prefixes so far. A picture is left out if the history has nothing for it. All have the
    same axis of time.
    """
    import matplotlib.pyplot as plt

    history = history_of(result)
    shown = [draw for draw, columns in PICTURES.items() if any(_known(history, c) for c in columns)]
    down = -(-len(shown) // 3)
    across = min(3, len(shown))
    figure, axes = plt.subplots(
        down, across, figsize=(4.3 * across, 3.5 * down), layout="constrained", squeeze=False
    )
    for draw, ax in zip(shown, axes.ravel(), strict=False):
        draw(history, ax)
    for ax in axes.ravel()[len(shown) :]:
        ax.remove()
    if plot_objective in shown:
        add_lines(axes[0, 0], competitors or {})
        axes[0, 0].set_ylabel(result.value.unit if result.value else "objective")
    return figure


def history_of(result: Result) -> History:
    """The history of a result, with at least one moment."""
    history = result.history
    if not history or not history.get("seconds"):
        raise DataError(
            f"{result.method} recorded no history of its search; solve the problem with a method for rule lists that searches among prefixes."
        )
    return history


# -- single pictures -------------------------------------------------------------------------------


def plot_objective(history: History, ax: Any) -> None:
    """Incumbent and bound over time."""
    _steps(history, "incumbent", ax, INCUMBENT, "incumbent")
    _steps(history, "bound", ax, BOUND, "bound", linestyle="--")
    _finish(ax, "objective", "objective")


def add_lines(ax: Any, competitors: Mapping[str, float]) -> None:
    """A horizontal line per competitor, with its name, behind the curves."""
    for i, (name, value) in enumerate(competitors.items()):
        dashes = (0, (1 + 2 * i, 2))
        ax.axhline(
            value,
            color=OTHER,
            linewidth=1.2,
            linestyle=dashes,
            label=f"{name}: {value:.4g}",
            zorder=0,
        )
    ax.legend(fontsize="small", frameon=False)


def plot_sizes(history: History, ax: Any) -> None:
    """Prefixes in the queue and entries of the map over time."""
    _steps(history, "queue", ax, INCUMBENT, "queue")
    _steps(history, "map", ax, BOUND, "map", linestyle="--")
    _finish(ax, "prefixes", "size of queue and map", log=True)


def plot_lengths(history: History, ax: Any) -> None:
    """The longest prefix that was evaluated, and the length of the incumbent, over time."""
    _steps(history, "longest", ax, INCUMBENT, "longest prefix")
    _steps(history, "best_length", ax, BOUND, "best list", linestyle="--")
    ax.yaxis.get_major_locator().set_params(integer=True)
    _finish(ax, "rules", "length")


def plot_space(history: History, ax: Any) -> None:
    """Powers of ten of the lists that are not excluded yet, by both bounds, over time."""
    _steps(history, "log10_space_coarse", ax, BOUND, "coarse bound", linestyle="--")
    _steps(history, "log10_space_fine", ax, INCUMBENT, "fine bound")
    _finish(ax, "log10 of the number of lists", "remaining search space")


def plot_queue_by_length(history: History, ax: Any) -> None:
    """Prefixes of each length in the queue over time."""
    import matplotlib.pyplot as plt

    counts = by_length(history.get("queue_by_length", []))
    shown = [k for k in range(counts.shape[1]) if counts[:, k].any()]
    colours = plt.get_cmap("viridis")(np.linspace(0, 0.92, max(1, len(shown))))
    for colour, k in zip(colours, shown, strict=True):
        values = np.where(counts[:, k] > 0, counts[:, k], np.nan)  # 0 is not on a logarithmic axis
        ax.step(_seconds(history), values, where="post", color=colour, label=str(k))
    _finish(ax, "prefixes", "queue by length of the prefix", log=True, title="length")


def plot_prefixes(history: History, ax: Any) -> None:
    """Number of prefixes whose extensions were evaluated, over time."""
    _steps(history, "prefixes", ax, INCUMBENT, "expanded prefixes")
    _finish(ax, "prefixes", "expanded prefixes", log=True)


#: The pictures, and the columns of a history of which each needs at least one.
PICTURES: dict[Callable[[History, Any], None], tuple[str, ...]] = {
    plot_objective: ("incumbent", "bound"),
    plot_sizes: ("queue", "map"),
    plot_lengths: ("longest", "best_length"),
    plot_space: ("log10_space_coarse", "log10_space_fine"),
    plot_queue_by_length: ("queue_by_length",),
    plot_prefixes: ("prefixes",),
}

# -- parts -----------------------------------------------------------------------------------------


def by_length(rows: list[list[int] | None]) -> np.ndarray:
    """The counts of every moment as one array; lists that end early are filled up with 0."""
    known = [row or [] for row in rows]
    width = max(map(len, known), default=0)
    filled = [[*row, *[0] * (width - len(row))] for row in known]
    return np.array(filled).reshape(len(known), width)


def _known(history: History, column: str) -> bool:
    """Whether the history has an entry in a column."""
    return any(entry is not None and entry != [] for entry in history.get(column, []))


def _seconds(history: History) -> np.ndarray:
    return np.maximum(np.array(history["seconds"], dtype=float), FLOOR)


def _steps(
    history: History, column: str, ax: Any, colour: str, label: str, linestyle: str = "-"
) -> None:
    """A quantity that stays as it is until the next moment."""
    if _known(history, column):
        values = np.array([np.nan if v is None else v for v in history[column]], dtype=float)
        at = _seconds(history)
        ax.step(at, values, where="post", color=colour, label=label, linestyle=linestyle)


def _finish(
    ax: Any, ylabel: str, heading: str, log: bool = False, title: str | None = None
) -> None:
    """Labels and scales; `title` is the one of the legend."""
    ax.set(xlabel="seconds", ylabel=ylabel, title=heading, xscale="log")
    if log:
        ax.set_yscale("log")
    if ax.get_legend_handles_labels()[0]:
        columns = 1 + len(ax.lines) // 6
        ax.legend(
            fontsize="small", title=title, title_fontsize="small", frameon=False, ncols=columns
        )
