"""Trees and rule lists drawn with matplotlib, with the boxes of the SVG picture."""

from __future__ import annotations

from typing import Any

from milp_trees.models.draw import Box, action_colour, boxes_of, place
from milp_trees.models.draw_text import beside, clean, leaf_notes

#: Units of the picture in an inch, as if it were in points.
_INCH = 72.0
#: Size of texts in points, and its part for conditions on edges.
_SIZE = 9.0


def plot_model(model: Any, counts: Any, ax: Any = None) -> Any:
    """Draw a tree or rule list on matplotlib axes.

    Parameters
    ----------
    model : Tree or RuleList
    counts : int array of shape (leaves,) or (leaves, K), optional
        See `leaf_counts`.
    ax : matplotlib axes, optional
        By default those of a new figure of a suitable size.

    Returns
    -------
    matplotlib axes
    """
    return (_plot_list if hasattr(model, "rules") else _plot_tree)(model, counts, ax)


def _plot_tree(model: Any, counts: Any, ax: Any) -> Any:
    from matplotlib.patches import FancyBboxPatch

    root = boxes_of(model, counts)
    left, right = place(root)
    boxes = list(root.walk())
    bottom = max(b.top + b.height for b in boxes)
    ax = _axes(ax, (left - 10, right + 10), bottom + 10)
    for box in boxes:
        for child in box.children:
            _edge(ax, box, child)
    for box in boxes:
        corner = (box.x - box.width / 2, box.top)
        shape = f"round,pad=0,rounding_size={8 if box.rounded else 2}"
        colours: dict[str, Any] = {"facecolor": box.colour, "edgecolor": "#555555"}
        ax.add_patch(FancyBboxPatch(corner, box.width, box.height, boxstyle=shape, **colours))
        middle = box.top + box.height / 2
        ax.text(
            box.x, middle, _plain("\n".join(box.lines)), ha="center", va="center", fontsize=_SIZE
        )
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
    text, size = _plain(child.condition[0]), 0.9 * _SIZE
    ax.text(child.x, child.top - 10, text, ha="center", va="center", fontsize=size, bbox=back)


def _plot_list(model: Any, counts: Any, ax: Any) -> Any:
    """The rules as lines of text, the action of each on its colour."""
    conditions = [clean(a.name) for a in model.splits]
    words = ["if ", *["else if "] * (model.length - 1)]
    texts = [word + name for word, name in zip(words, conditions, strict=False)] + ["else"]
    notes = leaf_notes(list(model.leaf_actions), counts)
    actions = [
        clean(model.actions[k]) + beside(n) for k, n in zip(model.leaf_actions, notes, strict=True)
    ]
    at, step = 6.2 * max(map(len, texts)) + 30, 26
    ax = _axes(ax, (0, at + 7 * max(map(len, actions)) + 20), step * len(texts))
    for k, (text, action, chosen) in enumerate(
        zip(texts, actions, model.leaf_actions, strict=True)
    ):
        middle = (k + 0.5) * step
        box = {"facecolor": action_colour(chosen), "edgecolor": "#555555", "pad": 3}
        ax.text(6, middle, _plain(text), va="center", fontsize=_SIZE)
        ax.text(at, middle, _plain(action), va="center", fontsize=_SIZE, bbox=box)
    return ax


def _axes(ax: Any, across: tuple[float, float], down: float) -> Any:
    """Axes of these limits without frame; those of a new figure if none are given."""
    if ax is None:
        import matplotlib.pyplot as plt

        size = ((across[1] - across[0]) / _INCH, (down + 20) / _INCH)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.set_xlim(*across)
    ax.set_ylim(down, -10)
    ax.set_axis_off()
    return ax


def _plain(text: str) -> str:
    """A text in which matplotlib finds no formula."""
    return text.replace("$", r"\$")
