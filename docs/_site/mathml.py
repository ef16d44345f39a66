"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network.

Browsers do not break a formula into lines. So one on lines of its own is written as a grid of its
rows and columns, whose cells hold a formula for every piece between two places at which a line may
be broken: spaces of a quad, relations, and the signs of a long sum.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

#: What the reader of formulas does not know or reads otherwise, and what it is given instead.
SPELLINGS = {
    r"(\\[td]?frac)\s*([0-9a-z])\s*([0-9a-z])": r"\1{\2}{\3}",
    r"\\dots(?![a-z])": r"\\ldots",
    r"\\[bB]igg?[lr]?(?=\W)": "",
    r"\\(textstyle|displaystyle)(?![a-z])": "",
}

#: Words of a formula: commands, escaped signs, and single signs.
WORD = re.compile(r"\\[a-zA-Z]+|\\.|.", re.DOTALL)
ALIGNED = re.compile(r"\\(?:begin|end)\{(?:aligned|align\*?|split)\}")
RELATIONS = (r"\le", r"\ge", "=")
SIGNS = ("+", "-", "/")
#: Columns behind the second one say for what a row holds, often in words.
CONDITIONS = (r"\text",)
#: In a cell with more signs than this a line may also be broken before +, - and /.
LONG = 60


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer under the name `mathml`."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line."""
    writer.body.append(f'<span class="math">{_mathml(node, as_block=False)}</span>')
    raise nodes.SkipNode


def block(writer: Any, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    rows = [
        [pieces(cell, CONDITIONS if place > 1 else ()) for place, cell in enumerate(row)]
        for row in cells(node.astext())
    ]
    columns = max(len(row) for row in rows)
    writer.body.append(f'<div class="math columns-{min(columns, 4)}">')
    for row in rows:
        for cell in [*row, *([[]] * (columns - len(row)))]:
            written = "".join(_mathml(node, as_block=True, text=piece) for piece in cell)
            writer.body.append(f"<div>{written}</div>")
    writer.body.append("</div>")
    raise nodes.SkipNode


def cells(text: str) -> list[list[str]]:
    r"""Rows and columns of a formula, as its `\\\\` and `&` say."""
    rows: list[list[str]] = [[""]]
    for word, depth, _ in _words(ALIGNED.sub("", text)):
        if depth == 0 and word == "\\\\":
            rows.append([""])
        elif depth == 0 and word == "&":
            rows[-1].append("")
        else:
            rows[-1][-1] += word
    return [row for row in rows if any(cell.strip() for cell in row)]


def pieces(cell: str, more: tuple[str, ...] = ()) -> list[str]:
    """The parts of a cell between which a line may be broken, also before the words in `more`."""
    found = [""]
    breaks = (*RELATIONS, *more, *(SIGNS if len(cell) > LONG else ()))
    for word, depth, parentheses in _words(cell):
        before = found[-1].strip().removeprefix("{}")
        here = depth == parentheses == 0 and word in breaks
        if here and before not in ("", *breaks) and not before.endswith(("^", "_")):
            found.append("{}")  # with something before it, a sign has its spaces
        found[-1] += word
        if depth == 0 and word in (r"\quad", r"\qquad"):
            found.append("")
    return [piece for piece in found if piece.strip()]


def _words(text: str) -> Iterator[tuple[str, int, int]]:
    """(word, depth of braces and environments, depth of parentheses) through a formula."""
    depth = parentheses = 0
    for word in WORD.findall(text):
        depth -= word in ("}", r"\end", r"\right")
        parentheses -= word in (")", "]", r"\}")
        yield word, depth, parentheses
        depth += word in ("{", r"\begin", r"\left")
        parentheses += word in ("(", "[", r"\{")


def _mathml(node: Any, *, as_block: bool, text: str | None = None) -> str:
    text = node.astext() if text is None else text
    for written, read in SPELLINGS.items():
        text = re.sub(written, read, text)
    try:
        found: str = latex2mathml.tex2mathml(text, as_block=as_block)
    except Exception as error:
        logger.warning("The formula %r cannot be read: %s", text, error, location=node)
        return f"<code>{html.escape(text)}</code>"
    found = found.replace("⧵", "∖")  # few fonts have the first
    if r"\left" not in text:
        found = re.sub("<mo>([{}])</mo>", r'<mo stretchy="false">\1</mo>', found)
    return found
