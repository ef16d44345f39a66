"""Pages of code lead back to the documentation of what they define.

`sphinx.ext.viewcode` assumes that all names of a file are documented under one module. Here they
stand under the names that users import, so its links back are given their true anchors.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

from sphinx.application import Sphinx

BACK = re.compile(r'(<a class="viewcode-back" href=")([^"#]*)#([^"]*)(?=")')


def setup(app: Sphinx) -> dict[str, Any]:
    """Have every page of code mended before it is written."""
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def mend(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Replace the anchors of links back by those that the pages have."""
    if not pagename.startswith("_modules/") or "body" not in context:
        return
    anchors: dict[str, list[str]] = {}
    for entry in app.env.domains.python_domain.objects.values():
        anchors.setdefault(entry.docname, []).append(entry.node_id)

    def right(found: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(pagename), found[2]))
        known = anchors.get(path.removesuffix(".html"), [])
        best = max(known, key=lambda anchor: _common_end(anchor, found[3]), default=found[3])
        return f"{found[1]}{found[2]}#{best}"

    context["body"] = BACK.sub(right, context["body"])


def _common_end(one: str, other: str) -> tuple[int, bool]:
    """How many last parts of two dotted names are equal."""
    equal = 0
    for a, b in zip(reversed(one.split(".")), reversed(other.split(".")), strict=False):
        if a != b:
            break
        equal += 1
    return equal, one == other
