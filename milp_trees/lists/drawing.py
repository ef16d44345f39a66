"""Rule lists as text, as a table of their rules, as HTML and as SVG."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Protocol
from xml.sax.saxutils import quoteattr

import numpy as np

from milp_trees.models.draw import (
    _FONT,
    _GAP,
    _LINE,
    _PAD,
    _shorten,
    _text_width,
    action_colour,
)
from milp_trees.models.draw_text import Counted, beside, clean, leaf_notes

if TYPE_CHECKING:
    from milp_trees.data.antecedent import Antecedent


class Listed(Counted, Protocol):
    """The parts of a rule list that a drawing needs."""

    @property
    def length(self) -> int: ...
    @property
    def splits(self) -> tuple[Antecedent, ...]: ...
    @property
    def leaf_actions(self) -> tuple[int, ...]: ...


def list_text(rules: Listed, counts: Any = None) -> str:
    """The rule list as text, a line per rule.

    Parameters
    ----------
    rules : RuleList
    counts : int array of shape (rules + 1,) or (rules + 1, K), optional
        Rows that each rule captures (and their classes), the default rule last; see `leaf_counts`.
    """
    notes = map(beside, leaf_notes(list(rules.leaf_actions), counts))
    names = [
        str(rules.actions[k]) + note for k, note in zip(rules.leaf_actions, notes, strict=True)
    ]
    if not rules.length:
        return names[0]
    words = ["if", *["else if"] * (rules.length - 1)]
    lines = [
        f"{word} {a.name}: {name}"
        for word, a, name in zip(words, rules.splits, names, strict=False)
    ]
    return "\n".join([*lines, f"else: {names[-1]}"])


def list_rows(rules: Listed, counts: Any = None) -> list[dict[str, Any]]:
    """One mapping per rule, the default rule last.

    Parameters
    ----------
    rules : RuleList
    counts : int array of shape (rules + 1,) or (rules + 1, K), optional
        See `leaf_counts`.

    Returns
    -------
    list of dict
        `place` (from 1), `word` ("if", "else if" or "else"), `condition` (empty for the default
        rule) and `action`. With counts also `rows`, the number of rows that the rule captures;
        and, if the actions are its classes, `correct`, the number of those of the rule's class, and
        `share`, that number divided by `rows` (None if there are none).
    """
    out = []
    for k, action in enumerate(rules.leaf_actions):
        last = k == rules.length
        row: dict[str, Any] = {
            "place": k + 1,
            "word": "else" if last else "else if" if k else "if",
            "condition": "" if last else rules.splits[k].name,
            "action": rules.actions[action],
        }
        if counts is not None:
            size = int(np.sum(counts[k]))
            row["rows"] = size
            if np.ndim(counts) == 2:
                row["correct"] = int(counts[k][action])
                row["share"] = row["correct"] / size if size else None
        out.append(row)
    return out


def list_html(rules: Listed, counts: Any = None) -> str:
    """The list as an HTML table without scripts; see `list_rows` for its numbers."""
    heads = {"word": "", "condition": "condition", "action": "then", "rows": "rows"}
    lines = []
    for row in list_rows(rules, counts):
        cells = [row[name] for name in heads if name in row]
        if "correct" in row:
            share = f" ({100 * row['share']:.1f} %)" if row["rows"] else ""
            cells.append(f"{row['correct']}{share}")
        lines.append(_row("td", cells))
    titles = [*heads.values(), "of this class"][: len(cells)]
    return f"<table>{_row('th', titles)}{''.join(lines)}</table>"


def _row(tag: str, cells: list[Any]) -> str:
    inside = "".join(f"<{tag}>{escape(str(cell))}</{tag}>" for cell in cells)
    return f"<tr>{inside}</tr>"


def list_svg(rules: Listed, counts: Any = None) -> str:
    """The list as one `<svg>` element that can be part of any HTML page or file.

    Each rule is a line: its condition, and a box with its action and (with counts) the number
    of rows that it captures, and how many of them are of another class.
    """
    rows = list_rows(rules, counts)
    notes = [beside(note) for note in leaf_notes(list(rules.leaf_actions), counts)]
    texts = [f"{row['word']} {clean(row['condition'])}" for row in rows[:-1]] + ["else"]
    own = [clean(row["action"]) for row in rows]
    names = [name + note for name, note in zip(own, notes, strict=True)]
    labels = [_shorten(name) + note for name, note in zip(own, notes, strict=True)]
    at = _GAP + max(map(_text_width, texts)) + 2 * _GAP
    wide = max(map(_text_width, labels)) + 2 * _PAD
    step = _LINE + 2 * _PAD
    width, height = at + wide + _GAP, step * len(rows) + 2 * _GAP
    body = []
    for k, (text, name, label) in enumerate(zip(texts, names, labels, strict=True)):
        top = _GAP + step * k
        middle = top + step / 2
        begin = _GAP + _text_width(text) + _PAD
        colour = action_colour(rules.leaf_actions[k])
        body.append(
            f"<g><title>{escape(f'{text}: {name}')}</title>"
            f'<text x="{_GAP:g}" y="{middle + 4:.1f}" fill="#1a1a1a">{escape(text)}</text>'
            f'<path d="M{begin:.1f} {middle:.1f}L{at:.1f} {middle:.1f}" stroke="#888888" fill="none"/>'
            f'<rect x="{at:.1f}" y="{top + _PAD / 2:.1f}" width="{wide:.1f}" height="{step - _PAD:.1f}" rx="9" fill="{colour}" stroke="#555555"/>'
            f'<text x="{at + _PAD:.1f}" y="{middle + 4:.1f}" fill="#1a1a1a">{escape(label)}</text></g>'
        )
    title = (
        f"Rule list with {rules.length} rule{'s' if rules.length != 1 else ''} and a default rule"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}" '
        f'role="img" aria-label={quoteattr(title)} font-family="Helvetica,Arial,sans-serif" font-size="{_FONT:g}">'
        f'<rect width="{width:.1f}" height="{height:.1f}" rx="6" fill="#ffffff"/>{"".join(body)}</svg>'
    )


def plot_list(model: Listed, counts: Any, ax: Any) -> Any:
    """Draw the rules on matplotlib axes, a line of text each, with the action on its colour.

    Parameters
    ----------
    model : RuleList
    counts : int array of shape (rules + 1,) or (rules + 1, K), optional
        See `leaf_counts`.
    ax : matplotlib axes or None
        By default those of a new figure of a suitable size.

    Returns
    -------
    matplotlib axes
    """
    from milp_trees.models.plot import SIZE, axes_of, plain

    conditions = [clean(a.name) for a in model.splits]
    words = ["if ", *["else if "] * (model.length - 1)]
    texts = [word + name for word, name in zip(words, conditions, strict=False)] + ["else"]
    notes = leaf_notes(list(model.leaf_actions), counts)
    actions = [
        clean(model.actions[k]) + beside(n) for k, n in zip(model.leaf_actions, notes, strict=True)
    ]
    at, step = 6.2 * max(map(len, texts)) + 30, 26
    ax = axes_of(ax, (0, at + 7 * max(map(len, actions)) + 20), step * len(texts))
    for k, (text, action, chosen) in enumerate(
        zip(texts, actions, model.leaf_actions, strict=True)
    ):
        middle = (k + 0.5) * step
        box = {"facecolor": action_colour(chosen), "edgecolor": "#555555", "pad": 3}
        ax.text(6, middle, plain(text), va="center", fontsize=SIZE)
        ax.text(at, middle, plain(action), va="center", fontsize=SIZE, bbox=box)
    return ax
