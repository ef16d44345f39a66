"""A page as one file: scripts, styles and packed data in a template, under a strict policy."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from milp_trees.exports.pages.packing import packed
from milp_trees.exports.pages.vendor import Library, licences

_ASSETS = files("milp_trees.exports.pages") / "assets"


def single_file(
    template: str,
    title: str,
    *,
    styles: Sequence[str],
    scripts: Sequence[str],
    libraries: Sequence[Library],
    begin: str,
    blocks: Mapping[str, Any],
    parts: Mapping[str, str],
) -> str:
    """The text of a page, in ASCII."""
    own = "\n".join((_ASSETS / f"{name}.js").read_text("utf-8") for name in scripts)
    codes = [*(library.text() for library in libraries), ascii_code(f"{own}\n{begin}\n")]
    held = [
        f'<script type="text/plain" id="library-{k}" data-library>{packed(code)}</script>'
        for k, code in enumerate(codes[:-1])
    ]
    held += [
        f'<script type="text/plain" id="{name}">{packed(data)}</script>'
        for name, data in blocks.items()
    ]
    places = {
        "policy": policy(codes),
        "title": html.escape(title),
        "style": "\n".join((_ASSETS / f"{name}.css").read_text("utf-8") for name in styles),
        "licences": html.escape(licences()),
        "blocks": "\n".join([*held, f"<script>{codes[-1]}</script>"]),
        **parts,
    }
    page = fill((_ASSETS / f"{template}.html").read_text("utf-8"), places)
    # A server or a mail program may state another encoding than UTF-8; ASCII is read alike in all.
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


def ascii_code(code: str) -> str:
    """JavaScript with the same meaning, written in ASCII."""
    return re.sub(r"[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], code)


def policy(codes: list[str]) -> str:
    """A content security policy under which these scripts run and nothing else, without network."""
    digests = (hashlib.sha256(code.encode("utf-8")).digest() for code in codes)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def fill(template: str, parts: Mapping[str, Any]) -> str:
    """A template whose places `{{name}}` are replaced at once, so that no part is read as one."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)
