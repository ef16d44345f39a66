"""Checks the built site: `python docs/_site/check.py build/site`.

Every internal link and its fragment lead somewhere, every page is at most three clicks away from
the first one, pictures have descriptions, nothing is loaded from the network, no page names a folder
of this machine, and every public name has an anchor.
"""

from __future__ import annotations

import html
import posixpath
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

HERE = Path(__file__).resolve().parent
LINK = re.compile(r'<a\b[^>]*?\bhref="([^"]*)"')
LOADED = re.compile(
    r'<(?:script|img|iframe|source|video)\b[^>]*?\bsrc="([^"]*)"|<link\b[^>]*?\bhref="([^"]*)"'
)
IDS = re.compile(r'\b(?:id|name)="([^"]*)"')
PICTURE = re.compile(r"<img\b[^>]*>")
OUTSIDE = re.compile(r"[a-z][a-z+.-]*:|//")
CLICKS = 3
#: Code of modules is one click behind the pages of their names, and the search is on every page.
NOT_COUNTED = ("_modules/", "search.html")


@dataclass
class Page:
    """What the checks need of a page."""

    links: list[str]
    loaded: list[str]
    ids: set[str]
    undescribed: list[str] = field(default_factory=list)

    @staticmethod
    def read(text: str) -> Page:
        loaded = [html.unescape(one or other) for one, other in LOADED.findall(text)]
        return Page(
            [html.unescape(link) for link in LINK.findall(text)],
            loaded,
            {html.unescape(i) for i in IDS.findall(text)},
            [tag for tag in PICTURE.findall(text) if not re.search(r'\balt="[^"]+"', tag)],
        )


def problems(site: Path, names: list[str]) -> list[str]:
    """A sentence for everything that is wrong with a built site.

    Parameters
    ----------
    site : Path
        The folder with index.html.
    names : list of str
        Python objects that must have anchors.

    Returns
    -------
    list of str
    """
    texts = {p.relative_to(site).as_posix(): p.read_text("utf-8") for p in site.rglob("*.html")}
    texts = {
        name: text
        for name, text in texts.items()
        if not name.startswith(("_downloads/", "_static/"))
    }
    pages = {name: Page.read(text) for name, text in texts.items()}
    root = str(HERE.parents[1])
    found = [f"{name} names the folder {root}" for name, text in texts.items() if root in text]
    for name, page in pages.items():
        found += [
            f"{name}: the link {link} leads nowhere"
            for link in page.links
            if _dead(link, name, pages, site)
        ]
        found += [
            f"{name}: {link} is loaded from the network"
            for link in page.loaded
            if OUTSIDE.match(link) and not link.startswith("data:")
        ]
        found += [f"{name}: a picture has no description: {tag}" for tag in page.undescribed]
    found += [f"{name} is more than {CLICKS} clicks away" for name in sorted(too_far(pages))]
    anchors = set().union(*(page.ids for page in pages.values()))
    return found + [f"{name} has no anchor" for name in names if name not in anchors]


def _dead(link: str, name: str, pages: dict[str, Page], site: Path) -> bool:
    """Whether an internal link leads nowhere; a path of this machine is such a link, too."""
    if link.startswith("file:") or link.startswith("/"):
        return True
    if OUTSIDE.match(link):
        return False
    to, fragment = _target(link, name)
    if to not in pages:
        return not (site / to).is_file()
    return bool(fragment) and fragment not in pages[to].ids


def _target(link: str, name: str) -> tuple[str, str]:
    """The file and the fragment that a link on a page leads to."""
    path, _, fragment = unquote(link).partition("#")
    path = path.partition("?")[0]
    to = posixpath.normpath(posixpath.join(posixpath.dirname(name), path)) if path else name
    return to, fragment


def too_far(pages: dict[str, Page]) -> set[str]:
    """Pages that cannot be reached from the first one by so many clicks."""
    reached = border = {"index.html"}
    for _ in range(CLICKS):
        border = {
            to
            for name in border
            for link in pages[name].links
            if not OUTSIDE.match(link) and (to := _target(link, name)[0]) in pages
        } - reached
        reached = reached | border
    return {name for name in pages.keys() - reached if not name.startswith(NOT_COUNTED)}


def external(site: Path) -> dict[str, list[str]]:
    """Links to other sites, with the pages that have them."""
    found: dict[str, list[str]] = {}
    for path in sorted(site.rglob("*.html")):
        for link in Page.read(path.read_text("utf-8")).links:
            if link.startswith("http"):
                found.setdefault(link.partition("#")[0], []).append(
                    path.relative_to(site).as_posix()
                )
    return found


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    from _site.names import public

    wrong = problems(Path(sys.argv[1]), [one.path for one in public()])
    print("\n".join(wrong) or "The site is whole.")
    sys.exit(bool(wrong))
