"""Drawings of a tree: indented text, and a self-contained SVG picture.

The picture needs no graphviz, no fonts and no network. Both show original names: tests in the
branch nodes, the action's label in the leaves; "no" is on the left and "yes" on the right, as
everywhere in this package. Row counts per leaf are shown if they are given (`leaf_counts`).
"""

from __future__ import annotations

import colorsys
import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from milp_trees.errors import DataError
from milp_trees.models.nodes import Branch, Leaf, Node

if TYPE_CHECKING:
    from milp_trees.data.dataset import Dataset

#: Longest line in a box; longer names are shortened in the middle, and the tooltip shows the whole
#: name.
MAX_CHARS = 24

_FONT = 12.0
_LINE = 15.0
_PAD = 8.0
_GAP = 14.0
_LEVEL = 78.0
#: Light colours that colour-blind readers can tell apart; further actions get hues at multiples of
#: the golden angle.
_TINTS = ("#cfe3f5", "#fbd9b5", "#cdebd6", "#f6cfdc", "#e2d8f3", "#f6efb2", "#d3eef0", "#e4dccf")


class Counted(Protocol):
    """The parts of a predictor that counting rows needs."""

    @property
    def actions(self) -> tuple[Any, ...]: ...
    def routes(self, rows: Any) -> Any:
        """Leaf and action of every row."""


class Drawable(Counted, Protocol):
    """The parts of a tree that a drawing needs."""

    @property
    def root(self) -> Node: ...
    @property
    def depth(self) -> int: ...
    @property
    def n_leaves(self) -> int: ...
    @property
    def nodes(self) -> Any: ...


def leaf_counts(tree: Counted, dataset: Dataset) -> np.ndarray:
    """Number of original rows of a dataset in each leaf, from left to right.

    Rules of a list are in their order. The shape is (leaves, K), counted by class, or (leaves,) if the dataset has no target.
    """
    routes = tree.routes(dataset)
    if dataset.y is None or not set(dataset.classes or ()) <= set(
        tree.actions
    ):  # actions are not classes
        sizes = np.zeros(routes.n_leaves, dtype=np.int64)
        np.add.at(sizes, routes.leaf, dataset.row_counts)
        return sizes
    position = np.array([tree.actions.index(c) for c in dataset.classes or ()])
    counts = np.zeros((routes.n_leaves, len(tree.actions)), dtype=np.int64)
    np.add.at(counts, (routes.leaf, position[dataset.y]), dataset.row_counts)
    return counts


def tree_text(tree: Drawable, counts: Any = None) -> str:
    """The tree as indented text.

    Parameters
    ----------
    tree : Tree
        The tree.
    counts : int array of shape (leaves,) or (leaves, K), optional
        Rows per leaf (and class), leaves from left to right; see `leaf_counts`.

    Examples
    --------
    >>> from milp_trees import BinaryFeature, Tree
    >>> from milp_trees.models.nodes import Branch, Leaf
    >>> print(tree_text(Tree(Branch(BinaryFeature("age", "<=", 37.5), Leaf(1), Leaf(0)), ("low", "high"))))
    age <= 37.5
    ├─ no:  high
    └─ yes: low
    """
    notes = _notes(tree, counts)
    lines: list[str] = []

    def walk(node: Node, first: str, rest: str) -> None:
        if isinstance(node, Leaf):
            note = next(notes)
            lines.append(
                first + _clean(tree.actions[node.action]) + (f"  ({note})" if note else "")
            )
            return
        lines.append(first + _clean(node.test.name))
        walk(node.left, rest + "├─ no:  ", rest + "│  ")
        walk(node.right, rest + "└─ yes: ", rest + "   ")

    walk(tree.root, "", "")
    return "\n".join(lines)


def tree_svg(tree: Drawable, counts: Any = None, title: str | None = None) -> str:
    """The tree as one `<svg>` element that can be part of any HTML page or file.

    Parameters
    ----------
    tree : Tree
        The tree.
    counts : int array of shape (leaves,) or (leaves, K), optional
        Rows per leaf (and class); see `leaf_counts`.
    title : str, optional
        Text for screen readers; by default depth and number of leaves.

    Returns
    -------
    str
    """
    from xml.sax.saxutils import quoteattr  # which imports the network, and text needs none

    root = _boxes(tree.root, tree, _notes(tree, counts))
    left, right = _place(root)
    boxes = list(root.walk())
    width = right - left + 2 * _GAP
    height = max(b.top + b.height for b in boxes) + 2 * _GAP
    title = (
        title
        or f"Decision tree of depth {tree.depth} with {tree.n_leaves} {'leaves' if tree.n_leaves > 1 else 'leaf'}"
    )
    body = "".join(_edges(b) for b in boxes) + "".join(_draw(b) for b in boxes)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}" '
        f'role="img" aria-label={quoteattr(_clean(title))} font-family="Helvetica,Arial,sans-serif" font-size="{_FONT:g}">'
        f'<rect width="{width:.1f}" height="{height:.1f}" rx="6" fill="#ffffff"/>'
        f'<g transform="translate({_GAP - left:.1f},{_GAP:g})">{body}</g></svg>'
    )


def action_colour(index: int) -> str:
    """Fill colour of the leaves of an action, as `#rrggbb`."""
    if index < len(_TINTS):
        return _TINTS[index]
    hue = (index * 0.6180339887) % 1.0
    return "#" + "".join(f"{round(255 * c):02x}" for c in colorsys.hls_to_rgb(hue, 0.86, 0.6))


# -- boxes -----------------------------------------------------------------------------------------


@dataclass
class _Box:
    """A drawn node: its centre `x`, its `top`, and its lines of text."""

    lines: tuple[str, ...]
    tooltip: str
    colour: str
    rounded: bool
    children: tuple[_Box, ...] = ()
    level: int = 0
    x: float = 0.0
    width: float = field(init=False)
    height: float = field(init=False)

    def __post_init__(self) -> None:
        self.width = max(34.0, max(_text_width(line) for line in self.lines) + 2 * _PAD)
        self.height = _LINE * len(self.lines) + _PAD

    @property
    def top(self) -> float:
        return self.level * _LEVEL

    def walk(self) -> Iterator[_Box]:
        yield self
        for child in self.children:
            yield from child.walk()

    def shift(self, by: float) -> None:
        for box in self.walk():
            box.x += by


def _leaf_labels(tree: Drawable) -> dict[int, tuple[str, str]]:
    """Long and short label of every action in a leaf.

    Where long labels (such as two paths) would look alike after shortening, the parts between `+`
    that are common to the beginning and the end of all of them are left out.
    """
    used = {n.action: _clean(tree.actions[n.action]) for n in tree.nodes() if isinstance(n, Leaf)}
    alike: dict[str, list[int]] = {}
    for action, label in used.items():
        alike.setdefault(_shorten(label), []).append(action)
    out = {}
    for short, actions in alike.items():
        parts = [used[a].split("+") for a in actions]
        first, last = (
            (0, 0)
            if len({used[a] for a in actions}) < 2
            else (_shared(parts), _shared([p[::-1] for p in parts]))
        )
        for action, part in zip(actions, parts, strict=True):
            middle = "+".join(part[first : len(part) - last])
            own = ("…" if first else "") + middle + ("…" if last else "")
            out[action] = (used[action], _shorten(own) if first + last and middle else short)
    return out


def _shared(parts: Sequence[Sequence[str]]) -> int:
    """Number of first parts that all lists have in common."""
    return next(
        (k for k, here in enumerate(zip(*parts, strict=False)) if len(set(here)) > 1),
        min(map(len, parts)),
    )


def _boxes(
    node: Node,
    tree: Drawable,
    notes: Iterator[str],
    level: int = 0,
    known: dict[int, tuple[str, str]] | None = None,
) -> _Box:
    labels = _leaf_labels(tree) if known is None else known
    if isinstance(node, Leaf):
        label, short = labels[node.action]
        note = next(notes)
        lines = (short, *([note] if note else []))
        return _Box(
            lines,
            f"{label} ({note})" if note else label,
            action_colour(node.action),
            True,
            level=level,
        )
    children = (
        _boxes(node.left, tree, notes, level + 1, labels),
        _boxes(node.right, tree, notes, level + 1, labels),
    )
    return _Box(_test_lines(node), _clean(node.test.name), "#f4f4f4", False, children, level)


def _test_lines(node: Branch) -> tuple[str, ...]:
    """The test on one line if it is short, otherwise column and threshold on two lines.

    On two lines, neither is shortened because of the other.
    """
    test = node.test
    column = _clean(test.column)
    if test.kind == "missing":
        return (_shorten(f"{column} is missing"),)
    missing = " or missing" if test.missing == "yes" else ""
    if test.kind == "is":
        return (_shorten(column + missing),)
    value = (
        f"{test.value:.6g}" if isinstance(test.value, float) else _clean(test.value)
    )  # the tooltip has all digits
    value += missing
    line = f"{column} {test.kind} {value}"
    return (
        (line,) if len(line) <= MAX_CHARS else (_shorten(column), _shorten(f"{test.kind} {value}"))
    )


def _place(root: _Box) -> tuple[float, float]:
    """Set every `x`, and return the outermost edges.

    Subtrees are as close as their outlines allow, and parents are centred. The cost is O(nodes ·
    depth): an outline is the leftmost and the rightmost edge per level.
    """

    def walk(box: _Box) -> tuple[list[float], list[float]]:
        here = ([-box.width / 2], [box.width / 2])
        if not box.children:
            return here
        left, right = box.children
        (left_min, left_max), (right_min, right_max) = walk(left), walk(right)
        apart = max(a - b for a, b in zip(left_max, right_min, strict=False)) + _GAP
        left.shift(-apart / 2)
        right.shift(apart / 2)
        lower = _merge([v - apart / 2 for v in left_min], [v + apart / 2 for v in right_min], min)
        upper = _merge([v - apart / 2 for v in left_max], [v + apart / 2 for v in right_max], max)
        return here[0] + lower, here[1] + upper

    lefts, rights = walk(root)
    return min(lefts), max(rights)


def _merge(a: Sequence[float], b: Sequence[float], choose: Any) -> list[float]:
    longer = a if len(a) > len(b) else b
    return [choose(x, y) for x, y in zip(a, b, strict=False)] + list(longer[min(len(a), len(b)) :])


# -- SVG -------------------------------------------------------------------------------------------


def _draw(box: _Box) -> str:
    text = "".join(
        f'<text x="{box.x:.1f}" y="{box.top + _PAD / 2 + _LINE * (i + 0.78):.1f}" text-anchor="middle" fill="#1a1a1a">{escape(line, quote=False)}</text>'
        for i, line in enumerate(box.lines)
    )
    return (
        f"<g><title>{escape(box.tooltip, quote=False)}</title>"
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{9 if box.rounded else 2}" '
        f'fill="{box.colour}" stroke="#555555"/>{text}</g>'
    )


def _edges(box: _Box) -> str:
    out = []
    bottom = box.top + box.height
    for child, label in zip(box.children, ("no", "yes"), strict=False):
        x, y = (box.x + child.x) / 2, (bottom + child.top) / 2
        out.append(
            f'<path d="M{box.x:.1f} {bottom:.1f}L{child.x:.1f} {child.top:.1f}" stroke="#888888" fill="none"/>'
        )
        out.append(
            f'<rect x="{x - 12:.1f}" y="{y - 7:.1f}" width="24" height="14" fill="#ffffff"/>'
        )
        out.append(
            f'<text x="{x:.1f}" y="{y + 4:.1f}" font-size="11" fill="#555555" text-anchor="middle">{label}</text>'
        )
    return "".join(out)


def _notes(tree: Drawable, counts: Any) -> Iterator[str]:
    """The text beside each leaf's label: `34 rows`, or `31 of 34` if rows are counted by class."""
    if counts is None:
        return iter([""] * tree.n_leaves)
    table = np.asarray(counts)
    if len(table) != tree.n_leaves or table.ndim not in (1, 2):
        raise DataError(
            f"counts must have one entry or row per leaf ({tree.n_leaves}); its shape is {table.shape}. Use leaf_counts(tree, dataset)."
        )
    if table.ndim == 1:
        return iter([f"{n:g} row{'s' if n != 1 else ''}" for n in table.tolist()])
    actions = [n.action for n in tree.nodes() if isinstance(n, Leaf)]
    return iter([f"{row[a]:g} of {row.sum():g}" for a, row in zip(actions, table, strict=True)])


def _clean(value: Any) -> str:
    """One line of text without characters that XML forbids."""
    text = re.sub(r"\s+", " ", str(value)).strip()
    return (
        "".join(
            c
            for c in text
            if unicodedata.category(c) not in ("Cc", "Cs") and ord(c) not in (0xFFFE, 0xFFFF)
        )
        or "(empty)"
    )


def _shorten(text: str) -> str:
    if len(text) <= MAX_CHARS:
        return text
    tail = math.floor((MAX_CHARS - 1) / 2)
    return text[: MAX_CHARS - 1 - tail] + "…" + text[-tail:]


def _text_width(text: str) -> float:
    """Width in pixels, estimated slightly too large because fonts differ between viewers."""

    def em(c: str) -> float:
        if unicodedata.east_asian_width(c) in "WF":
            return 1.05
        return 0.42 if c in " iljtf.,:;'|()[]!" else 0.86 if c in "mwMW@%" else 0.63

    return _FONT * sum(map(em, text))
