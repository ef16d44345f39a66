"""`write_report`: a study as one HTML file that needs nothing from the network."""

from __future__ import annotations

import html
from pathlib import Path

from milp_trees.common.errors import DataError
from milp_trees.common.writing import refuse_to_replace, write_whole
from milp_trees.exports.pages.content import Content, Detail, Source
from milp_trees.exports.pages.headline import headline
from milp_trees.exports.pages.single_file import single_file
from milp_trees.exports.pages.vendor import libraries
from milp_trees.studies import Study

#: Own scripts, in the order in which the page runs them.
SCRIPTS = (
    *("base", "state", "text", "filters", "summary", "explorer", "details", "instances", "honesty"),
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
        write_whole(path, text)
    except OSError as error:
        raise DataError(
            f"The page {path} cannot be written: {error.strerror}; name another file."
        ) from error
    return path


def report_page(store: Study | str | Path, against: Study | str | Path | None = None) -> str:
    """The page as text; see `write_report`."""
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
    title, sentences = headline(content)
    return single_file(
        "page",
        title,
        styles=STYLES,
        scripts=SCRIPTS,
        libraries=libraries(),
        begin="M.start();",
        blocks={"study": main, "details": content.details(detail)},
        parts={"headline": "".join(f"<p>{html.escape(sentence)}</p>" for sentence in sentences)},
    )
