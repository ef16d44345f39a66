"""Oblique trees of two numeric columns, drawn in the plane of these columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from milp_trees.common.errors import DataError
from milp_trees.models.draw import action_colour

#: Points along each axis at which the tree is asked for its leaf.
POINTS = 400


def plot_plane(tree: Any, dataset: Any, ax: Any = None) -> Any:
    """Draw the rows of a dataset and the leaves of an oblique tree.

    Parameters
    ----------
    tree : ObliqueTree
        Its tests ask for at most two columns.
    dataset : Dataset
        Its rows are drawn in the colours of their classes, if it has any.
    ax : matplotlib axes, optional
        By default those of a new figure.

    Returns
    -------
    matplotlib axes
    """
    from matplotlib.colors import ListedColormap

    names = _columns(tree, dataset)
    at = [list(dataset.columns).index(name) for name in names]
    numbers = dataset.numeric[:, at]
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(5, 4))
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    edge = np.where(high > low, 0.05 * (high - low), 1.0)
    lines = [np.linspace(a - e, b + e, POINTS) for a, b, e in zip(low, high, edge, strict=True)]
    x, y = np.meshgrid(*lines)
    routes = tree.routes(dict(zip(names, (x.ravel(), y.ravel()), strict=True)))
    colours = ListedColormap([action_colour(k) for k in range(len(tree.actions))])
    scale = {"cmap": colours, "vmin": -0.5, "vmax": len(tree.actions) - 0.5}
    ax.pcolormesh(x, y, routes.action.reshape(x.shape), shading="nearest", alpha=0.6, **scale)
    leaf = routes.leaf.reshape(x.shape)
    if tree.n_leaves > 1:
        levels = np.arange(tree.n_leaves - 1) + 0.5
        ax.contour(x, y, leaf, levels=levels, colors="#555555", linewidths=0.8)
    for k in range(1 if dataset.y is None else len(dataset.classes)):
        here = slice(None) if dataset.y is None else dataset.y == k
        label = None if dataset.y is None else str(dataset.classes[k])
        face = "#555555" if dataset.y is None else action_colour(k)
        ax.scatter(*numbers[here].T, color=face, edgecolors="#333333", s=24, label=label, zorder=2)
    if dataset.y is not None:
        ax.legend(loc="best", fontsize=8)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    return ax


def _columns(tree: Any, dataset: Any) -> list[str]:
    """The two columns of the plane: those that the tests ask for, and others of the data."""
    asked = list(dict.fromkeys(c for test in tree.splits for c in test.columns))
    names = list(dict.fromkeys([*asked, *(dataset.columns or ())]))
    if len(asked) > 2 or len(names) < 2:
        raise DataError(
            f"The plane of a tree has two columns; its tests ask for {len(asked)}, and the data have {len(dataset.columns or ())}. Use plot() instead."
        )
    return names[:2]
