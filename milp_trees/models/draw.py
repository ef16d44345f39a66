"""Drawings of a tree: a self-contained SVG picture, and the boxes that other pictures draw, too.

The picture needs no graphviz, no fonts and no network. It shows original names: tests in the
branch nodes, the action's label in the leaves, and on every edge the condition under which rows
take it; rows on which the test fails go left, as everywhere in this package. Rows and errors of
each leaf are shown if they are given (`leaf_counts`).
"""

from __future__ import annotations

import colorsys
import math
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from milp_trees.data.feature import set_text
from milp_trees.models.draw_text import Drawable, beside, clean, leaf_notes
from milp_trees.models.draw_text import leaf_counts as leaf_counts
from milp_trees.models.draw_text import tree_text as tree_text
from milp_trees.models.nodes import Branch, Leaf, Node
from milp_trees.models.predicted import LeafRows, LeafWords, leaf_words

if TYPE_CHECKING:
    from milp_trees.data.feature import BinaryFeature

#: Longest line in a box; longer names are shortened in the middle, and the tooltip shows the whole
#: name.
MAX_CHARS = 24
#: The same for the condition on an edge.
MAX_EDGE = 16

_FONT = 12.0
_EDGE_FONT = 11.0
_LINE = 15.0
_PAD = 8.0
_GAP = 14.0
_LEVEL = 88.0
#: From the top of a condition to the top of the box below it.
_OVER = 17.0
#: Light colours that colour-blind readers can tell apart; further actions get hues at multiples of
#: the golden angle.
_TINTS = ("#cfe3f5", "#fbd9b5", "#cdebd6", "#f6cfdc", "#e2d8f3", "#f6efb2", "#d3eef0", "#e4dccf")


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

    root = boxes_of(tree, counts)
    left, right = place(root)
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
        f'role="img" aria-label={quoteattr(clean(title))} font-family="Helvetica,Arial,sans-serif" font-size="{_FONT:g}">'
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
class Box:
    """A drawn node: its centre `x`, its `top`, and its lines of text."""

    lines: tuple[str, ...]
    tooltip: str
    colour: str
    rounded: bool
    children: tuple[Box, ...] = ()
    level: int = 0
    #: The condition on the edge that leads here, short and whole; empty for the root.
    condition: tuple[str, str] = ("", "")
    x: float = 0.0
    width: float = field(init=False)
    height: float = field(init=False)

    def __post_init__(self) -> None:
        self.width = max(34.0, max(_text_width(line) for line in self.lines) + 2 * _PAD)
        self.height = _LINE * len(self.lines) + _PAD

    @property
    def top(self) -> float:
        return self.level * _LEVEL

    @property
    def label_width(self) -> float:
        """Width of the condition above the box."""
        return _text_width(self.condition[0]) * _EDGE_FONT / _FONT + 4 if self.level else 0.0

    @property
    def half(self) -> float:
        """Half of the room that the box and the condition above it take."""
        return max(self.width, self.label_width) / 2

    def walk(self) -> Iterator[Box]:
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
    used = {n.action: clean(tree.actions[n.action]) for n in tree.nodes() if isinstance(n, Leaf)}
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


def _leaf_words(tree: Drawable, leaves: Sequence[int], counts: Any) -> list[LeafWords]:
    """The lines, the whole label and the colour of every leaf."""
    if predicts := getattr(tree, "predicts", None):
        known = counts if isinstance(counts, LeafRows) else None
        found = leaf_words(predicts, [tree.actions[k] for k in leaves], known, action_colour)
        return [
            LeafWords(
                tuple(_shorten(clean(line)) for line in one.lines), clean(one.whole), one.colour
            )
            for one in found
        ]
    labels = _leaf_labels(tree)
    return [LeafWords((labels[k][1],), labels[k][0], action_colour(k)) for k in leaves]


def _shared(parts: Sequence[Sequence[str]]) -> int:
    """Number of first parts that all lists have in common."""
    return next(
        (k for k, here in enumerate(zip(*parts, strict=False)) if len(set(here)) > 1),
        min(map(len, parts)),
    )


def boxes_of(tree: Drawable, counts: Any = None) -> Box:
    """The box of the root, with those below it; they have no places yet (`place`).

    Parameters
    ----------
    tree : Tree
    counts : int array of shape (leaves,) or (leaves, K), optional
        See `leaf_counts`.
    """
    actions = [n.action for n in tree.nodes() if isinstance(n, Leaf)]
    words, notes = iter(_leaf_words(tree, actions, counts)), iter(leaf_notes(actions, counts))

    def make(node: Node, level: int, condition: tuple[str, str]) -> Box:
        if isinstance(node, Leaf):
            (lines, label, colour), note = next(words), next(notes)
            message = label + beside(note)
            return Box((*lines, *note), message, colour, True, (), level, condition)
        no, yes = edge_labels(node.test)
        children = (
            make(node.left, level + 1, (no, clean(node.test.negation))),
            make(node.right, level + 1, (yes, clean(node.test.name))),
        )
        tooltip = clean(node.test.name)
        return Box(_test_lines(node), tooltip, "#f4f4f4", False, children, level, condition)

    return make(tree.root, 0, ("", ""))


def edge_labels(test: BinaryFeature) -> tuple[str, str]:
    """The conditions of the two branches of a test, short and without its column.

    For example `("> 37.5", "<= 37.5")`, the one of the rows on which the test fails first; 0/1
    columns are compared with 0 and 1, so that no branch is called yes, no, true or false. Tests of
    another class state their own (`edges`).
    """
    own: tuple[str, str] | None = getattr(test, "edges", None)
    if own is not None:
        return own
    if test.kind == "missing":
        return "not missing", "missing"
    value = "" if test.kind == "is" else _value(test)
    no, yes = {
        "is": ("== 0", "== 1"),
        "==": (f"!= {value}", f"== {value}"),
        "in": (f"not in {value}", f"in {value}"),
        "<=": (f"> {value}", f"<= {value}"),
    }[test.kind]
    gap = " or missing"
    no, yes = _shorten(no, MAX_EDGE), _shorten(yes, MAX_EDGE)
    return no + gap * (test.missing == "no"), yes + gap * (test.missing == "yes")


def branches_of(test: Any) -> tuple[str, str]:
    """The conditions of the two branches of a feature or of an antecedent, as `edge_labels`."""
    literals = getattr(test, "literals", None)
    if literals is None:
        return edge_labels(test)
    if len(literals) > 1:
        return "not all", "all hold"
    no, yes = edge_labels(literals[0].feature)
    return (no, yes) if literals[0].value else (yes, no)


def _value(test: BinaryFeature) -> str:
    """The threshold or category of a test; a tooltip has all of its digits."""
    if test.kind == "in":
        return clean(set_text(test.value))
    return f"{test.value:.6g}" if isinstance(test.value, float) else clean(test.value)


def _test_lines(node: Branch) -> tuple[str, ...]:
    """The test on one line if it is short, otherwise column and threshold on two lines.

    On two lines, neither is shortened because of the other.
    """
    test = node.test
    own: tuple[str, ...] | None = getattr(test, "lines", None)
    if own is not None:
        return tuple(_shorten(clean(line)) for line in own)
    column = clean(test.column)
    if test.kind == "missing":
        return (_shorten(f"{column} is missing"),)
    missing = " or missing" if test.missing == "yes" else ""
    if test.kind == "is":
        return (_shorten(column + missing),)
    value = _value(test) + missing
    line = f"{column} {test.kind} {value}"
    return (
        (line,) if len(line) <= MAX_CHARS else (_shorten(column), _shorten(f"{test.kind} {value}"))
    )


def place(root: Box) -> tuple[float, float]:
    """Set every `x`, and return the outermost edges.

    Subtrees are as close as their outlines allow, and parents are centred. The cost is O(nodes ·
    depth): an outline is the leftmost and the rightmost edge per level.
    """

    def walk(box: Box) -> tuple[list[float], list[float]]:
        here = ([-box.half], [box.half])
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


def _draw(box: Box) -> str:
    text = "".join(
        f'<text x="{box.x:.1f}" y="{box.top + _PAD / 2 + _LINE * (i + 0.78):.1f}" text-anchor="middle" fill="#1a1a1a">{escape(line, quote=False)}</text>'
        for i, line in enumerate(box.lines)
    )
    return (
        f"<g><title>{escape(box.tooltip, quote=False)}</title>"
        f'<rect x="{box.x - box.width / 2:.1f}" y="{box.top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="{9 if box.rounded else 2}" '
        f'fill="{box.colour}" stroke="#555555"/>{text}</g>'
    )


def _edges(box: Box) -> str:
    """The edges below a box; each arrives from above at the condition, which stands over a box."""
    out = []
    bottom = box.top + box.height
    for child in box.children:
        label, whole = child.condition
        width, over = child.label_width, child.top - _OVER
        bend = (bottom + over) / 2
        out.append(
            f'<path d="M{box.x:.1f} {bottom:.1f}C{box.x:.1f} {bend:.1f} {child.x:.1f} {bend:.1f} {child.x:.1f} {over:.1f}V{child.top:.1f}" stroke="#888888" fill="none"/>'
        )
        out.append(
            f"<g><title>{escape(whole, quote=False)}</title>"
            f'<rect x="{child.x - width / 2:.1f}" y="{over:.1f}" width="{width:.1f}" height="14" fill="#ffffff"/>'
            f'<text x="{child.x:.1f}" y="{over + 11:.1f}" font-size="{_EDGE_FONT:g}" fill="#444444" text-anchor="middle">{escape(label, quote=False)}</text></g>'
        )
    return "".join(out)


def _shorten(text: str, most: int = MAX_CHARS) -> str:
    if len(text) <= most:
        return text
    tail = math.floor((most - 1) / 2)
    return text[: most - 1 - tail] + "…" + text[-tail:]


def _text_width(text: str) -> float:
    """Width in pixels, estimated slightly too large because fonts differ between viewers."""

    def em(c: str) -> float:
        if unicodedata.east_asian_width(c) in "WF":
            return 1.05
        return 0.42 if c in " iljtf.,:;'|()[]!" else 0.86 if c in "mwMW@%" else 0.63

    return _FONT * sum(map(em, text))
