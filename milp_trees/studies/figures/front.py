"""Picture of a Pareto front: one coordinate against another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from milp_trees.common.errors import DataError
from milp_trees.results.front import place

if TYPE_CHECKING:
    from milp_trees.results.result import Result


def plot_front(result: Result, ax: Any = None) -> Any:
    """Plot the first two coordinates of a front.

    Between two models nothing better is possible, so they are joined by steps; a front that is not
    proven complete has a dashed line.

    Parameters
    ----------
    result : Result
        An answer to the question `front` with at least one model.
    ax : matplotlib axes, optional
        New ones by default.

    Returns
    -------
    matplotlib axes

    Raises
    ------
    DataError
        The result has no front, or the front has no model or only one coordinate.
    """
    # Against a side constraint, the value is read over what is permitted.
    turn = -1 if result.problem.rule is not None else 1
    shown = sorted((s.coordinates[::turn] for s in result.solutions), key=place)
    if result.complete is None or not shown or len(shown[0]) < 2:
        raise DataError(
            "There is no front to plot; give the answer to the question 'front' that holds a model with two coordinates."
        )
    import matplotlib.pyplot as plt

    ax = ax if ax is not None else plt.subplots(figsize=(5, 3.5))[1]
    first, second = shown[0][:2]
    # Up to the next model the second coordinate stays as it is, if the first one is given up.
    ax.step(
        [point[0].number for point in shown],
        [point[1].number for point in shown],
        where="post" if len(shown[0]) == 2 else "mid",
        linestyle=("-" if result.complete else "--") if len(shown[0]) == 2 else "",
        marker="o",
        markersize=4,
    )
    ax.set(xlabel=first.unit, ylabel=second.unit)
    ax.set_title("" if result.complete else "not proven complete", fontsize="small")
    return ax
