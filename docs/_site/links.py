"""Links between files become links between pages.

Pages link to files as on a code host: `../../notebooks/06_rule_lists.ipynb`,
`../../formulations/flow_oct.py`. Where the site has a page for such a file, the link leads there.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from _site.files import ROOT, Pages
from milp_trees.common.registering import HOMES
from milp_trees.mip.registry import registry

LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
#: Files outside docs/ of which the site has a copy, with the pages that show them.
COPIES = {
    "CONTRIBUTING.md": "generated/project/contributing.md",
    "CHANGELOG.md": "generated/project/changelog.md",
    "examples/plugin/README.md": "generated/project/plugin_example.md",
}


def copies() -> dict[str, str]:
    """File → page, for all files outside docs/ that the site shows as they are."""
    notebooks = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
    return COPIES | {f"notebooks/{name}": f"generated/notebooks/{name}" for name in notebooks}


def write_copies(pages: Pages) -> None:
    """Bring notebooks and the pages of the project's folder into the site."""
    for file, page in copies().items():
        pages.add(page.removeprefix("generated/"), (ROOT / file).read_text(encoding="utf-8"))


def page_of_file() -> dict[str, str]:
    """File → page, for every file outside docs/ that has one."""
    found = {"README.md": "index.md"} | copies()
    for group in HOMES:
        classes: dict[str, Any] = registry.classes(group)
        for name, cls in classes.items():
            file = Path(sys.modules[cls.__module__].__file__ or "").resolve()
            if file.is_relative_to(ROOT):
                found.setdefault(file.relative_to(ROOT).as_posix(), f"generated/{group}/{name}.md")
    return found


def reader() -> Callable[[Any, str, list[str]], None]:
    """What Sphinx calls with every page that it has read; it rewrites the links."""
    pages = page_of_file()
    originals = {page: file for file, page in copies().items()}

    def rewrite(app: Any, docname: str, source: list[str]) -> None:
        path = Path(app.env.doc2path(docname)).resolve()
        page = path.relative_to(ROOT / "docs").as_posix()
        text = rewritten(source[0], originals.get(page, f"docs/{page}"), page, pages)
        if page.endswith("/index.md"):
            text += contents(text, (other.name for other in path.parent.glob("*.md")))
        source[0] = text

    return rewrite


def contents(text: str, beside: Iterable[str]) -> str:
    """The table of contents of a folder's first page that has none itself.

    It holds the pages beside it: those that the text links to in its order, then all others.
    """
    if "{toctree}" in text:
        return ""
    order = {found[2]: place for place, found in enumerate(LINK.finditer(text))}
    names = sorted(set(beside) - {"index.md"}, key=lambda name: (order.get(name, len(order)), name))
    return "\n".join(["", "", "```{toctree}", ":hidden:", "", *names, "```", ""]) if names else ""


def rewritten(text: str, file: str, page: str, pages: dict[str, str]) -> str:
    """The text of a file with links that hold for its page.

    Parameters
    ----------
    text : str
        What the file holds.
    file : str
        Its path in the project, by which its links are meant.
    page : str
        The path of its page under docs/.
    pages : mapping of str to str
        Other files that have pages.

    Returns
    -------
    str
    """

    def link(found: re.Match[str]) -> str:
        target = found[2]
        if re.match(r"[a-z+]+:|/", target):
            return found[0]
        to = posixpath.normpath(posixpath.join(posixpath.dirname(file), target))
        to = f"docs/{pages[to]}" if to in pages else to
        here = posixpath.dirname(f"docs/{page}")
        return f"{found[1]}{posixpath.relpath(to, here)}{found[3] or ''}"

    return LINK.sub(link, text)
