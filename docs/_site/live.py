"""The two interactive pages, one of a tree and one of a study, which the site holds as they are."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from _site.files import Pages

#: A study of some seconds; `benchmarks/published_short.toml` is the one of the picture.
STUDY = {
    "title": "Trees of depth 1 and 2",
    "defaults": {"time_limit": 5},
    "problems": [
        {
            "name": "trees",
            "data": ["iris", "wine", "breast-cancer"],
            "binarize": "quantiles:3",
            "space": {"max_depth": [1, 2]},
            "methods": ["all"],
        }
    ],
    "methods": [{"name": "all", "labels": ["dp", "cart", "pareto", "state-flow@highs"]}],
}


@dataclass(frozen=True)
class Live:
    """One page, and what is said of it and of its picture, `docs/start/pictures/NAME.png`."""

    name: str
    title: str
    text: str
    alt: str


LIVE = (
    Live(
        "tree_page",
        "A tree as a page",
        "Walk the tree, follow a row, see what every other split would cost, and read the proof.",
        "A page with a drawn tree of depth 3, the rows and classes of a node, and a table of other "
        "splits with the errors that the whole tree would then make.",
    ),
    Live(
        "study_page",
        "A study as a page",
        "Filter the runs of a study; tables and plots follow, and every run opens with its log.",
        "A page with filters, a table of methods with times and proofs, and curves of the share of "
        "problems proved over time.",
    ),
)


def tree_page(folder: Path) -> Path:
    """The page of the best tree of depth 3 for people.csv, with its proof checked."""
    import milp_trees as mt

    table, proof = folder / "people.csv", folder / "people.proof"
    mt.example("people", table)
    problem = mt.Problem(mt.load(table), mt.Accuracy(), mt.Trees(max_depth=3))
    result = mt.solve(problem, "dp", proof=proof)
    return result.save_html(
        folder / "tree_page.html", title="Income of 1000 people", proof=str(proof)
    )


def study_page(folder: Path) -> Path:
    """The page of a small study."""
    import milp_trees as mt
    from milp_trees.exports.pages.report import write_report

    write_report(mt.study(STUDY, store=folder / "study.db"), folder / "study_page.html")
    return folder / "study_page.html"


def write(pages: Pages) -> None:
    """Bring both pages into the site."""
    with tempfile.TemporaryDirectory() as folder:
        pages.add("live/tree_page.html", tree_page(Path(folder)).read_text(encoding="utf-8"))
        pages.add("live/study_page.html", study_page(Path(folder)).read_text(encoding="utf-8"))


def cards(to_root: str) -> str:
    """Both pages as cards of a grid, for a page that is so far below the root."""
    return "\n".join(
        f":::{{grid-item-card}} {one.title}\n:link: {to_root}_static/{one.name}.html\n"
        f":link-type: url\n:img-top: {to_root}start/pictures/{one.name}.png\n"
        f":img-alt: {one.alt}\n\n{one.text}\n:::"
        for one in LIVE
    )
