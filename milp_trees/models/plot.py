"""Trees drawn with matplotlib, with the boxes of the SVG picture."""

from __future__ import annotations

from typing import Any

from milp_trees.models.draw import Box, boxes_of, place

#: Units of the picture in an inch, as if it were in points.
_INCH = 72.0
#: Size of texts in points, and its part for conditions on edges.
SIZE = 9.0


def plot_tree(model: Any, counts: Any, ax: Any = None) -> Any:
    """Draw a tree on matplotlib axes.

    Parameters
    ----------
    model : Tree
    counts : int array of shape (leaves,) or (leaves, K), optional
        See `leaf_counts`.
    ax : matplotlib axes, optional
        By default those of a new figure of a suitable size.

    Returns
    -------
    matplotlib axes
    """
    from matplotlib.patches import FancyBboxPatch

    root = boxes_of(model, counts)
    left, right = place(root)
    boxes = list(root.walk())
    bottom = max(b.top + b.height for b in boxes)
    ax = axes_of(ax, (left - 10, right + 10), bottom + 10)
    for box in boxes:
        for child in box.children:
            _edge(ax, box, child)
    for box in boxes:
        corner = (box.x - box.width / 2, box.top)
        shape = f"round,pad=0,rounding_size={8 if box.rounded else 2}"
        colours: dict[str, Any] = {"facecolor": box.colour, "edgecolor": "#555555"}
        ax.add_patch(FancyBboxPatch(corner, box.width, box.height, boxstyle=shape, **colours))
        middle = box.top + box.height / 2
        ax.text(box.x, middle, plain("\n".join(box.lines)), ha="center", va="center", fontsize=SIZE)
    return ax


def _edge(ax: Any, box: Box, child: Box) -> None:
    """The line to a box, and the condition on it."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    start, over = box.top + box.height, child.top - 17
    bend = (start + over) / 2
    points = [(box.x, start), (box.x, bend), (child.x, bend), (child.x, over), (child.x, child.top)]
    codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4, Path.LINETO]
    line = PathPatch(Path(points, codes), edgecolor="#888888", facecolor="none", zorder=0)
    ax.add_patch(line)
    back = {"facecolor": "white", "edgecolor": "none", "pad": 1}
    text, size = plain(child.condition[0]), 0.9 * SIZE
    ax.text(child.x, child.top - 10, text, ha="center", va="center", fontsize=size, bbox=back)


def axes_of(ax: Any, across: tuple[float, float], down: float) -> Any:
    """Axes without frame; those of a new figure if none are given."""
    if ax is None:
        import matplotlib.pyplot as plt

        size = ((across[1] - across[0]) / _INCH, (down + 20) / _INCH)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set_xlim(*across)
    ax.set_ylim(down, -10)
    ax.set_axis_off()
    return ax


def plain(text: str) -> str:
    """A text in which matplotlib finds no formula."""
    return text.replace("$", r"\$")
