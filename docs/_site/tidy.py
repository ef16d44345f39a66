"""Mends pages after they are read, before they are stored."""

from __future__ import annotations

from typing import Any

from docutils import nodes


def tidy(app: Any, doctree: nodes.document) -> None:
    """Undo links to mail addresses, and let every node belong to its page.

    `flow-oct@highs` in a docstring is the name of a method. Nodes made from docstrings belong to
    documents of their own, each of which would be stored with everything that is known of the site.
    """
    for node in list(doctree.findall()):
        if isinstance(node, nodes.reference) and node.get("refuri", "").startswith("mailto:"):
            node.replace_self(nodes.Text(node.astext()))
        elif node.document is not doctree:
            node.document = doctree
