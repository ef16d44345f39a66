"""`write_report`: a study as one HTML file that needs nothing from the network."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from milp_trees.errors import DataError
from milp_trees.pages.content import Content, Detail, Source
from milp_trees.pages.headline import headline
from milp_trees.pages.packing import packed
from milp_trees.pages.vendor import libraries, licences
from milp_trees.studies import Study
from milp_trees.studies.store import refuse_to_replace

#: Own scripts, in the order in which the page runs them.
SCRIPTS = (
    *("state", "text", "filters", "summary", "explorer", "details", "instances", "honesty"),
    *("measures", "integrals", "statistics", "downloads", "tables", "plots", "figures"),
    *("curves", "pairwise", "versions"),
)
STYLES = ("style", "plots")
#: A page of at most `USUAL_RUNS` runs has at most so many bytes; of more runs, more in proportion.
LARGEST_PAGE, USUAL_RUNS = 2_000_000, 2_000
#: Degrees of detail, of which the first is taken that fits.
DETAILS = (
    Detail(20_000, 300, True),
    Detail(6_000, 200, True),
    Detail(3_000, 150, True),
    Detail(1_500, 100, True),
    Detail(800, 80, True),
    Detail(800, 80, False),
    Detail(300, 50, False),
    Detail(0, 25, False),
)

_ASSETS = files("milp_trees.pages") / "assets"


def write_report(
    store: Study | str | Path, path: str | Path, against: Study | str | Path | None = None
) -> Path:
    """Write a study as one self-contained HTML page.

    Parameters
    ----------
    store : Study or path
        The study, or its file.
    path : path
        The HTML file; it is replaced if it exists.
    against : Study or path, optional
        Another study, with which the page compares this one (two versions of a program).

    Returns
    -------
    Path
        The file.

    Raises
    ------
    StoreError
        A file is no study, or cannot be read, or the page would replace the file of a study.
    DataError
        The study has no runs, or the page cannot be written.

    Examples
    --------
    >>> import milp_trees as mt, tempfile, pathlib
    >>> problem = mt.Problem(mt.load("planted:rows=40,tests=4,depth=1"), mt.Accuracy(), mt.Trees(max_depth=1))
    >>> page = mt.write_report(mt.compare(problem, ["dp", "cart"]), pathlib.Path(tempfile.mkdtemp()) / "page.html")
    >>> page.read_text()[:15]
    '<!doctype html>'
    """
    text = report_page(store, against)
    path = Path(path)
    try:
        refuse_to_replace(path)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(
            f"The page {path} cannot be written: {error.strerror}; name another file."
        ) from error
    return path


def report_page(store: Study | str | Path, against: Study | str | Path | None = None) -> str:
    """The page as text; see `write_report`.

    Parameters
    ----------
    store : Study or path
    against : Study or path, optional
    """
    content = Content(Source.of(store))
    if not content.rows:
        raise DataError(
            f"The study {content.source.study.store.path or 'in memory'} has no runs yet; run it first."
        )
    other = None if against is None else Content(Source.of(against))
    count = len(content.rows) + (0 if other is None else len(other.rows))
    most = LARGEST_PAGE * max(1.0, count / USUAL_RUNS)
    page = ""
    for detail in DETAILS:
        page = _page(content, other, detail)
        if len(page.encode("utf-8")) < most:
            break
    return page


def _page(content: Content, other: Content | None, detail: Detail) -> str:
    main = content.main(detail)
    main["against"] = None if other is None else other.main(detail)
    own = "\n".join((_ASSETS / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    codes = [*(library.text() for library in libraries()), ascii_code(f"{own}\nM.start();\n")]
    title, sentences = headline(content)
    blocks = [
        f'<script type="text/plain" id="library-{k}" data-library>{packed(code)}</script>'
        for k, code in enumerate(codes[:-1])
    ]
    blocks += [
        f'<script type="text/plain" id="study">{packed(main)}</script>',
        f'<script type="text/plain" id="details">{packed(content.details(detail))}</script>',
        f"<script>{codes[-1]}</script>",
    ]
    parts = {
        "policy": policy(codes),
        "title": html.escape(title),
        "style": "\n".join((_ASSETS / f"{name}.css").read_text("utf-8") for name in STYLES),
        "headline": "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences),
        "licences": html.escape(licences()),
        "blocks": "\n".join(blocks),
    }
    page = fill((_ASSETS / "page.html").read_text("utf-8"), parts)
    # A server or a mail program may state another encoding than UTF-8; ASCII is read alike in all.
    return page.encode("ascii", "xmlcharrefreplace").decode("ascii")


def ascii_code(code: str) -> str:
    """JavaScript with the same meaning, written in ASCII."""
    return re.sub(r"[^\x00-\x7f]", lambda found: json.dumps(found[0])[1:-1], code)


def policy(codes: list[str]) -> str:
    """A content security policy under which these scripts run and nothing else, without network.

    Parameters
    ----------
    codes : list of str
        All scripts of the page, those of libraries too.
    """
    digests = (hashlib.sha256(code.encode("utf-8")).digest() for code in codes)
    hashes = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def fill(template: str, parts: dict[str, Any]) -> str:
    """A template whose places `{{name}}` are replaced at once, so that no part is read as one."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)
