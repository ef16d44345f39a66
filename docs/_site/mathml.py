"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network."""

from __future__ import annotations

import html
import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

#: Commands that the reader of formulas does not know, and what it reads instead.
SPELLINGS = {
    r"\\dots(?![a-z])": r"\\ldots",
    r"\\[bB]igg?[lr]?(?=\W)": "",
    r"\\(textstyle|displaystyle)(?![a-z])": "",
}


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
    writer.body.append(f'<div class="math">{_mathml(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _mathml(node: Any, *, as_block: bool) -> str:
    text = node.astext()
    for written, read in SPELLINGS.items():
        text = re.sub(written, read, text)
    try:
        found: str = latex2mathml.tex2mathml(text, as_block=as_block)
    except Exception as error:
        logger.warning("The formula %r cannot be read: %s", text, error, location=node)
        return f"<code>{html.escape(text)}</code>"
    return found
